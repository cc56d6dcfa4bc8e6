// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension Date {
  /// Creates the date of a timestamp.
  ///
  /// A date counts in `Double`: of a present timestamp it keeps about a tenth of a microsecond.
  public init(_ timestamp: UTCTimestamp) {
    // Seconds and the rest by themselves, since the sum has more digits than a Double.
    let parts = timestamp.durationSince1970.components
    let seconds = Double(parts.seconds) - Date.timeIntervalBetween1970AndReferenceDate
    self.init(timeIntervalSinceReferenceDate: seconds + Double(parts.attoseconds) / 1e18)
  }
}

extension UTCTimestamp {
  /// Creates the timestamp of a date.
  ///
  /// - Parameter date: One before the year 0000 or after 9999 becomes the nearest timestamp that there is.
  public init(_ date: Date) {
    let interval = date.timeIntervalSinceReferenceDate
    // Whole seconds by themselves, so that the fraction keeps its digits. Not a number, which a date may hold, counts
    // as the reference date.
    let whole = interval.isNaN ? 0 : interval.rounded(.down)
    let seconds = Int64(min(max(whole, -1e12), 1e12)) + Int64(Date.timeIntervalBetween1970AndReferenceDate)
    let fraction = interval.isFinite ? Int64((interval - whole) * 1e9) : 0
    self.init(durationSince1970: .seconds(seconds) + .nanoseconds(fraction))
  }
}
