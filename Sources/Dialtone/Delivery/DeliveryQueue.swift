// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a thread of the engine calls a handler by.
package protocol Deliverable: AnyObject, Sendable {
  /// Calls the handler, if there is something new. Answers whether there is more by now, and this is to be called again.
  func deliver() -> Bool
}

/// The handlers that wait for a thread of the engine, and which thread runs them.
///
/// Invariant: at most one thread runs handlers at a time. So a handler that blocks holds up other such handlers, but never
/// the thread that reads the kernel's events: of the engine's two threads one is always free for that.
final class DeliveryQueue: Sendable {
  private struct State {
    var waiting: [any Deliverable] = []
    var isDelivering = false
  }

  private let state = Lock(State())

  /// Adds handlers. The caller then has `deliver()` called, by itself or by another thread.
  func add(_ handlers: [any Deliverable]) {
    if handlers.isEmpty { return }
    state.withLock { $0.waiting.append(contentsOf: handlers) }
  }

  /// Runs the handlers that wait, unless another thread does; then that one will run them too.
  func deliver() {
    guard
      state.withLock({ state in
        if state.isDelivering || state.waiting.isEmpty { return false }
        state.isDelivering = true
        return true
      })
    else { return }
    while true {
      let batch = state.withLock { state in
        let batch = state.waiting
        state.waiting.removeAll()
        if batch.isEmpty { state.isDelivering = false }
        return batch
      }
      if batch.isEmpty { return }
      for handler in batch where handler.deliver() { add([handler]) }
    }
  }
}
