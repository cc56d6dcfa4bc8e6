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

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
