// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
internal import CDialtoneSystem
internal import Netlink

// What the rest of the library asks of its platform. It cannot be compiled elsewhere: CONTRIBUTING.md lists what it
// relies on.

extension EngineProvider {
  /// The provider of the engine for this machine's network.
  package static let system = EngineProvider()

  /// Like the system's provider, except for the given parts.
  package convenience init(
    time: TimeSource = .system, lookup: @escaping NameLookup = systemNameLookup,
    nameServers: @escaping @Sendable () -> [IPAddress] = { [] }, names: NameLookupPool = .shared,
    makeSource: @escaping MakeSource = systemNetworkSource
  ) {
    self.init(
      time: time, lookup: lookup, nameServers: nameServers, names: names,
      makeWaiter: { time throws(SystemError) in SemaphoreWaiter(time) }, makeSource: makeSource)
  }
}

func systemNetworkSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource {
  AppleNetwork(waiter, time: time)
}
#endif
