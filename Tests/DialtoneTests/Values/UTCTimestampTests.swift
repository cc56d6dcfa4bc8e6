// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import TestSupport
import Testing

struct UTCTimestampTests {
  @Test(arguments: [
    (Duration.zero, "1970-01-01T00:00:00.000000Z"),
    (.nanoseconds(-1), "1969-12-31T23:59:59.999999Z"),
    (.seconds(951_826_599), "2000-02-29T12:16:39.000000Z"),
    (.seconds(951_782_400), "2000-02-29T00:00:00.000000Z"),
    (.seconds(-2_203_891_200), "1900-03-01T00:00:00.000000Z"),
    (.seconds(4_107_542_399), "2100-02-28T23:59:59.000000Z"),
    (.nanoseconds(1_769_860_800_123_456_789), "2026-01-31T12:00:00.123456Z"),
    (.seconds(-62_167_219_200), "0000-01-01T00:00:00.000000Z"),
    (.seconds(253_402_300_799), "9999-12-31T23:59:59.000000Z"),
    (.seconds(Int64.min), "0000-01-01T00:00:00.000000Z"),
    (Duration(attoseconds: .max), "9999-12-31T23:59:59.999999Z"),
  ])
  func readsAsRFC3339(sinceEpoch: Duration, text: String) {
    #expect(UTCTimestamp(durationSince1970: sinceEpoch).description == text)
  }

  /// The expected text is that of gmtime_r(3).
  @Test func everyDayAgreesWithTheCalendar() {
    var random = SeededNumbers(seed: 1970)
    let all: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
    for _ in 0..<10_000 {
      var second = time_t(Int64.random(in: all, using: &random))
      // A tm has a pointer to the zone's name, which is not used. The call reads the seconds and fills the tm.
      var parts = unsafe tm()
      _ = unsafe gmtime_r(&second, &parts)
      let numbers =
        unsafe [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday]
        + [parts.tm_hour, parts.tm_min, parts.tm_sec]
      let text = UTCTimestamp(durationSince1970: .seconds(second)).descriptionInSeconds
      #expect(text.split { "-T:Z".contains($0) }.compactMap { CInt($0) } == numbers, "\(text)")
      #expect(text.utf8.count == 20, "\(text)")
    }
  }

  @Test func givesBackTheDurationItWasMadeOf() {
    for sinceEpoch in [Duration.zero, .seconds(1_769_860_800) + .nanoseconds(1), .milliseconds(-5)] {
      #expect(UTCTimestamp(durationSince1970: sinceEpoch).durationSince1970 == sinceEpoch)
    }
  }

  @Test func isOrderedAndTellsHowLongOneLiesAfterAnother() {
    let first = UTCTimestamp(durationSince1970: .seconds(5))
    let second = first.advanced(by: .seconds(3))
    #expect(first < second && second.duration(to: first) == .seconds(-3))
    #expect(second.advanced(by: .seconds(-3)) == first)
    let latest = UTCTimestamp(durationSince1970: .seconds(Int64.max))
    let earliest = UTCTimestamp(durationSince1970: .seconds(Int64.min))
    #expect(first.advanced(by: Duration(attoseconds: .max)) == latest)
    #expect(latest.advanced(by: Duration(attoseconds: .min)) == earliest)
    #expect(earliest.advanced(by: earliest.duration(to: latest)) == latest)
  }

  @Test func nowIsTheSystemsClock() {
    let before = TimeSource.system.realtime()
    let now = UTCTimestamp.now.durationSince1970
    #expect(now >= .nanoseconds(before) && now <= .nanoseconds(TimeSource.system.realtime()))
  }
}
