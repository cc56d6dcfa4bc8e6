// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DialtoneJournal

/// What a report draws: where on its scale of time each thing stands, and what is written beside it.
struct ReportTests {
  /// A local midnight, around noon of which no clock changes.
  private static let midnight = Int64(
    Calendar.current.startOfDay(for: Date(timeIntervalSince1970: 1_795_600_000)).timeIntervalSince1970)

  /// That many minutes after midnight, in microseconds.
  private func wall(_ minutes: Int) -> Int64 { (Self.midnight + Int64(minutes) * 60) * 1_000_000 }

  private func moment(_ minutes: Int) -> Moment { Moment(wall: wall(minutes), clock: wall(minutes), slept: 0) }

  /// The time as another library writes it.
  private func text(_ minutes: Int, _ format: String = "yyyy-MM-dd HH:mm") -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = format
    return formatter.string(from: Date(timeIntervalSince1970: Double(Self.midnight + Int64(minutes) * 60)))
  }

  private func outage(_ target: String, from: Int, to: Int, layer: OutageLayer) -> OutageLog.Finding {
    let step = Explanation.Step(step: "link", family: "ipv6", outcome: "fault", text: "no light")
    let explanation = Explanation(
      cause: "no-carrier", confidence: "certain", layer: layer, summary: "The cable is out.", advice: "Plug it in.",
      steps: [step])
    let open = OpenOutage(
      target: target, began: moment(from), reason: "no-carrier", words: "w", explanation: explanation)
    return .outage(Outage(open, at: moment(to), .over("back")))
  }

  private func up(_ target: String, _ from: Int, _ to: Int) -> OutageLog.Finding {
    .watched(target, .up, from: wall(from), to: wall(to))
  }

  private func path(_ kind: String?, _ from: Int, _ to: Int) -> OutageLog.Finding {
    .path(NetworkSummary(status: kind == nil ? "unsatisfied" : "satisfied", kind: kind), from: wall(from), to: wall(to))
  }

  /// A page about this many minutes after midnight. Its spans are written in minutes.
  private func page(_ minutes: Range<Int>, _ findings: [OutageLog.Finding], skippedLines: Int = 0) -> String {
    var data = ReportData(since: wall(minutes.lowerBound), until: wall(minutes.upperBound))
    for finding in findings { data.take(finding) }
    let page = ReportPage(
      data, host: "host", directory: "/journal", version: "9.9", skippedLines: skippedLines,
      words: { "\($0 / 60_000_000) min" })
    return page.source
  }

  /// The texts of a pattern's groups, wherever it is found.
  private func found(_ pattern: String, in text: Substring) throws -> [[String]] {
    try text.matches(of: Regex(pattern, as: AnyRegexOutput.self)).map { match in
      match.output.dropFirst().map { String($0.substring ?? "") }
    }
  }

  /// The page from one text to the next other one behind it.
  private func part(of page: String, from start: String, to end: String) throws -> Substring {
    let first = try #require(page.range(of: start))
    let last = try #require(page.range(of: end, range: first.upperBound..<page.endIndex))
    return page[first.upperBound..<last.lowerBound]
  }

  /// 400 minutes on a band of 400 cells: a cell is a minute.
  private func aDay() -> String {
    page(
      0..<400,
      [
        path("wired", 0, 150), path(nil, 150, 160), path("wifi", 160, 400), up("a", 0, 100),
        outage("a", from: 100, to: 130, layer: .link), up("a", 130, 200), .asleep(from: wall(200), to: wall(250)),
        up("a", 300, 400), outage("b", from: 110, to: 125, layer: .site),
      ], skippedLines: 3)
  }

  @Test func aBandHasEachStateWhereItWas() throws {
    let page = aDay()
    let pattern =
      #"<rect( class="down")? x="(\d+)" width="(\d+)" height="10" style="--look:var\(--([a-z-]+)\)"><title>([^<]*)"#
    func cells(_ start: String, to end: String) throws -> [[String]] {
      try found(pattern, in: part(of: page, from: start, to: end))
    }
    func cell(_ look: String, _ words: String, _ from: Int, _ to: Int, isDown: Bool = false) -> [String] {
      [isDown ? #" class="down""# : "", "\(from)", "\(to - from)", look, "\(words), \(text(from)) to \(text(to))"]
    }
    #expect(
      try cells("states of a\"", to: "</svg>") == [
        cell("up", "up", 0, 100), cell("up", "up", 130, 200), cell("asleep", "asleep", 200, 250),
        cell("up", "up", 300, 400), cell("link", "down: the link", 100, 130, isDown: true),
      ])
    #expect(
      try cells("states of b\"", to: "</svg>") == [cell("site", "down: the site", 110, 125, isDown: true)])
    #expect(
      try cells("states of way\"", to: "</svg>") == [
        cell("wired", "wired", 0, 150), cell("wifi", "Wi-Fi", 160, 400), cell("none", "no way", 150, 160, isDown: true),
      ])
  }

  @Test func aBandIsInWords() throws {
    let page = aDay()
    #expect(
      try found(#"<span class="name">(.)</span><span class="figure">([^<]*)</span>"#, in: page[...])
        == [["a", "90.000 %"], ["b", "0.000 %"]])
    #expect(
      try found(#"<p class="soft">(\d outage[^<]*)</p>"#, in: page[...]).flatMap { $0 } == [
        "1 outage, 30 min down, the longest 30 min; watched for 300 min",
        "1 outage, 15 min down, the longest 15 min; watched for 15 min",
      ])
    #expect(
      try found(#"<span class="key" style="background:var\(--([a-z]+)\)"></span>([^<]*)</li>"#, in: page[...]) == [
        ["up", "reachable"], ["link", "down: the link"], ["site", "down: the site"], ["asleep", "asleep"],
        ["void", "not watched"], ["wired", "wired"], ["wifi", "Wi-Fi"], ["none", "no way"],
      ])
    #expect(page.contains("<p class=\"soft\">\(text(0)) to \(text(400)), 2 outages, the longest 30 min</p>"))
    #expect(page.contains("Made by dialtone 9.9, of the journal in /journal."))
    #expect(page.contains(" 3 lines of the journal could not be read."))
  }

  /// Times of day at even distances, which divide a day, each where it is on the band. Every other one may be left out.
  @Test(arguments: [(7, 6), (0, 15), (1, 39), (0, 75), (7, 110), (7, 230), (7, 400), (7, 900), (1, 1_400), (7, 2_870)])
  func timesStandWhereTheyAre(start: Int, minutes: Int) throws {
    let page = page(start..<start + minutes, [path("wired", start, start + minutes), up("a", start, start + minutes)])
    let labels = try found(
      #"<span class="(minor|major)" style="--at:([\d.]+)%">(\d\d):(\d\d)</span>"#, in: page[...])
    #expect((3...8).contains(labels.count), "\(labels)")
    var times: [Int] = []
    for (number, label) in labels.enumerated() {
      var time = try #require(Int(label[2])) * 60 + #require(Int(label[3]))
      // Of two days, the later one comes second.
      if let last = times.last, time <= last { time += 1_440 }
      times.append(time)
      let place = Double(time - start) / Double(minutes) * 100
      // Not rounded up.
      let rest = try place - #require(Double(label[1]))
      #expect((-1e-9..<0.1).contains(rest) && place < 97, "\(label)")
      #expect(label[0] == (number % 2 == 0 ? "major" : "minor"), "\(label)")
    }
    let step = times[1] - times[0]
    #expect(1_440 % step == 0 && times.allSatisfy { $0 % step == 0 }, "\(times)")
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == step }, "\(times)")
  }

  @Test func aMonthHasDays() throws {
    let month = 30 * 1_440
    let page = page(
      0..<month,
      [
        path("wired", 0, month), up("a", 0, 2 * 1_440),
        outage("a", from: 2 * 1_440, to: 2 * 1_440 + 72, layer: .router),
        up("a", 2 * 1_440 + 72, 5 * 1_440), outage("a", from: 6 * 1_440 - 10, to: 6 * 1_440 + 20, layer: .router),
      ])
    let labels = try found(#"<span class="(?:minor|major)" style="--at:([\d.]+)%">([^<]*)</span>"#, in: page[...])
    // Each fourth day, where it begins.
    #expect(
      labels
        == (0..<8).map { number in
          ["\(Double(number * 4_000 / 30) / 10)", text(number * 4 * 1_440, "d MMM")]
        })
    // A week a row, from Monday on.
    let date = Date(timeIntervalSince1970: Double(Self.midnight))
    let weekday = (Calendar(identifier: .gregorian).component(.weekday, from: date) + 5) % 7
    let calendar = try part(of: page, from: #"<div class="calendar">"#, to: "</section>")
    #expect(
      try found(#"<span class="head">(...)</span>"#, in: calendar).map { $0[0] }.joined() == "MonTueWedThuFriSatSun")
    #expect(try found("(day blank)", in: calendar).count == weekday)
    let days = try found(
      #"<div class="day( [a-z]+)?"[^>]* title="([^"]*)"><b>([^<]*)</b>(?:<i>([^<]*)</i>)?"#, in: calendar)
    #expect(days.count == 30)
    for (number, day) in days.enumerated() {
      let (key, isFirst) = (text(number * 1_440, "yyyy-MM-dd"), number == 0 || text(number * 1_440, "d") == "1")
      let name = text(number * 1_440, isFirst ? "d MMM" : "d")
      switch number {
      case 0, 1, 3, 4: #expect(day == [" fine", "\(key): no outages", name, ""])
      case 2: #expect(day == [" bad", "\(key): 1 outage, 72 min down", name, "72 min"])
      // Before and behind midnight: it counts on the day on which it began.
      case 5: #expect(day == [" bad", "\(key): 1 outage, 10 min down", name, "10 min"])
      case 6: #expect(day == [" bad", "\(key): 0 outages, 20 min down", name, "20 min"])
      default: #expect(day == ["", "\(key): not watched", name, ""])
      }
    }
  }

  @Test func theLongestOutagesAreTold() throws {
    let page = aDay()
    let worst = try part(of: page, from: "<h2>The longest outages</h2>", to: "</section>")
    #expect(
      try found(#"<span class="figure">([^<]*)</span></div><p class="soft">([^<]*)</p>"#, in: worst) == [
        ["30 min", "a · \(text(100)):00 · then back · where: the link · no-carrier, certain"],
        ["15 min", "b · \(text(110)):00 · then back · where: the site · no-carrier, certain"],
      ])
    #expect(
      try found("<li>([^<]*)</li>", in: worst).map { $0[0] } == Array(repeating: "link (IPv6): no light", count: 2))
    #expect(worst.contains(#"<p class="advice">Plug it in.</p>"#))
    // Each layer's bar is as long as its share of the longest.
    let bars = try part(of: page, from: "<h2>Where the causes were</h2>", to: "</section>")
    #expect(
      try found(#"<span>([a-z ]+)</span><span class="track"><span style="width:([\d.]+)%;"#, in: bars) == [
        ["the link", "100.00"], ["the site", "50.00"],
      ])
    #expect(
      try found(#"<span class="figure">([^<]*)<span class="soft">([^<]*)<"#, in: bars) == [
        ["30 min", " in 1 outage"], ["15 min", " in 1 outage"],
      ])
  }

  @Test func whereNobodyWatchedThePageSaysSo() {
    let page = page(0..<10, [])
    #expect(page.contains("<p>Nobody watched in this time.</p>") && !page.contains("<svg"))
    #expect(page.contains("\(text(0)) to \(text(10)), nothing recorded</p>"))
  }
}
