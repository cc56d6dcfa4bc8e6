// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import DialtoneJournal
import Testing

@testable import DialtoneCLI
@testable import DialtoneSites

/// What is said of a site: to a person, to a program, to a hook and to the journal.
struct SiteTextTests {
  private static let tunnel = NetworkInterface(name: "tun0", index: 5, kind: .tunnel)
  private static let noon = UTCTimestamp(durationSince1970: .seconds(1_769_860_800))

  private static func verdict(
    _ kind: SiteVerdict.Kind, _ status: Int? = nil, to location: String? = nil, stage: SiteVerdict.Stage? = nil,
    error: SiteError? = nil, address: String? = nil, over interface: NetworkInterface? = nil, total: Duration? = nil
  ) -> SiteVerdict {
    SiteVerdict(
      url: "http://a/", kind: kind, status: status, location: location, stage: stage, error: error,
      address: address.flatMap { IPAddress($0) }, interface: interface, timings: .init(total: total))
  }

  private static func error(_ message: String, _ code: SiteError.Code = .cannotConnect) -> SiteError {
    SiteError(code, message)
  }

  // MARK: Words

  /// From 400 on an answer is an error (RFC 9110, 15.5). Its site is available if any answer is accepted.
  @Test(
    arguments: [
      (verdict(.available, 404), true, "404 (an error; see --expect success)"),
      (verdict(.available, 400), true, "400 (an error; see --expect success)"),
      (verdict(.available, 599), true, "599 (an error; see --expect success)"),
      (verdict(.available, 399), true, "399"), (verdict(.available, 200), true, "200"),
      (verdict(.available, 404), false, "404"), (verdict(.unexpectedResponse, 404), true, "404"),
      (verdict(.available, 204, over: tunnel, total: .milliseconds(12)), false, "204 in 12 ms, via tunnel (tun0)"),
      (
        verdict(
          .failed, stage: .response, error: error("timed out"), address: "192.0.2.7", over: tunnel, total: .seconds(5)),
        false, "response: timed out, to 192.0.2.7, via tunnel (tun0)"
      ),
      (
        verdict(.unexpectedResponse, 503, error: error("broken\u{1B}"), address: "192.0.2.7"), false,
        "503: broken\\u{1B}"
      ),
      (verdict(.unexpectedResponse, 302, to: "http://b/\u{7F}"), false, "302 to http://b/\\u{7F}"),
      (verdict(.captivePortal, 302, address: "192.0.2.7"), false, "302"),
      (
        verdict(.offline, error: error("no carrier"), address: "192.0.2.7", over: tunnel), false,
        "tunnel (tun0), no carrier"
      ),
      (verdict(.failed, error: error("refused")), false, "connect: refused"),
      (verdict(.intercepted, error: error("wrong"), address: "192.0.2.7"), false, "wrong, to 192.0.2.7"),
      (verdict(.failed, stage: .tls, over: tunnel), false, "via tunnel (tun0)"), (verdict(.undetermined), true, ""),
    ])
  func saysWhatLedToAVerdict(verdict: SiteVerdict, anyAnswerCounts: Bool, details: String) {
    #expect(SiteTextFormatter.details(of: verdict, anyAnswerCounts: anyAnswerCounts) == details)
  }

  /// Where a redirect leads is cut to 60, then to 40, then to 24 columns, so that the line has room.
  @Test(arguments: [(94, 29, 30), (93, 19, 20), (74, 19, 20), (73, 11, 12), (58, 11, 12)])
  func cutsWhereARedirectLeads(columns: Int, front: Int, end: Int) {
    let location = "http://login.example/" + String(repeating: "a", count: 79)
    let formatter = SiteTextFormatter(urls: ["http://a/"], screen: { Screen(columns: columns) }, showsTime: false)
    let portal = Self.verdict(.captivePortal, 302, to: location)
    let cut = "\(location.prefix(front))…\(location.suffix(end))"
    #expect(
      formatter.line(for: StateReport(target: 0, state: portal)) == "http://a/  captive-portal  302 to \(cut)")
    // In a file it is whole, and so is the first of what a terminal may say.
    let file = SiteTextFormatter(urls: ["http://a/"], screen: { Screen(columns: nil) }, showsTime: false)
    let former = StateReport<SiteVerdict>.Former(state: Self.verdict(.available, 204), lasted: .seconds(12))
    let report = StateReport(target: 0, state: portal, former: former)
    #expect(file.line(for: report) == "http://a/  captive-portal  302 to \(location)  after 12 s available")
    let wide = SiteTextFormatter(urls: ["http://a/"], screen: { Screen(columns: 116) }, showsTime: false)
    let first = "\(location.prefix(29))…\(location.suffix(30))"
    #expect(wide.line(for: report) == "http://a/  captive-portal  302 to \(first)  after 12 s available")
  }

  @Test func namesTheFormerVerdictIfItWasAnother() {
    let formatter = SiteTextFormatter(urls: ["http://a/"], screen: { Screen(columns: nil) }, showsTime: false)
    func line(_ former: SiteVerdict, _ verdict: SiteVerdict) -> String {
      formatter.line(for: StateReport(target: 0, state: verdict, former: .init(state: former, lasted: .seconds(90))))
    }
    let (fine, other) = (Self.verdict(.available, 200), Self.verdict(.available, 204))
    #expect(line(fine, other) == "http://a/  available  204  after 1 min 30 s")
    #expect(line(Self.verdict(.partial, 200), other) == "http://a/  available  204  after 1 min 30 s partial")
  }

  /// Green, yellow, red (SGR).
  @Test(
    arguments: [
      (.available, "32"), (.partial, "33"), (.undetermined, "33"), (.failed, "31"), (.offline, "31"),
      (.captivePortal, "31"), (.intercepted, "31"), (.unexpectedResponse, "31"),
    ] as [(SiteVerdict.Kind, String)])
  func coloursVerdicts(kind: SiteVerdict.Kind, look: String) {
    let screen = Screen(columns: nil, style: Style(isColoured: true))
    let line = SiteTextFormatter(urls: ["http://a/"], screen: { screen }, showsTime: false)
      .line(for: StateReport(target: 0, state: Self.verdict(kind)))
    #expect(line == "http://a/  \u{1B}[\(look)m\(kind.identifier)\u{1B}[0m")
  }

  // MARK: JSON and hooks

  @Test(
    arguments: [
      (nil, "null"), (.zero, "0"), (.nanoseconds(1999), "0.001"), (.microseconds(20), "0.02"),
      (.microseconds(1250), "1.25"), (.milliseconds(3), "3"), (.microseconds(120_030), "120.03"),
      (.microseconds(999_999), "999.999"), (.seconds(2), "2000"),
    ] as [(Duration?, String)])
  func writesMilliseconds(duration: Duration?, number: String) {
    #expect(JSONText.line { $0.field("a", milliseconds: duration) } == "{\"a\":\(number)}")
  }

  @Test func writesAllKeysAsJSON() {
    let verdict = SiteVerdict(
      url: "https://a/b", kind: .unexpectedResponse, status: 503, location: "http://c/",
      error: Self.error("too soon", .certificateExpiresSoon), address: IPAddress("192.0.2.7"), interface: Self.tunnel,
      certificateExpires: Self.noon,
      timings: .init(
        name: .microseconds(1250), connect: .milliseconds(2), tls: .milliseconds(3), firstByte: .milliseconds(4),
        total: .milliseconds(11)), timestamp: Self.noon)
    #expect(
      SiteJSONFormatter().line(for: StateReport(target: 0, state: verdict))
        == #"{"time":"2026-01-31T12:00:00.000000Z","url":"https://a/b","verdict":"unexpected-response","status":503,"#
        + #""location":"http://c/","stage":null,"error":"too soon","address":"192.0.2.7","#
        + #""interface":{"name":"tun0","index":5,"kind":"tunnel"},"certificateExpires":"2026-01-31T12:00:00Z","#
        + #""timings":{"name":1.25,"connect":2,"tls":3,"firstByte":4,"total":11}}"#)
    let failed = SiteVerdict(url: "http://a/", kind: .failed, stage: .request, timestamp: Self.noon)
    let nothing = SiteVerdict(url: "http://a/", kind: .undetermined)
    let nulls =
      #""address":null,"interface":null,"certificateExpires":null,"#
      + #""timings":{"name":null,"connect":null,"tls":null,"firstByte":null,"total":null}}"#
    #expect(
      SiteJSONFormatter().line(for: StateReport(target: 0, state: failed))
        == #"{"time":"2026-01-31T12:00:00.000000Z","url":"http://a/","verdict":"failed","status":null,"location":null,"#
        + #""stage":"request","error":null,"# + nulls)
    #expect(
      SiteJSONFormatter().line(for: StateReport(target: 0, state: nothing))
        == #"{"time":null,"url":"http://a/","verdict":"undetermined","status":null,"location":null,"#
        + #""stage":null,"error":null,"# + nulls)
  }

  /// The variables are those of `dialtone watch --help`. Each is set.
  @Test func tellsHooksOfASite() {
    let verdict = SiteVerdict(
      url: "http://a/", kind: .failed, error: Self.error("refused"), address: IPAddress("192.0.2.7"),
      interface: Self.tunnel, timestamp: Self.noon)
    let report = StateReport(target: 0, state: verdict)
    let facts = HookFacts(report)
    #expect(facts.json == SiteJSONFormatter().line(for: report))
    #expect(
      facts.environment == [
        "DIALTONE_TIME": "2026-01-31T12:00:00.000000Z", "DIALTONE_TARGET": "http://a/", "DIALTONE_STATUS": "failed",
        "DIALTONE_REASON": "refused", "DIALTONE_INTERFACE": "tun0", "DIALTONE_INTERFACE_KIND": "tunnel",
        "DIALTONE_SOURCE": "", "DIALTONE_GATEWAY": "", "DIALTONE_DESTINATION": "192.0.2.7",
      ])
    let nothing = HookFacts(StateReport(target: 0, state: SiteVerdict(url: "http://a/", kind: .undetermined)))
    #expect(Set(nothing.environment.keys) == Set(facts.environment.keys))
    #expect(nothing.environment.filter { !$0.value.isEmpty }.keys.sorted() == ["DIALTONE_STATUS", "DIALTONE_TARGET"])
  }

  @Test func tellsHooksOfATarget() throws {
    let state = Reachability(
      status: .reachable, flags: .reachable, interface: Self.tunnel, source: IPAddress("192.0.2.2"),
      gateway: IPAddress("192.0.2.1"), destination: IPAddress("198.41.0.4"), realtime: 1_769_860_800_000_000_000)
    let targets = [try WatchedTarget("a"), .usual]
    let facts = HookFacts(Report(target: 1, state: state), targets: targets)
    #expect(
      facts.environment == [
        "DIALTONE_TIME": "2026-01-31T12:00:00.000000Z", "DIALTONE_TARGET": "internet", "DIALTONE_STATUS": "reachable",
        "DIALTONE_REASON": "", "DIALTONE_INTERFACE": "tun0", "DIALTONE_INTERFACE_KIND": "tunnel",
        "DIALTONE_SOURCE": "192.0.2.2", "DIALTONE_GATEWAY": "192.0.2.1", "DIALTONE_DESTINATION": "198.41.0.4",
      ])
    #expect(facts.json == JSONReportFormatter(targets: targets).line(for: Report(target: 1, state: state)))
    let lost = HookFacts(
      Report(target: 0, state: Reachability(status: .unreachable, reason: .noRoute)), targets: targets)
    #expect(lost.environment["DIALTONE_REASON"] == "no-route" && lost.environment["DIALTONE_TARGET"] == "a")
    let nothing = HookFacts(Report(target: 0, state: .unknown), targets: targets)
    #expect(nothing.environment.filter { !$0.value.isEmpty }.keys.sorted() == ["DIALTONE_STATUS", "DIALTONE_TARGET"])
  }

  // MARK: The journal

  private static func failed(_ errno: CInt?, _ sender: SiteError.Sender? = nil) -> SiteVerdict {
    var error = SiteError(.cannotConnect, "no", errno: errno)
    error.sender = sender
    return verdict(.failed, stage: .connect, error: error)
  }

  /// Which layer a failed connection says to be at fault, before anything is explained: who ended it counts first.
  @Test(
    arguments: [
      (failed(ECONNREFUSED), "connection-refused", .site), (failed(EHOSTUNREACH), "host-unreachable", .provider),
      (failed(EHOSTUNREACH, .silentGateway), "host-unreachable", .router),
      (failed(EHOSTUNREACH, .silentHost), "host-unreachable", .site),
      (failed(ENETUNREACH, .thisMachine), "network-unreachable", .machine),
      (failed(ENETUNREACH, .elsewhere), "network-unreachable", .provider), (failed(EACCES), "prohibited", .machine),
      (failed(EACCES, .elsewhere), "prohibited", .machine), (failed(ETIMEDOUT), "timed-out", .provider),
      (failed(nil), "cannot-connect", .provider), (failed(ECONNREFUSED, .thisMachine), "connection-refused", .machine),
    ] as [(SiteVerdict, String, OutageLayer)])
  func findsTheLayerOfAConnection(verdict: SiteVerdict, reason: String, layer: OutageLayer) {
    let state = RecorderStateMachine.TargetState(verdict)
    #expect(state == .down(reason: reason, words: "failed, connect: no", layer: layer))
  }

  @Test(
    arguments: [
      (verdict(.available, 204), .up(words: "available, 204")), (verdict(.undetermined), .unknown(reason: nil)),
      (verdict(.failed), .down(reason: "failed", words: "failed", layer: .provider)),
      (
        verdict(.failed, stage: .name, error: error("none", .nameNotResolved)),
        .down(reason: "name-not-resolved", words: "failed, name: none", layer: .nameServer)
      ),
      (
        verdict(.failed, stage: .tls, error: error("no", .tlsFailed)),
        .down(reason: "tls-failed", words: "failed, tls: no", layer: .site)
      ),
      (
        verdict(.failed, stage: .response, error: error("late", .timedOut)),
        .down(reason: "timed-out", words: "failed, response: late", layer: .site)
      ),
      (
        verdict(.intercepted, error: error("old", .certificateExpired)),
        .down(reason: "intercepted", words: "intercepted, old", layer: .site)
      ),
      (
        verdict(.intercepted, error: error("private", .privateAddress)),
        .down(reason: "intercepted", words: "intercepted, private")
      ),
      (verdict(.intercepted), .down(reason: "intercepted", words: "intercepted")),
      (verdict(.captivePortal, 302), .down(reason: "captive-portal", words: "captive-portal, 302")),
      (verdict(.offline, error: error("no")), .down(reason: "offline", words: "offline, no")),
    ] as [(SiteVerdict, RecorderStateMachine.TargetState)])
  func knowsWhatIsDown(verdict: SiteVerdict, state: RecorderStateMachine.TargetState) {
    #expect(RecorderStateMachine.TargetState(verdict) == state)
  }

  /// What had failed comes first, if there is no path since; otherwise there is one state, since the first failure.
  @Test func tellsTheRecorderWhatTheOutageBeganWith() {
    let now = UTCTimestamp(durationSince1970: .seconds(1_000))
    let url: SiteURL = "https://example.com/"
    let failed = SiteVerdict(url: url, kind: .failed, error: Self.error("late", .timedOut))
    let offline = SiteVerdict(url: url, kind: .offline, timestamp: now)
    func states(_ verdict: SiteVerdict) -> [(RecorderStateMachine.TargetState, UTCTimestamp?)] {
      RecorderStateMachine.TargetState.all(in: verdict).map { ($0.state, $0.since) }
    }
    let silent = RecorderStateMachine.TargetState.down(
      reason: "timed-out", words: "failed, connect: late", layer: .provider)
    let lost = RecorderStateMachine.TargetState.down(reason: "offline", words: "offline")
    let before = UTCTimestamp(durationSince1970: .seconds(991))
    let cases: [(SiteVerdict, [RecorderStateMachine.TargetState], [UTCTimestamp?])] = [
      (offline.failing(for: .seconds(9), at: failed), [silent, lost], [before, now]),
      (offline.failing(for: .seconds(9)), [lost], [before]), (offline, [lost], [now]),
    ]
    for (verdict, expected, times) in cases {
      #expect(states(verdict).map(\.0) == expected && states(verdict).map(\.1) == times)
    }
  }
}
