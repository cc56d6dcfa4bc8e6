// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneCLI
@testable import DialtoneJournal

extension Outage {
  /// One that was seen from its beginning to its end.
  init(_ outage: OpenOutage, at end: Moment, _ ending: Ending) {
    self.init(outage, at: end, ending, seen: [outage.began.clock..<end.clock])
  }
}

/// The table of `outages`, laid out by hand. The sums are added up by hand, too.
struct OutageTextTests {
  private static let second: Int64 = 1_000_000

  private func outage(
    _ target: String, _ seconds: Int64, at began: Int64 = 1000, layer: OutageLayer = .link,
    ending: Outage.Ending = .over("back"), summary: String = "The cable is out."
  ) -> Outage {
    let moments = [began, began + seconds].map { Moment(wall: $0 * Self.second, clock: $0 * Self.second, slept: 0) }
    return Outage(
      OpenOutage(
        target: target, began: moments[0], reason: "no-carrier", words: "unreachable",
        explanation: Explanation(cause: "no-carrier", confidence: "certain", layer: layer, summary: summary)),
      at: moments[1], ending)
  }

  private func formatter(_ columns: Int?, isColoured: Bool = false) -> OutageFormatter {
    OutageFormatter(screen: Screen(columns: columns, style: Style(isColoured: isColoured)))
  }

  /// What the table says behind the time, whose zone is that of the machine.
  private func row(_ outage: Outage, _ formatter: OutageFormatter) -> String {
    let line = formatter.line(for: outage)
    #expect(line.hasPrefix(WallTime.localText(outage.began) + "  "))
    return String(line.dropFirst("2026-11-24 12:00:00  ".count))
  }

  // MARK: The table

  @Test func hasAColumnEach() {
    var table = formatter(nil)
    #expect(table.head == "when                 how long        target  where            cause")
    let over = outage("internet", 90)
    let cause = "The cable is out. (no-carrier, certain)"
    // Not yet widened, the target moves what follows.
    #expect(row(over, table) == "1 min 30 s      internet  the link         \(cause)")
    table.widen(for: over)
    table.widen(for: outage("a", 1))
    #expect(table.head == "when                 how long        target    where            cause")
    #expect(row(outage("a", 1), table) == "1.0 s           a         the link         \(cause)")
    #expect(
      row(outage("a", 3599, ending: .open), table) == "59 min 59 s, and on  a         the link         \(cause)")
    #expect(row(outage("a", 3540, ending: .open), table) == "59 min, and on  a         the link         \(cause)")
    #expect(row(outage("a", 60, ending: .cut), table) == "≥ 1 min         a         the link         \(cause)")
    #expect(
      row(outage("a", 60, layer: .nameServer, summary: "b\u{7F}"), table)
        == "1 min           a         the name server  b\\u{7F} (no-carrier, certain)")
  }

  /// From the beginning to the end, of which a part is known.
  @Test func saysThatNobodyWatched() {
    let moments = [1_000, 1_034].map { Moment(wall: $0 * Self.second, clock: $0 * Self.second, slept: 0) }
    let open = OpenOutage(target: "internet", began: moments[0], unwatched: 30 * Self.second, words: "unreachable")
    func line(_ ending: Outage.Ending) -> String { row(Outage(open, at: moments[1], ending), formatter(nil)) }
    #expect(line(.over("back")).hasPrefix("≤ 34 s          internet"))
    #expect(line(.open).hasPrefix("≤ 34 s, and on  internet"))
    #expect(line(.cut).hasPrefix("≥ 4.0 s         internet"))
  }

  @Test func saysWhatIsKnownOfTheCause() {
    let moments = [1_000, 1_090].map { Moment(wall: $0 * Self.second, clock: $0 * Self.second, slept: 0) }
    var bare = OpenOutage(target: "internet", began: moments[0], words: "unreachable")
    func line() -> String { row(Outage(bare, at: moments[1], .over("back")), formatter(nil)) }
    #expect(line() == "1 min 30 s      internet  not known        unreachable")
    bare.unexplained = .over
    #expect(line().hasSuffix("  unreachable (over before its cause was found)"))
  }

  /// It is as wide as the longest target, up to 32 columns.
  @Test(arguments: [(5, 6), (6, 6), (7, 7), (31, 31), (32, 32), (33, 32), (80, 32)])
  func isAsWideAsTheTargets(length: Int, width: Int) {
    var table = formatter(nil)
    table.widen(for: outage(String(repeating: "x", count: length), 1))
    func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }
    #expect(table.head == "when                 how long        target\(blanks(width - 4))where            cause")
    #expect(row(outage("a", 1), table).hasPrefix("1.0 s           a\(blanks(width + 1))the link "))
  }

  /// 19 columns of time, 14 of the length, 8 of the target, 15 of the layer, two between each, and the cause.
  @Test func putsTheCauseBelowIfItHasNoRoom() {
    let over = outage("internet", 90)
    let whole = 19 + 2 + 14 + 2 + 8 + 2 + 15 + 2 + "The cable is out. (no-carrier, certain)".count
    #expect(row(over, formatter(whole)) == row(over, formatter(nil)))
    #expect(
      row(over, formatter(whole - 1)) == """
        1 min 30 s      internet  the link
          The cable is out. (no-carrier, certain)
        """)
  }

  /// What goes on is red (SGR 31), times and the head are faint.
  @Test func coloursWhatGoesOn() {
    let table = formatter(nil, isColoured: true)
    #expect(table.head.hasPrefix("\u{1B}[2mwhen ") && table.head.hasSuffix("cause\u{1B}[0m"))
    let open = table.line(for: outage("a", 60, ending: .open))
    #expect(open.contains("\u{1B}[0m  \u{1B}[31m1 min, and on \u{1B}[0m  a "))
    for ending in [Outage.Ending.cut, .over("back")] {
      let line = table.line(for: outage("a", 60, ending: ending))
      #expect(line.hasPrefix("\u{1B}[2m\(WallTime.localText(1000 * Self.second))\u{1B}[0m  "))
      #expect(line.split(separator: "\u{1B}").count == 2, "\(line.debugDescription)")
    }
  }

  // MARK: Sums

  private func sums(_ outages: [Outage], up: [(String, Int64)]) -> [String] {
    var sums = OutageSums(since: 0, until: 1_000_000 * Self.second)
    for outage in outages { sums.take(.outage(outage)) }
    for (target, seconds) in up {
      sums.take(.watched(target, seconds == 0 ? .unknown : .up, from: 0, to: max(1, seconds) * Self.second))
    }
    return formatter(nil).lines(for: sums, skippedLines: 0)
  }

  /// 600 s and 300 s begin together: one event of the link. 9,000 s of 9,660 s are 93.1677 %.
  @Test func addsUp() {
    let outages = [
      outage("internet", 60, at: 5000, layer: .router), outage("internet", 600), outage("https://a/", 300, at: 1005),
    ]
    #expect(
      sums(outages, up: [("internet", 9000), ("https://a/", 900), ("b", 60), ("c", 0)]) == [
        "the link         10 min in 1 event (2 outages of targets, 15 min in all)",
        "the router       1 min in 1 outage",
        "",
        "b: 100.000 % reachable, 0 s of 1 min down",
        "c: nobody watched",
        "https://a/: 75.000 % available, 5 min of 20 min down, 1 outage",
        "internet: 93.167 % reachable, 11 min of 2 h 41 min down, 2 outages, the longest 10 min",
      ])
  }

  /// The larger sum comes first. Several events have an s.
  @Test func tellsTheWorstLayerFirst() {
    let outages = [
      outage("a", 60, layer: .machine), outage("a", 120, at: 5000, layer: .router),
      outage("b", 120, at: 5000, layer: .router), outage("a", 120, at: 9000, layer: .router),
      outage("a", 90, at: 20_000, layer: .provider), outage("a", 90, at: 30_000, layer: .provider),
    ]
    #expect(
      sums(outages, up: []).prefix(4) == [
        "the router       4 min in 2 events (3 outages of targets, 6 min in all)",
        "the provider     3 min in 2 outages", "this machine     1 min in 1 outage", "",
      ])
  }

  /// The link is down for an hour, whatever each target says of it.
  @Test func countsWhatSeveralLoseOnce() {
    let outages = [outage("a", 3_600), outage("b", 3_300, at: 1_300), outage("c", 3_000, at: 1_600)]
    #expect(sums(outages, up: []).first == "the link         1 h in 3 outages (2 h 45 min in all)")
  }

  @Test func tellsTargetsAloneIfThereWasNoOutage() {
    #expect(sums([], up: [("a", 60)]) == ["a: 100.000 % reachable, 0 s of 1 min down"])
    #expect(sums([], up: []).isEmpty)
  }

  @Test func tellsWhatWasNotRead() {
    let none = OutageSums(since: 0, until: 1)
    #expect(formatter(nil).lines(for: none, skippedLines: 0).isEmpty)
    #expect(
      formatter(nil).lines(for: none, skippedLines: 1) == ["left out, since unreadable: 1 line of the journal"])
    #expect(
      formatter(nil).lines(for: none, skippedLines: 2) == ["left out, since unreadable: 2 lines of the journal"])
  }
}
