// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Notices that the system was suspended, without polling.
///
/// A timer on the wall clock, which is never due, is cancelled whenever that clock is set (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET). The kernel also does that when it resumes. The difference between CLOCK_BOOTTIME, which
/// counts suspensions, and CLOCK_MONOTONIC, which does not, shows whether there was one. Setting the clock does not
/// change that difference.
final class SuspensionDetector {
  /// A smaller difference is only the time between two readings of clocks.
  private static let tolerance: Int64 = 100_000_000

  private let owner: OwnedDescriptor
  private let suspended: () -> Int64
  private var lastSuspended: Int64

  /// - Parameter suspended: Returns how long the system has been suspended so far, in nanoseconds; for tests.
  init?(suspended: @escaping () -> Int64 = TimeSource.suspended) {
    owner = OwnedDescriptor(timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK)))
    self.suspended = suspended
    lastSuspended = suspended()
    if owner.rawValue < 0 { return nil }
    arm()
  }

  var descriptor: CInt { owner.rawValue }

  /// Whether nobody else has closed the descriptor.
  var isOpen: Bool { owner.isOurs }

  /// Returns whether the system was suspended since the last call.
  func hasResumed() -> Bool {
    if !owner.isOurs { return false }
    var expirations: UInt64 = 0
    // Clears the cancellation (ECANCELED); the count is of no interest. read(2) writes eight bytes.
    _ = unsafe read(descriptor, &expirations, 8)
    arm()
    let now = suspended()
    defer { lastSuspended = now }
    return now - lastSuspended > Self.tolerance
  }

  private func arm() {
    var value = itimerspec()
    value.it_value.tv_sec = Int.max
    // The kernel copies the value during the call.
    let flags = CInt(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
    _ = unsafe timerfd_settime(descriptor, flags, &value, nil)
  }
}
#endif
