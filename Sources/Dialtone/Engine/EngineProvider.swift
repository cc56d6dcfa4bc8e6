// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What an engine is made of, and the one that runs, if any.
package final class EngineProvider: Sendable {
  package typealias MakeWaiter = @Sendable (TimeSource) throws(SystemError) -> any EventWaiter
  package typealias MakeSource = @Sendable (any EventWaiter, TimeSource) -> any NetworkSource

  private struct Running {
    weak var engine: NetworkEngine?
    /// The ``ForkCount`` of the process that started the engine.
    var forkCount: UInt32 = 0
  }

  package let time: TimeSource
  package let lookup: NameLookup
  /// Returns the servers that `lookup` asks, if they are known. It may block.
  package let nameServers: @Sendable () -> [IPAddress]
  package let names: NameLookupPool
  package let makeWaiter: MakeWaiter
  package let makeSource: MakeSource
  private let running = Lock(Running())

  /// `makeWaiter` makes what the engine's threads sleep on; it throws if the system has nothing left for it.
  /// `makeSource` makes a source that has its events awaited there. It is mostly called on a thread of the engine, and
  /// may take a while.
  package init(
    time: TimeSource, lookup: @escaping NameLookup, nameServers: @escaping @Sendable () -> [IPAddress] = { [] },
    names: NameLookupPool = .shared,
    makeWaiter: @escaping MakeWaiter,
    makeSource: @escaping MakeSource
  ) {
    self.time = time
    self.lookup = lookup
    self.nameServers = nameServers
    self.names = names
    self.makeWaiter = makeWaiter
    self.makeSource = makeSource
  }

  /// Returns the engine that runs, or a new one.
  package func engine() -> NetworkEngine {
    running.withLock { running in
      let forkCount = ForkCount.current
      if running.forkCount == forkCount, let engine = running.engine {
        // The system may have had nothing to wait with, or no threads, and have some by now.
        engine.retry()
        return engine
      }
      // First, since the new engine's descriptors may get the numbers of the parent's, if they were closed here.
      running.engine?.abandon()
      let engine = NetworkEngine(self)
      running = Running(engine: engine, forkCount: forkCount)
      return engine
    }
  }

  package var runningEngine: NetworkEngine? { running.withLock { $0.engine } }
}
