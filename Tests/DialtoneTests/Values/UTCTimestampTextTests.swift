// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

/// Timestamps as text, read (RFC 3339, of the form that is written), and days by the calendar.
struct UTCTimestampTextTests {
  private static let since1970: [(text: String, duration: Duration)] = [
    ("1970-01-01T00:00:00Z", .zero), ("1970-01-01T00:00:01Z", .seconds(1)), ("1970-01-01T00:01:00Z", .seconds(60)),
    ("1970-01-01T01:00:00Z", .seconds(3_600)), ("1970-01-02T00:00:00Z", .seconds(86_400)),
    ("1970-01-01T23:59:59Z", .seconds(86_399)), ("1969-12-31T23:59:59.999999Z", .microseconds(-1)),
    ("1970-12-31T00:00:00Z", .seconds(364 * 86_400)), ("1971-01-01T00:00:00Z", .seconds(365 * 86_400)),
    ("1970-02-01T00:00:00Z", .seconds(31 * 86_400)), ("1970-03-01T00:00:00Z", .seconds(59 * 86_400)),
    // `date -u -d … +%s` says so.
    ("2000-02-29T12:16:39Z", .seconds(951_826_599)), ("1900-03-01T00:00:00Z", .seconds(-2_203_891_200)),
    ("2100-02-28T23:59:59Z", .seconds(4_107_542_399)), ("0000-01-01T00:00:00Z", .seconds(-62_167_219_200)),
    ("9999-12-31T23:59:59Z", .seconds(253_402_300_799)),
    // Any number of digits behind the point; there is nothing below nanoseconds.
    ("1970-01-01T00:00:00.5Z", .milliseconds(500)), ("1970-01-01T00:00:00.05Z", .milliseconds(50)),
    ("1970-01-01T00:00:07.000001Z", .seconds(7) + .microseconds(1)),
    ("1970-01-01T00:00:00.123456789Z", .nanoseconds(123_456_789)),
    ("1970-01-01T00:00:00.1234567899Z", .nanoseconds(123_456_789)),
    ("1970-01-01T00:00:00.00000000000000000001Z", .zero),
  ]

  @Test(arguments: since1970)
  func readsATime(text: String, duration: Duration) {
    #expect(UTCTimestamp(text)?.durationSince1970 == duration)
    #expect(UTCTimestamp(text[...]) == UTCTimestamp(durationSince1970: duration))
  }

  @Test(arguments: [
    "", "Z", "1970", "1970-01-01", "1970-01-01T00:00Z", "1970-01-01T00:00:00", "1970-01-01T00:00:00z",
    "1970-01-01t00:00:00Z", "1970-01-01 00:00:00Z", "1970/01/01T00:00:00Z", "1970-01/01T00:00:00Z",
    "1970-01-01T00.00:00Z", "1970-01-01T00:00.00Z", "70-01-01T00:00:00Z", "01970-01-01T00:00:00Z",
    "1970-1-01T00:00:00Z", "1970-01-1T00:00:00Z", "1970-01-01T0:00:00Z", "1970-01-01T00:0:00Z", "1970-01-01T00:00:0Z",
    "1970-001-01T00:00:00Z", " 1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z ", "1970-01-01T00:00:00ZZ",
    "-970-01-01T00:00:00Z", "+970-01-01T00:00:00Z", "197a-01-01T00:00:00Z", "197:-01-01T00:00:00Z",
    "197/-01-01T00:00:00Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.", "1970-01-01T00:00:00.5",
    "1970-01-01T00:00:00.5+00:00", "1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00,5Z", "1970-01-01T00:00:00.5ZZ",
    "1970-01-01T00:00:00.5.5Z",
    // No such day or time; a leap second is none of CLOCK_REALTIME's.
    "1970-00-01T00:00:00Z", "1970-13-01T00:00:00Z", "1970-01-00T00:00:00Z", "1970-01-01T24:00:00Z",
    "1970-01-01T00:60:00Z", "1970-01-01T00:00:60Z", "1970-12-32T00:00:00Z", "1970-12-99T00:00:00Z",
  ])
  func refusesWhatIsNoTime(text: String) { #expect(UTCTimestamp(text) == nil) }

  /// Twelve numbers of the calendar, and the Gregorian rule of leap years.
  @Test(arguments: [(1970, false), (1972, true), (1900, false), (2000, true), (2100, false), (0, true), (400, true)])
  func everyMonthHasItsDays(year: Int, isLeap: Bool) throws {
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    func text(_ month: Int, _ day: Int) -> String {
      func padded(_ number: Int, _ width: Int) -> String {
        String(repeating: "0", count: width - "\(number)".count) + "\(number)"
      }
      return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T00:00:00Z"
    }
    let start = try #require(UTCTimestamp(text(1, 1)))
    var before = 0
    for (month, count) in zip(1..., days) {
      for day in 1...count {
        let timestamp = try #require(UTCTimestamp(text(month, day)), "\(month), \(day)")
        #expect(start.duration(to: timestamp) == .seconds(86_400 * (before + day - 1)))
        #expect(timestamp.descriptionInSeconds == text(month, day))
      }
      #expect(UTCTimestamp(text(month, count + 1)) == nil, "\(month)")
      before += count
    }
    #expect(before == (isLeap ? 366 : 365))
  }

  /// What is written is compared with gmtime_r(3) elsewhere.
  @Test func everySecondThatIsWrittenIsReadBack() {
    let seed = UInt64.random(in: 0 ... .max)
    var numbers = SeededNumbers(seed: seed)
    for _ in 0..<2_000 {
      let second = Int64.random(in: -62_167_219_200...253_402_300_799, using: &numbers)
      let microsecond = Int64.random(in: 0..<1_000_000, using: &numbers)
      let timestamp = UTCTimestamp(durationSince1970: .seconds(second) + .microseconds(microsecond))
      #expect(UTCTimestamp(timestamp.description) == timestamp, "\(timestamp), seed \(seed)")
    }
  }

  private static let days: [(Int64, Int64, Int64, Int64)] = [
    (1970, 1, 1, 0), (1970, 1, 2, 1), (1969, 12, 31, -1), (1970, 2, 28, 58), (1970, 3, 1, 59), (2000, 2, 29, 11_016),
    (2000, 3, 1, 11_017), (0, 3, 1, -719_468), (0, 2, 29, -719_469), (0, 1, 1, -719_528), (-1, 12, 31, -719_529),
    (400, 3, 1, -719_468 + 146_097), (-400, 3, 1, -719_468 - 146_097), (-400, 2, 29, -719_469 - 146_097),
    (-399, 3, 1, -719_468 - 146_097 + 365), (9999, 12, 31, 2_932_896),
  ]

  /// By hand: 400 years have 146 097 days, and 719 468 lie between 0000-03-01 and 1970-01-01.
  @Test(arguments: days)
  func aDayHasItsNumber(year: Int64, month: Int64, day: Int64, number: Int64) {
    #expect(UTCTimestamp.days(year: year, month: month, day: day) == number)
  }

  @Test func whatLiesOutsideTheYearsIsTheNearestWithin() {
    let earliest = UTCTimestamp(durationSince1970: .seconds(-62_167_219_201))
    #expect(earliest.durationSince1970 == .seconds(-62_167_219_200))
    let latest = UTCTimestamp(durationSince1970: .seconds(253_402_300_800))
    #expect(latest.durationSince1970 == .seconds(253_402_300_800) - .nanoseconds(1))
    #expect(!(latest < latest) && earliest < latest && !(latest < earliest))
  }
}
