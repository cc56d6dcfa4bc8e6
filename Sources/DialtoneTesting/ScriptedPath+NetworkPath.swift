// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone

extension ScriptedPath {
  /// What a path monitor sees where this is the only way.
  var networkPath: NetworkPath {
    let status: NetworkPath.Status =
      switch state.status {
      case .undetermined: .undetermined
      case .unreachable: .unsatisfied
      case .requiresConnection: .requiresConnection
      case .reachable: .satisfied
      }
    guard state.isReachable, let interface = state.interface else { return NetworkPath(status, reason: state.reason) }
    let way = NetworkPath.Interface(
      interface, addresses: state.source.map { [$0] } ?? [], gateways: state.gateway.map { [$0] } ?? [],
      isExpensive: interface.kind == .cellular)
    return NetworkPath(status, interfaces: [way], supportsDNS: true)
  }
}

extension NetworkPath {
  /// The path as the configuration lets it be seen, as the system does it.
  func restricted(to configuration: PathConfiguration) -> NetworkPath {
    var path = self
    path.interfaces.removeAll { !configuration.allows($0.interface) }
    for position in path.interfaces.indices {
      let name = path.interfaces[position].name
      if configuration.meteredInterfaces.contains(name) { path.interfaces[position].isExpensive = true }
      if configuration.constrainedInterfaces.contains(name) { path.interfaces[position].isConstrained = true }
    }
    if status == .satisfied, path.preferredInterface == nil {
      path.status = .unsatisfied
      path.reason = path.interfaces.isEmpty ? .noInterface : .noRoute
      path.supportsDNS = false
    }
    return path
  }
}
