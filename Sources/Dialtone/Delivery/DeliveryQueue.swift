// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a thread of the executor calls a handler by.
package protocol Deliverable: AnyObject, Sendable {
  /// Calls the handler, if there is something new. Returns whether there is more by now, and this is to be called
  /// again.
  func deliver() -> Bool

  /// It is given this slot of a queue, where it waits. Returns whether it wants it: not where nobody is to be called
  /// any more. One that gives up later leaves by `DeliveryQueue.leave`.
  func takes(_ slot: Int, of queue: DeliveryQueue) -> Bool
}

/// The handlers that wait for a thread of the engine, and which thread runs them.
///
/// Invariants: at most one thread runs handlers at a time. So a handler that blocks holds up other such handlers, but
/// never the thread that reads the kernel's events: of the engine's two threads one is always free for that. Nobody
/// waits here who has been cancelled: whoever comes and goes while a handler blocks leaves nothing behind.
package final class DeliveryQueue: Sendable {
  private struct State {
    var waiting = SlotList<any Deliverable>()
    var isDelivering = false
  }

  private let state = Lock(State())

  /// Adds handlers. The caller then has `deliver()` called, by itself or by another thread.
  func add(_ handlers: [any Deliverable]) {
    if handlers.isEmpty { return }
    state.withLock { state in
      for handler in handlers { add(handler, &state) }
    }
  }

  private func add(_ handler: any Deliverable, _ state: inout State) {
    // Under the lock: who gives up at this moment either does not take the slot, or leaves it when it is there.
    if handler.takes(state.waiting.nextSlot, of: self) { state.waiting.append(handler) }
  }

  /// Takes the handler out of its slot, if it still waits there.
  func leave(_ slot: Int, _ handler: some Deliverable) {
    let left = state.withLock { state in
      // It may be another's by now.
      state.waiting[slot] === handler ? state.waiting.remove(at: slot) : nil
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
