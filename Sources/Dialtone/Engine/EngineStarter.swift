// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Starts the engine's core, and stands in for it while the system has no descriptors or threads to give, or after
/// somebody has closed its descriptors.
///
/// Invariants: while there is no core, all that is watched reads `denied`; a thread that needs no descriptor calls
/// handlers, keeps the time, and tries every five seconds to start one, which then takes over all that is watched.
/// Where not even that thread is to be had, handlers are called by whoever has something new for them, outside all
/// locks; every call tries for the thread again. No work is given to Dispatch, which ends the process where it has no
/// descriptor, and sleeps in the caller where it has no thread. (Its semaphores need neither.)
final class EngineStarter: Sendable {
  private static let retryInterval: Int64 = 5_000_000_000
  /// Cancelled timers are looked for beyond so many.
  private static let timerLimit = 64

  private struct State {
    var core: EngineCore?
    /// What is watched, for a core to be told; empty while there is one.
    var watched: [ObjectIdentifier: EngineCommand] = [:]
    /// By the system's clock: who waits has to be let go, whatever clock the engine goes by.
    var timers = TimerQueue<DeliveryTimer>()
    var nextTry = Int64.min
    /// The thread is to try at once.
    var isTryDue = false
    var hasThread = false
    var isStopped = false
  }

  private let provider: EngineProvider
  /// One for this and all its cores: handlers are called one at a time, whoever calls them.
  private let deliveries = DeliveryQueue()
  /// Wakes the thread.
  private let wakeup = DispatchSemaphore(value: 0)
  private let state = Lock(State())
  private let forkCount = ForkCount.current

  init(_ provider: EngineProvider) {
    self.provider = provider
    retry()
  }

  /// The core, if there is one. In a forked child its threads are not: then there is none.
  var core: EngineCore? { isInherited ? nil : state.withLock { $0.core } }

  /// Whether this is of the process that this one was forked from. It is of no use then, and none of its locks is
  /// taken: a thread that is no more may hold them.
  private var isInherited: Bool { forkCount != ForkCount.current }

  /// Tries to start a core now, if there is none.
  func retry() {
    if isInherited { return }
    let isWaiting = state.withLock { state in
      start(&state)
      return state.hasThread
    }
    // If a thread waits to do so, it is of no use any more.
    if isWaiting { wakeup.signal() }
  }

  /// Has the core look at the clock and at its source; where there is none, has another one tried, by the thread that
  /// waits to do so.
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
    // What they hold is released outside the lock.
    withExtendedLifetime(ended) {}
  }

  /// Has the core do what the command says, or notes it for the one to come.
  func post(_ command: EngineCommand) {
    if isInherited { return }
    var former: EngineCore?
    while true {
      let core = state.withLock { state -> EngineCore? in
        if let core = state.core { return core }
        note(command, &state)
        return nil
      }
      // One that has surrendered meanwhile takes nothing; another one, or this, has its place by now.
      guard let core, core !== former, !core.post(command) else { return }
      former = core
    }
  }

  /// Has handlers called, soon: by a thread of the engine's, or, where there is none to be had, before this returns. To
  /// be called outside all locks.
  func deliver(_ handlers: [any Deliverable]) {
    if handlers.isEmpty || isInherited { return }
    deliveries.add(handlers)
    let (core, isKept) = state.withLock { state in (state.core, state.core == nil && hasThread(&state)) }
    if let core {
      core.wake()
    } else if isKept {
      wakeup.signal()
    } else {
      deliveries.deliver()
    }
  }

  /// Has the timer fire at its deadline. Returns `false` where there is no thread that could keep the time.
  func schedule(_ timer: DeliveryTimer) -> Bool {
    if isInherited { return false }
    post(.schedule(timer))
    let (hasCore, isKept) = state.withLock { state in (state.core != nil, state.core != nil || hasThread(&state)) }
    // The thread looks when it is due.
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
      let core = try EngineCore(provider, deliveries, commands) { [weak self] in self?.replace($0) }
      if !core.start() { return }
      state.core = core
      state.watched = [:]
      state.timers = TimerQueue()
    } catch {
      // No descriptors, as before. What is watched reads `denied`.
    }
  }

  /// Whether there is a thread that stands in for the core; starts it where there is none.
  private func hasThread(_ state: inout State) -> Bool {
    if !state.hasThread, !state.isStopped {
      state.hasThread = Thread.start(named: "dialtone-retry") { self.run() }
    }
    return state.hasThread
  }

  /// Under the lock, so that a core which is started meanwhile has the last word on the state.
  private func note(_ command: EngineCommand, _ state: inout State) {
    if state.isStopped { return }
    switch command {
    case .watch(let subject, let epoch):
      state.watched[ObjectIdentifier(subject.cell)] = command
      subject.cell.deny(epoch, realtime: provider.time.realtime())
      _ = hasThread(&state)
    case .unwatch(let cell):
      state.watched[ObjectIdentifier(cell)] = nil
    case .schedule(let timer):
      let rest = max(0, timer.deadline.addingClamped(-provider.time.now()))
      state.timers.add(timer, at: TimeSource.system.now().addingClamped(rest))
    case .forgetTimer:
      if state.timers.count > Self.timerLimit { state.timers.removeAll(where: \.isCancelled) }
    case .lookupEnded:
      // Of an earlier core.
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
        // By a clock that a test moves, the time for it never comes.
        let isToRetry = provider.time.passes && !state.watched.isEmpty
        if state.isTryDue || isToRetry && state.nextTry <= now { start(&state) }
        state.isTryDue = false
        // Where a test moves the clock, it wakes this thread, too.
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
    // What was added just before: each of these handlers counts on being asked.
    deliveries.deliver()
  }

  /// Has another core, or this, go on where somebody has closed the core's descriptors.
  private func replace(_ lost: EngineCore) {
    if isInherited { return }
    let watched = state.withLock { state -> [EngineCommand] in
      if state.core !== lost { return [] }
      state.core = nil
      for command in lost.surrender() { take(command, &state) }
      let watched = Array(state.watched.values)
      start(&state)
      if state.core == nil {
        for command in watched { note(command, &state) }
      }
      return watched
    }
    // What was held back until it has settled is held back no more: nobody would look again.
    deliver(watched.flatMap(\.wokenReceivers))
  }

  /// As `note`, where there may be another core at once.
  private func take(_ command: EngineCommand, _ state: inout State) {
    guard case .watch(let subject, let epoch) = command else { return note(command, &state) }
    state.watched[ObjectIdentifier(subject.cell)] = command
    subject.cell.release(epoch)
  }
}

extension EngineCommand {
  /// Of what the command has watched.
  fileprivate var wokenReceivers: [any Deliverable] {
    if case .watch(let subject, _) = self { subject.cell.wakeReceivers() } else { [] }
  }
}
