// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DialtoneJournal

/// The sums behind a report, and the parts of its page.
struct ReportPageTests {
  /// A local midnight, around noon of which no clock changes.
  private static let midnight = Int64(
    Calendar.current.startOfDay(for: Date(timeIntervalSince1970: 1_795_600_000)).timeIntervalSince1970)

  /// That many seconds after midnight, in microseconds.
  private func wall(_ seconds: Double) -> Int64 { Self.midnight * 1_000_000 + Int64(seconds * 1_000_000) }

  private func moment(_ seconds: Double) -> Moment {
    Moment(wall: wall(seconds), clock: wall(seconds), slept: 0)
  }

  private func outage(
    _ from: Double, _ to: Double, _ target: String = "a", layer: OutageLayer = .link, slept: Int64 = 0,
    _ ending: Outage.Ending = .over("back"), _ edit: (inout OpenOutage) -> Void = { _ in }
  ) -> OutageLog.Finding {
    var open = OpenOutage(target: target, began: moment(from), reason: nil, words: "words")
    open.statedLayer = layer
    edit(&open)
    var end = moment(to)
    end.slept = slept
    return .outage(Outage(open, at: end, ending))
  }

  private func up(_ from: Double, _ to: Double, _ target: String = "a") -> OutageLog.Finding {
    .watched(target, .up, from: wall(from), to: wall(to))
  }

  private func data(_ from: Double, _ to: Double, _ findings: [OutageLog.Finding]) -> ReportData {
    var data = ReportData(since: wall(from), until: wall(to))
    for finding in findings { data.take(finding) }
    return data
  }

  /// A page whose spans are written in seconds.
  private func page(
    _ from: Double, _ to: Double, _ findings: [OutageLog.Finding], skippedLines: Int = 0, unseen: String? = nil
  ) -> String {
    var page = ReportPage(
      data(from, to, findings), host: "ho<st", directory: "/j&", version: "9", skippedLines: skippedLines,
      words: { "\($0 / 1_000_000) s" })
    page.unseen = unseen
    return page.source
  }

  private func found(_ pattern: String, in text: String) throws -> [[String]] {
    try text.matches(of: Regex(pattern, as: AnyRegexOutput.self)).map { match in
      match.output.dropFirst().map { String($0.substring ?? "") }
    }
  }

  // MARK: Data

  @Test(arguments: [(5, 9, 9), (5, 6, 6), (5, 5, 6), (5, 3, 6)] as [(Int64, Int64, Int64)])
  func aSpanIsNeverEmpty(since: Int64, until: Int64, end: Int64) {
    let data = ReportData(since: since, until: until)
    #expect(data.since == since && data.until == end && data.sums.until == end && data.paths.count == 400)
  }

  @Test func aCellHasTheLayerOfMostOfIt() {
    var cell = ReportData.Cell()
    #expect(cell.layer == nil && cell.up == 0 && cell.asleep == 0 && cell.down == Array(repeating: 0, count: 7))
    cell.down[6] = 1
    #expect(cell.layer == .unknown)
    cell.down[2] = 2
    #expect(cell.layer == .router)
  }

  /// 400 seconds on 400 cells. An outage of no time is one, too.
  @Test func timesLieInTheirCells() throws {
    let data = data(
      0, 400,
      [
        up(10.5, 12.25), up(-5, 1), outage(20, 20), outage(30.5, 31.5, layer: .site), outage(399, 500, "b"),
        .asleep(from: wall(50), to: wall(51)), .watched("c", .unknown, from: wall(0), to: wall(9)),
      ])
    let band = try #require(data.bands["a"])
    let used = band.enumerated().filter { $0.element != ReportData.Cell() }
    #expect(used.map(\.offset) == [0, 10, 11, 12, 20, 30, 31, 50])
    #expect(used.map(\.element.up) == [1_000_000, 500_000, 1_000_000, 250_000, 0, 0, 0, 0])
    #expect(used.map { $0.element.down[1] } == [0, 0, 0, 0, 1, 0, 0, 0])
    #expect(used.map { $0.element.down[5] } == [0, 0, 0, 0, 0, 500_000, 500_000, 0])
    #expect(used.map(\.element.asleep) == [0, 0, 0, 0, 0, 0, 0, 1_000_000])
    #expect(data.bands["b"]?.enumerated().filter { $0.element.layer != nil }.map(\.offset) == [399])
    #expect(data.bands["b"]?[399].down[1] == 1_000_000)
    #expect(data.bands["c"] == Array(repeating: ReportData.Cell(), count: 400))
    #expect(data.position(of: wall(100)) == 0.25)
    #expect(data.start(of: 100) == wall(100) && data.start(of: 400) == wall(400))
  }

  /// A cell that a path only touches has nothing of it, wherever cells begin.
  @Test func aPathLiesInItsCellsAlone() {
    for length in [1_000_003, 400, 86_400_000_001] as [Int64] {
      for cell in [0, 1, 3, 7, 123, 398, 399] {
        var data = ReportData(since: 0, until: length)
        let (from, to) = (data.start(of: cell), data.start(of: cell + 1))
        data.take(.path(NetworkSummary(status: "satisfied", kind: "wired"), from: from, to: to))
        data.take(.path(NetworkSummary(status: "unsatisfied"), from: from, to: from))
        #expect(data.paths.enumerated().filter { !$0.element.isEmpty }.map(\.offset) == [cell])
        #expect(data.paths[cell] == ["wired": to - from])
      }
    }
  }

  /// The ten longest, and of two that are as long the one that was told first.
  @Test func theWorstAreTheLongestTen() {
    let lengths: [Double] = [3, 9, 1, 12, 5, 7, 5, 2, 11, 8, 10, 6, 4, 0.5]
    let findings = lengths.enumerated().map { outage(Double($0) * 20, Double($0) * 20 + $1, "\($0)") }
    let worst = data(0, 400, findings).worst
    #expect(worst.map(\.outage.lasted) == [12, 11, 10, 9, 8, 7, 6, 5, 5, 4].map { $0 * 1_000_000 })
    #expect(worst.map(\.outage.target) == ["3", "8", "10", "1", "9", "5", "11", "4", "6", "12"])
    #expect(data(0, 400, Array(findings.prefix(2))).worst.map(\.outage.target) == ["1", "0"])
  }

  /// What goes over midnight counts on both days, to the microsecond, and as one outage of the first.
  @Test func daysEndAtMidnight() {
    let day = 86_400.0
    let data = data(
      0, 3 * day, [outage(day - 0.5, day + 0.25), up(5, 10.5), up(2 * day - 61.25, 2 * day + 3), outage(-9, 1, "b")])
    let keys = (0..<3).map { WallTime.localDay(wall(Double($0) * day + 43_200)) }
    #expect(Set(data.days.keys) == Set(keys))
    #expect(data.days[keys[0]] == ReportData.Day(up: 5_500_000, down: 1_500_000, outages: 2))
    #expect(data.days[keys[1]] == ReportData.Day(up: 61_250_000, down: 250_000, outages: 0))
    #expect(data.days[keys[2]] == ReportData.Day(up: 3_000_000, down: 0, outages: 0))
  }

  /// A cable that is pulled for an hour is an hour, with any number of targets.
  @Test func aDayIsLostOnce() {
    let data = data(
      0, 86_400, [outage(50, 60), outage(0, 10), outage(5, 12, "b"), outage(8, 9, "c"), outage(12, 13, "c")])
    #expect(data.lostByDay == [WallTime.localDay(wall(0)): 23_000_000])
    #expect(page(0, 86_400, [outage(0, 10), outage(0, 10, "b")]).contains(": 2 outages, 10 s down\""))
  }

  // MARK: Page

  /// 400 cells of ten minutes: what is shorter says how long it was, and in which minutes it lies.
  @Test func aTooltipSaysHowLong() throws {
    let page = page(0, 240_000, [outage(43_202, 43_204), outage(43_900, 43_903), outage(60_000, 60_600)])
    #expect(
      try found(#"<title>down: the link, ([^<]*?)\S+ (\d\d:\d\d) (and|to) \S+ (\d\d:\d\d)<"#, in: page) == [
        ["5 s between ", "12:00", "and", "12:20"], ["", "16:40", "to", "16:50"],
      ])
  }

  @Test func thePageIsWhole() {
    let page = page(0, 400, [up(0, 400)])
    #expect(
      page.hasPrefix(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          + "<meta http-equiv=\"Content-Security-Policy\" "
          + "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"))
    #expect(page.contains("<title>Outages of ho&lt;st</title><style>:root {"))
    #expect(page.contains("</style></head>\n<body><main>\n<header><h1>Outages of ho&lt;st</h1>"))
    #expect(page.contains(", no outages</p></header>"))
    #expect(page.contains("<h2>Targets</h2>") && page.contains("<h2>Days</h2>"))
    #expect(page.contains("<span class=\"name\">Way to the Internet</span>"))
    #expect(page.contains("<p class=\"soft\">no outages; watched for 400 s</p>"))
    #expect(!page.contains("<h2>Where the causes were</h2>") && !page.contains("class=\"worst\""))
    #expect(
      page.hasSuffix(
        "<footer>Made by dialtone 9, of the journal in /j&amp;. Time in which nobody watched, or the machine slept, "
          + "counts neither way.</footer></main></body></html>\n"))
  }

  @Test func whatCouldNotBeReadIsSaid() {
    #expect(page(0, 9, [], skippedLines: 1).contains(" 1 line of the journal could not be read.</footer>"))
    #expect(page(0, 9, [], skippedLines: 2).contains(" 2 lines of the journal could not be read.</footer>"))
    #expect(page(0, 9, [up(0, 9)], unseen: "Not <b>.").contains("<section><p>Not &lt;b&gt;.</p></section>"))
    #expect(!page(0, 9, [up(0, 9)]).contains("<section><p>"))
    let nothing = page(0, 9, [], unseen: "Not b.")
    #expect(nothing.contains("<section><p>Not b.</p></section>") && !nothing.contains("Nobody watched in this time"))
  }

  private static let bar = #"style="width:([^%]*)%;background:var\(--([a-z]+)\)"#

  /// Two targets that are lost at once are one event, and an outage after that is another.
  @Test func eventsAndOutagesAreCounted() throws {
    let page = page(0, 400, [outage(20, 50), outage(21, 50, "b"), outage(100, 110), outage(200, 202, layer: .site)])
    #expect(page.contains(", 3 events, 4 outages, the longest 30 s</p>"))
    #expect(
      try found(#"<span class="figure">([^<]*)<span class="soft">([^<]*)<"#, in: page) == [
        ["40 s", " in 2 events, 3 outages"], ["2 s", " in 1 outage"],
      ])
    #expect(try found(Self.bar, in: page) == [["100.00", "link"], ["5.00", "site"]])
  }

  /// The recorder was killed after 2 of 34 seconds, and looked again for the last two: the band has these, as the sums.
  @Test func whatNobodyWatchedIsNotInTheBand() throws {
    let seen = [(20.0, 22.0), (52, 54)].map { wall($0)..<wall($1) }
    let open = OpenOutage(
      target: "a", began: moment(20), unwatched: 30_000_000, reason: "no-carrier", words: "words")
    let findings = [up(10, 20), .outage(Outage(open, at: moment(54), .over("back"), seen: seen)), up(54, 60)]
    let data = data(0, 400, findings)
    let band = try #require(data.bands["a"])
    #expect(band.enumerated().filter { $0.element.layer != nil }.map(\.offset) == [20, 21, 52, 53])
    #expect(data.days.values.map(\.down) == [4_000_000] && data.lostByDay.values.map(\.self) == [4_000_000])
    let page = page(0, 400, findings)
    #expect(page.contains("1 outage, 4 s down, the longest 4 s; watched for 20 s</p>"))
    #expect(page.contains("1 outage, the longest ≤ 34 s</p>") && page.contains("<span class=\"figure\">≤ 34 s</span>"))
    #expect(page.contains(" · nobody watched for 30 s of it"))
  }

  /// What lasts as long stands in the order of its name, and what lasts no time has no bar.
  @Test func outagesOfNoTimeHaveNoBar() throws {
    let page = page(0, 400, [outage(20, 20, layer: .site), outage(60, 60, layer: .link)])
    #expect(try found(Self.bar, in: page) == [["0.00", "link"], ["0.00", "site"]])
  }

  /// An hour of microseconds: nothing is too short to be seen.
  @Test func aMicrosecondIsSeen() throws {
    let (start, target) = (wall(0), "a")
    var data = ReportData(since: start, until: start + 400)
    data.take(.watched(target, .up, from: start, to: start + 200))
    data.take(.asleep(from: start + 200, to: start + 300))
    let page = ReportPage(data, host: "h", directory: "d", version: "9", skippedLines: 0, words: { "\($0)" }).source
    #expect(
      try found(#"<rect x="(\d+)" width="(\d+)" height="10" style="--look:var\(--([a-z]+)\)"#, in: page) == [
        ["0", "200", "up"], ["200", "100", "asleep"],
      ])
    #expect(page.contains("</span>asleep</li>") && page.contains("<span class=\"figure\">100.000 %</span>"))
  }

  /// Not watched at all, or not as far as it is known.
  @Test func availabilityNeedsSomebodyWhoWatches() {
    #expect(
      page(0, 9, [.watched("a", .unknown, from: wall(0), to: wall(9))])
        .contains("<span class=\"figure\">not watched</span>"))
    #expect(page(0, 9, [up(0, 6), outage(6, 9)]).contains("<span class=\"figure\">66.666 %</span>"))
  }

  // MARK: Axis

  private func labels(_ from: Double, _ length: Double) throws -> [[String]] {
    try found(
      #"<span class="(minor|major)" style="--at:([\d.]+)%">([^<]*)</span>"#,
      in: page(from, from + length, [up(from, from + length)]))
  }

  /// The closest times of which at most eight have room, in minutes.
  @Test(
    arguments: [
      (7, 1), (8, 2), (15, 2), (16, 5), (39, 5), (40, 10), (79, 10), (80, 15), (119, 15), (120, 30), (239, 30),
      (240, 60), (479, 60), (480, 120), (959, 120), (960, 180), (1_439, 180), (1_440, 360), (2_879, 360),
    ])
  func timesAreAtRoundDistances(minutes: Int, step: Int) throws {
    let labels = try labels(0, Double(minutes) * 60)
    #expect(labels.count <= 8 && labels.first?[2] == "00:00")
    let second = String(format: "%02d:%02d", step / 60, step % 60)
    #expect(labels.dropFirst().first?[2] == second)
  }

  /// At the right edge there is no room for a text, and at the left edge the style makes some.
  @Test(arguments: [(11, "01:30", "00:15"), (7, "01:30", "00:15"), (12, "01:45", "00:15"), (58, "02:30", "01:00")])
  func textsHaveRoom(start: Int, last: String, first: String) throws {
    let labels = try labels(Double(start) * 60, 6_000)
    #expect(labels.first?[2] == first && labels.last?[2] == last)
    #expect(try self.labels(Double(59) * 60, 6_000).first == ["major", "1.0", "01:00"])
  }

  /// Two days have days below them, each once.
  @Test func daysAreSaidOnce() throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "d MMM"
    let days = (0..<3).map { day in
      formatter.string(from: Date(timeIntervalSince1970: Double(Self.midnight + Int64(day) * 86_400 + 43_200)))
    }
    #expect(try labels(0, 2 * 86_400).map { [$0[1], $0[2]] } == [["0.0", days[0]], ["50.0", days[1]]])
    #expect(
      try labels(0, 3 * 86_400).map { [$0[1], $0[2]] } == [["0.0", days[0]], ["33.3", days[1]], ["66.6", days[2]]])
    // A day is written at its midnight, wherever the page begins.
    #expect(try labels(21_600, 2.5 * 86_400).map { [$0[1], $0[2]] } == [["30.0", days[1]], ["70.0", days[2]]])
  }

  // MARK: Days

  /// The more of a day is down, the darker it is, up to an eighth.
  @Test(arguments: [(0.01, 22), (100, 28), (500, 52), (1_000, 70), (5_000, 70), (10_000, 70)] as [(Double, Int)])
  func aDayIsAsBadAsItLooks(down: Double, share: Int) throws {
    let page = page(0, 86_400, [up(0, 10_000 - down), outage(10_000 - down, 10_000)])
    #expect(try found(#"class="day bad" style="--share:(\d+)%""#, in: page) == [["\(share)"]])
    #expect(page.contains(": 1 outage, \(Int(down)) s down\""))
  }

  @Test func aCalendarHasFourHundredDaysAndToday() throws {
    let day = 86_400.0
    #expect(try found("<div class=\"(day)", in: page(-450 * day, 3_600, [up(0, 60)])).count == 401)
    #expect(try found("<div class=\"(day)", in: page(0, 3_600, [up(0, 60)])).count == 1)
    #expect(try found("<div class=\"(day)", in: page(0, day, [up(0, 60)])).count == 1)
    #expect(try found("<div class=\"(day)", in: page(0, day + 1, [up(0, 60)])).count == 2)
  }

  // MARK: Outages

  @Test func anOutageIsTold() {
    let one = page(0, 400, [outage(20, 50, slept: 1_000_000)])
    #expect(one.contains("<h2>The outage</h2>") && !one.contains("of sleep left out") && !one.contains("<ul></ul>"))
    #expect(
      one.contains(
        "<span class=\"name tag\"><span class=\"key\" style=\"background:var(--link)\"></span>words</span>"
          + "<span class=\"figure\">29 s</span>"))
    let two = page(0, 400, [outage(20, 50, slept: 2_000_000, .open), outage(60, 70, "b", .cut) { $0.wasFirst = true }])
    #expect(two.contains("<h2>The longest outages</h2>"))
    #expect(two.contains(":20 · not over yet · where: the link · 2 s of sleep left out</p>"))
    #expect(two.contains("<p class=\"soft\">b · at or before ") && two.contains(":00 · nobody saw its end · "))
  }

  @Test func anOutageSaysWhyItHasNoCause() {
    func story(_ edit: (inout OpenOutage) -> Void) -> String {
      page(0, 400, [outage(20, 50, "a", .over("back"), edit)])
    }
    #expect(story { $0.unexplained = .over }.contains(" · over before its cause was found</p>"))
    let many = story { $0.unexplained = .limit }
    #expect(many.contains(" · not explained, since others were: at most one a minute</p>"))
    let nothing = Explanation(cause: nil, confidence: "unknown", layer: .unknown, summary: "none found")
    #expect(story { $0.explanation = nothing }.contains(" · no cause found</p>"))
    var family = nothing
    (family.cause, family.confidence) = ("silent", "likely")
    family.steps = [
      Explanation.Step(step: "link", family: "ipv4", outcome: "fault", text: "t"),
      Explanation.Step(step: "way", family: nil, outcome: "fault", text: "<u>"),
    ]
    let found = story { $0.explanation = family }
    #expect(found.contains(" · silent, likely</p><ul><li>link (IPv4): t</li><li>way: &lt;u&gt;</li></ul>"))
    #expect(found.contains("</span>none found</span>"))
  }

  /// A cable with four targets is pulled: one row, of the longest. A second is together; another cause has its own row.
  @Test func whatIsLostTogetherIsOneRow() throws {
    func cable(_ from: Double, _ to: Double, _ target: String) -> OutageLog.Finding {
      outage(from, to, target) { $0.reason = "no-carrier" }
    }
    let page = page(
      0, 400,
      [
        cable(20, 49, "a"), cable(20.5, 50, "b"), cable(20, 48, "c"), cable(21, 40, "d"), cable(22, 60, "e"),
        cable(100, 110, "a"), cable(100, 111, "b"), outage(20, 30, "f") { $0.reason = "no-route" },
        outage(20, 29, "g", layer: .site) { $0.reason = "no-carrier" },
      ])
    #expect(
      try found(#"<p class="soft">([a-z][^·<]*) · "#, in: page).map { $0[0] }
        == ["e", "b and 3 other targets", "b and 1 other target", "f", "g"])
  }

  // MARK: HTML

  /// HTML, 13.1.2 and 13.1.4: what ends a text or a value, and what has no place in either.
  @Test(
    arguments: [
      ("a<b>c", "a&lt;b&gt;c"), ("\"'&", "&quot;&#39;&amp;"), ("\u{7}\u{9B}\n", "\u{FFFD}\u{FFFD}\u{FFFD}"),
      ("\u{202E}\u{200B}", "\u{FFFD}\u{FFFD}"), ("é 网 𝄞 ~", "é 网 𝄞 ~"), ("", ""),
    ])
  func textIsEscaped(text: String, escaped: String) {
    #expect(HTML.escaped(text) == escaped)
    var html = HTML()
    html.element("p", class: text, [("title", text)]) { $0.text(text) }
    html.element("b", text)
    html.markup("<br>")
    #expect(html.source == "<p class=\"\(escaped)\" title=\"\(escaped)\">\(escaped)</p><b>\(escaped)</b><br>")
  }
}
