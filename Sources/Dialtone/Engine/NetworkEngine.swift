// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// What monitors hold of the engine: while one of them does, it runs; when the last lets go, it ends.
package final class NetworkEngine: Sendable {
  /// `nil` where the system had no descriptors or threads to give; then nothing can be known.
  private let core: EngineCore?
  package let clock: EngineClock

  init(environment: EngineSlot) {
    clock = environment.clock
    do {
      let core = try EngineCore(
        clock: environment.clock, lookup: environment.lookup, names: environment.names,
        makeSource: environment.makeSource)
      self.core = core.start() ? core : nil
    } catch {
      // Out of descriptors. Monitors say so: undetermined, denied.
      core = nil
    }
  }

  deinit { core?.stop() }

  var isRunning: Bool { core != nil }

  func add(_ storage: MonitorStorage) {
    guard let core else {
      let state = Reachability(status: .undetermined, reason: .denied, realtime: EngineClock.realtime())
      let epoch = storage.assignment.epoch
      if storage.store(state, of: epoch) { storage.release(epoch) }
      deliver(storage.wakeReceivers())
      return
    }
    core.post(.add(storage))
  }

  func add(_ storage: ValueStorage<NetworkPath>, _ configuration: PathConfiguration) {
    guard let core else {
      var path = NetworkPath.denied
      path.realtime = EngineClock.realtime()
      let epoch = storage.epoch
      if storage.store(path, of: epoch) { storage.release(epoch) }
      deliver(storage.wakeReceivers())
      return
    }
    core.post(.addPath(storage, configuration))
  }

  func remove(_ storage: ValueStorage<NetworkPath>) { core?.post(.removePath(storage)) }

  func remove(_ storage: MonitorStorage) { core?.post(.remove(storage)) }

  /// Runs a receiver's handler on a thread of the engine, soon: the caller has something new for it.
  package func deliver(_ handlers: [any Deliverable]) {
    if handlers.isEmpty { return }
    if let core {
      core.deliver(handlers)
    } else {
      DispatchQueue.global().async {
        for handler in handlers {
          while handler.deliver() {}
        }
      }
    }
  }

  /// What is true of a target now, asked on the calling thread. Waits for no network; a turn of the engine that is under way
  /// is waited for.
  func answer(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) -> Reachability {
    core?.answer(target, configuration) ?? .denied
  }

  /// The addresses of a name that monitors have looked up within the last second; `nil` where none has.
  package func recentAddresses(of host: HostName, _ family: IPAddress.Family?) -> [IPAddress]? {
    core?.recentAddresses(of: NameRecord.Key(host: host, family: family))
  }

  /// Returns once everything that the system had told until now has been read, and decided for all targets.
  func settled() async {
    await withCheckedContinuation { continuation in
      // Timers that are due fire at the end of a turn.
      _ = schedule(after: .zero) { continuation.resume() }
    }
  }

  /// Calls `action` on a thread of the engine after `delay`, unless the timer is cancelled before.
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> EngineTimer {
    let timer = EngineTimer(at: clock.now().addingClamped(max(0, delay.nanosecondsClamped)), action)
    if let core {
      core.post(.schedule(timer))
    } else {
      // Nothing will change, but a wait has to last as long as was asked.
      let nanoseconds = Int(max(0, delay.nanosecondsClamped))
      DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { timer.fire() }
    }
    return timer
  }

  package func cancel(_ timer: EngineTimer) {
    timer.cancel()
    core?.post(.forgetTimer)
  }

  /// Has the engine look at the clock and at its source, which have been moved by hand.
  package func wake() { core?.wake() }
}
