// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// A point in time for a reader at the terminal. Programs read the timestamp's own text.
enum TimeText {
  /// The local time of day for a person who looks at a terminal, such as `12:00:00`. Where it may be read another day,
  /// or elsewhere, the day and the offset from UTC, too, as RFC 3339 has it: `2026-11-21 12:00:00+01:00`.
  static func local(_ timestamp: UTCTimestamp, isForPerson: Bool) -> String {
    var time = time_t(timestamp.durationSince1970.components.seconds)
    // A tm has a pointer to the zone's name, which is not used. localtime_r(3) reads `time` and fills `parts`.
    var parts = unsafe tm()
    _ = unsafe localtime_r(&time, &parts)
    let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), 2) }.joined(separator: ":")
    if isForPerson { return clock }
    let day = unsafe [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)].map { padded(Int($0), $1) }
    let minutes = unsafe parts.tm_gmtoff / 60
    let offset = [abs(minutes) / 60, abs(minutes) % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(day.joined(separator: "-")) \(clock)\(minutes < 0 ? "-" : "+")\(offset)"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
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
