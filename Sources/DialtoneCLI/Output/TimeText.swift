// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneJournal

/// A point in time for a reader at the terminal. Programs read the timestamp's own text.
enum TimeText {
  /// The local time of day for a person who looks at a terminal, such as `12:00:00`. Where it may be read another day,
  /// or elsewhere, the day and the offset from UTC, too, as RFC 3339 has it: `2026-11-21 12:00:00+01:00`.
  static func local(_ timestamp: UTCTimestamp, isForPerson: Bool) -> String {
    let wall = timestamp.durationSince1970.nanosecondsClamped / 1_000
    let text = WallTime.localText(wall)
    if isForPerson { return String(text.suffix("12:00:00".count)) }
    let minutes = WallTime.offset(wall) / 60
    let offset = [abs(minutes) / 60, abs(minutes) % 60].map { UTCTimestamp.padded($0, 2) }.joined(separator: ":")
    return "\(text)\(minutes < 0 ? "-" : "+")\(offset)"
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
