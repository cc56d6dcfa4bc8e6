// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A receiver whose handler a thread of the executor calls.
package protocol Deliverable: AnyObject, Sendable {
  /// Calls the handler, if there is something new. Returns whether there is more by now, so that this has to be called
  /// again.
  func deliver() -> Bool

  /// Offers it this slot of a queue to wait in. Returns whether it takes the slot: not if it is cancelled. If it is
  /// cancelled later, it leaves by `DeliveryQueue.leave`.
  func takes(_ slot: Int, of queue: DeliveryQueue) -> Bool
}

/// The handlers that wait for a thread of the engine.
///
/// Invariants:
/// - At most one thread runs handlers at a time. So a handler that blocks holds up other such handlers, but nothing
///   else: one of the engine's two threads is always free to read the kernel's events.
/// - No cancelled receiver waits here. So receivers that come and go while a handler blocks leave nothing behind.
package final class DeliveryQueue: Sendable {
  private struct State {
    var waiting = SlotList<any Deliverable>()
    var isDelivering = false
  }

  private let state = Lock(State())

  var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

  /// Adds handlers. The caller then has `deliver()` called, by itself or by another thread.
  func add(_ handlers: [any Deliverable]) {
    if handlers.isEmpty { return }
    state.withLock { state in
      for handler in handlers { add(handler, &state) }
    }
  }

  /// Adds one handler; see above.
  func add(_ handler: any Deliverable) { state.withLock { add(handler, &$0) } }

  private func add(_ handler: any Deliverable, _ state: inout State) {
    // Under the lock: a receiver cancelled at this moment either does not take the slot, or leaves it afterwards.
    if handler.takes(state.waiting.nextSlot, of: self) { state.waiting.append(handler) }
  }

  /// Takes the handler out of its slot, if it still waits there.
  func leave(_ slot: Int, _ handler: some Deliverable) {
    let left = state.withLock { state in
      // By now the slot may be another handler's.
      state.waiting[slot] === handler ? state.waiting.remove(at: slot) : nil
    }
    withExtendedLifetime(left) {}
  }

  /// Runs the waiting handlers. If another thread is doing so, that one runs them, too.
  func deliver() {
    let isOurs = state.withLock { state in
      if state.isDelivering || state.waiting.isEmpty { return false }
      state.isDelivering = true
      return true
    }
    if !isOurs { return }
    // One at a time, so that the handlers behind it can leave while it runs.
    while let handler = next() {
      if handler.deliver() { state.withLock { add(handler, &$0) } }
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
