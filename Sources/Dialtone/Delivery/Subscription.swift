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
package final class Subscription<State: Sendable>: Deliverable {
  typealias Handler = @Sendable (Told<State>) -> Void
  typealias Waiter = CheckedContinuation<Told<State>?, Never>

  /// How the receiver gets states.
  private enum Kind {
    /// By a closure that a thread of the executor runs.
    case handler
    /// By a closure that a dispatch queue runs.
    case queue
    /// By asking for each.
    case task
    /// By blocking until there is a first one.
    case thread
    /// No more.
    case cancelled
  }

  /// A closure as an object. A closure that is taken out of a generic type is wrapped anew each time, in memory of its
  /// own.
  private final class Called: Sendable {
    let body: Handler

    init(_ body: @escaping Handler) { self.body = body }

    func call(_ told: Told<State>) { body(told) }
  }

  /// What `look` leaves to do outside the lock.
  private struct Due {
    var waiter: Waiter?
    var told: Told<State>?
    var semaphore: DispatchSemaphore?
    var queue: DispatchQueue?
  }

  /// Parts instead of an enumeration with payloads: of a generic type, such a payload is copied with all that it may
  /// be.
  private struct Progress {
    var kind: Kind
    /// The closure of a handler or queue; released when it is cancelled.
    var handler: Called?
    var dispatchQueue: DispatchQueue?
    /// The continuation by which a task waits, or what a thread blocks on.
    var waiter: Waiter?
    var semaphore: DispatchSemaphore?
    var last: Told<State>?
    /// For a handler: it waits for its turn. For a queue: it has a block of this subscription.
    var isScheduled = false
    /// Whether it was woken since the state was read that the handler is about to get.
    var isWokenAgain = false
    /// The queue in which a handler waits, or waited last.
    var queue: DeliveryQueue?
    var slot = 0
  }

  private let source: any StateSource<State>
  /// The source, if it is that of a target's monitor. Through a protocol its methods are not specialised, which takes
  /// thousands of instructions for each state.
  private let cell: StateCell<Reachability>?
  private let interest: StateInterest
  /// Whether a thread of the executor runs its closure.
  private let isHandled: Bool
  private let progress: Lock<Progress>

  private init(_ source: any StateSource<State>, _ interest: StateInterest, _ progress: sending Progress) {
    self.source = source
    cell = source as? StateCell<Reachability>
    self.interest = interest
    isHandled = progress.kind == .handler
    self.progress = Lock(progress)
  }

  /// A closure that a thread of the executor runs.
  convenience init(_ source: any StateSource<State>, _ interest: StateInterest, handler: @escaping Handler) {
    self.init(source, interest, Progress(kind: .handler, handler: Called(handler)))
  }

  /// A closure that `queue` runs, one call at a time even if the queue is concurrent.
  convenience init(
    _ source: any StateSource<State>, _ interest: StateInterest, queue: DispatchQueue, handler: @escaping Handler
  ) {
    self.init(source, interest, Progress(kind: .queue, handler: Called(handler), dispatchQueue: queue))
  }

  /// A task that calls ``next()``, or a thread that calls ``first(by:)``. It is treated as if it had been told of
  /// `last`.
  convenience init(_ source: any StateSource<State>, _ interest: StateInterest, after last: Told<State>? = nil) {
    self.init(source, interest, Progress(kind: .task, last: last))
  }

  /// What to tell the receiver after `last`, or `nil` if nothing is new.
  private func newest(after last: Told<State>?) -> Told<State>? {
    guard let cell else { return source.next(after: last, interest) }
    // The casts are of a type to itself, and vanish where the type is known.
    return cell.next(after: last as? Told<Reachability>, interest) as? Told<State>
  }

  /// Ends the subscription. You can call it on any thread, inside the receiver's own handler, and several times.
  func cancel() {
    let former = progress.withLock { progress in
      defer { progress = Progress(kind: .cancelled, last: progress.last, isScheduled: progress.isScheduled) }
      return progress
    }
    former.waiter?.resume(returning: nil)
    source.remove(self)
    former.queue?.leave(former.slot, self)
    // The handler and its captures are released here, outside the lock.
    withExtendedLifetime(former) {}
  }

  // The engine calls these three through protocols, where a generic class is not specialised by itself. What is
  // compiled for the monitors' state takes a third of the instructions; every other kind of state is as before.
  @_specialize(where State == Reachability)
  package func takes(_ slot: Int, of queue: DeliveryQueue) -> Bool {
    let (isTaken, former) = progress.withLock { progress -> (Bool, DeliveryQueue?) in
      guard progress.kind == .handler else { return (false, nil) }
      progress.slot = slot
      if progress.queue === queue { return (true, nil) }
      defer { progress.queue = queue }
      return (true, progress.queue)
    }
    return withExtendedLifetime(former) { isTaken }
  }

  /// Looks for a newer state, and resumes a waiting task or thread, or puts a block on a queue. Returns whether a
  /// thread of the executor has to call `deliver()`.
  @_specialize(where State == Reachability)
  package func wake() -> Bool {
    if isHandled { return progress.withLock { schedule(&$0) } }
    var due = Due()
    progress.withLock { look(&$0, &due) }
    perform(due)
    return false
  }

  /// For a handler: returns whether a thread of the executor has to call `deliver()`.
  private func schedule(_ progress: inout Progress) -> Bool {
    if progress.kind != .handler { return false }
    if progress.isScheduled {
      progress.isWokenAgain = true
      return false
    }
    if newest(after: progress.last) == nil { return false }
    progress.isScheduled = true
    return true
  }

  /// For all others: sets `due` to what is to be done.
  private func look(_ progress: inout Progress, _ due: inout Due) {
    switch progress.kind {
    case .cancelled, .handler: return
    case .task:
      guard let waiter = progress.waiter, let newest = newest(after: progress.last) else { return }
      progress.last = newest
      progress.waiter = nil
      due.told = newest
      due.waiter = waiter
    case .thread:
      guard let isThere = progress.semaphore, let newest = newest(after: progress.last) else { return }
      progress.last = newest
      progress.kind = .task
      progress.semaphore = nil
      due.semaphore = isThere
    case .queue:
      if progress.isScheduled || newest(after: progress.last) == nil { return }
      progress.isScheduled = true
      due.queue = progress.dispatchQueue
    }
  }

  private func perform(_ due: Due) {
    due.waiter?.resume(returning: due.told)
    due.semaphore?.signal()
    due.queue?.async { self.deliver() }
  }

  /// Runs the handler with the newest state, if it has not had it. Returns whether there is a newer one by now, so that
  /// a thread of the executor has to call this again.
  @discardableResult
  package func deliver() -> Bool {
    // A function that is not specialised looks the types of all its variables up before it does anything else. So there
    // are none here.
    if let known = self as? Subscription<Reachability> { return known.deliverNewest() }
    return deliverNewest()
  }

  @inline(never)
  private func deliverNewest() -> Bool {
    var told: Told<State>?
    let handler = progress.withLock { progress -> Called? in
      progress.isWokenAgain = false
      guard let handler = progress.handler, let newest = newest(after: progress.last) else { return nil }
      progress.last = newest
      told = newest
      return handler
    }
    if let handler, let told { handler.call(told) }
    // Nobody has scheduled a state that came while the handler ran.
    if isHandled {
      return progress.withLock { progress in
        progress.isScheduled = false
        return progress.isWokenAgain && schedule(&progress)
      }
    }
    var due = Due()
    progress.withLock { progress in
      progress.isScheduled = false
      look(&progress, &due)
    }
    perform(due)
    return false
  }

  /// Returns the next state, as soon as one differs from the last, or `nil` once the subscription or task is cancelled.
  func next() async -> Told<State>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Told<State>?? = progress.withLock { progress in
          guard progress.kind == .task, progress.waiter == nil, !Task.isCancelled else { return .some(nil) }
          if let newest = newest(after: progress.last) {
            progress.last = newest
            return newest
          }
          progress.waiter = continuation
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      let waiter = progress.withLock { progress -> Waiter? in
        defer { progress.waiter = nil }
        return progress.waiter
      }
      waiter?.resume(returning: nil)
    }
  }

  /// Blocks the thread until there is a first state, and returns it, or `nil` if none has come by the deadline. Call it
  /// once.
  ///
  /// The thread that tells of the state releases this one: no handler is waited for.
  func first(by deadline: DispatchTime) -> Told<State>? {
    let isThere = DispatchSemaphore(value: 0)
    let known = progress.withLock { progress in
      if progress.kind == .task, progress.waiter == nil {
        progress.kind = .thread
        progress.semaphore = isThere
      }
      return newest(after: nil)
    }
    if let known { return known }
    _ = isThere.wait(timeout: deadline)
    // Once more: a state may come at the deadline, before this thread is released.
    return progress.withLock { $0.last } ?? newest(after: nil)
  }
}
