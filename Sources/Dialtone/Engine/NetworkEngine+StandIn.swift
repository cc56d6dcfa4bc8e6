// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// What stands in for the threads while the system gives no waiter or no threads (on Linux, a waiter needs
/// descriptors), or after the waiter was lost (somebody has closed its descriptors).
///
/// Invariants:
/// - While there is no waiter, all that is watched reads as undetermined, and the reason says what is short. A thread
///   that needs no waiter calls handlers, keeps the time, and tries every five seconds to get a waiter. The engine's
///   threads then take over all that is watched.
/// - If the system does not even give that thread, the caller that has something new for handlers calls them itself,
///   outside all locks. Every such call tries to start the thread again.
/// - Dispatch gets no work. It ends the process if it has no descriptor, and sleeps in the caller if it has no thread.
///   (Its semaphores need neither.)
extension NetworkEngine {
  struct StandIn {
    /// What is to be watched; empty while there is a waiter.
    var watched: [ObjectIdentifier: EngineCommand] = [:]
    /// By the system's clock, even if the engine has another one: a waiting thread must be released in any case.
    var timers = TimerQueue<DeliveryTimer>()
    var nextTry = Int64.min
    var isTryDue = false
    var hasThread = false
    /// Why there is no waiter.
    var shortage = Reachability.Reason.denied
  }

  private static let retryInterval: Int64 = 5_000_000_000
  /// With more timers than this, cancelled ones are removed.
  private static let timerLimit = 64

  /// Tries at once to get a waiter, if there is none.
  func retry() {
    if isInherited { return }
    let isWaiting = control.withLock { control in
      start(&control)
      return control.standIn.hasThread
    }
    // The thread that waits to retry is not needed any more.
    if isWaiting { wakeup.signal() }
  }

  /// Makes a waiter and starts the threads, if there is no waiter and the calling thread is in their network namespace.
  func start(_ control: inout Control) {
    if control.waiter != nil { return }
    control.standIn.nextTry = TimeSource.system.now().addingClamped(Self.retryInterval)
    if !namespace.isCurrent { return }
    do throws(SystemError) {
      let waiter = try provider.makeWaiter(time)
      if !startThreads(waiter) {
        control.standIn.shortage = .outOfThreads
        return
      }
      control.waiter = waiter
      control.commands = Few(control.standIn.watched.values)
      for timer in control.standIn.timers.events { control.commands.append(.schedule(timer)) }
      control.standIn.watched = [:]
      control.standIn.timers = TimerQueue()
    } catch {
      // None, as before.
      control.standIn.shortage = Reachability.Reason(shortage: error.errno)
    }
  }

  /// Replaces a waiter that is lost, and the threads that wait there. The caller then has what waits delivered. Waits
  /// for a turn that is under way, which leaves its commands in the state.
  func replace(_ lost: any EventWaiter) {
    if isInherited { return }
    let commands = known.opened.withLock { opened -> [EngineCommand] in
      // Released outside the inner lock.
      var former: Opened?
      defer { withExtendedLifetime(former) {} }
      return control.withLock { control -> [EngineCommand] in
        // Another caller has replaced it: what is known belongs to the new one.
        if control.waiter !== lost { return [] }
        former = opened.take()
        let commands: [EngineCommand] = (former?.state.commands ?? []) + control.commands
        control.waiter = nil
        control.commands = []
        start(&control)
        for command in commands {
          // States held back for settling are told now, since nobody would look at them again.
          if case .watch(let subject, let epoch) = command { subject.release(epoch) }
          if control.waiter == nil { note(command, &control) } else { control.commands.append(command) }
        }
        return commands
      }
    }
    for case .watch(let subject, _) in commands { subject.wakeReceivers(deliveries) }
  }

  /// Notes a command until there is a waiter. Under the lock, so that a turn that begins meanwhile has the last word on
  /// the state.
  func note(_ command: EngineCommand, _ control: inout Control) {
    switch command {
    case .watch(let subject, let epoch):
      control.standIn.watched[subject.identifier] = command
      subject.deny(epoch, for: control.standIn.shortage, realtime: time.realtime())
      _ = hasThread(&control)
    case .unwatch(let subject):
      control.standIn.watched[subject.identifier] = nil
    case .schedule(let timer):
      let rest = max(0, timer.deadline.addingClamped(-time.now()))
      control.standIn.timers.add(timer, at: TimeSource.system.now().addingClamped(rest))
    case .forgetTimer:
      if control.standIn.timers.count > Self.timerLimit {
        control.standIn.timers.removeAll(where: \.isCancelled)
      }
    case .lookupEnded:
      // This is an answer for an earlier state.
      break
    }
  }

  // MARK: The thread that stands in

  /// Starts the thread, if it does not run. Returns whether it runs.
  func hasThread(_ control: inout Control) -> Bool {
    if !control.standIn.hasThread {
      control.standIn.hasThread = Thread.start(named: "dialtone-retry") { [weak self, wakeup, deliveries] in
        while true {
          deliveries.deliver()
          guard let pause = self?.standIn() else { break }
          let end = pause == .max ? DispatchTime.distantFuture : .now() + .nanoseconds(Int(clamping: pause))
          _ = ForkGate.atRest { wakeup.wait(timeout: end) }
        }
        // Handlers may have been added just before, and each counts on being called.
        deliveries.deliver()
      }
    }
    return control.standIn.hasThread
  }

  /// Fires the timers that are due, and tries to get a waiter. Returns for how many nanoseconds to sleep, or `nil` if
  /// the thread is not needed any more.
  private func standIn() -> Int64? {
    let (due, pause) = control.withLock { control -> ([DeliveryTimer], Int64?) in
      let now = TimeSource.system.now()
      var due: [DeliveryTimer] = []
      while let timer = control.standIn.timers.popDue(now) { due.append(timer) }
      // If a test moves the clock, there is no time to retry by itself.
      let isToRetry = time.passes && !control.standIn.watched.isEmpty
      if control.standIn.isTryDue || isToRetry && control.standIn.nextTry <= now { start(&control) }
      control.standIn.isTryDue = false
      // A test that moves the clock also wakes this thread.
      let retry = control.standIn.watched.isEmpty ? nil : time.passes ? control.standIn.nextTry : .max
      let next = [control.standIn.timers.next, retry].compactMap { $0 }.min()
      guard let next, control.waiter == nil else {
        control.standIn.hasThread = false
        return (due, nil)
      }
      return (due, next == .max ? .max : max(0, next - now))
    }
    for timer in due { timer.fire() }
    return pause
  }
}
