// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// One receiver of one monitor's states.
///
/// Invariants: two states given in a row are never equal; each is the newest there is when it is given; they are given
/// one after the other, in the order of change; none is given after `cancel()` has returned, but for one that a thread was
/// already about to give. The lock is never held while a handler runs or a continuation is resumed.
package final class Subscription<Value: Sendable>: StateReceiver {
  typealias Handler = @Sendable (Value) -> Void
  typealias Waiter = CheckedContinuation<Value?, Never>

  private enum Receiver {
    /// A closure that a thread of the engine runs.
    case handler(Handler)
    /// A closure that a dispatch queue runs.
    case queue(DispatchQueue, Handler)
    /// A task that asks for each state, and the continuation by which it waits.
    case task(Waiter?)
    /// A thread that blocks until there is a state.
    case thread(DispatchSemaphore)
    /// Nobody any more.
    case cancelled
  }

  /// What `wake` leaves to do outside the lock.
  private enum Action {
    case nothing, deliver
    case resume(Waiter, Value)
    case release(DispatchSemaphore)
    case enqueue(DispatchQueue)
  }

  private struct State {
    var receiver: Receiver
    var last: Value?
    /// A handler: it waits for its turn. A queue: a block of ours is on it.
    var isScheduled = false
    /// Where a handler waits, or waited last.
    var queue: DeliveryQueue?
    var slot = 0
  }

  private let source: any StateSource<Value>
  /// Whether it is also given the state of which nothing is known.
  private let takesUnknown: Bool
  private let state: Lock<State>

  private init(
    _ source: any StateSource<Value>, _ receiver: sending Receiver, takesUnknown: Bool = false, after last: Value? = nil
  ) {
    self.source = source
    self.takesUnknown = takesUnknown
    self.state = Lock(State(receiver: receiver, last: last))
  }

  /// A closure that a thread of the engine runs.
  convenience init(_ source: any StateSource<Value>, handler: @escaping Handler) {
    self.init(source, .handler(handler))
  }

  /// A closure that `queue` runs, one call at a time even where the queue is concurrent.
  convenience init(_ source: any StateSource<Value>, queue: DispatchQueue, handler: @escaping Handler) {
    self.init(source, .queue(queue, handler))
  }

  /// A task that calls ``next()``.
  convenience init(_ source: any StateSource<Value>, takesUnknown: Bool = false, after last: Value? = nil) {
    self.init(source, .task(nil), takesUnknown: takesUnknown, after: last)
  }

  /// Ends it. For any thread, also inside the receiver's own handler; once or several times.
  func cancel() {
    let (receiver, queue, slot) = state.withLock { state in
      defer {
        state.receiver = .cancelled
        state.queue = nil
      }
      return (state.receiver, state.queue, state.slot)
    }
    if case .task(let waiter?) = receiver { waiter.resume(returning: nil) }
    source.remove(self)
    queue?.leave(slot, self)
    // The handler, and what it captured, is released here, outside the lock.
    withExtendedLifetime(receiver) {}
  }

  package func takes(_ slot: Int, of queue: DeliveryQueue) -> Bool {
    let (isTaken, former) = state.withLock { state -> (Bool, DeliveryQueue?) in
      guard case .handler = state.receiver else { return (false, nil) }
      state.slot = slot
      if state.queue === queue { return (true, nil) }
      defer { state.queue = queue }
      return (true, state.queue)
    }
    return withExtendedLifetime(former) { isTaken }
  }

  /// Looks for a newer state: resumes a waiting task, puts a block on a queue. Answers whether a thread of the engine has
  /// to call `deliver()`.
  package func wake() -> Bool {
    perform(state.withLock { look(&$0) })
  }

  private func next(after last: Value?) -> Value? {
    takesUnknown ? source.newest(unlike: last) : source.next(after: last)
  }

  private func look(_ state: inout State) -> Action {
    switch state.receiver {
    case .cancelled, .task(nil): return .nothing
    case .task(let waiter?):
      guard let newest = next(after: state.last) else { return .nothing }
      state.last = newest
      state.receiver = .task(nil)
      return .resume(waiter, newest)
    case .thread(let isThere):
      guard let newest = next(after: state.last) else { return .nothing }
      state.last = newest
      state.receiver = .task(nil)
      return .release(isThere)
    case .handler, .queue:
      if state.isScheduled || next(after: state.last) == nil { return .nothing }
      state.isScheduled = true
      if case .queue(let queue, _) = state.receiver { return .enqueue(queue) }
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

  /// Runs the handler with the newest state, if it has not had it. Answers whether there is a newer one by now, and this
  /// is to be called again.
  @discardableResult
  package func deliver() -> Bool {
    let call = state.withLock { state -> (Handler, Value)? in
      let handler: Handler
      switch state.receiver {
      case .handler(let it), .queue(_, let it): handler = it
      case .task, .thread, .cancelled: return nil
      }
      guard let newest = next(after: state.last) else { return nil }
      state.last = newest
      return (handler, newest)
    }
    if let (handler, newest) = call { handler(newest) }
    return perform(
      state.withLock { state in
        state.isScheduled = false
        // For a state that came while the handler ran: nobody else scheduled it.
        return look(&state)
      })
  }

  /// The next state, as soon as there is one that differs from the last; `nil` once cancelled, or when the task is.
  func next() async -> Value? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Value?? = state.withLock { state in
          guard case .task(nil) = state.receiver, !Task.isCancelled else { return .some(nil) }
          if let newest = next(after: state.last) {
            state.last = newest
            return newest
          }
          state.receiver = .task(continuation)
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard case .task(let waiter) = state.receiver else { return nil }
        state.receiver = .task(nil)
        return waiter
      }
      waiter?.resume(returning: nil)
    }
  }

  /// Blocks the thread until there is a first state, and answers with it; `nil` where none has come by the deadline. Once.
  ///
  /// Whoever stores the state lets the thread go: no handler is waited for.
  func first(by deadline: DispatchTime) -> Value? {
    let isThere = DispatchSemaphore(value: 0)
    let known = state.withLock { state in
      if case .task(nil) = state.receiver { state.receiver = .thread(isThere) }
      return next(after: nil)
    }
    if let known { return known }
    _ = isThere.wait(timeout: deadline)
    // Once more: at the deadline it may be there, and this thread not yet let go.
    return state.withLock { $0.last } ?? next(after: nil)
  }
}
