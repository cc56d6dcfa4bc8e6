// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A point in time in UTC.
///
/// ```swift
/// if let timestamp = monitor.current.timestamp {
///   print(timestamp)  // "2026-01-31T12:00:00.000001Z"
///   print("for \(timestamp.duration(to: .now))")
/// }
/// ```
///
/// It counts like the system's clock (CLOCK_REALTIME, clock_gettime(2)): without leap seconds, and with a jump if
/// somebody sets the clock. With Foundation, `DialtoneFoundation` converts it to a `Date` and back.
public struct UTCTimestamp: Hashable, Sendable, BitwiseCopyable {
  /// The time since 1970-01-01T00:00:00Z; negative before that.
  public let durationSince1970: Duration

  /// Creates a timestamp from the time since 1970-01-01T00:00:00Z.
  ///
  /// - Parameter duration: The time; negative before 1970. RFC 3339 can write the years 0000 to 9999; a timestamp
  ///   outside them becomes the nearest within.
  public init(durationSince1970 duration: Duration) {
    durationSince1970 = min(max(duration, Self.earliest), Self.latest)
  }

  /// The present time by the system's clock.
  public static var now: UTCTimestamp { UTCTimestamp(durationSince1970: .nanoseconds(TimeSource.wallClock())) }

  /// 0000-01-01T00:00:00Z.
  private static let earliest = Duration.seconds(-62_167_219_200)
  /// The last nanosecond of the year 9999.
  private static let latest = Duration(
    secondsComponent: 253_402_300_799, attosecondsComponent: 999_999_999_000_000_000)
}

extension UTCTimestamp: InstantProtocol {
  /// Returns the timestamp that lies `duration` later, or earlier if it is negative.
  public func advanced(by duration: Duration) -> UTCTimestamp {
    // At most the length of the range, so that no sum overflows.
    let span = Self.latest - Self.earliest
    return UTCTimestamp(durationSince1970: durationSince1970 + min(max(duration, .zero - span), span))
  }

  /// Returns how long `other` lies after this timestamp; negative if it lies before.
  public func duration(to other: UTCTimestamp) -> Duration { other.durationSince1970 - durationSince1970 }

  /// Returns whether `a` lies before `b`.
  public static func < (a: UTCTimestamp, b: UTCTimestamp) -> Bool { a.durationSince1970 < b.durationSince1970 }
}

extension UTCTimestamp: CustomStringConvertible {
  /// The timestamp as RFC 3339 writes it, in UTC with microseconds: "2026-01-31T12:00:00.000001Z".
  ///
  /// Texts sort as their timestamps do, since all have the same length.
  public var description: String { "\(textOfSecond).\(Self.padded(sinceFirstEra.attoseconds / 1_000_000_000_000, 6))Z" }

  /// The same in whole seconds: "2026-01-31T12:00:00Z".
  package var descriptionInSeconds: String { "\(textOfSecond)Z" }

  /// The time since -0400-03-01T00:00:00Z: never negative, and a leap day is the last day of a year.
  private var sinceFirstEra: (seconds: Int64, attoseconds: Int64) {
    let parts = (durationSince1970 + .seconds((719_468 + Self.daysOf400Years) * 86_400)).components
    return (parts.seconds, parts.attoseconds)
  }

  private static let daysOf400Years: Int64 = 146_097

  /// Day and time of day in the proleptic Gregorian calendar (RFC 3339).
  private var textOfSecond: String {
    let seconds = sinceFirstEra.seconds
    let (era, dayOfEra) = (seconds / 86_400).quotientAndRemainder(dividingBy: Self.daysOf400Years)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    // Five months in a row always have 153 days: March to July, August to December.
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = (era - 1) * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60)
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
      + "T\(Self.padded(hour, 2)):\(Self.padded(minute, 2)):\(Self.padded(seconds % 60, 2))"
  }

  /// Returns the number with zeros in front, so that it has at least `width` digits.
  package static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension UTCTimestamp {
  /// Reads what ``description`` writes, with any number of digits behind the point, or none; `nil` if the text is not
  /// of that form.
  package init?(_ text: some StringProtocol) {
    var bytes = text.utf8.makeIterator()
    func number(_ digits: Int) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<digits {
        guard let byte = bytes.next(), ASCII.isDigit(byte) else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      return value
    }
    func skip(_ expected: UInt8) -> Bool { bytes.next() == expected }
    guard let year = number(4), skip(0x2D), let month = number(2), skip(0x2D), let day = number(2), skip(0x54),
      let hour = number(2), skip(0x3A), let minute = number(2), skip(0x3A), let second = number(2),
      (1...12).contains(month), day >= 1, hour < 24, minute < 60, second < 60
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    // The 31st of a shorter month.
    guard days < Self.days(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1) else { return nil }
    var nanoseconds: Int64 = 0
    var last = bytes.next()
    if last == 0x2E {
      var unit: Int64 = 100_000_000
      last = bytes.next()
      guard last != 0x5A else { return nil }
      while let byte = last, ASCII.isDigit(byte) {
        nanoseconds += Int64(byte - 0x30) * unit
        unit /= 10
        last = bytes.next()
      }
    }
    guard last == 0x5A, bytes.next() == nil else { return nil }
    let seconds = 86_400 * days + 3_600 * hour + 60 * minute + second
    self.init(durationSince1970: .seconds(seconds) + .nanoseconds(nanoseconds))
  }

  /// Days since 1970-01-01 in the proleptic Gregorian calendar; a year begins in March, so that a leap day ends it.
  package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * daysOf400Years + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
