// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Dates of HTTP (RFC 9110, 5.6.7): read in any of its three forms, written in the one that is to be sent.
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Beginning with that of 1970-01-01.
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

  static func text(of time: UTCTimestamp) -> String {
    // Such as 1994-11-06T08:49:37Z.
    let texts = time.descriptionInSeconds.utf8.split { !ASCII.isDigit($0) && $0 != UInt8(ascii: ":") }
    let parts = texts.map(Substring.init)
    let numbers = parts.prefix(3).compactMap { Int64($0) }
    let days = Int(UTCTimestamp.days(year: numbers[0], month: numbers[1], day: numbers[2]))
    let weekday = weekdays[(days % 7 + 7) % 7]
    return "\(weekday), \(parts[2]) \(months[Int(numbers[1]) - 1]) \(parts[0]) \(parts[3]) GMT"
  }

  /// Seconds since 1970.
  static func seconds(of text: String) -> Int? {
    let words = text.split { " ,-".contains($0) }
    // The third form, which ends with the year, names no zone.
    guard let end = words.last, end == "GMT" || end.allSatisfy(\.isWholeNumber),
      let clock = words.first(where: { $0.contains(":") }),
      let month = words.lazy.compactMap({ word in months.firstIndex { ASCII.areSame($0, String(word)) } }).first
    else { return nil }
    let texts = words.filter { $0.allSatisfy(\.isWholeNumber) }
    let numbers = texts.compactMap { Int($0) }
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    // A day has two digits, but in the third form. As Go has it, no minute has a second of its own to leap.
    guard numbers.count == 2, numbers[0] > 0, end != "GMT" || texts[0].count == 2, (0...9_999).contains(numbers[1]),
      parts.count == 3, (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...59).contains(parts[2])
    else { return nil }
    // Two digits are of this century unless that were more than 50 years away; Go takes 69 for the turn.
    let year = numbers[1] >= 100 ? numbers[1] : numbers[1] + (numbers[1] < 69 ? 2_000 : 1_900)
    let days = UTCTimestamp.days(year: Int64(year), month: Int64(month) + 1, day: Int64(numbers[0]))
    let next = UTCTimestamp.days(year: Int64(year + (month + 1) / 12), month: Int64((month + 1) % 12) + 1, day: 1)
    if days >= next { return nil }
    return ((Int(days) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]
  }
}
