// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// One receiver of one monitor's states: a closure, a task or a thread.
///
/// Invariants:
/// - Two states given in a row are never equal. Each is the newest when it is given: it is read where the receiver
///   runs, after the hop to its queue or actor.
/// - They are given one at a time, in the order of change.
/// - None is given after `cancel()` has returned, except one that a thread was already about to give.
/// - The lock is never held while a handler runs or a continuation is resumed.
package final class Subscription<State: Sendable>: Sendable {
  package typealias Handler = @Sendable (Snapshot<State>) -> Void
  /// Has a block run where the handler belongs, such as on a queue or an actor.
  package typealias Scheduler = @Sendable (_ block: @escaping @Sendable () -> Void) -> Void
  /// Resumes a task or a thread, and says whether it goes on. A closure: the layout of a continuation is known at run
  /// time only, and so would be that of all that has one. Finding it out took a seventh of a program's first state.
  private typealias Waiter = @Sendable (_ goesOn: Bool) -> Void

  private struct Progress {
    /// The closure; released when it is cancelled. A receiver without one asks for each state, as a task or, for the
    /// first one, as a thread that blocks.
    var handler: Handler?
    /// What runs the closure, if no thread of the engine does.
    var schedule: Scheduler?
    /// What resumes a waiting task or thread.
    var waiter: Waiter?
    var last: Snapshot<State>?
    /// Whether the closure waits for its turn. In a child of fork(2), what the parent had scheduled does not.
    var isScheduled: Bool {
      get { scheduler == ForkCount.current }
      set { scheduler = newValue ? ForkCount.current : nil }
    }
    /// The ``ForkCount`` of the process that has scheduled it.
    var scheduler: UInt32?
    /// Whether it was woken since the state was read that the handler is about to get.
    var isWokenAgain = false
    var isCancelled = false
  }

  private let cell: StateCell<State>
  private let options: ReceiverOptions
  /// Where it waits, if a thread of the engine runs its closure.
  private let place: DeliveryPlace?
  private let progress: Lock<Progress>

  private init(
    _ cell: StateCell<State>, _ options: ReceiverOptions, _ place: DeliveryPlace?, _ progress: sending Progress
  ) {
    self.cell = cell
    self.options = options
    self.place = place
    self.progress = Lock(progress)
  }

  /// A closure that a thread of the engine runs.
  convenience init(_ cell: StateCell<State>, _ options: ReceiverOptions, handler: @escaping Handler) {
    self.init(cell, options, DeliveryPlace(), Progress(handler: handler))
  }

  /// A closure that `schedule` has run, one call at a time. It is treated as if it had been given `last`.
  convenience init(
    _ cell: StateCell<State>, _ options: ReceiverOptions, after last: Snapshot<State>? = nil,
    by schedule: @escaping Scheduler, handler: @escaping Handler
  ) {
    self.init(cell, options, nil, Progress(handler: handler, schedule: schedule, last: last))
  }

  /// A task that calls ``next()``, or a thread that calls ``first(by:)``.
  convenience init(_ cell: StateCell<State>, _ options: ReceiverOptions) { self.init(cell, options, nil, Progress()) }

  /// Ends the subscription. You can call it on any thread, inside the receiver's own handler, and several times.
  func cancel() {
    let former = progress.withLock { progress in
      defer { progress = Progress(last: progress.last, isCancelled: true) }
      return progress
    }
    // Otherwise a wait that has timed out would be searched for among all others.
    if former.isCancelled { return }
    former.waiter?(false)
    cell.remove(self)
    place?.cancel()
    // The handler and its captures are released here, outside the lock.
    withExtendedLifetime(former) {}
  }
}

extension Subscription where State: DeterminableState {
  /// Has the receiver look for a newer state. A handler waits in `queue` until a thread of the engine has it look.
  package func wake(_ queue: DeliveryQueue) {
    guard let place else { return look() }
    let isDue = progress.withLock { progress in
      if progress.isCancelled { return false }
      defer { progress.isScheduled = true }
      if progress.isScheduled { progress.isWokenAgain = true }
      return !progress.isScheduled
    }
    if isDue { queue.add(Delivery(place: place) { self.deliver() }) }
  }

  /// Resumes a waiting task or thread, or has a closure scheduled, if there is a newer state. `isBlockDone` is whether
  /// a block that was scheduled has run.
  func look(isBlockDone: Bool = false) {
    let (waiter, schedule) = progress.withLock { progress -> (Waiter?, Scheduler?) in
      if isBlockDone { progress.isScheduled = false }
      if progress.isScheduled || cell.next(after: progress.last, options) == nil { return (nil, nil) }
      progress.isScheduled = progress.schedule != nil
      defer { progress.waiter = nil }
      return (progress.waiter, progress.schedule)
    }
    waiter?(true)
    schedule? { _ = self.deliver() }
  }

  /// Takes the newest state for the receiver, if it has not had it, and the closure that gets it.
  private func take() -> (state: Snapshot<State>, handler: Handler?)? {
    progress.withLock { progress in
      progress.isWokenAgain = false
      guard let newest = cell.next(after: progress.last, options) else { return nil }
      progress.last = newest
      return (newest, progress.handler)
    }
  }

  /// Runs the closure with the newest state, if it has not had it. Returns whether it was woken meanwhile, so that a
  /// thread of the engine has to call this again.
  private func deliver() -> Bool {
    if let (state, handler) = take() { ForkGate.atRest { handler?(state) } }
    // Nobody has scheduled a state that came while the closure ran.
    if place == nil {
      look(isBlockDone: true)
      return false
    }
    return progress.withLock { progress in
      progress.isScheduled = progress.isWokenAgain
      return progress.isScheduled
    }
  }

  /// Returns the newest state, as soon as it differs from the last, or `nil` once the subscription or task is
  /// cancelled. Runs in the caller's isolation, so the state is the newest when the caller gets it.
  func next() async -> Snapshot<State>? {
    while await waitForNews(), !Task.isCancelled {
      if let state = take()?.state { return state }
    }
    return nil
  }

  /// Returns once there may be a newer state; `false` if none will be given.
  private func waitForNews() async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = progress.withLock { progress -> Bool? in
          if progress.waiter != nil || Task.isCancelled { return false }
          // First: what came before the time was over is given, even if the caller was too busy to take it by then.
          if cell.next(after: progress.last, options) != nil { return true }
          if progress.isCancelled { return false }
          progress.waiter = { continuation.resume(returning: $0) }
          return nil
        }
        if let goesOn { continuation.resume(returning: goesOn) }
      }
    } onCancel: {
      let waiter = progress.withLock { progress -> Waiter? in
        defer { progress.waiter = nil }
        return progress.waiter
      }
      waiter?(false)
    }
  }

  /// Blocks the thread until there is a first state, and returns it, or `nil` if none has come by the deadline. Call it
  /// once.
  ///
  /// The thread that tells of the state releases this one: no handler is waited for.
  func first(by deadline: DispatchTime) -> Snapshot<State>? {
    let isThere = DispatchSemaphore(value: 0)
    repeat {
      progress.withLock { $0.waiter = { _ in isThere.signal() } }
      if let known = take() { return known.state }
    } while isThere.wait(timeout: deadline) == .success
    // Once more: a state may come at the deadline, before this thread is released.
    return take()?.state
  }
}
