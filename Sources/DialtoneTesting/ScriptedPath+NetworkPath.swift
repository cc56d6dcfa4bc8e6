// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone

extension ScriptedPath {
  /// Returns what a path monitor sees if this is the only way.
  func networkPath(_ configuration: PathConfiguration) -> NetworkPath {
    switch state.status {
    case .undetermined: return NetworkPath(.undetermined, reason: state.reason)
    case .unreachable: return NetworkPath(.unsatisfied, reason: state.reason)
    case .requiresConnection:
      // An interface that does not count says nothing.
      guard let interface = state.interface, configuration.allowed([interface]).isEmpty else {
        return NetworkPath(.requiresConnection, reason: state.reason)
      }
      return NetworkPath(.unsatisfied, reason: .noInterface)
    case .reachable:
      guard let interface = state.interface else { return NetworkPath(.satisfied) }
      let way = NetworkPath.Interface(
        interface, addresses: state.source.map { [$0] } ?? [], gateways: state.gateway.map { [$0] } ?? [],
        supportsIPv4: true, supportsIPv6: true)
      return NetworkPath(.satisfied, interfaces: [way], supportsDNS: true)
    }
  }
}

extension NetworkPath {
  /// Returns the path restricted by the configuration, like the system's.
  func restricted(to configuration: PathConfiguration) -> NetworkPath {
    var path = self
    for position in path.interfaces.indices {
      let name = path.interfaces[position].name
      if configuration.meteredInterfaces.contains(name) { path.interfaces[position].isExpensive = true }
      if configuration.constrainedInterfaces.contains(name) { path.interfaces[position].isConstrained = true }
    }
    if configuration.isUnrestricted || status == .undetermined { return path }
    let allowed = Set(configuration.allowed(path.interfaces.map(\.identity)))
    let interfaces = path.interfaces.filter { allowed.contains($0.identity) }
    // Packets can leave over one that counts and leads to the Internet, no matter what the other interfaces do.
    if interfaces.contains(where: \.leadsToInternet) {
      return NetworkPath(.satisfied, interfaces: interfaces, supportsDNS: supportsDNS)
    }
    if status != .satisfied { return NetworkPath(status, reason: reason, interfaces: interfaces) }
    return NetworkPath(.unsatisfied, reason: interfaces.isEmpty ? .noInterface : .noRoute, interfaces: interfaces)
  }
}

extension PathConfiguration {
  /// Returns the interfaces that count.
  fileprivate func allowed(_ interfaces: [NetworkInterface]) -> [NetworkInterface] {
    let allowed = interfaces.filter { $0.kind != .loopback && allows($0.kind) }
    guard let interface else { return allowed }
    let named = interfaces.contains { $0.name == interface }
    return allowed.filter { named ? $0.name == interface : $0.index == UInt32(interface) }
  }
}
