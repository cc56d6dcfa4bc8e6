// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneCLI

/// Where the parts of a line stand, at the width at which they just have room, and one below it.
struct LineLayoutTests {
  private static let name = "abcdefghijklmnopqrstuvwxyz0123"

  private func line(
    _ names: [String], _ target: Int, columns: Int?, time: String? = nil, status: String = "up",
    details: String = "", former: [String?] = [nil]
  ) -> String {
    TerminalLine(
      time: time, target: target, status: status, look: .good, statusColumns: 2, wordings: former.map { (details, $0) }
    ).text(names: ShortenedNames(names), on: Screen(columns: columns))
  }

  /// The column of names is as wide as the longest, if that is at most half of the line; else a quarter of it, and
  /// eight columns at least. Behind it are two blanks.
  @Test(arguments: [
    (12, 24, nil, 12), (13, 24, nil, 8), (20, 24, nil, 8), (30, 60, nil, 30), (31, 60, nil, 15), (31, 61, nil, 15),
    (12, 34, "12:00:00", 12), (12, 33, "12:00:00", 8), (30, 70, "12:00:00", 30), (12, nil, nil, 12),
  ])
  func hasAColumnForNames(widest: Int, columns: Int?, time: String?, width: Int) {
    let names = [String(repeating: "x", count: widest), "ab"]
    let start = time.map { $0 + "  " } ?? ""
    #expect(
      line(names, 1, columns: columns, time: time) == start + "ab" + String(repeating: " ", count: width) + "up")
  }

  @Test func keepsALineThatHasJustRoom() {
    #expect(line(["ab"], 0, columns: 11, details: "xyz") == "ab  up  xyz")
    #expect(line(["ab"], 0, columns: 10, details: "xyz") == "ab  up\n  xyz")
    // The former state is said in fewer words, then left out.
    func text(_ columns: Int?) -> String {
      line(["ab"], 0, columns: columns, details: "xyz", former: ["after 1 s down", "after 1 s", nil])
    }
    #expect(text(27) == "ab  up  xyz  after 1 s down" && text(26) == "ab  up  xyz  after 1 s")
    #expect(text(22) == "ab  up  xyz  after 1 s" && text(21) == "ab  up  xyz" && text(11) == "ab  up  xyz")
    #expect(text(nil) == "ab  up  xyz  after 1 s down")
    // A status that is longer than others moves what follows it.
    #expect(line(["ab"], 0, columns: 80, status: "unknown", details: "xyz") == "ab  unknown  xyz")
  }

  /// To fewer than twelve columns no name is cut for the sake of one line; there it has the rest of the first line.
  @Test func cutsNamesNoFurtherThanTheyCanBeRead() {
    #expect(line([Self.name], 0, columns: 48) == "abcde…yz0123  up")
    #expect(line([Self.name], 0, columns: 47, details: "x") == "\(Self.name)  up\n  x")
    #expect(line([Self.name], 0, columns: 20, details: "x") == "abcdefg…wxyz0123  up\n  x")
    #expect(line([Self.name], 0, columns: 12, details: "x") == "abc…0123  up\n  x")
    // It is wrapped where it would be cut to fewer than eight columns.
    #expect(line([Self.name], 0, columns: 11, details: "x") == "abcdefghijk\n  lmnopqrst\n  uvwxyz012\n  3  up\n  x")
    // The status stays in its column if the name has room in front of it.
    #expect(line(["abcdefgh", "ab"], 1, columns: 20, details: "one two three") == "ab        up\n  one two three")
    let long = "one two three four five six"
    #expect(
      line(["abcdefgh", "ab"], 1, columns: 20, details: long) == "ab        up\n  one two three four\n  five six")
  }

  // MARK: What is waited for

  private static let host = "abcdefghijklmnopqrstuvwxyz0123456789ABCD"

  /// Names are cut first, then the goal is left out, then the names.
  @Test(arguments: [
    (73, "waiting for abcdefghijklmnopqrstuvwxyz0123456789ABCD to be reachable, 3 s"),
    (72, "waiting for abcdefghijk…23456789ABCD to be reachable, 3 s"),
    (57, "waiting for abcdefghijk…23456789ABCD to be reachable, 3 s"),
    (56, "waiting for abcdefg…6789ABCD to be reachable, 3 s"),
    (49, "waiting for abcdefg…6789ABCD to be reachable, 3 s"), (48, "waiting for abcd…9ABCD to be reachable, 3 s"),
    (43, "waiting for abcd…9ABCD to be reachable, 3 s"), (42, "waiting for abcdefghijk…23456789ABCD, 3 s"),
    (41, "waiting for abcdefghijk…23456789ABCD, 3 s"), (40, "waiting for abcd…9ABCD, 3 s"),
    (27, "waiting for abcd…9ABCD, 3 s"), (26, "waiting, 3 s"), (12, "waiting, 3 s"), (11, "3 s"), (3, "3 s"), (2, ""),
  ])
  func progressLeavesOutWhatMattersLeast(columns: Int, text: String) {
    let line = ProgressText.line(
      Waiting(targets: [0], goal: "to be reachable"), names: ShortenedNames([Self.host]), reason: { _ in nil },
      elapsed: .seconds(3), limit: nil, columns: columns)
    #expect(line == text)
  }

  /// The reason is cut at its end, and left out where eight columns or fewer would be left of it.
  @Test(arguments: [
    (34, "waiting: no carrier anywhere, 3 s"), (33, "waiting: no carrier anywhere, 3 s"),
    (32, "waiting: no carrier anywhe…, 3 s"), (23, "waiting: no carri…, 3 s"), (22, "waiting, 3 s"),
  ])
  func progressCutsTheReason(columns: Int, text: String) {
    let line = ProgressText.line(
      Waiting(targets: [0], goal: "to be reachable"), names: ShortenedNames([Self.host]),
      reason: { _ in "no carrier anywhere" }, elapsed: .seconds(3), limit: nil, columns: columns)
    #expect(line == text)
  }

  @Test func progressNamesTheFirstTwo() {
    func line(_ reasons: [String?], _ elapsed: Duration = .seconds(3), of limit: Duration? = nil) -> String {
      ProgressText.line(
        Waiting(targets: Array(reasons.indices), goal: "to answer"), names: ShortenedNames(["a", "b", "c"]),
        reason: { reasons[$0] }, elapsed: elapsed, limit: limit, columns: 200)
    }
    #expect(line([nil]) == "waiting for a to answer, 3 s")
    #expect(line([nil, nil]) == "waiting for a and b to answer, 3 s")
    #expect(line([nil, nil, nil]) == "waiting for a, b and 1 more to answer, 3 s")
    #expect(line([nil, nil, "late"]) == "waiting for a, b and 1 more to answer, 3 s", "the third is not looked at")
    #expect(line(["late", "late"]) == "waiting for a and b to answer: late, 3 s")
    #expect(line(["late", "gone"]) == "waiting for a and b to answer: a: late, 3 s")
    #expect(line([nil, "gone"]) == "waiting for a and b to answer: b: gone, 3 s")
    #expect(line(["late", "late", "late"]) == "waiting for a, b and 1 more to answer: a: late, 3 s")
    // Whole seconds, one at least.
    #expect(line([nil], .zero) == "waiting for a to answer, 1 s")
    #expect(line([nil], .milliseconds(1999)) == "waiting for a to answer, 1 s")
    #expect(line([nil], .seconds(2), of: .seconds(90)) == "waiting for a to answer, 2 s of 1 min 30 s")
  }

  /// Each reason once, and ten in all.
  @Test func saysAFewReasons() {
    var reasons = WaitReasons()
    #expect(reasons.line("a\n", "to answer", "late") == "dialtone: waiting for a\\u{A} to answer: late")
    #expect(reasons.line("b", "to answer", "late") == nil)
    for number in 2...10 {
      #expect(reasons.line("a", "to answer", "\(number)") == "dialtone: waiting for a to answer: \(number)")
    }
    #expect(reasons.line("a", "to answer", "11") == nil)
  }

  @Test func showsNoProgressUnlessItIsWanted() {
    let progress = Progress(isEnabled: false)
    progress.show("waiting")
    #expect(!progress.isVisible)
  }

  // MARK: The details of a state

  /// `eth0` leads to the target.
  private static let interface = NetworkInterface(name: "eth0", index: 2, kind: .wired)

  @Test func tellsTheWay() {
    func details(_ flags: ReachabilityFlags, gateway: String? = nil, _ status: Reachability.Status = .reachable)
      -> String
    {
      TextReportFormatter.details(
        of: Reachability(
          status: status, flags: flags, interface: Self.interface, gateway: gateway.flatMap { IPAddress($0) }))
    }
    #expect(details([.reachable, .isDirect]) == "via wired (eth0), direct")
    #expect(details([.reachable]) == "via wired (eth0)")
    #expect(details([.reachable, .isDirect], gateway: "192.0.2.1") == "via wired (eth0), gateway 192.0.2.1")
    #expect(details([.reachable, .isLocalAddress, .isDirect]) == "via wired (eth0), this machine")
    #expect(details([.reachable, .isDirect], .requiresConnection) == "wired (eth0)")
    #expect(TextReportFormatter.details(of: Reachability(status: .reachable)) == "")
    #expect(TextReportFormatter.details(of: Reachability(status: .unreachable)) == "no answer yet")
    let none = Reachability(status: .unreachable, reason: .noInterface)
    #expect(
      TextReportFormatter.details(of: none, takesAnyInterface: true) == "there is no wired or Wi-Fi interface")
    let down = Reachability(status: .unreachable, reason: .linkDown)
    #expect(TextReportFormatter.details(of: down, takesAnyInterface: true) == "the interface is down")
  }

  @Test func tellsWhatWasBefore() {
    let other = NetworkInterface(name: "wlan0", index: 3, kind: .wifi)
    let wired = Reachability(status: .reachable, interface: Self.interface)
    let wifi = Reachability(status: .reachable, interface: other)
    let lost = Reachability(status: .unreachable, interface: Self.interface, reason: .noCarrier)
    let lostElsewhere = Reachability(status: .unreachable, interface: other, reason: .noCarrier)
    func words(_ former: Reachability, _ state: Reachability) -> String {
      TextReportFormatter.words(for: .init(state: former, lasted: .seconds(12)), before: state)
    }
    #expect(words(lost, wired) == "after 12 s unreachable" && words(wired, lost) == "after 12 s reachable")
    #expect(words(wired, wifi) == "after 12 s via eth0" && words(wired, wired) == "after 12 s")
    #expect(words(lost, lostElsewhere) == "after 12 s")
  }

  /// A person at a terminal has the time of day; a file has the day and the zone, too.
  @Test func tellsTheTime() throws {
    let state = Reachability(status: .unreachable, reason: .noRoute, realtime: 1)
    let site = SiteVerdict(url: "http://a/", kind: .available, status: 204)
    let patterns: [(columns: Int?, text: String)] = [
      (80, #"\d\d:\d\d:\d\d"#), (nil, #"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[-+]\d\d:\d\d"#),
    ]
    for (columns, text) in patterns {
      let time = try Regex("^\(text)  ")
      let line = TextReportFormatter(targets: [.usual], screen: { Screen(columns: columns) }, showsTime: true)
        .line(for: Report(target: 0, state: state))
      #expect(line.replacing(time, with: "") == "internet  unreachable  no route to the destination", "\(line)")
      let answer = SiteTextFormatter(urls: ["http://a/"], screen: { Screen(columns: columns) }, showsTime: true)
        .line(for: StateReport(target: 0, state: site))
      #expect(answer.replacing(time, with: "") == "http://a/  available  204", "\(answer)")
    }
  }
}
