// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Where monitors get their knowledge from: the system, or a script in tests.
///
/// All monitors of one environment share one engine, which starts with the first and ends with the last of them.
public struct ReachabilityEnvironment: Sendable {
  package let slot: EngineSlot

  package init(_ slot: EngineSlot) { self.slot = slot }

  /// The network of this process, as its kernel tells it.
  public static let system = ReachabilityEnvironment(
    EngineSlot(
      clock: .system, lookup: systemNameLookup, nameServers: systemNameServers, makeSource: systemNetworkSource))
}

/// What an engine is made of, and the one that runs, if any.
package final class EngineSlot: Sendable {
  private struct Running {
    weak var engine: NetworkEngine?
    /// The engine is of the process of this number.
    var forkCount: UInt32 = 0
  }

  package let clock: EngineClock
  package let lookup: NameLookup
  /// Whom `lookup` asks, where that is known. Called where that may block.
  package let nameServers: @Sendable () -> [IPAddress]
  package let names: NameLookupPool
  let makeSource: @Sendable () -> any NetworkSource
  private let running = Lock(Running())

  package init(
    clock: EngineClock, lookup: @escaping NameLookup, nameServers: @escaping @Sendable () -> [IPAddress] = { [] },
    names: NameLookupPool = .shared, makeSource: @escaping @Sendable () -> any NetworkSource
  ) {
    self.clock = clock
    self.lookup = lookup
    self.nameServers = nameServers
    self.names = names
    self.makeSource = makeSource
  }

  /// The engine that runs, or else a new one.
  package func engine() -> NetworkEngine {
    running.withLock { running in
      let forkCount = ForkCount.current
      if running.forkCount == forkCount, let engine = running.engine {
        // Where it found no descriptors or threads, there may be some by now.
        engine.retry()
        return engine
      }
      let engine = NetworkEngine(self)
      running = Running(engine: engine, forkCount: forkCount)
      return engine
    }
  }

  /// The engine that runs, if one does.
  package var runningEngine: NetworkEngine? { running.withLock { $0.engine } }
}
