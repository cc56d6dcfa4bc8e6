// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// What monitors hold of the engine: while one of them does, it runs; when the last lets go, it ends.
package final class NetworkEngine: Sendable {
  /// `nil` where the system had no descriptors or threads to give; then nothing can be known.
  private let core: EngineCore?
  private let clock: EngineClock

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
      storage.store(
        Reachability(status: .undetermined, reason: .denied, realtime: EngineClock.realtime()))
      return
    }
    core.post(.add(storage))
  }

  func remove(_ storage: MonitorStorage) { core?.post(.remove(storage)) }

  /// Runs the handler of a new receiver, if there is a state that it can be given.
  func deliverFirst(_ subscription: Subscription) {
    if !subscription.wake() { return }
    if let core {
      core.deliver(subscription)
    } else {
      DispatchQueue.global().async { subscription.deliver() }
    }
  }

  /// Calls `action` on a thread of the engine after `delay`, unless the timer is cancelled before.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> EngineTimer {
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

  func cancel(_ timer: EngineTimer) {
    timer.cancel()
    core?.post(.forgetTimer)
  }

  /// Has the engine look at the clock and at its source, which have been moved by hand.
  package func wake() { core?.wake() }
}
