// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// What threads sleep on until something happens: an event of whatever the waiter knows, a deadline, or a wake-up by
/// another thread. For any thread; several may wait.
package protocol EventWaiter: AnyObject, Sendable {
  /// Blocks until something happens. One thing lets one thread go. Returns `false` if nobody can wait here any more.
  func wait() -> Bool

  /// Lets one waiting thread go, or the next that waits. Returns `false` if nobody can wait here any more.
  @discardableResult
  func wake() -> Bool

  /// Lets one thread go at `deadline`, in nanoseconds of the time source; `nil` takes an earlier deadline back. Once it
  /// has passed, there is none.
  func setDeadline(_ deadline: Int64?)

  /// In a child of fork(2), which has none of the threads: gives back what the child has inherited.
  func abandon()
}

/// A waiter without events, for sources that are looked at from time to time or tell by ``wake()``: it needs no
/// descriptor, and no interface of a kernel's.
///
/// Invariant: a thread that sleeps knows of the present deadline, or a signal is on its way to one that sleeps.
package final class SemaphoreWaiter: EventWaiter {
  private let time: TimeSource
  private let deadline = Lock<Int64?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)
  /// Whether a signal has not been received yet: a second one would be of no use.
  private let isSignalled = Atomic(false)

  package init(_ time: TimeSource = .system) { self.time = time }

  package func wait() -> Bool {
    while let timeout = timeout() {
      if semaphore.wait(timeout: timeout) == .success {
        // What was done before a signal that was spared is seen from here on.
        _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
        return true
      }
    }
    return true
  }

  /// How long to sleep; `nil` if the deadline has passed, which one thread is told.
  private func timeout() -> DispatchTime? {
    deadline.withLock { deadline in
      guard let time = deadline, self.time.passes else { return .distantFuture }
      let rest = time.addingClamped(-self.time.now())
      // Dispatch's time stands still while the system is suspended: the thread looks again at the clock.
      if rest > 0 { return .now() + .nanoseconds(Int(clamping: rest)) }
      deadline = nil
      return nil
    }
  }

  @discardableResult
  package func wake() -> Bool {
    if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    return true
  }

  package func setDeadline(_ new: Int64?) {
    let isEarlier = deadline.withLock { deadline in
      defer { deadline = new }
      return new ?? .max < deadline ?? .max
    }
    if isEarlier { wake() }
  }

  package func abandon() {}
}
