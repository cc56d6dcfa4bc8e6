// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Where monitors get their knowledge from: the system, or a script in tests.
///
/// All monitors of one environment share one engine, which starts with the first and ends with the last of them.
public struct ReachabilityEnvironment: Sendable {
  package let provider: EngineProvider

  package init(_ provider: EngineProvider) { self.provider = provider }

  /// The network of this process, as its kernel tells it.
  public static let system = ReachabilityEnvironment(.system)

  /// The environment of what is made without one: the system. A test binds another, so that code which names none runs
  /// in a network of the test's.
  @TaskLocal package static var assumed = ReachabilityEnvironment.system
}

extension EngineProvider {
  /// The provider of the engine for this process's network, made of what the platform has.
  package static let system = EngineProvider(nameServers: systemNameServers)

  /// Like the system's provider, except for the given parts.
  package convenience init(
    time: TimeSource = .system, lookup: @escaping NameLookup = systemNameLookup,
    nameServers: @escaping @Sendable () -> [IPAddress] = { [] }, names: NameLookupPool = .shared,
    makeSource: @escaping MakeSource = systemNetworkSource
  ) {
    self.init(
      time: time, lookup: lookup, nameServers: nameServers, names: names, makeWaiter: systemWaiter,
      makeSource: makeSource)
  }
}
