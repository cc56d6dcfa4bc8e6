// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import DialtoneJournal

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

  /// Two days from noon to noon, and the day between them, on which the clock changes: in Berlin at 2 and 3, in Havana
  /// at 0 and 1, and in Cairo at 0 and 24. POSIX' `TZ` is as the zone database has it, seconds since 1970 are those of
  /// date(1), and hours are added up by hand.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func aDayHasItsHours() async {
    await #expect(processExitsWith: .success) {
      for (zone, noon, days) in [
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1_774_695_600, [("2026-03-28", 12), ("2026-03-29", 23), ("2026-03-30", 12)]),
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1_792_836_000, [("2026-10-24", 12), ("2026-10-25", 25), ("2026-10-26", 12)]),
        ("CST5CDT,M3.2.0/0,M11.1.0/1", 1_772_902_800, [("2026-03-07", 12), ("2026-03-08", 23), ("2026-03-09", 12)]),
        ("CST5CDT,M3.2.0/0,M11.1.0/1", 1_793_462_400, [("2026-10-31", 12), ("2026-11-01", 25), ("2026-11-02", 12)]),
        ("EET-2EEST,M4.5.5/0,M10.5.4/24", 1_776_938_400, [("2026-04-23", 12), ("2026-04-24", 23), ("2026-04-25", 12)]),
        ("EET-2EEST,M4.5.5/0,M10.5.4/24", 1_793_264_400, [("2026-10-29", 13), ("2026-10-30", 24), ("2026-10-31", 12)]),
      ] as [(String, Int64, [(String, Int64)])] {
        unsafe setenv("TZ", zone, 1)
        tzset()
        let hour: Int64 = 3_600_000_000
        let (began, ended) = (noon * 1_000_000, noon * 1_000_000 + days.reduce(0) { $0 + $1.1 } * hour)
        let moments = [began, ended].map { Moment(wall: $0, clock: $0 - began + 1, slept: 0) }
        var data = ReportData(since: began - hour, until: ended + hour)
        data.take(.outage(Outage(OpenOutage(target: "a", began: moments[0], words: "w"), at: moments[1], .over("h"))))
        #expect(data.lostByDay == Dictionary(uniqueKeysWithValues: days.map { ($0.0, $0.1 * hour) }), "\(zone)")
      }
    }
  }

  /// Twenty thousand outages beside each other take no longer than they are many.
  @Test(.timeLimit(.minutes(1))) func manyOutagesAreTold() {
    var data = ReportData(since: 0, until: 100_000_000_000)
    for number in 0..<20_000 as Range<Int64> {
      let moments = [0, 1].map { Moment(wall: number * 2_000_000 + $0, clock: number * 2_000_000 + $0, slept: 0) }
      data.take(.outage(Outage(OpenOutage(target: "a", began: moments[0], words: "w"), at: moments[1], .over("h"))))
    }
    #expect(data.lostByDay.values.reduce(0, +) == 20_000)
  }

  /// A damaged line may say any year. 1961-07-04 was a Tuesday, says date(1): one day of the week is blank.
  @Test func aDayBefore1970HasItsPlace() {
    let noon: Int64 = -268_056_000_000_000
    var data = ReportData(since: noon, until: noon + 1_000_000)
    data.take(.watched("a", .up, from: noon, to: noon + 1_000_000))
    let page = ReportPage(data, host: "h", directory: "/d", version: "1", skippedLines: 0, words: { "\($0)" }).source
    #expect(page.ranges(of: "<span class=\"day blank\">").count == 1 && page.contains("1961-07-04: no outages"))
  }

  // MARK: Looks

  /// A colour of the style sheet, in the light or the dark look.
  private func colour(_ name: String, isDark: Bool) throws -> [Double] {
    let sheets = ReportStyle.sheet.components(separatedBy: "prefers-color-scheme: dark")
    let digits = try #require(
      sheets[isDark ? 1 : 0].firstMatch(of: Regex("--\(name): #([0-9a-f]{6});"))?.output[1].substring)
    let number = try #require(Int(digits, radix: 16))
    return [number >> 16, number >> 8 & 0xFF, number & 0xFF].map { Double($0) / 255 }
  }

  /// WCAG 2.2, relative luminance and contrast ratio.
  private func contrast(_ a: [Double], _ b: [Double]) -> Double {
    let lights = [a, b].map { colour in
      zip(colour, [0.2126, 0.7152, 0.0722])
        .reduce(0) { $0 + $1.1 * ($1.0 <= 0.04045 ? $1.0 / 12.92 : pow(($1.0 + 0.055) / 1.055, 2.4)) }
    }
    return ((lights.max() ?? 0) + 0.05) / ((lights.min() ?? 0) + 0.05)
  }

  /// WCAG 2.2, 1.4.3: text has 4.5 to 1. Bad days are mixed of two colours, from 22 to 70 of a hundred.
  @Test(arguments: [false, true]) func textCanBeRead(isDark: Bool) throws {
    let (ink, card) = (try colour("ink", isDark: isDark), try colour("card", isDark: isDark))
    let bad = try #require(
      ReportStyle.sheet.firstMatch(of: /\.day\.bad { background: color-mix\(in srgb, #([0-9a-f]{6}) var\(--share/))
    let number = try #require(Int(bad.output.1, radix: 16))
    let red = [number >> 16, number >> 8 & 0xFF, number & 0xFF].map { Double($0) / 255 }
    for share in [0.22, 0.5, 0.7] {
      let mix = zip(red, card).map { $0 * share + $1 * (1 - share) }
      #expect(contrast(ink, mix) >= 4.5, "\(share)")
    }
    // What was not watched has a pattern, as it has no contrast (1.4.11).
    let sheets = ReportStyle.sheet.components(separatedBy: "prefers-color-scheme: dark")
    #expect(sheets[isDark ? 1 : 0].contains("--void: repeating-linear-gradient("))
    for name in ["card", "page"] {
      #expect(try contrast(colour("soft", isDark: isDark), colour(name, isDark: isDark)) >= 4.5)
    }
  }

  @Test(arguments: [(1, true), (0, false)] as [(Int64, Bool)])
  func aDayIsWatchedIfAMicrosecondIs(watched: Int64, isWatched: Bool) {
    let page = page(from: 12, length: 400, watched: watched)
    #expect(page.contains("class=\"day fine\"") == isWatched)
  }
}
