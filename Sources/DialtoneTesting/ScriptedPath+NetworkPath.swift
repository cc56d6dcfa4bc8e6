// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone

extension ScriptedPath {
  /// What a path monitor sees where this is the only way.
  func networkPath(_ configuration: PathConfiguration) -> NetworkPath {
    switch state.status {
    case .undetermined: return NetworkPath(.undetermined, reason: state.reason)
    case .unreachable: return NetworkPath(.unsatisfied, reason: state.reason)
    case .requiresConnection:
      // Of an interface that does not count, it says nothing.
      guard let interface = state.interface, configuration.allowed([interface]).isEmpty else {
        return NetworkPath(.requiresConnection, reason: state.reason)
      }
      return NetworkPath(.unsatisfied, reason: .noInterface)
    case .reachable:
      guard let interface = state.interface else { return NetworkPath(.satisfied) }
      let addresses = state.source.map { [$0] } ?? []
      let way = NetworkPath.Interface(
        interface, addresses: addresses, gateways: state.gateway.map { [$0] } ?? [],
        supportsIPv4: !addresses.contains { $0.family == .ipv6 },
        supportsIPv6: addresses.contains { $0.family == .ipv6 })
      return NetworkPath(.satisfied, interfaces: [way], supportsDNS: true)
    }
  }
}

extension NetworkPath {
  /// The path as the configuration lets it be seen, as the system does it.
  func restricted(to configuration: PathConfiguration) -> NetworkPath {
    var path = self
    for position in path.interfaces.indices {
      let name = path.interfaces[position].name
      if configuration.meteredInterfaces.contains(name) { path.interfaces[position].isExpensive = true }
      if configuration.constrainedInterfaces.contains(name) { path.interfaces[position].isConstrained = true }
    }
    if configuration.isUnrestricted || status == .undetermined { return path }
    let allowed = Set(configuration.allowed(path.interfaces.map(\.networkInterface)))
    let interfaces = path.interfaces.filter { allowed.contains($0.networkInterface) }
    // Whatever the rest does, packets over an interface that counts can leave where it leads somewhere.
    if interfaces.contains(where: \.leadsToInternet) {
      return NetworkPath(.satisfied, interfaces: interfaces, supportsDNS: supportsDNS)
    }
    if status != .satisfied { return NetworkPath(status, reason: reason, interfaces: interfaces) }
    return NetworkPath(.unsatisfied, reason: interfaces.isEmpty ? .noInterface : .noRoute, interfaces: interfaces)
  }
}

extension PathConfiguration {
  /// Those of the interfaces that count.
  fileprivate func allowed(_ interfaces: [NetworkInterface]) -> [NetworkInterface] {
    let allowed = interfaces.filter { $0.kind != .loopback && allows($0.kind) }
    guard let interface else { return allowed }
    let named = interfaces.contains { $0.name == interface }
    return allowed.filter { named ? $0.name == interface : "\($0.index)" == interface }
  }
}
