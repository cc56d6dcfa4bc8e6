// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import Foundation
import TestSupport
import Testing

struct DateTests {
  @Test(arguments: ["1970-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "2026-01-31T12:00:00Z", "1969-12-31T23:59:59Z"])
  func aTimestampAndItsDateReadTheSame(text: String) throws {
    let date = try Date(text, strategy: .iso8601)
    #expect(UTCTimestamp(date).description == text.replacing("Z", with: ".000000Z"))
    #expect(Date(UTCTimestamp(date)) == date)
  }

  @Test func aDateAndBackIsTheSameMicrosecond() {
    var random = SeededNumbers(seed: 2001)
    for _ in 0..<10_000 {
      let sinceEpoch = Duration.nanoseconds(Int64.random(in: -4_000_000_000_000_000_000 ... .max, using: &random))
      let timestamp = UTCTimestamp(durationSince1970: sinceEpoch)
      let difference = timestamp.duration(to: UTCTimestamp(Date(timestamp)))
      #expect(difference > .microseconds(-2) && difference < .microseconds(2), "\(timestamp)")
    }
  }

  /// The arguments are intervals, because Foundation ends the program if such a date is described.
  @Test(arguments: [
    (Date.distantPast.timeIntervalSinceReferenceDate, "0000-12-30T00:00:00.000000Z"),
    (-TimeInterval.infinity, "0000-01-01T00:00:00.000000Z"),
    (.infinity, "9999-12-31T23:59:59.999999Z"),
    (.greatestFiniteMagnitude, "9999-12-31T23:59:59.999999Z"),
    (.nan, "2001-01-01T00:00:00.000000Z"),
  ])
  func anyDateHasATimestamp(sinceReferenceDate: TimeInterval, text: String) {
    let timestamp = UTCTimestamp(Date(timeIntervalSinceReferenceDate: sinceReferenceDate))
    #expect(timestamp.description == text)
  }
}
