// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Dates of HTTP, in any of its three forms (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970.
  static func seconds(of text: String) -> Int? {
    let words = text.split { " ,-".contains($0) }
    guard let clock = words.first(where: { $0.contains(":") }),
      let month = words.lazy.compactMap({ word in months.firstIndex { $0 == word } }).first
    else { return nil }
    let numbers = words.compactMap { $0.allSatisfy(\.isWholeNumber) ? Int($0) : nil }
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    guard numbers.count == 2, (1...31).contains(numbers[0]), (0...9_999).contains(numbers[1]), parts.count == 3,
      (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...60).contains(parts[2])
    else { return nil }
    // Two digits are of this century unless that were more than 50 years away; Go takes 69 for the turn.
    let year = numbers[1] >= 100 ? numbers[1] : numbers[1] + (numbers[1] < 69 ? 2_000 : 1_900)
    let days = UTCTimestamp.days(year: Int64(year), month: Int64(month) + 1, day: Int64(numbers[0]))
    return ((Int(days) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]
  }
}
