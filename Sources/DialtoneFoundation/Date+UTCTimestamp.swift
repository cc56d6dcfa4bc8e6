// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension Date {
  /// Creates the date of a timestamp.
  ///
  /// A date counts in `Double`, so it keeps a timestamp of today to about a tenth of a microsecond.
  public init(_ timestamp: UTCTimestamp) {
    // Seconds and the rest are converted separately, since their sum has more digits than a Double.
    let parts = timestamp.durationSince1970.components
    let seconds = Double(parts.seconds) - Date.timeIntervalBetween1970AndReferenceDate
    self.init(timeIntervalSinceReferenceDate: seconds + Double(parts.attoseconds) / 1e18)
  }
}

extension UTCTimestamp {
  /// Creates the timestamp of a date.
  ///
  /// - Parameter date: The date. Before the year 0000 or after 9999, it becomes the nearest possible timestamp.
  public init(_ date: Date) {
    let interval = date.timeIntervalSinceReferenceDate
    // Whole seconds are converted separately, so that the fraction keeps its digits. A date that is not a number
    // becomes the reference date.
    let whole = interval.isNaN ? 0 : interval.rounded(.down)
    let seconds = Int64(min(max(whole, -1e12), 1e12)) + Int64(Date.timeIntervalBetween1970AndReferenceDate)
    let fraction = interval.isFinite ? Int64((interval - whole) * 1e9) : 0
    self.init(durationSince1970: .seconds(seconds) + .nanoseconds(fraction))
  }
}
