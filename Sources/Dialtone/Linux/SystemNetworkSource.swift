// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension EngineProvider {
  /// The provider of the engine for this process's network.
  package static let system = EngineProvider(nameServers: systemNameServers)

  /// Like the system's provider, except for the given parts.
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

/// Makes the waiter of an engine on Linux.
package func makeEventPoll(_ time: TimeSource) throws(SystemError) -> any EventWaiter { try EventPoll() }

/// Makes the source of the system's environment. Without an ``EventPoll`` it is polled.
func systemNetworkSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource {
  LinuxNetwork(waiter, time: time)
}

/// Returns the name servers that `systemNameLookup` asks, by resolv.conf(5). Reads the file anew each time.
func systemNameServers() -> [IPAddress] { NameServers.configured() }
#endif
