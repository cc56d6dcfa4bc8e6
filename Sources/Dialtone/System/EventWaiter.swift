// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// What threads sleep on until something happens: an event that the waiter knows, a deadline, or a wake-up by another
/// thread. For any thread; several may wait.
package protocol EventWaiter: AnyObject, Sendable {
  /// Blocks until something happens. One event wakes one thread. Returns `false` if nobody can wait here any more.
  func wait() -> Bool

  /// Wakes one waiting thread, or the next one that waits. Returns `false` if nobody can wait here any more.
  @discardableResult
  func wake() -> Bool

  /// Wakes one thread at `deadline`, in nanoseconds of the time source. It replaces an earlier deadline; `nil` removes
  /// it. Once it has passed, there is none. A waiter that cannot be woken by the end of a suspension of the system says
  /// how late it may be then.
  func setDeadline(_ deadline: Int64?)

  /// Gives back what a child of fork(2) has inherited. The child has none of the threads.
  func abandon()
}

/// A waiter without events, for sources that are polled or call ``wake()``. It needs no descriptor, and no interface of
/// a kernel. A deadline that passes while the system is suspended wakes a thread within a minute after the suspension.
///
/// Invariant: a sleeping thread knows the present deadline, or a signal is on its way to a sleeping thread.
package final class SemaphoreWaiter: EventWaiter {
  private let time: TimeSource
  /// The longest sleep while there is a deadline. Dispatch's time stands still while the system is suspended, so the
  /// thread looks at the clock again.
  private let slice: Int64
  private let deadline = Lock<Int64?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)
  /// Whether a signal has not been received yet; then a second one is not sent.
  private let isSignalled = Atomic(false)

  package init(_ time: TimeSource = .system, slice: Duration = .seconds(60)) {
    self.time = time
    self.slice = slice.nanosecondsClamped
  }

  package func wait() -> Bool {
    while let timeout = timeout() {
      if semaphore.wait(timeout: timeout) == .success {
        // From here on, this thread sees what was done before a signal that was not sent.
        _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
        return true
      }
    }
    return true
  }

  /// Returns how long to sleep, or `nil`, to one thread, if the deadline has passed.
  private func timeout() -> DispatchTime? {
    deadline.withLock { deadline in
      guard let time = deadline, self.time.passes else { return .distantFuture }
      let rest = time.addingClamped(-self.time.now())
      if rest > 0 { return .now() + .nanoseconds(Int(clamping: min(rest, slice))) }
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
