// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Starts the engine's core, and stands in for it while the system gives no waiter or no threads (on Linux, a waiter
/// needs descriptors), or after the waiter was lost (somebody has closed its descriptors).
///
/// Invariants:
/// - While there is no core, all that is watched reads as undetermined, and the reason says what is short. A thread
///   that needs no waiter calls handlers,
///   keeps the time, and tries every five seconds to start a core. The core then takes over all that is watched.
/// - If the system does not even give that thread, the caller that has something new for handlers calls them itself,
///   outside all locks. Every such call tries to start the thread again.
/// - Dispatch gets no work. It ends the process if it has no descriptor, and sleeps in the caller if it has no thread.
///   (Its semaphores need neither.)
final class EngineStarter: Sendable {
  private static let retryInterval: Int64 = 5_000_000_000
  /// With more timers than this, cancelled ones are removed.
  private static let timerLimit = 64

  private struct State {
    var core: EngineCore?
    /// What the next core has to watch; empty while there is a core.
    var watched: [ObjectIdentifier: EngineCommand] = [:]
    /// By the system's clock, whatever clock the engine has: a waiting thread must be released in any case.
    var timers = TimerQueue<DeliveryTimer>()
    var nextTry = Int64.min
    /// Whether the thread is to try at once.
    var isTryDue = false
    var hasThread = false
    var isStopped = false
    /// Why there is no core.
    var shortage = Reachability.Reason.denied
  }

  private let provider: EngineProvider
  /// Shared by this object and all its cores, so that handlers run one at a time, whichever thread calls them.
  private let deliveries = DeliveryQueue()
  /// Wakes the thread.
  private let wakeup = DispatchSemaphore(value: 0)
  private let state = Lock(State())
  private let forkCount = ForkCount.current

  init(_ provider: EngineProvider) {
    self.provider = provider
    retry()
  }

  /// The core, if there is one. In a forked child there is none, since its threads do not exist there.
  var core: EngineCore? { isInherited ? nil : state.withLock { $0.core } }

  /// Why there is no core, if there is none.
  var shortage: Reachability.Reason { isInherited ? .denied : state.withLock { $0.shortage } }

  /// Whether this object was made by the process that this one was forked from. Then it is of no use, and none of its
  /// locks may be taken: a thread that does not exist here may hold them.
  private var isInherited: Bool { forkCount != ForkCount.current }

  /// Tries to start a core now, if there is none.
  func retry() {
    if isInherited { return }
    let isWaiting = state.withLock { state in
      start(&state)
      return state.hasThread
    }
    // The thread that waits to retry is not needed any more.
    if isWaiting { wakeup.signal() }
  }

  /// Has the core look at the clock and at its source. If there is no core, has the waiting thread try to start one.
  func wake() {
    if isInherited { return }
    let core = state.withLock { state -> EngineCore? in
      if state.core == nil, state.hasThread { state.isTryDue = true } else { start(&state) }
      return state.core
    }
    if let core { core.wake() } else { wakeup.signal() }
  }

  /// Ends everything, soon. For any thread.
  func stop() {
    if isInherited {
      state.withLockIfAvailable { $0.core }??.abandon()
      return
    }
    let ended = state.withLock { state in
      defer { state = State(isStopped: true) }
      return (state.core, state.watched, state.timers)
    }
    ended.0?.stop()
    wakeup.signal()
    // Released outside the lock.
    withExtendedLifetime(ended) {}
  }

  /// Has the core perform the command, or notes it for the next core. The caller may hold locks: no handler runs here.
  func post(_ command: EngineCommand) {
    if isInherited { return }
    var former: EngineCore?
    while true {
      let core = state.withLock { state -> EngineCore? in
        if let core = state.core { return core }
        note(command, &state)
        return nil
      }
      // A core that has ended meanwhile takes nothing. By now another one, or this object, has taken its place.
      guard let core, core !== former else { return }
      switch core.post(command) {
      case .taken: return
      case .takenWithoutWaiter:
        deliveries.add(replace(core))
        _ = haveDelivered()
        return
      case .refused: former = core
      }
    }
  }

  /// Has handlers called soon by a thread of the engine. If the system gives no thread, they are called before this
  /// returns, and so are others that found none. Call it outside all locks.
  func deliver(_ handlers: [Delivery]) {
    if isInherited { return }
    deliveries.add(handlers)
    if !deliveries.isEmpty, !haveDelivered() { deliveries.deliver() }
  }

  /// Wakes a thread that calls the waiting handlers. Returns `false` if the system gives none.
  private func haveDelivered() -> Bool {
    while true {
      let (core, isKept) = state.withLock { state in (state.core, state.core == nil && hasThread(&state)) }
      guard let core else {
        if isKept { wakeup.signal() }
        return isKept
      }
      if core.isAwakened() { return true }
      deliveries.add(replace(core))
    }
  }

  /// Has the timer fire at its deadline. Returns `false` if there is no thread to keep the time.
  func schedule(_ timer: DeliveryTimer) -> Bool {
    if isInherited { return false }
    post(.schedule(timer))
    let (hasCore, isKept) = state.withLock { state in (state.core != nil, state.core != nil || hasThread(&state)) }
    // Wake the thread, which then sees the new deadline.
    if !hasCore { wakeup.signal() }
    return isKept
  }

  // MARK: Without a core

  /// Tries to start a core, if there is none.
  private func start(_ state: inout State) {
    if state.core != nil || state.isStopped { return }
    state.nextTry = TimeSource.system.now().addingClamped(Self.retryInterval)
    do throws(SystemError) {
      let commands = state.watched.values + state.timers.events.map { .schedule($0) }
      let core = try EngineCore(provider, deliveries, commands) { [weak self] core in
        if let self { self.deliver(self.replace(core)) }
      }
      if !core.start() {
        state.shortage = .outOfThreads
        return
      }
      state.core = core
      state.watched = [:]
      state.timers = TimerQueue()
    } catch {
      // No waiter, as before.
      state.shortage = Reachability.Reason(shortage: error.errno)
    }
  }

  /// Starts the thread that stands in for the core, if it does not run. Returns whether it runs.
  private func hasThread(_ state: inout State) -> Bool {
    if !state.hasThread, !state.isStopped {
      state.hasThread = Thread.start(named: "dialtone-retry") { self.run() }
    }
    return state.hasThread
  }

  /// Notes a command for the next core. Under the lock, so that a core that is started meanwhile has the last word on
  /// the state.
  private func note(_ command: EngineCommand, _ state: inout State) {
    if state.isStopped { return }
    switch command {
    case .watch(let subject, let epoch):
      state.watched[subject.identifier] = command
      subject.deny(epoch, for: state.shortage, realtime: provider.time.realtime())
      _ = hasThread(&state)
    case .unwatch(let subject):
      state.watched[subject.identifier] = nil
    case .schedule(let timer):
      let rest = max(0, timer.deadline.addingClamped(-provider.time.now()))
      state.timers.add(timer, at: TimeSource.system.now().addingClamped(rest))
    case .forgetTimer:
      if state.timers.count > Self.timerLimit { state.timers.removeAll(where: \.isCancelled) }
    case .lookupEnded:
      // This is an answer for an earlier core.
      break
    }
  }

  private func run() {
    while true {
      deliveries.deliver()
      let (due, pause) = state.withLock { state -> ([DeliveryTimer], Int64?) in
        let now = TimeSource.system.now()
        var due: [DeliveryTimer] = []
        while let timer = state.timers.popDue(now) { due.append(timer) }
        // If a test moves the clock, there is no time to retry by itself.
        let isToRetry = provider.time.passes && !state.watched.isEmpty
        if state.isTryDue || isToRetry && state.nextTry <= now { start(&state) }
        state.isTryDue = false
        // A test that moves the clock also wakes this thread.
        let retry = state.watched.isEmpty ? nil : provider.time.passes ? state.nextTry : .max
        let next = [state.timers.next, retry].compactMap { $0 }.min()
        guard let next, state.core == nil, !state.isStopped else {
          state.hasThread = false
          return (due, nil)
        }
        return (due, next == .max ? .max : max(0, next - now))
      }
      for timer in due { timer.fire() }
      guard let pause else { break }
      _ = wakeup.wait(timeout: pause == .max ? .distantFuture : .now() + .nanoseconds(Int(clamping: pause)))
    }
    // Handlers may have been added just before, and each counts on being called.
    deliveries.deliver()
  }

  /// Replaces a core whose waiter is lost, by another one or by this object. Returns the handlers to call.
  private func replace(_ lost: EngineCore) -> [Delivery] {
    if isInherited { return [] }
    let watched = state.withLock { state -> [EngineCommand] in
      if state.core !== lost { return [] }
      state.core = nil
      for command in lost.handOver() { take(command, &state) }
      let watched = Array(state.watched.values)
      start(&state)
      if state.core == nil {
        for command in watched { note(command, &state) }
      }
      return watched
    }
    // States held back for settling are told now, since nobody would look at them again.
    return watched.flatMap(\.wokenReceivers)
  }

  /// Like `note`, but another core may follow at once: nothing is denied.
  private func take(_ command: EngineCommand, _ state: inout State) {
    guard case .watch(let subject, let epoch) = command else { return note(command, &state) }
    state.watched[subject.identifier] = command
    subject.release(epoch)
  }
}

extension EngineCommand {
  /// The receivers to wake of what the command watches.
  fileprivate var wokenReceivers: [Delivery] {
    if case .watch(let subject, _) = self { subject.wakeReceivers() } else { [] }
  }
}
