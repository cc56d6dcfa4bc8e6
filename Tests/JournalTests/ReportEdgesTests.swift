// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneJournal
import Foundation
import Testing

/// How little memory an export needs, and where a report begins.
struct ReportEdgesTests {
  /// As many spans are kept at a time, and half of a target's that has more: how often a journal is read, counted by
  /// hand. A limit is two at least.
  @Test(
    arguments: [
      (6, ["a": 6], 1), (6, ["a": 7], 2), (6, ["a": 9], 2), (6, ["a": 10], 3), (2, ["a": 2], 1), (2, ["a": 3], 2),
      (2, ["a": 5], 4), (1, ["a": 2], 1), (1, ["a": 3], 2), (3, ["a": 3], 1),
      // The last target goes as a whole if it has less than half of the room.
      (6, ["a": 4, "b": 7], 3), (6, ["z": 7, "a": 4], 3),
    ] as [(Int, KeyValuePairs<String, Int>, Int)])
  func keepsNoMoreThanHasRoom(limit: Int, spans: KeyValuePairs<String, Int>, count: Int) {
    func write(_ limit: Int) -> (lines: [String], readings: Int) {
      var (lines, readings): ([String], Int) = ([], 0)
      OpenMetrics(since: moment(0).wall, until: moment(10_000).wall, limit: limit).write { take in
        readings += 1
        for (target, count) in spans {
          for number in 0..<count {
            let start = moment(Double(number) * 10).wall
            take(.watched(target, .up, from: start, to: start + 1_000_000))
          }
        }
      } _: { line in
        lines.append(line)
      }
      return (lines, readings)
    }
    let (few, all) = (write(limit), write(1_000))
    #expect(few.readings == count && all.readings == 1 && few.lines == all.lines)
    // Two lines of each metric, and the end.
    #expect(few.lines.count == spans.reduce(0) { $0 + $1.value } + 5)
  }

  /// A local midnight, around noon of which no clock changes.
  private static let midnight = Int64(
    Calendar.current.startOfDay(for: Date(timeIntervalSince1970: 1_795_600_000)).timeIntervalSince1970)

  /// A page about so many microseconds, of which the first ones were watched.
  private func page(from hour: Int64, length: Int64, watched: Int64) -> String {
    let start = (Self.midnight + hour * 3_600) * 1_000_000
    var data = ReportData(since: start, until: start + length)
    data.take(.watched("a", .up, from: start, to: start + watched))
    return ReportPage(data, host: "h", directory: "/d", version: "1", skippedLines: 0, words: { "\($0)" }).source
  }

  /// Eight hours have a label every two hours, of the day and not of the report.
  @Test(
    arguments: [(0, ["00:00", "02:00", "04:00", "06:00"]), (1, ["02:00", "04:00", "06:00", "08:00"])]
      as [(Int64, [String])])
  func labelsAreAtTimesOfTheDay(hour: Int64, labels: [String]) throws {
    let page = page(from: hour, length: 8 * 3_600_000_000, watched: 1_000_000)
    let found = try page.matches(of: Regex(#"<span class="(?:minor|major)" style="[^"]*">([^<]*)<"#))
      .map { $0.output[1].substring.map(String.init) }
    #expect(found == labels)
  }

  @Test(arguments: [(1, true), (0, false)] as [(Int64, Bool)])
  func aDayIsWatchedIfAMicrosecondIs(watched: Int64, isWatched: Bool) {
    let page = page(from: 12, length: 400, watched: watched)
    #expect(page.contains("class=\"day fine\"") == isWatched)
  }
}
