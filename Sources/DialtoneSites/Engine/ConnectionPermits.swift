// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The bound on checks at a time, and so on connections. A check has one connection, and at most four while it tries
/// addresses. An exporter bounds its probes by one, too.
///
/// Invariants: there are never more permits out than the limit. Waiters are served in the order of asking.
package final class ConnectionPermits: Sendable {
  private typealias Waiter = CheckedContinuation<Bool, Never>

  private struct State {
    var free: Int
    var lastNumber: UInt64 = 0
    var waiters: [UInt64: Waiter] = [:]
    /// The waiters' numbers in the order of asking, from `head` on. Those that gave up are still in it.
    var queue: [UInt64] = []
    var head = 0

    mutating func takeIfFree() -> Bool {
      if free == 0 || !waiters.isEmpty { return false }
      free -= 1
      return true
    }

    mutating func nextWaiter() -> Waiter? {
      defer {
        if head * 2 > queue.count {
          queue.removeFirst(head)
          head = 0
        }
      }
      while head < queue.count {
        head += 1
        if let waiter = waiters.removeValue(forKey: queue[head - 1]) { return waiter }
      }
      return nil
    }
  }

  private let state: Lock<State>

  package init(_ limit: Int) { state = Lock(State(free: max(1, limit))) }

  /// Takes a permit if one is free, and nobody waits for it. Returns whether it has.
  package func take() -> Bool { state.withLock { $0.takeIfFree() } }

  /// Waits for a permit. Throws `CancellationError` if the task is cancelled before there is one.
  package func acquire() async throws(CancellationError) {
    let number = state.withLock { state -> UInt64? in
      if state.takeIfFree() { return nil }
      state.lastNumber += 1
      return state.lastNumber
    }
    guard let number else { return }
    let isGranted = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isGranted: Bool? = state.withLock { state in
          // One may have become free meanwhile.
          if state.takeIfFree() { return true }
          if Task.isCancelled { return false }
          state.waiters[number] = waiter
          state.queue.append(number)
          return nil
        }
        if let isGranted { waiter.resume(returning: isGranted) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.resume(returning: false)
    }
    if !isGranted { throw CancellationError() }
  }

  /// Gives a permit back, to the waiter that has waited longest.
  package func release() {
    let waiter = state.withLock { state -> Waiter? in
      let waiter = state.nextWaiter()
      if waiter == nil { state.free += 1 }
      return waiter
    }
    waiter?.resume(returning: true)
  }
}
