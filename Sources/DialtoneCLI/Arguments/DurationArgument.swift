// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A span of time as it is typed: `30s`, `5m`, `1h30m`, `250ms`, `2d`. A plain number is seconds. Fractions are
/// allowed.
enum DurationArgument {
  /// Every span is shorter than this, in seconds: some 31 years.
  static let maximum: Int64 = 1_000_000_000

  /// The units, from the longest to the shortest, each with the nanoseconds in it.
  private static let units: [(names: [String], nanoseconds: Int64)] = [
    (["d"], 86_400_000_000_000), (["h"], 3_600_000_000_000), (["m", "min"], 60_000_000_000), (["s"], 1_000_000_000),
    (["ms"], 1_000_000),
  ]

  private static let remedy = "give one such as 30s, 5m, 1h30m or 250ms; a plain number is seconds"

  /// A span above zero.
  static func positive(_ text: String) throws -> Duration {
    let duration = try any(text)
    if duration == .zero { throw ValidationError("that leaves no time at all; give more than 0, such as 0.5 or 500ms") }
    return duration
  }

  /// A span of `minimum` or more.
  static func atLeast(_ minimum: Duration, _ text: String) throws -> Duration {
    let duration = try any(text)
    if duration < minimum { throw ValidationError("that is too short; give \(DurationText.words(minimum)) or more") }
    return duration
  }

  /// A span of zero or more: digits and points alone, no exponents, no hexadecimal, no `nan` or `inf`.
  static func any(_ text: String) throws -> Duration {
    if text.first == "-" { throw ValidationError("a span of time is not negative; \(remedy)") }
    var rest = text[...]
    var sum = Duration.zero
    var shortest: Int?
    repeat {
      let number = rest.prefix { isDigit($0) || $0 == "." }
      let unit = rest.dropFirst(number.count).prefix { !isDigit($0) && $0 != "." }
      rest = rest.dropFirst(number.count + unit.count)
      // A text that is only a number is in seconds.
      let name = number.count == text.count ? "s" : String(unit)
      guard let position = units.firstIndex(where: { $0.names.contains(name) }) else {
        throw ValidationError("that is not a span of time; \(remedy)")
      }
      if let shortest, position <= shortest {
        throw ValidationError("each unit stands once, the longer before the shorter; \(remedy)")
      }
      shortest = position
      sum += try span(number, nanoseconds: units[position].nanoseconds)
    } while !rest.isEmpty
    if sum >= .seconds(maximum) { throw tooLong }
    return sum
  }

  private static func span(_ text: Substring, nanoseconds: Int64) throws -> Duration {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let whole = parts.count > 1 && parts[0].isEmpty ? "0" : parts[0]
    let fraction = parts.count > 1 ? parts[1] : "0"
    guard !whole.isEmpty, !fraction.isEmpty, whole.allSatisfy(isDigit), fraction.allSatisfy(isDigit) else {
      throw ValidationError("that is not a span of time; \(remedy)")
    }
    guard let count = Int64(whole), count < maximum * 1_000 else { throw tooLong }
    let digits = String(fraction.prefix(9))
    let billionths = Int64(digits + String(repeating: "0", count: 9 - digits.count)) ?? 0
    // Durations have 128 bits: none of these products is too large.
    return .nanoseconds(nanoseconds) * count + .nanoseconds(nanoseconds) * billionths / 1_000_000_000
  }

  private static var tooLong: ValidationError {
    ValidationError("that is too long; give less than \(maximum) seconds, which is some 31 years")
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) && character.isASCII }
}
