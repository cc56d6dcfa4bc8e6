// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

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
