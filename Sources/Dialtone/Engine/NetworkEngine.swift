// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What monitors hold of the engine: while one of them does, it runs; when the last lets go, it ends.
///
/// In a child of fork(2) the engine of the parent does nothing any more; monitors get another one (``Watch``).
package final class NetworkEngine: Sendable {
  private let starter: EngineStarter
  package let clock: EngineClock

  init(_ slot: EngineSlot) {
    clock = slot.clock
    starter = EngineStarter(slot)
  }

  deinit { starter.stop() }

  /// Tries again at once where the system had no descriptors or threads to give.
  func retry() { if starter.core == nil { starter.retry() } }

  /// Has the states of its target stored, as those of its present epoch. The caller has its receivers woken, outside
  /// all locks.
  func add(_ storage: MonitorStorage) {
    let (target, epoch) = storage.assignment
    starter.post(.add(storage, target, epoch))
  }

  /// Has the paths that the configuration allows stored, as those of its present epoch. The caller has its receivers
  /// woken, outside all locks.
  func add(_ storage: ValueStorage<NetworkPath>, _ configuration: PathConfiguration) {
    starter.post(.addPath(storage, configuration, storage.epoch))
  }

  func remove(_ storage: ValueStorage<NetworkPath>) { starter.post(.removePath(storage)) }

  func remove(_ storage: MonitorStorage) { starter.post(.remove(storage)) }

  /// Runs receivers' handlers, soon: the caller has something new for them, and holds no lock. A thread of the engine
  /// does, or, where the system has no thread to give, the caller's.
  package func deliver(_ handlers: [any Deliverable]) { starter.deliver(handlers) }

  /// What is true of a target now, asked on the calling thread. Waits for no network; a turn of the engine that is under way
  /// is waited for.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    starter.core?.answer(target, configuration) ?? .denied
  }

  /// The addresses of a name that monitors have looked up within the last second; `nil` where none has.
  package func recentAddresses(of host: HostName, _ family: IPAddress.Family?) -> [IPAddress]? {
    starter.core?.recentAddresses(of: NameRecord.Key(host: host, family: family))
  }

  /// Returns once everything that the system had told until now has been read, and decided for all targets.
  func settled() async {
    await withCheckedContinuation { continuation in
      // Timers that are due fire at the end of a turn. Without an engine there is nothing to wait for.
      let timer = schedule(after: .zero) { continuation.resume() }
      if timer == nil { continuation.resume() }
    }
  }

  /// Calls `action` on a thread of the engine after `delay`, unless the timer is cancelled before. Answers `nil`, and
  /// never calls it, where the system has no thread to give that could keep the time.
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> EngineTimer? {
    let timer = EngineTimer(at: clock.now().addingClamped(max(0, delay.nanosecondsClamped)), action)
    if starter.schedule(timer) { return timer }
    timer.cancel()
    return nil
  }

  package func cancel(_ timer: EngineTimer) {
    timer.cancel()
    starter.post(.forgetTimer)
  }

  /// Has the engine look at the clock and at its source, which have been moved by hand.
  package func wake() { starter.wake() }
}
