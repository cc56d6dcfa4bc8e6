// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneDiagnosis
import DialtoneSites
import Foundation
import Testing

@testable import DialtoneCLI

struct TextTests {
  private static let plain = Style(isColoured: false)
  /// All of them, since each has a text.
  private static let reasons = ReachabilityText.all.compactMap { text in
    text.key.hasPrefix("reason.") ? Reachability.Reason(identifier: text.key.dropFirst("reason.".count)) : nil
  }
  private static let carrierLost = Reachability(
    status: .unreachable, interface: NetworkInterface(name: "eth0", index: 2, kind: .wired), reason: .noCarrier)
  private static let viaGateway = Reachability(
    status: .reachable, flags: .reachable, interface: NetworkInterface(name: "eth0", index: 2, kind: .wired),
    gateway: IPAddress("192.0.2.1"))

  private func formatter(_ texts: [String], style: Style = plain, isTerminal: Bool = true) throws -> TextReportFormatter
  {
    TextReportFormatter(
      targets: try texts.map { try WatchedTarget($0) },
      screen: { Screen(columns: isTerminal ? 80 : nil, style: style) }, showsTime: false)
  }

  // MARK: Explanations

  @Test("what works is broken between its parts, and within one only if that has no room", arguments: 20...100)
  func brokenBetweenItsParts(columns: Int) async throws {
    let router = try #require(IPAddress("192.0.2.1"))
    let target = try #require(IPAddress("203.0.113.10"))
    let verdict = try await Diagnosis(
      environment: ScriptedEvidence([
        .kernel(KernelFinding(.link(.works("eth0")), target: target)),
        .kernel(KernelFinding(.neighbour(.answers(router, isGateway: true)), target: target)),
        .beyond(BeyondFinding([BeyondFinding.Question(target, .answer)])),
      ])
    ).verdict()
    let parts = ["eth0 up", "router 192.0.2.1 answers", "the Internet answers"]
    #expect(verdict.works == parts)
    let lines = ExplainFormatter(style: Self.plain, columns: columns).lines(for: verdict).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
    for part in parts where part.count + "  works  ".count + " ·".count <= columns {
      #expect(lines.contains { $0.contains(part) }, "\(lines)")
    }
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
  func writesDurationsInWords(duration: Duration, words: String) {
    #expect(DurationText.words(duration) == words)
  }

  /// As another library writes it.
  @Test(arguments: [0, 1_791_009_003, 1_798_761_599])
  func writesTimesHere(seconds: Int64) {
    func text(_ format: String) -> String {
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.dateFormat = format
      return formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
    }
    let time = UTCTimestamp(durationSince1970: .seconds(seconds))
    #expect(TimeText.local(time, isForPerson: true) == text("HH:mm:ss"))
    #expect(TimeText.local(time, isForPerson: false) == text("yyyy-MM-dd HH:mm:ssxxx"))
  }

  @Test func saysWhatIsWaitedFor() {
    func line(
      _ positions: [Int], _ elapsed: Duration, _ limit: Duration? = nil, _ reasons: [String?] = [nil, nil, nil, nil]
    ) -> String {
      ProgressText.line(
        Waiting(targets: positions, goal: "to be reachable"), names: ShortenedNames(["a", "b", "c", "d"]),
        reason: { reasons[$0] }, elapsed: elapsed, limit: limit)
    }
    #expect(line([1], .milliseconds(3005)) == "waiting for b to be reachable, 3 s")
    #expect(
      line([0, 2], .seconds(72), .seconds(90)) == "waiting for a and c to be reachable, 1 min 12 s of 1 min 30 s")
    #expect(line([0, 1, 2, 3], .seconds(10)) == "waiting for a, b and 2 more to be reachable, 10 s")
    #expect(
      line([1], .seconds(3), nil, [nil, "no carrier", nil, nil]) == "waiting for b to be reachable: no carrier, 3 s")
    let same = ["no carrier", "no carrier", nil, nil]
    #expect(line([0, 1], .seconds(3), nil, same) == "waiting for a and b to be reachable: no carrier, 3 s")
    #expect(line([0, 2], .seconds(3), nil, same) == "waiting for a and c to be reachable: a: no carrier, 3 s")
    // Nobody has looked at the others' reasons.
    #expect(
      line([0, 1, 2], .seconds(3), nil, same) == "waiting for a, b and 1 more to be reachable: a: no carrier, 3 s")
  }

  @Test(arguments: [20, 30, 40, 50, 80, 100, 200])
  func progressFitsIntoOneLine(columns: Int) {
    let names = ShortenedNames((0..<3).map { "host-\($0).with-a-name-that-is.rather-long.and-then-some.example.com" })
    let reasons = ["no carrier", "wired (enx00e04c680001), an unreachable route stands in the way"]
    for reason in reasons {
      let line = ProgressText.line(
        Waiting(targets: [0, 1, 2], goal: "to be reachable, not over cellular"), names: names, reason: { _ in reason },
        elapsed: .seconds(754), limit: .seconds(4800), columns: columns)
      #expect(TerminalText.columns(line) <= columns, "\(line)")
      #expect(line.contains("waiting") && line.contains("12 min 34 s"), "\(line)")
      if columns >= 100 { #expect(line.contains(reason), "\(line)") }
    }
  }

  // MARK: Aligned

  @Test func alignsColumns() throws {
    let long = "a-very-long-name-indeed-with-many-parts.example.com"
    let targets = ["internet", "漢字.example", long]
    let formatter = try formatter(targets)
    var lines: [String: String] = [:]
    for (number, target) in targets.enumerated() {
      let line = formatter.line(for: Report(target: number, state: Self.carrierLost))
      let status = try #require(line.firstRange(of: "unreachable"))
      #expect(TerminalText.columns(line[..<status.lowerBound]) == 22)
      lines[target] = line
    }
    #expect(lines["internet"] == "internet              unreachable  wired (eth0), no carrier")
    #expect(try !#require(lines[long]).contains(long))
  }

  @Test func doesNotCutNamesInAFile() throws {
    let long = "a-very-long-name-indeed-with-many-parts.example.com"
    let formatter = try formatter([long], isTerminal: false)
    #expect(formatter.line(for: Report(target: 0, state: Self.carrierLost)).hasPrefix(long + "  unreachable"))
  }

  // MARK: Lines

  @Test func namesInterfaceGatewayAndReason() {
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
      let formatter = TextReportFormatter(
        targets: [try WatchedTarget(target)], interface: interface, screen: { Screen(columns: 80) }, showsTime: false)
      return formatter.line(for: Report(target: 0, state: state))
    }
    #expect(try line("local-network").hasSuffix("unreachable  there is no wired or Wi-Fi interface"))
    #expect(try line("local-network", interface: "eth7").hasSuffix("unreachable  the interface does not exist"))
    #expect(try line("internet").hasSuffix("unreachable  the interface does not exist"))
  }

  @Test func namesTheFormerState() throws {
    let formatter = try formatter(["internet"], isTerminal: false)
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

  @Test func leavesTheFormerStateOutIfTheTerminalHasNoRoom() throws {
    let former = Report.Former(state: Self.carrierLost, lasted: .seconds(12))
    let long = Report(target: 0, state: Self.viaGateway, former: former)
    let onTerminal = try formatter(["a-name-with-24-characters"])
    #expect(
      onTerminal.line(for: long) == "a-name-with-24-characters  reachable    via wired (eth0), gateway 192.0.2.1")
    // The former state is said in fewer words before it goes.
    let short = try formatter(["sixteen-letters1"])
    #expect(
      short.line(for: long) == "sixteen-letters1  reachable    via wired (eth0), gateway 192.0.2.1  after 12 s")
    // A name that takes more than half of the line is cut to a quarter.
    let longer = try formatter(["a-name-that-has-forty-one-characters-in-it"])
    #expect(
      longer.line(for: long) == "a-name-th…ters-in-it  reachable    via wired (eth0), gateway 192.0.2.1")
    let inFile = try formatter(["a-name-with-24-characters"], isTerminal: false)
    #expect(inFile.line(for: long).hasSuffix("via wired (eth0), gateway 192.0.2.1  after 12 s unreachable"))
    var state = Self.viaGateway
    state.gateway = IPAddress("2001:db8:1234:5678:9abc:def0:1234:5678")
    let change = Report(target: 0, state: state, former: .init(state: Self.viaGateway, lasted: .seconds(1)))
    #expect(
      onTerminal.line(for: change) == """
        a-name-with-24-characters  reachable
          via wired (eth0), gateway 2001:db8:1234:5678:9abc:def0:1234:5678
        """)
  }

  /// Columns stay where they are, whatever each line says.
  @Test(arguments: [60, 80, 120])
  func columnsDoNotMove(columns: Int) throws {
    let names = ["a", "sixteen-letters1", "a-name-of-thirty-letters.x.net"]
    let formatter = TextReportFormatter(
      targets: try names.map { try WatchedTarget($0) }, screen: { Screen(columns: columns) }, showsTime: true)
    var starts: Set<Int> = []
    for target in names.indices {
      for lasted in [nil, Duration.milliseconds(1500), .seconds(754)] {
        let former = lasted.map { Report.Former(state: Self.carrierLost, lasted: $0) }
        let text = formatter.line(for: Report(target: target, state: Self.viaGateway, former: former))
        // Where the details have lines of their own, there is no column.
        guard !text.contains("\n") else { continue }
        let status = try #require(text.firstRange(of: "reachable"))
        starts.insert(TerminalText.columns(text[..<status.lowerBound]))
        if names[target].count <= 16, columns >= 80 { #expect(text.contains(names[target]), "\(text)") }
      }
    }
    #expect(starts.count <= 1, "\(starts)")
  }

  /// Every line of a terminal fits, whatever it says.
  @Test(arguments: [20, 27, 40, 60, 80, 120, 200])
  func neverTakesMoreColumnsThanThereAre(columns: Int) throws {
    let interfaces = ["lo", "eth0", "enx00e04c680001", "漢字漢字漢", "v\u{1B}[31m"]
    let gateways = ["192.0.2.1", "fe80::1234:5678:9abc:def0", "2001:db8:1234:5678:9abc:def0:1234:5678"]
    var states: [Reachability] = [.unknown]
    for name in interfaces {
      let interface = NetworkInterface(name: name, index: 2, kind: .wired)
      for gateway in gateways {
        states.append(
          Reachability(
            status: .reachable, flags: .reachable, interface: interface, gateway: IPAddress(gateway)))
      }
      for reason in Self.reasons {
        states.append(Reachability(status: .unreachable, interface: interface, reason: reason))
        states.append(Reachability(status: .requiresConnection, interface: interface, reason: reason))
      }
    }
    let names = [
      "internet", "a-very-long-host-name.in-a-long-domain.example.com:8443", String(repeating: "漢", count: 30),
    ]
    for showsTime in [false, true] {
      let formatter = TextReportFormatter(
        targets: try names.map { try WatchedTarget($0) }, screen: { Screen(columns: columns) }, showsTime: showsTime)
      for (position, state) in states.enumerated() {
        let former = Report.Former(state: states[(position * 7 + 3) % states.count], lasted: .seconds(192))
        for report in [
          Report(target: position % 3, state: state), Report(target: position % 3, state: state, former: former),
        ] {
          let text = formatter.line(for: report)
          for line in text.split(separator: "\n") { #expect(TerminalText.columns(line) <= columns, "\(text)") }
          let whole = text.filter { !" \n".contains($0) }
          let details = TextReportFormatter.details(of: state).filter { $0 != " " }
          #expect(whole.contains(details), "\(text)")
        }
      }
    }
  }

  @Test func coloursIfWanted() throws {
    let coloured = try formatter(["internet"], style: Style(isColoured: true))
    #expect(coloured.line(for: Report(target: 0, state: Self.carrierLost)).contains("\u{1B}[31munreachable\u{1B}[0m "))
    #expect(coloured.line(for: Report(target: 0, state: Self.viaGateway)).contains("\u{1B}[32mreachable\u{1B}[0m "))
    #expect(coloured.line(for: Report(target: 0, state: .unknown)).contains("\u{1B}[33mundetermined\u{1B}[0m "))
    let plain = try formatter(["internet"])
    #expect(!plain.line(for: Report(target: 0, state: Self.carrierLost)).contains("\u{1B}"))
  }

  // MARK: Sites

  private func verdict(
    _ kind: SiteVerdict.Kind, _ url: SiteURL = "https://example.com/", _ error: String? = nil,
    stage: SiteVerdict.Stage? = nil, status: Int? = nil, location: String? = nil, address: String? = nil
  ) -> SiteVerdict {
    SiteVerdict(
      url: url, kind: kind, status: status, location: location, stage: stage,
      error: error.map { SiteError(.cannotConnect, $0) }, address: address.flatMap { IPAddress($0) },
      interface: NetworkInterface(name: "tun0", index: 5, kind: .tunnel))
  }

  @Test func saysWhereACheckFailed() {
    let failed = verdict(
      .failed, "https://example.com/", "connection refused", stage: .connect, address: "203.0.113.10")
    #expect(
      SiteTextFormatter.details(of: failed) == "connect: connection refused, to 203.0.113.10, via tunnel (tun0)")
    let offline = verdict(.offline, "https://example.com/", "no carrier", address: "203.0.113.10")
    #expect(SiteTextFormatter.details(of: offline) == "tunnel (tun0), no carrier")
    #expect(SiteTextFormatter.details(of: verdict(.available, status: 200)) == "200, via tunnel (tun0)")
  }

  @Test(arguments: [20, 33, 40, 80, 120, 200])
  func checksNeverTakeMoreColumnsThanThereAre(columns: Int) {
    let url: SiteURL = "https://a-very-long-host-name.in-a-long-domain.example.com/with/a/path/that/goes/on?and=on"
    let location = "http://login.example/" + String(repeating: "a/", count: 400)
    let error = "the certificate is for other names (www.example.org, mail.example.org, and 12 more), not for this one"
    let available = verdict(.available, url, status: 200)
    let verdicts = [
      available, verdict(.captivePortal, url, status: 302, location: location),
      verdict(.failed, url, error, stage: .tls, address: "2001:db8:1234:5678:9abc:def0:1234:5678"),
    ]
    let formatter = SiteTextFormatter(urls: [url.text], screen: { Screen(columns: columns) }, showsTime: true)
    for verdict in verdicts {
      let former = StateReport<SiteVerdict>.Former(state: available, lasted: .seconds(192))
      let text = formatter.line(for: StateReport(target: 0, state: verdict, former: former))
      for line in text.split(separator: "\n") { #expect(TerminalText.columns(line) <= columns, "\(text)") }
      let whole = text.filter { !" \n".contains($0) }
      if let error = verdict.error { #expect(whole.contains(error.message.filter { $0 != " " }), "\(text)") }
    }
  }
}
