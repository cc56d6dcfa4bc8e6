// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneJournal
import Foundation
import Testing

/// Where a report begins, and what it shows of little.
struct ReportEdgesTests {
  /// A local midnight, around noon of which no clock changes.
  private static let midnight = Int64(
    Calendar.current.startOfDay(for: Date(timeIntervalSince1970: 1_795_600_000)).timeIntervalSince1970)

  /// A page about `length` microseconds, of which the first `watched` were watched.
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
