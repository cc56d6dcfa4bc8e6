// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The call of a receiver's handler, for a thread of the engine.
struct Delivery: Sendable {
  let place: DeliveryPlace
  /// Calls the handler, if there is something new. Returns whether there may be more by now, so that this has to run
  /// again.
  let run: @Sendable () -> Bool
}

/// Where a receiver waits for a thread of the engine. It has one place, which it leaves when it is cancelled.
final class DeliveryPlace: Sendable {
  private enum State {
    case unused
    /// It waits in this slot, or waited there last.
    case slot(Int, DeliveryQueue)
    case cancelled
  }

  private let state = Lock(State.unused)

  /// Offers it this slot. Returns whether it takes the slot: not if it is cancelled.
  fileprivate func takes(_ slot: Int, of queue: DeliveryQueue) -> Bool {
    state.withLock { state in
      if case .cancelled = state { return false }
      state = .slot(slot, queue)
      return true
    }
  }

  /// Takes the receiver out of its queue, and lets it wait in none any more.
  func cancel() {
    if case .slot(let slot, let queue) = state.exchange(.cancelled) { queue.leave(slot, self) }
  }
}

/// The handlers that wait for a thread of the engine.
///
/// Invariants:
/// - At most one thread runs handlers at a time. So a handler that blocks holds up other such handlers, but nothing
///   else: one of the engine's two threads is always free to read the kernel's events.
/// - No cancelled receiver waits here. So receivers that come and go while a handler blocks leave nothing behind.
package final class DeliveryQueue: Sendable {
  private struct State {
    var waiting = SlotList<Delivery>()
    var isDelivering = false
  }

  private let state = Lock(State())

  var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

  /// Adds what is to be run. The caller then has `deliver()` called, by itself or by another thread.
  func add(_ delivery: Delivery) {
    state.withLock { state in
      // Under the lock: a receiver cancelled at this moment either does not take the slot, or leaves it afterwards.
      if delivery.place.takes(state.waiting.nextSlot, of: self) { state.waiting.append(delivery) }
    }
  }

  fileprivate func leave(_ slot: Int, _ place: DeliveryPlace) {
    let left = state.withLock { state in
      // By now the slot may be another receiver's.
      state.waiting[slot]?.place === place ? state.waiting.remove(at: slot) : nil
    }
    withExtendedLifetime(left) {}
  }

  /// Runs what waits. If another thread is doing so, that one runs it, too.
  func deliver() {
    var isOurs = false
    // One at a time, so that the receivers behind it can leave while it runs.
    while let delivery = next(&isOurs) {
      if delivery.run() { add(delivery) }
    }
  }

  /// Returns what to run next, if this thread runs handlers (`isOurs`), or no other does.
  private func next(_ isOurs: inout Bool) -> Delivery? {
    state.withLock { state in
      if state.isDelivering != isOurs { return nil }
      let delivery = state.waiting.popFirst()
      isOurs = delivery != nil
      state.isDelivering = isOurs
      return delivery
    }
  }
}

/// An action that a thread of the engine performs at a deadline, once and outside its lock, unless it is cancelled
/// before.
package final class DeliveryTimer: Sendable {
  /// In nanoseconds of the engine's clock.
  package let deadline: Int64
  private let action: Lock<(@Sendable () -> Void)?>
  private let whenCancelled: @Sendable () -> Void

  /// `whenCancelled` is called when it is cancelled, so that the engine can forget it.
  package init(
    at deadline: Int64, _ action: @escaping @Sendable () -> Void,
    whenCancelled: @escaping @Sendable () -> Void = {}
  ) {
    self.deadline = deadline
    self.action = Lock(action)
    self.whenCancelled = whenCancelled
  }

  package var isCancelled: Bool { action.withLock { $0 == nil } }

  package func cancel() {
    let action = action.exchange(nil)
    if action != nil { whenCancelled() }
  }

  func fire() { action.exchange(nil)?() }
}
