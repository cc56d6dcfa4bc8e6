// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// One receiver of one monitor's states: a closure, a task or a thread.
///
/// Invariants:
/// - Two states given in a row are never equal. Each is the newest when it is given.
/// - They are given one at a time, in the order of change.
/// - None is given after `cancel()` has returned, except one that a thread was already about to give.
/// - The lock is never held while a handler runs or a continuation is resumed.
package final class Subscription<State: Sendable>: Sendable {
  package typealias Handler = @Sendable (Snapshot<State>) -> Void
  /// Resumes a task or a thread. A closure: the layout of a continuation is known at run time only, and so would be
  /// that of all that has one. Finding it out took a seventh of a program's first state.
  private typealias Waiter = @Sendable (Snapshot<State>?) -> Void

  /// How the receiver gets states.
  private enum Kind {
    /// By a closure that a thread of the engine runs.
    case handler
    /// By a closure that a dispatch queue runs.
    case queue
    /// By asking for each, as a task or, for the first one, as a thread that blocks.
    case task
    /// No more.
    case cancelled
  }

  /// What a task that asks for the next state gets.
  private enum Next {
    case state(Snapshot<State>)
    /// It has to wait.
    case pending
    case ended
  }

  /// Parts instead of an enumeration with payloads: of a generic type, such a payload is copied with all that it may
  /// be.
  private struct Progress {
    var kind: Kind
    /// The closure of a handler or queue; released when it is cancelled.
    var handler: Handler?
    var dispatchQueue: DispatchQueue?
    /// What resumes a waiting task or thread.
    var waiter: Waiter?
    var last: Snapshot<State>?
    /// For a handler: it waits for its turn. For a queue: it has a block of this subscription. In a child of fork(2),
    /// what the parent had scheduled is not.
    var isScheduled: Bool {
      get { scheduler == ForkCount.current }
      set { scheduler = newValue ? ForkCount.current : nil }
    }
    /// The ``ForkCount`` of the process that has scheduled it.
    var scheduler: UInt32?
    /// Whether it was woken since the state was read that the handler is about to get.
    var isWokenAgain = false
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
    self.init(cell, options, DeliveryPlace(), Progress(kind: .handler, handler: handler))
  }

  /// A closure that `queue` runs, one call at a time even if the queue is concurrent.
  convenience init(
    _ cell: StateCell<State>, _ options: ReceiverOptions, queue: DispatchQueue, handler: @escaping Handler
  ) {
    self.init(cell, options, nil, Progress(kind: .queue, handler: handler, dispatchQueue: queue))
  }

  /// A task that calls ``next()``, or a thread that calls ``first(by:)``. It is treated as if it had been given `last`.
  convenience init(_ cell: StateCell<State>, _ options: ReceiverOptions, after last: Snapshot<State>? = nil) {
    self.init(cell, options, nil, Progress(kind: .task, last: last))
  }

  /// Ends the subscription. You can call it on any thread, inside the receiver's own handler, and several times.
  func cancel() {
    let former = progress.withLock { progress in
      defer { progress = Progress(kind: .cancelled, last: progress.last, scheduler: progress.scheduler) }
      return progress
    }
    former.waiter?(nil)
    cell.remove(self)
    place?.cancel()
    // The handler and its captures are released here, outside the lock.
    withExtendedLifetime(former) {}
  }
}

extension Subscription where State: DeterminableState {
  /// Looks for a newer state, and resumes a waiting task or thread, or puts a block on a dispatch queue. A handler
  /// waits in `queue` until a thread of the engine has it look.
  package func wake(_ queue: DeliveryQueue) {
    guard let place else { return lookAndPerform() }
    let isDue = progress.withLock { progress in
      if progress.kind != .handler { return false }
      defer { progress.isScheduled = true }
      if progress.isScheduled { progress.isWokenAgain = true }
      return !progress.isScheduled
    }
    if isDue { queue.add(Delivery(place: place) { self.deliver() }) }
  }

  /// For all others. `isBlockDone` is whether a block on a queue has run.
  private func lookAndPerform(isBlockDone: Bool = false) {
    var given: Snapshot<State>?
    let (waiter, queue) = progress.withLock { progress -> (Waiter?, DispatchQueue?) in
      if isBlockDone { progress.isScheduled = false }
      guard let newest = cell.next(after: progress.last, options) else { return (nil, nil) }
      if progress.kind == .queue, !progress.isScheduled {
        progress.isScheduled = true
        return (nil, progress.dispatchQueue)
      }
      guard progress.kind == .task, let waiter = progress.waiter else { return (nil, nil) }
      progress.last = newest
      progress.waiter = nil
      given = newest
      return (waiter, nil)
    }
    waiter?(given)
    queue?.async { _ = self.deliver() }
  }

  /// Runs the closure with the newest state, if it has not had it. Returns whether it was woken meanwhile, so that a
  /// thread of the engine has to call this again.
  private func deliver() -> Bool {
    var given: Snapshot<State>?
    let handler = progress.withLock { progress -> Handler? in
      progress.isWokenAgain = false
      guard let handler = progress.handler, let newest = cell.next(after: progress.last, options) else { return nil }
      progress.last = newest
      given = newest
      return handler
    }
    if let handler, let given { ForkGate.atRest { handler(given) } }
    // Nobody has scheduled a state that came while the closure ran.
    if place == nil {
      lookAndPerform(isBlockDone: true)
      return false
    }
    return progress.withLock { progress in
      progress.isScheduled = progress.isWokenAgain
      return progress.isScheduled
    }
  }

  /// Returns the next state, as soon as one differs from the last, or `nil` once the subscription or task is cancelled.
  func next() async -> Snapshot<State>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let next = progress.withLock { progress -> Next in
          guard progress.kind == .task, progress.waiter == nil, !Task.isCancelled else { return .ended }
          if let newest = cell.next(after: progress.last, options) {
            progress.last = newest
            return .state(newest)
          }
          progress.waiter = { continuation.resume(returning: $0) }
          return .pending
        }
        switch next {
        case .state(let state): continuation.resume(returning: state)
        case .ended: continuation.resume(returning: nil)
        case .pending: break
        }
      }
    } onCancel: {
      let waiter = progress.withLock { progress -> Waiter? in
        defer { progress.waiter = nil }
        return progress.waiter
      }
      waiter?(nil)
    }
  }

  /// Blocks the thread until there is a first state, and returns it, or `nil` if none has come by the deadline. Call it
  /// once.
  ///
  /// The thread that tells of the state releases this one: no handler is waited for.
  func first(by deadline: DispatchTime) -> Snapshot<State>? {
    let isThere = DispatchSemaphore(value: 0)
    let known = progress.withLock { progress in
      if progress.kind == .task, progress.waiter == nil { progress.waiter = { _ in isThere.signal() } }
      return cell.next(after: nil, options)
    }
    if let known { return known }
    _ = isThere.wait(timeout: deadline)
    // Once more: a state may come at the deadline, before this thread is released.
    return progress.withLock { $0.last } ?? cell.next(after: nil, options)
  }
}
