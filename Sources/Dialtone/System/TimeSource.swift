// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// Where the time comes from: the system, or a clock that a test moves by hand.
package struct TimeSource: Sendable {
  /// Nanoseconds on a clock that never goes back and does not stop while the system is suspended.
  package let now: @Sendable () -> Int64
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  package let realtime: @Sendable () -> Int64
  /// Whether time passes by itself. If not, the code that moves it also wakes waiting threads.
  package let passes: Bool

  package init(
    passes: Bool, realtime: @escaping @Sendable () -> Int64 = wallClock,
    now: @escaping @Sendable () -> Int64
  ) {
    self.passes = passes
    self.realtime = realtime
    self.now = now
  }

  /// CLOCK_BOOTTIME, like Swift's `ContinuousClock` (clock_gettime(2)); CLOCK_MONOTONIC_RAW on Apple's platforms, where
  /// that clock goes on during a suspension. Elsewhere CLOCK_MONOTONIC, which may stop.
  package static let system = TimeSource(passes: true) {
    #if os(Linux)  // the clock that counts suspension has another name elsewhere
    nanoseconds(CLOCK_BOOTTIME)
    #elseif canImport(Darwin)
    nanoseconds(CLOCK_MONOTONIC_RAW)
    #else
    nanoseconds(CLOCK_MONOTONIC)
    #endif
  }

  static let wallClock: @Sendable () -> Int64 = { nanoseconds(CLOCK_REALTIME) }

  /// How long the system has been suspended so far, in nanoseconds: the difference between a clock that counts
  /// suspensions and one that does not.
  package static func suspended() -> Int64 {
    #if os(Linux)  // as above
    nanoseconds(CLOCK_BOOTTIME) - nanoseconds(CLOCK_MONOTONIC)
    #elseif canImport(Darwin)
    nanoseconds(CLOCK_MONOTONIC_RAW) - nanoseconds(CLOCK_UPTIME_RAW)
    #else
    0
    #endif
  }

  static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // It cannot fail for these clocks.
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Int64 {
  /// Returns the sum, or the nearest number if it does not fit.
  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the product, or the nearest number if it does not fit.
  package func multipliedClamped(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
  }
}

extension Duration {
  /// Whole nanoseconds, towards zero, limited to what an `Int64` holds (292 years).
  ///
  /// Every duration of a caller goes through here: `components` traps if the seconds do not fit an `Int64`.
  package var nanosecondsClamped: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// Whole seconds, limited like ``nanosecondsClamped``.
  package var secondsClamped: Int64 { nanosecondsClamped / 1_000_000_000 }
}
