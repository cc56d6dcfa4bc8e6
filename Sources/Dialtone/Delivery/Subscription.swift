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

  private enum Receiver {
    /// A closure that a thread of the executor runs.
    case handler(Handler)
    /// A closure that a dispatch queue runs.
    case queue(DispatchQueue, Handler)
    /// A task that asks for each state, and the continuation by which it waits.
    case task(Waiter?)
    /// A thread that blocks until there is a progress.
    case thread(DispatchSemaphore)
    /// The receiver is gone.
    case cancelled
  }

  /// What `wake` leaves to do outside the lock.
  private enum Action {
    case nothing, deliver
    case resume(Waiter, Told<State>)
    case release(DispatchSemaphore)
    case enqueue(DispatchQueue)
  }

  private struct Progress {
    var receiver: Receiver
    var last: Told<State>?
    /// For a handler: it waits for its turn. For a queue: it has a block of this subscription.
    var isScheduled = false
    /// The queue in which a handler waits, or waited last.
    var queue: DeliveryQueue?
    var slot = 0
  }

  private let source: any StateSource<State>
  private let interest: StateInterest
  private let progress: Lock<Progress>

  private init(
    _ source: any StateSource<State>, _ interest: StateInterest, _ receiver: sending Receiver,
    after last: Told<State>? = nil
  ) {
    self.source = source
    self.interest = interest
    progress = Lock(Progress(receiver: receiver, last: last))
  }

  /// A closure that a thread of the executor runs.
  convenience init(_ source: any StateSource<State>, _ interest: StateInterest, handler: @escaping Handler) {
    self.init(source, interest, .handler(handler))
  }

  /// A closure that `queue` runs, one call at a time even if the queue is concurrent.
  convenience init(
    _ source: any StateSource<State>, _ interest: StateInterest, queue: DispatchQueue, handler: @escaping Handler
  ) {
    self.init(source, interest, .queue(queue, handler))
  }

  /// A task that calls ``next()``, or a thread that calls ``first(by:)``. It is treated as if it had been told of
  /// `last`.
  convenience init(_ source: any StateSource<State>, _ interest: StateInterest, after last: Told<State>? = nil) {
    self.init(source, interest, .task(nil), after: last)
  }

  /// Ends the subscription. You can call it on any thread, inside the receiver's own handler, and several times.
  func cancel() {
    let (receiver, queue, slot) = progress.withLock { progress in
      defer {
        progress.receiver = .cancelled
        progress.queue = nil
      }
      return (progress.receiver, progress.queue, progress.slot)
    }
    if case .task(let waiter?) = receiver { waiter.resume(returning: nil) }
    source.remove(self)
    queue?.leave(slot, self)
    // The handler and its captures are released here, outside the lock.
    withExtendedLifetime(receiver) {}
  }

  // The engine calls these three through protocols, where a generic class is not specialised by itself. What is compiled
  // for the monitors' state takes a third of the instructions; every other kind of state is as before.
  @_specialize(where State == Reachability)
  package func takes(_ slot: Int, of queue: DeliveryQueue) -> Bool {
    let (isTaken, former) = progress.withLock { progress -> (Bool, DeliveryQueue?) in
      guard case .handler = progress.receiver else { return (false, nil) }
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
    perform(progress.withLock { look(&$0) })
  }

  private func look(_ progress: inout Progress) -> Action {
    switch progress.receiver {
    case .cancelled, .task(nil): return .nothing
    case .task(let waiter?):
      guard let newest = source.next(after: progress.last, interest) else { return .nothing }
      progress.last = newest
      progress.receiver = .task(nil)
      return .resume(waiter, newest)
    case .thread(let isThere):
      guard let newest = source.next(after: progress.last, interest) else { return .nothing }
      progress.last = newest
      progress.receiver = .task(nil)
      return .release(isThere)
    case .handler, .queue:
      if progress.isScheduled || source.next(after: progress.last, interest) == nil { return .nothing }
      progress.isScheduled = true
      if case .queue(let queue, _) = progress.receiver { return .enqueue(queue) }
      return .deliver
    }
  }

  private func perform(_ action: Action) -> Bool {
    switch action {
    case .nothing: return false
    case .deliver: return true
    case .resume(let waiter, let newest): waiter.resume(returning: newest)
    case .release(let isThere): isThere.signal()
    case .enqueue(let queue): queue.async { self.deliver() }
    }
    return false
  }

  /// Runs the handler with the newest state, if it has not had it. Returns whether there is a newer one by now, so that
  /// a thread of the executor has to call this again.
  @discardableResult
  @_specialize(where State == Reachability)
  package func deliver() -> Bool {
    let call = progress.withLock { progress -> (Handler, Told<State>)? in
      let handler: Handler
      switch progress.receiver {
      case .handler(let it), .queue(_, let it): handler = it
      case .task, .thread, .cancelled: return nil
      }
      guard let newest = source.next(after: progress.last, interest) else { return nil }
      progress.last = newest
      return (handler, newest)
    }
    if let (handler, newest) = call { handler(newest) }
    return perform(
      progress.withLock { progress in
        progress.isScheduled = false
        // Nobody has scheduled a state that came while the handler ran.
        return look(&progress)
      })
  }

  /// Returns the next state, as soon as one differs from the last, or `nil` once the subscription or task is cancelled.
  func next() async -> Told<State>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Told<State>?? = progress.withLock { progress in
          guard case .task(nil) = progress.receiver, !Task.isCancelled else { return .some(nil) }
          if let newest = source.next(after: progress.last, interest) {
            progress.last = newest
            return newest
          }
          progress.receiver = .task(continuation)
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      let waiter = progress.withLock { progress -> Waiter? in
        guard case .task(let waiter) = progress.receiver else { return nil }
        progress.receiver = .task(nil)
        return waiter
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
      if case .task(nil) = progress.receiver { progress.receiver = .thread(isThere) }
      return source.next(after: nil, interest)
    }
    if let known { return known }
    _ = isThere.wait(timeout: deadline)
    // Once more: a state may come at the deadline, before this thread is released.
    return progress.withLock { $0.last } ?? source.next(after: nil, interest)
  }
}
