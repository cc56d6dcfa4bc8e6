// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The network of a system for which nobody has written a source yet: all that is asked about it is denied. What needs
/// no system works there: targets, flags, states, a scripted network.
package final class DeniedNetwork: NetworkSource {
  package init() {}

  package func drain(into change: inout NetworkChange) {}

  package func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    for position in queries.indices { receive(position, .denied) }
  }

  package func path(_ configuration: PathConfiguration) -> PathAnswer { PathAnswer(.denied(for: .denied)) }
}

#if !os(Linux) && !canImport(Darwin)
extension EngineProvider {
  /// The provider of the engine for this process's network, which is denied.
  package static let system = EngineProvider()

  /// Like the system's provider, except for the given parts.
  package convenience init(
    time: TimeSource = .system, lookup: @escaping NameLookup = systemNameLookup,
    nameServers: @escaping @Sendable () -> [IPAddress] = { [] }, names: NameLookupPool = .shared,
    makeSource: @escaping MakeSource = { _, _ in DeniedNetwork() }
  ) {
    self.init(
      time: time, lookup: lookup, nameServers: nameServers, names: names,
      makeWaiter: { time throws(SystemError) in SemaphoreWaiter(time) }, makeSource: makeSource)
  }
}
#endif
