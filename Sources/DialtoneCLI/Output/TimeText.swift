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

/// A span of time in words, as exactly as a person wants to know it: `120 ms`, `1.2 s`, `12 s`, `3 min 12 s`, `2 h 5
/// min`.
enum DurationText {
  /// Never rounded up, so that it never reads 60 s or 60 min.
  static func words(_ duration: Duration) -> String {
    let duration = max(duration, .zero)
    let seconds = duration.secondsClamped
    let milliseconds = duration.nanosecondsClamped / 1_000_000 % 1_000
    return switch seconds {
    case 0 where milliseconds == 0: "<1 ms"
    case 0: "\(milliseconds) ms"
    case ..<10: "\(seconds).\(milliseconds / 100) s"
    case ..<60: "\(seconds) s"
    case ..<3600: pair(seconds / 60, "min", seconds % 60, "s")
    case ..<86_400: pair(seconds / 3600, "h", seconds % 3600 / 60, "min")
    default: pair(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
    }
  }

  private static func pair(_ large: Int64, _ unit: String, _ small: Int64, _ smallUnit: String) -> String {
    small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small) \(smallUnit)"
  }
}
