// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// The time that the engine goes by: the system's, or one that a test moves by hand.
package struct EngineClock: Sendable {
  /// Nanoseconds on a clock that never goes back and does not stop while the system is suspended.
  package let now: @Sendable () -> Int64
  /// Whether time passes by itself. If not, whoever moves it wakes the engine.
  package let passes: Bool

  package init(passes: Bool, now: @escaping @Sendable () -> Int64) {
    self.passes = passes
    self.now = now
  }

  /// CLOCK_BOOTTIME, as Swift's `ContinuousClock` (clock_gettime(2)); CLOCK_MONOTONIC_RAW where the system has no such.
  package static let system = EngineClock(passes: true) {
    #if os(Linux)  // the clock that counts suspension has another name elsewhere
    nanoseconds(CLOCK_BOOTTIME)
    #else
    nanoseconds(CLOCK_MONOTONIC_RAW)
    #endif
  }

  /// Nanoseconds since 1970-01-01T00:00:00Z.
  package static func realtime() -> Int64 { nanoseconds(CLOCK_REALTIME) }

  static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // Cannot fail for these clocks.
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Int64 {
  /// The sum, or the largest number where it would not fit.
  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
