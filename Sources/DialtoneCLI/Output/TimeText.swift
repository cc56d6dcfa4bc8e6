// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone

/// A point in time as text.
enum TimeText {
  /// RFC 3339 in UTC with microseconds, such as `2026-01-31T12:00:00.000001Z`.
  static func universal(_ timeSince1970: Duration) -> String {
    let fields = fields(of: timeSince1970.secondsClamped, isLocal: false)
    let microseconds = timeSince1970.nanosecondsClamped / 1_000 % 1_000_000
    return "\(fields.day)T\(fields.clock).\(padded(microseconds, 6))Z"
  }

  /// The time of day where the computer stands, such as `12:00:00`, with the day in front where it is wanted.
  static func local(_ timeSince1970: Duration, withDay: Bool) -> String {
    let fields = fields(of: timeSince1970.secondsClamped, isLocal: true)
    return withDay ? "\(fields.day) \(fields.clock)" : fields.clock
  }

  /// Day and time of day by the environment's TZ, or UTC.
  private static func fields(of seconds: Int64, isLocal: Bool) -> (day: String, clock: String) {
    var time = time_t(seconds)
    // A tm has a pointer to the zone's name, which is not used. The calls read the one and fill the other: localtime_r(3).
    var parts = unsafe tm()
    _ = unsafe isLocal ? localtime_r(&time, &parts) : gmtime_r(&time, &parts)
    let day = unsafe [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }
    return (day.joined(separator: "-"), clock.joined(separator: ":"))
  }

  private static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
