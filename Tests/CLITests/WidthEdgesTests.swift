// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI
@testable import DialtoneJournal

/// What has just room, and what is told apart in next to none.
struct WidthEdgesTests {
  /// A word that has just room stays whole, whatever marks it has. One that is longer breaks behind a mark only if that
  /// stands in the second half of the room.
  @Test(arguments: [
    ("abcd-ef gh", 7, "abcd-ef\ngh"), ("abcde-fghijklmno", 12, "abcde-fghijk\nlmno"),
    ("abcdef-ghijklmno", 12, "abcdef-\nghijklmno"),
  ])
  func breaksBehindAMarkOfTheSecondHalfAlone(text: String, columns: Int, broken: String) {
    #expect(Screen(columns: columns).paragraph(text, hanging: 0) == broken)
  }

  /// An option that is longer than the terminal goes on two columns further in, as what is said of it.
  @Test func breaksALongOptionOfHelp() {
    let help = "  --a-long-option <value-name>  One"
    #expect(Screen(columns: 20).help(help) == "  --a-long-option\n    <value-name>\n    One")
  }

  /// A wide character that has no room leaves a column of the name free, which nothing fills: there is no column for
  /// names that are cut to fewer than twelve.
  @Test func fillsUpNoNameThatIsCutBeyondReading() {
    let line = TerminalLine(
      time: nil, target: 0, status: "requires-connection", look: .middling, statusColumns: 2, wordings: [("x", nil)])
    let names = ShortenedNames([String(repeating: "漢", count: 20)])
    #expect(line.text(names: names, on: Screen(columns: 29)) == "漢…漢漢  requires-connection\n  x")
  }

  // MARK: Names

  /// Of names that are cut alike, the beginning tells those apart that differ there, else what follows it, else their
  /// positions, if they have room.
  @Test(arguments: [
    (["aXbcd", "aYbcd"], 4, ["aXb…", "aYb…"]),
    (["abXcde", "abYcde", "abXfde"], 4, ["a…#1", "a…Y…", "a…#3"]),
    (["abXcde", "abYcde", "abXfde"], 3, ["…X…", "…Y…", "…X…"]),
    // What has room is never cut, though another one is cut to the same.
    (["abc…ijkl", "abcdefghijkl"], 8, ["abc…ijkl", "ab…defg…"]),
  ])
  func tellsNamesApartInAFewColumns(names: [String], limit: Int, cut: [String]) {
    let shortened = ShortenedNames(names)
    #expect(names.indices.map { shortened.name($0, to: limit) } == cut)
  }

  // MARK: Outages

  /// Two layers of the same length come in their order from this machine to the site.
  @Test func keepsTheOrderOfLayersThatWereDownAsLong() {
    var sums = OutageSums(since: 0, until: 1_000_000_000_000)
    for (layer, began) in [(OutageLayer.site, Int64(1000)), (.router, 5000), (.link, 9000)] {
      let moments = [began, began + 60].map { Moment(wall: $0 * 1_000_000, clock: $0 * 1_000_000, slept: 0) }
      let explanation = Explanation(cause: "a", confidence: "likely", layer: layer, summary: "b")
      let open = OpenOutage(target: "t", began: moments[0], reason: "c", words: "d", explanation: explanation)
      sums.take(.outage(Outage(open, at: moments[1], .over("back"))))
    }
    #expect(
      OutageFormatter(screen: Screen(columns: nil)).lines(for: sums, skippedLines: 0).prefix(3) == [
        "the link         1 min in 1 outage", "the router       1 min in 1 outage",
        "the site         1 min in 1 outage",
      ])
  }

  /// The line of progress says whole seconds, each once.
  @Test func showsProgressOnceASecond() { #expect(Progress.interval == .seconds(1)) }
}
