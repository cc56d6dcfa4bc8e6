// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension EngineProvider {
  /// What the engine of this process's network is made of.
  package static let system = EngineProvider(nameServers: systemNameServers)

  /// As the system's, except what is said.
  package convenience init(
    time: TimeSource = .system, lookup: @escaping NameLookup = systemNameLookup,
    nameServers: @escaping @Sendable () -> [IPAddress] = { [] }, names: NameLookupPool = .shared,
    makeSource: @escaping MakeSource = systemNetworkSource
  ) {
    self.init(
      time: time, lookup: lookup, nameServers: nameServers, names: names, makeWaiter: makeEventPoll,
      makeSource: makeSource)
  }
}

/// Makes what the threads of an engine on Linux sleep on.
package func makeEventPoll(_ time: TimeSource) throws(SystemError) -> any EventWaiter { try EventPoll() }

/// What the system's environment asks. Without an ``EventPoll`` it is polled.
package func systemNetworkSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource {
  LinuxNetwork(waiter as? EventPoll, time: time)
}

/// The name servers that `systemNameLookup` asks, by resolv.conf(5); read anew each time.
package func systemNameServers() -> [IPAddress] { NameServers.configured() }
#endif
