// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a thread of the engine calls a handler by.
package protocol Deliverable: AnyObject, Sendable {
  /// Calls the handler, if there is something new. Answers whether there is more by now, and this is to be called again.
  func deliver() -> Bool

  /// It is given this place in a queue, where it waits. Answers whether it wants it: not where nobody is to be called any more.
  /// One that gives up later leaves by `DeliveryQueue.leave`.
  func takes(_ place: DeliveryQueue.Place) -> Bool
}

/// The handlers that wait for a thread of the engine, and which thread runs them.
///
/// Invariants: at most one thread runs handlers at a time. So a handler that blocks holds up other such handlers, but never
/// the thread that reads the kernel's events: of the engine's two threads one is always free for that. Nobody waits here who
/// has been cancelled: whoever comes and goes while a handler blocks leaves nothing behind.
package final class DeliveryQueue: Sendable {
  /// Where a handler waits.
  package struct Place: Sendable {
    let queue: DeliveryQueue
    fileprivate let slot: Int
  }

  private struct State {
    var waiting = SlotList<any Deliverable>()
    var isDelivering = false
  }

  private let state = Lock(State())

  /// Adds handlers. The caller then has `deliver()` called, by itself or by another thread.
  func add(_ handlers: [any Deliverable]) {
    for handler in handlers { add(handler) }
  }

  private func add(_ handler: any Deliverable) {
    state.withLock { state in
      // Under this lock: who gives up at this moment either does not take the place, or leaves it when it is there.
      if handler.takes(Place(queue: self, slot: state.waiting.nextSlot)) { state.waiting.append(handler) }
    }
  }

  /// Takes the handler out of its place, if it still waits there.
  func leave(_ place: Place, _ handler: some Deliverable) {
    let left = state.withLock { state in
      // The place may be another's by now.
      state.waiting[place.slot] === handler ? state.waiting.remove(at: place.slot) : nil
    }
    withExtendedLifetime(left) {}
  }

  /// Runs the handlers that wait, unless another thread does; then that one will run them too.
  func deliver() {
    let isOurs = state.withLock { state in
      if state.isDelivering || state.waiting.isEmpty { return false }
      state.isDelivering = true
      return true
    }
    if !isOurs { return }
    // One at a time, so that those behind it can leave while it runs.
    while let handler = next() {
      if handler.deliver() { add(handler) }
    }
  }

  private func next() -> (any Deliverable)? {
    state.withLock { state in
      let handler = state.waiting.popFirst()
      if handler == nil { state.isDelivering = false }
      return handler
    }
  }
}
