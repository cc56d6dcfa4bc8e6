// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI

struct TextTests {
  private static let plain = Style(isColoured: false)
  private static let carrierLost = Reachability(
    status: .unreachable, interface: NetworkInterface(name: "eth0", index: 2, kind: .wired), reason: .noCarrier)
  private static let viaGateway = Reachability(
    status: .reachable, flags: .reachable, interface: NetworkInterface(name: "eth0", index: 2, kind: .wired),
    gateway: IPAddress("192.0.2.1"))

  private func formatter(_ texts: [String], style: Style = plain, isTerminal: Bool = true) throws -> TextReportFormatter
  {
    TextReportFormatter(
      targets: try texts.map { try WatchedTarget($0) }, style: style, isTerminal: isTerminal, showsTime: false)
  }

  // MARK: Words

  @Test(arguments: [
    (Duration.seconds(-5), "<1 ms"), (.microseconds(999), "<1 ms"), (.milliseconds(120), "120 ms"),
    (.milliseconds(999), "999 ms"), (.milliseconds(1999), "1.9 s"), (.milliseconds(59_999), "59 s"),
    (.seconds(60), "1 min"),
    (Duration(attoseconds: .max), "106751 d 23 h"), (Duration(attoseconds: .min), "<1 ms"),
    (.seconds(192), "3 min 12 s"), (.milliseconds(3_599_999), "59 min 59 s"), (.seconds(3600), "1 h"),
    (.seconds(7500), "2 h 5 min"), (.seconds(86_400), "1 d"), (.seconds(183_600), "2 d 3 h"),
  ])
  func saysHowLong(duration: Duration, words: String) {
    #expect(DurationText.words(duration) == words)
  }

  @Test(arguments: [
    (Duration.seconds(0), "1970-01-01T00:00:00.000000Z"), (.seconds(951_826_599), "2000-02-29T12:16:39.000000Z"),
    (.nanoseconds(1_769_860_800_123_456_789), "2026-01-31T12:00:00.123456Z"),
  ])
  func writesTimes(time: Duration, text: String) {
    #expect(TimeText.universal(time) == text)
  }

  @Test func saysWhatIsWaitedFor() throws {
    let targets = try ["a", "b", "c", "d"].map { try WatchedTarget($0) }
    func line(_ positions: [Int], _ elapsed: Duration, _ limit: Duration? = nil) -> String {
      ProgressText.line(
        Waiting(targets: positions, goal: "to be reachable"), names: targets.map(\.typed), elapsed: elapsed,
        limit: limit)
    }
    #expect(line([1], .milliseconds(3005)) == "waiting for b to be reachable, 3 s")
    #expect(
      line([0, 2], .seconds(72), .seconds(90)) == "waiting for a and c to be reachable, 1 min 12 s of 1 min 30 s")
    #expect(line([0, 1, 2, 3], .seconds(10)) == "waiting for a, b and 2 more to be reachable, 10 s")
  }

  // MARK: Safe and aligned

  @Test(arguments: [
    ("example.com", "example.com"), ("a\u{1B}[31m", "a\\u{1B}[31m"), ("a\u{202E}b", "a\\u{202E}b"),
    ("\r\n", "\\u{D}\\u{A}"),
    ("\u{9B}", "\\u{9B}"), ("é漢", "é漢"), ("\u{200B}", "\\u{200B}"), ("\u{E000}", "\\u{E000}"),
  ])
  func letsNothingInvisibleOntoATerminal(text: String, shown: String) {
    #expect(TerminalText.visible(text) == shown)
  }

  @Test(arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("ｱ", 1), ("Ａ", 2), ("👍", 2), ("", 0)])
  func countsColumns(text: String, columns: Int) {
    #expect(TerminalText.columns(text) == columns)
  }

  @Test func cutsInTheMiddle() {
    #expect(TerminalText.fitted("abcdefghij", to: 10) == "abcdefghij")
    #expect(TerminalText.fitted("abcdefghijk", to: 10) == "abcd…ghijk")
    #expect(TerminalText.columns(TerminalText.fitted(String(repeating: "漢", count: 30), to: 10)) <= 10)
  }

  @Test func alignsColumns() throws {
    let long = "a-very-long-name-indeed-with-many-parts.example.com"
    var formatter = try formatter(["internet", "漢字.example", long])
    let lines = (0..<3).map { formatter.line(for: Report(target: $0, state: Self.carrierLost)) }
    #expect(lines[0] == "internet                  unreachable  wired (eth0), no carrier")
    let starts = lines.compactMap { line in
      line.firstRange(of: "unreachable").map { TerminalText.columns(line[..<$0.lowerBound]) }
    }
    #expect(starts == [26, 26, 26])
    #expect(!lines[2].contains(long))
  }

  @Test func doesNotCutNamesInAFile() throws {
    let long = "a-very-long-name-indeed-with-many-parts.example.com"
    var formatter = try formatter([long], isTerminal: false)
    #expect(formatter.line(for: Report(target: 0, state: Self.carrierLost)).hasPrefix(long + "  unreachable"))
  }

  // MARK: Lines

  @Test func tellsTheWay() {
    #expect(TextReportFormatter.details(of: Self.viaGateway) == "via wired (eth0), gateway 192.0.2.1")
    #expect(TextReportFormatter.details(of: Self.carrierLost) == "wired (eth0), no carrier")
    #expect(TextReportFormatter.details(of: .unknown) == "no answer yet")
    let local = Reachability(
      status: .reachable, flags: [.reachable, .isLocalAddress],
      interface: NetworkInterface(name: "lo", index: 1, kind: .loopback))
    #expect(TextReportFormatter.details(of: local) == "via loopback (lo), this machine")
  }

  @Test func tellsThatThereIsNoInterfaceAtAllFromOneThatDoesNotExist() throws {
    let state = Reachability(status: .unreachable, reason: .noInterface)
    func line(_ target: String, interface: String? = nil) throws -> String {
      var formatter = TextReportFormatter(
        targets: [try WatchedTarget(target)], interface: interface, style: Self.plain, isTerminal: true,
        showsTime: false)
      return formatter.line(for: Report(target: 0, state: state))
    }
    #expect(try line("local-network").hasSuffix("unreachable  there is no wired or Wi-Fi interface"))
    #expect(try line("local-network", interface: "eth7").hasSuffix("unreachable  the interface does not exist"))
    #expect(try line("internet").hasSuffix("unreachable  the interface does not exist"))
  }

  @Test func tellsWhatWasBefore() throws {
    var formatter = try formatter(["internet"], isTerminal: false)
    let report = Report(
      target: 0, state: Self.viaGateway, former: .init(state: Self.carrierLost, lasted: .seconds(12)))
    #expect(
      formatter.line(for: report)
        == "internet  reachable    via wired (eth0), gateway 192.0.2.1  after 12 s unreachable")
    var other = Self.viaGateway
    other = Reachability(
      status: .reachable, flags: other.flags, interface: NetworkInterface(name: "wlan0", index: 3, kind: .wifi))
    #expect(
      TextReportFormatter.words(for: .init(state: other, lasted: .seconds(12)), before: Self.viaGateway)
        == "after 12 s via wlan0")
  }

  @Test func leavesTheGatewayOutWhereATerminalHasNoRoom() throws {
    let former = Report.Former(state: Self.carrierLost, lasted: .seconds(12))
    let long = Report(target: 0, state: Self.viaGateway, former: former)
    var onTerminal = try formatter(["a-name-with-24-characters"])
    #expect(
      onTerminal.line(for: long)
        == "a-name-with…4-characters  reachable    via wired (eth0)  after 12 s unreachable")
    let carrierLost = Report(
      target: 0, state: Self.carrierLost, former: .init(state: Self.viaGateway, lasted: .seconds(192)))
    #expect(
      onTerminal.line(for: carrierLost)
        == "a-name-with…4-characters  unreachable  wired (eth0), no carrier  after 3 min 12 s")
    var inFile = try formatter(["a-name-with-24-characters"], isTerminal: false)
    #expect(inFile.line(for: long).contains("via wired (eth0), gateway 192.0.2.1  after"))
    // Where the gateway is what has changed, it stays.
    var state = Self.viaGateway
    state.gateway = IPAddress("2001:db8:1234:5678:9abc:def0:1234:5678")
    let change = Report(target: 0, state: state, former: .init(state: Self.viaGateway, lasted: .seconds(1)))
    #expect(onTerminal.line(for: change).contains("gateway 2001:db8:"))
  }

  @Test func coloursWhereWanted() throws {
    var coloured = try formatter(["internet"], style: Style(isColoured: true))
    #expect(coloured.line(for: Report(target: 0, state: Self.carrierLost)).contains("\u{1B}[31munreachable\u{1B}[0m "))
    #expect(coloured.line(for: Report(target: 0, state: Self.viaGateway)).contains("\u{1B}[32mreachable\u{1B}[0m "))
    #expect(coloured.line(for: Report(target: 0, state: .unknown)).contains("\u{1B}[33mundetermined\u{1B}[0m "))
    var plain = try formatter(["internet"])
    #expect(!plain.line(for: Report(target: 0, state: Self.carrierLost)).contains("\u{1B}"))
  }

  @Test func coloursOnATerminalAlone() {
    #expect(Style.isColoured(isTerminal: true, noColor: nil, term: "xterm"))
    #expect(Style.isColoured(isTerminal: true, noColor: "", term: nil))
    #expect(!Style.isColoured(isTerminal: false, noColor: nil, term: "xterm"))
    #expect(!Style.isColoured(isTerminal: true, noColor: "1", term: "xterm"))
    #expect(!Style.isColoured(isTerminal: true, noColor: nil, term: "dumb"))
  }
}
