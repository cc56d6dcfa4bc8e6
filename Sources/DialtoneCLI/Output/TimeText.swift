// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// A point in time for a reader at the terminal. Programs read the timestamp's own text.
enum TimeText {
  /// The local time of day, such as `12:00:00`, after the day if that is wanted.
  static func local(_ timestamp: UTCTimestamp, withDay: Bool) -> String {
    var time = time_t(timestamp.durationSince1970.components.seconds)
    // A tm has a pointer to the zone's name, which is not used. localtime_r(3) reads `time` and fills `parts`.
    var parts = unsafe tm()
    _ = unsafe localtime_r(&time, &parts)
    let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }.joined(separator: ":")
    if !withDay { return clock }
    let day = unsafe [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    return "\(day.joined(separator: "-")) \(clock)"
  }

  private static func padded(_ number: CInt, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
