// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A span of time as it is typed: seconds, with a decimal fraction where wanted.
enum Seconds {
  /// No span is as long, in seconds: some 31 years.
  static let maximum: Int64 = 1_000_000_000

  /// A span above zero.
  static func positive(_ text: String) throws -> Duration {
    let duration = try any(text)
    if duration == .zero {
      throw ValidationError("that leaves no time for an answer; give more than 0 seconds, such as 0.5")
    }
    return duration
  }

  /// A span of zero or more. Only digits and one point are taken: no exponents, no hexadecimal, no `nan` or `inf`.
  static func any(_ text: String) throws -> Duration {
    if text.first == "-" { throw ValidationError("a span of time is not negative; give seconds, such as 2.5") }
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let whole = parts.count > 1 && parts[0].isEmpty ? "0" : parts[0]
    let fraction = parts.count > 1 ? parts[1] : "0"
    guard !whole.isEmpty, !fraction.isEmpty, isDecimal(whole), isDecimal(fraction) else {
      throw ValidationError("that is not a number of seconds; give digits, with a point where wanted, such as 2.5")
    }
    guard let seconds = Int64(whole), seconds < maximum else {
      throw ValidationError("that is too long; give less than \(maximum) seconds")
    }
    let digits = String(fraction.prefix(9))
    let nanoseconds = Int64(digits + String(repeating: "0", count: 9 - digits.count)) ?? 0
    return .seconds(seconds) + .nanoseconds(nanoseconds)
  }

  private static func isDecimal(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
