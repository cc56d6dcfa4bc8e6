// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// When the next check comes: jittered, so that many monitors that began together do not stay in step.
struct Backoff: Equatable, Sendable {
  /// The pause after the failure with this number in a row, counted from one: doubled each time, at most the longest, and up to a fifth
  /// shorter or longer. `random` is from 0 up to 1.
  static func retryDelay(failure: Int, configuration: SiteMonitorConfiguration, random: Double) -> Int64 {
    let first = configuration.retryDelay.nanosecondsClamped
    let longest = configuration.maximumRetryDelay.nanosecondsClamped
    let doublings = max(0, failure - 1)
    let shift = min(doublings, 62)
    let delay = first > longest >> Int64(shift) ? longest : first << Int64(shift)
    return jittered(delay, by: 0.2, random: random)
  }

  /// The pause after a check that found the site available, up to a tenth shorter or longer.
  static func interval(_ interval: Duration, random: Double) -> Int64 {
    jittered(interval.nanosecondsClamped, by: 0.1, random: random)
  }

  private static func jittered(_ delay: Int64, by part: Double, random: Double) -> Int64 {
    let factor = 1 - part + 2 * part * random
    return Int64(exactly: (Double(delay) * factor).rounded()) ?? .max
  }
}

extension Int64 {
  func multipliedClamped(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
