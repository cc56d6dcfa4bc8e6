// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// What the hops of a probe come to, as blackbox_exporter decides it, and in Dialtone's own words (Exporter.md).
struct ProbeHopsTests {
  private func hops(
    _ target: String = "http://a.example/", hostName: String? = nil, isOver: Bool = false,
    _ change: (inout ProbeModule) -> Void = { _ in }
  ) throws -> Prober.Hops {
    var module = ProbeModule(name: "m", prober: .http)
    change(&module)
    var request = try ProbeRequest(module: module, target: target, timeout: .seconds(10))
    request.hostName = try hostName.map { try HostName($0) }
    return Prober.Hops(request) { isOver }
  }

  /// An outcome; a redirect if it has a location.
  private func outcome(
    _ kind: SiteVerdict.Kind = .available, _ status: Int? = 200, location: String? = nil,
    stage: SiteVerdict.Stage? = nil, error: SiteError? = nil, address: IPAddress? = nil,
    timings: SiteVerdict.Timings = SiteVerdict.Timings(), _ change: (inout CheckDetails) -> Void = { _ in }
  ) -> CheckOutcome {
    var details = CheckDetails()
    (details.status, details.minorVersion) = (status, 1)
    if let location { details.fields = [SiteInspection.Field(name: "LOCATION", value: location)] }
    change(&details)
    let verdict = SiteVerdict(
      url: "http://a.example/", kind: kind, status: status, stage: stage, error: error, address: address,
      timings: timings)
    return CheckOutcome(verdict: verdict, details: details)
  }

  private func take(_ outcome: CheckOutcome, _ hops: inout Prober.Hops) throws {
    hops.take(outcome, of: try #require(hops.next))
  }

  private func expressions(_ texts: [String]) throws -> [RegularExpression] {
    try texts.map { try RegularExpression($0) }
  }

  // MARK: What is decided

  @Test func judgesInTheOrderOfBlackboxExporter() throws {
    struct Case {
      var status = 200
      var minor: Int? = 1
      var tls: String?
      var statuses: Set<Int> = []
      var versions: [String] = []
      var forbidden: [String] = []
      var required: [String] = []
      var withTLS = false
      var withoutTLS = false
      let reason: String?
    }
    let cases = [
      Case(reason: nil), Case(status: 299, reason: nil), Case(status: 300, reason: "status"),
      Case(status: 199, reason: "status"), Case(status: 404, reason: "status"),
      Case(status: 404, statuses: [404, 500], reason: nil), Case(statuses: [404], reason: "status"),
      Case(required: ["b"], reason: nil), Case(required: ["^b"], reason: "body"),
      Case(required: ["a", "x"], reason: "body"), Case(required: ["x", "a"], reason: "body"),
      Case(forbidden: ["x"], reason: nil), Case(forbidden: ["b"], reason: "body"),
      Case(forbidden: ["x", "c$"], reason: "body"), Case(forbidden: ["c$", "x"], reason: "body"),
      Case(forbidden: ["x"], required: ["a"], reason: nil), Case(forbidden: ["a"], required: ["a"], reason: "body"),
      Case(forbidden: ["x"], required: ["x"], reason: "body"),
      Case(versions: ["HTTP/1.1"], reason: nil), Case(versions: ["HTTP/1.0"], reason: "http-version"),
      Case(minor: 0, versions: ["HTTP/1.0"], reason: nil),
      Case(minor: 0, versions: ["HTTP/1.1"], reason: "http-version"),
      Case(minor: nil, versions: ["HTTP/2.0", "HTTP/1.1"], reason: nil),
      Case(tls: "TLS 1.3", reason: nil), Case(tls: "TLS 1.3", withTLS: true, reason: "tls"),
      Case(tls: "TLS 1.3", withoutTLS: true, reason: nil), Case(withTLS: true, reason: nil),
      Case(withoutTLS: true, reason: "no-tls"),
      // The first of several.
      Case(status: 404, forbidden: ["b"], reason: "status"),
      Case(status: 404, versions: ["HTTP/1.0"], reason: "status"),
      Case(status: 404, withoutTLS: true, reason: "status"),
      Case(versions: ["HTTP/1.0"], forbidden: ["b"], reason: "body"),
      Case(forbidden: ["b"], withoutTLS: true, reason: "body"),
      Case(versions: ["HTTP/1.0"], withoutTLS: true, reason: "http-version"),
    ]
    for item in cases {
      let (forbidden, required) = (try expressions(item.forbidden), try expressions(item.required))
      var hops = try hops { module in
        (module.statuses, module.versions) = (item.statuses, item.versions)
        (module.forbidden, module.required) = (forbidden, required)
        (module.failsWithTLS, module.failsWithoutTLS) = (item.withTLS, item.withoutTLS)
      }
      try take(
        outcome(.available, item.status) { details in
          (details.minorVersion, details.tlsVersion, details.body) = (item.minor, item.tls, Array("abc".utf8))
        }, &hops)
      let verdict = ProbeResult.Verdict(
        kind: item.reason == nil ? .available : .unexpectedResponse, reason: item.reason ?? "")
      #expect(hops.result.verdict == verdict && hops.result.succeeded == (item.reason == nil), "\(item)")
      #expect(hops.result.failedByExpression == (item.reason == "body") && hops.next == nil, "\(item)")
    }
  }

  /// Sites.md: a body in a transfer coding is not read. Chunks are none that hides it.
  @Test(arguments: [
    ("gzip, chunked", "unreadable-body"), ("GZIP,chunked", "unreadable-body"), ("chunked", ""), ("identity", ""),
  ])
  func looksThroughNoTransferCoding(_ codings: String, _ reason: String) throws {
    for isLookedAt in [true, false] {
      let forbidden = try expressions(isLookedAt ? ["secret"] : [])
      var hops = try hops { $0.forbidden = forbidden }
      try take(outcome { $0.fields = [SiteInspection.Field(name: "Transfer-Encoding", value: codings)] }, &hops)
      #expect(hops.result.verdict.reason == (isLookedAt ? reason : "") && !hops.result.failedByExpression)
    }
  }

  /// A mebibyte is looked through, and nothing longer.
  @Test(arguments: [(1_048_576, ""), (1_048_577, "body-too-long")])
  func looksThroughAMebibyte(_ length: Int, _ reason: String) throws {
    let required = try expressions(["^x"])
    var hops = try hops { $0.required = required }
    try take(outcome { $0.body = Array(repeating: UInt8(ascii: "x"), count: length) }, &hops)
    #expect(hops.result.verdict.reason == reason && hops.result.succeeded == reason.isEmpty)
    #expect(hops.result.failedByExpression == !reason.isEmpty)
  }

  /// What is looked through ends when nobody waits for it any more.
  @Test(arguments: [true, false])
  func endsWhenNobodyWaits(_ isOver: Bool) throws {
    let required = try expressions(["b"])
    var hops = try hops(isOver: isOver) { $0.required = required }
    try take(outcome { $0.body = Array(repeating: UInt8(ascii: "a"), count: 4_000) + [UInt8(ascii: "b")] }, &hops)
    #expect(hops.result.verdict.reason == (isOver ? "body-too-costly" : ""))
    #expect(hops.result.failedByExpression == isOver && hops.result.succeeded != isOver)
    // It is of no use any more.
    #expect(hops.result.details?.body.isEmpty == true)
  }

  @Test func whatIsNotJudgedIsAsTheCheckSays() throws {
    var failed = try hops()
    try take(
      outcome(.failed, 200, stage: .body, error: SiteError(.connectionLost, "lost")), &failed)
    #expect(!failed.result.succeeded && failed.next == nil)
    #expect(failed.result.verdict == ProbeResult.Verdict(kind: .failed, stage: "body", reason: "connection-lost"))
    var silent = try hops()
    try take(outcome(.available, nil), &silent)
    #expect(silent.result.succeeded && silent.result.verdict == ProbeResult.Verdict(kind: .available))
    var port = try hops("a.example:22") { $0.prober = .tcp }
    try take(outcome(.available, nil), &port)
    #expect(port.result.succeeded && port.next == nil && port.result.log.last == "Probe succeeded: available")
    var closed = try hops("a.example:22") { $0.prober = .tcp }
    try take(outcome(.failed, nil, error: SiteError(.cannotConnect, "refused", errno: 111)), &closed)
    #expect(!closed.result.succeeded && closed.result.log.count == 2)
    #expect(closed.result.log.last?.hasPrefix("Probe failed: failed") == true)
  }

  // MARK: Redirects

  @Test func followsTenRedirects() throws {
    var hops = try hops()
    for count in 1...10 {
      try take(outcome(.unexpectedResponse, 302, location: "/\(count)") { $0.transfer = .seconds(1) }, &hops)
      #expect(hops.next?.text == "http://a.example/\(count)" && hops.result.redirects == count)
    }
    #expect(hops.result.phases.transfer == .zero)
    try take(outcome(.unexpectedResponse, 302, location: "/11") { $0.transfer = .seconds(2) }, &hops)
    #expect(hops.next == nil && !hops.result.succeeded && hops.result.redirects == 11)
    #expect(hops.result.verdict == .unexpected("too-many-redirects") && hops.result.phases.transfer == .seconds(2))
    #expect(hops.result.explanation == "more than 10 redirects")
  }

  /// RFC 9110, 15.4.
  @Test(arguments: [
    (301, true), (302, true), (303, true), (307, true), (308, true), (300, false), (304, false), (305, false),
    (306, false), (309, false), (200, false), (201, false),
  ])
  func followsWhatIsARedirect(_ status: Int, _ isFollowed: Bool) throws {
    var hops = try hops()
    try take(outcome(.unexpectedResponse, status, location: "/b"), &hops)
    #expect((hops.next != nil) == isFollowed && hops.result.redirects == (isFollowed ? 1 : 0))
    // Go's net/http takes an empty Location for none.
    for location in [nil, ""] {
      var without = try self.hops()
      try take(outcome(.unexpectedResponse, status, location: location), &without)
      #expect(without.next == nil && without.result.redirects == 0)
    }
  }

  @Test func judgesARedirectThatIsNotFollowed() throws {
    for (statuses, succeeds) in [(Set<Int>(), false), ([302], true)] {
      var hops = try hops { ($0.followsRedirects, $0.statuses) = (false, statuses) }
      try take(outcome(.unexpectedResponse, 302, location: "/b") { $0.transfer = .seconds(3) }, &hops)
      #expect(hops.next == nil && hops.result.succeeded == succeeds && hops.result.redirects == 1)
      #expect(hops.result.verdict == (succeeds ? ProbeResult.Verdict(kind: .available) : .unexpected("status")))
      #expect(hops.result.phases.transfer == .seconds(3))
    }
  }

  @Test(arguments: ["javascript:alert(1)", "file:///etc/passwd", "http://u:secret@b.example/", "http://"])
  func aRedirectLeadsToASite(_ location: String) throws {
    var hops = try hops()
    try take(outcome(.unexpectedResponse, 302, location: location), &hops)
    #expect(hops.next == nil && !hops.result.succeeded && hops.result.verdict == .unexpected("redirect-unreadable"))
    #expect(!hops.result.log.joined().contains("secret"))
  }

  /// The first hop's redirect may be a portal's; later ones are the site's own affair.
  @Test func tellsOfAPortal() throws {
    let redirect = { (kind: SiteVerdict.Kind) in outcome(kind, 302, location: "http://b.example/") }
    let sequences: [([CheckOutcome], follows: Bool, statuses: Set<Int>, SiteVerdict.Kind, String, succeeds: Bool)] = [
      ([outcome(.captivePortal, 511)], true, [], .captivePortal, "status", false),
      ([outcome(.captivePortal, 200)], true, [401], .unexpectedResponse, "status", false),
      ([outcome(.unexpectedResponse, 511)], true, [], .unexpectedResponse, "status", false),
      // Its target cannot be read (RFC 3986, 2), and so is not among the fields.
      ([outcome(.captivePortal, 302)], true, [], .captivePortal, "status", false),
      ([redirect(.unexpectedResponse), outcome(.captivePortal, 302)], true, [], .unexpectedResponse, "status", false),
      ([redirect(.unexpectedResponse), outcome(.captivePortal, 511)], true, [], .captivePortal, "status", false),
      ([redirect(.captivePortal)], false, [], .captivePortal, "status", false),
      ([redirect(.unexpectedResponse)], false, [], .unexpectedResponse, "status", false),
      ([redirect(.captivePortal), outcome()], true, [], .captivePortal, "", true),
      ([redirect(.captivePortal), outcome(.unexpectedResponse, 404)], true, [], .captivePortal, "status", false),
      ([redirect(.unexpectedResponse), outcome()], true, [], .available, "", true),
      ([redirect(.unexpectedResponse), redirect(.captivePortal), outcome()], true, [], .available, "", true),
    ]
    for (index, (outcomes, follows, statuses, kind, reason, succeeds)) in sequences.enumerated() {
      var hops = try hops { ($0.followsRedirects, $0.statuses) = (follows, statuses) }
      for outcome in outcomes { try take(outcome, &hops) }
      #expect(hops.result.verdict == ProbeResult.Verdict(kind: kind, reason: reason), "\(index)")
      #expect(hops.result.succeeded == succeeds && hops.next == nil, "\(index)")
    }
  }

  // MARK: What is told

  /// blackbox_exporter sums each phase over all redirects; the look-up it tells is that of the target's own name.
  @Test func sumsThePhases() throws {
    var hops = try hops()
    let (first, second) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("192.0.2.2")))
    var timings = SiteVerdict.Timings(
      name: .seconds(1), connect: .seconds(2), tls: .seconds(3), firstByte: .seconds(4), total: .seconds(50))
    try take(outcome(.unexpectedResponse, 302, location: "/b", address: first, timings: timings), &hops)
    timings.tls = nil
    try take(outcome(.failed, 200, stage: .body, address: second, timings: timings), &hops)
    let phases = hops.result.phases
    #expect(hops.result.lookup == .seconds(1) && phases.resolve == .seconds(2) && phases.connect == .seconds(4))
    #expect(phases.tls == .seconds(3) && phases.processing == .seconds(8))
    // 50 - 1 - 2 - 4
    #expect(phases.transfer == .seconds(43))
    #expect(hops.result.address == first && hops.result.log.count == 3)
    #expect(hops.result.log.first == "http://a.example/: unexpected response (302) at 192.0.2.1")
  }

  @Test func tellsHowLongABodyWasWaitedFor() throws {
    let long = SiteVerdict.Timings(connect: .seconds(2), total: .seconds(5))
    let short = SiteVerdict.Timings(connect: .seconds(5), total: .seconds(2))
    let cases: [(SiteVerdict.Stage, SiteVerdict.Timings, Duration?, Duration)] = [
      (.body, long, nil, .seconds(3)), (.body, long, .seconds(1), .seconds(3)), (.response, long, nil, .zero),
      (.body, short, nil, .zero), (.body, SiteVerdict.Timings(connect: .seconds(1)), nil, .zero),
    ]
    for (stage, timings, transfer, expected) in cases {
      var hops = try hops()
      try take(outcome(.failed, 200, stage: stage, timings: timings) { $0.transfer = transfer }, &hops)
      #expect(hops.result.phases.transfer == expected, "\(stage) \(timings)")
    }
  }

  /// What comes without end is ended (Exporter.md).
  @Test(arguments: [(1 << 20, "malformed-response"), ((1 << 30) - (1 << 21), "body-too-long")])
  func aBodyHasALimit(_ length: Int, _ reason: String) throws {
    var hops = try hops()
    let error = SiteError(.malformedResponse, "more than 1073741824 bytes came for a body of less")
    try take(outcome(.failed, 200, stage: .body, error: error) { $0.bodyLength = length }, &hops)
    #expect(hops.result.verdict == ProbeResult.Verdict(kind: .failed, stage: "body", reason: reason))
  }

  /// errno(3), and the codes of ``SiteError``.
  @Test func saysWhy() throws {
    let address = try #require(IPAddress("169.254.169.254"))
    let cases: [(IPAddress?, SiteError.Code, Int32?, Reachability.Reason?, String)] = [
      (address, .cannotConnect, nil, nil, "address-refused"), (address, .cannotConnect, 111, nil, "connection-refused"),
      (nil, .cannotConnect, nil, nil, "cannot-connect"), (address, .timedOut, nil, nil, "timed-out"),
      (nil, .cannotConnect, 111, nil, "connection-refused"), (nil, .cannotConnect, 113, nil, "host-unreachable"),
      (nil, .cannotConnect, 101, nil, "network-unreachable"), (nil, .cannotConnect, 110, nil, "timed-out"),
      (nil, .cannotConnect, 13, nil, "prohibited"), (nil, .cannotConnect, 1, nil, "prohibited"),
      (nil, .cannotConnect, 98, nil, "cannot-connect"), (nil, .connectionLost, 111, nil, "connection-lost"),
      (nil, .cannotConnect, 101, .noRoute, "no-route"), (address, .cannotConnect, nil, .noRoute, "address-refused"),
    ]
    for (refused, code, errno, path, reason) in cases {
      let outcome = outcome(.failed, nil, stage: .connect, error: SiteError(code, "x", errno: errno)) { details in
        (details.refused, details.pathReason) = (refused, path)
      }
      let verdict = ProbeResult.Verdict(kind: .failed, stage: "connect", reason: reason)
      #expect(ProbeResult.Verdict(outcome) == verdict, "\(code) \(errno ?? 0)")
    }
    #expect(ProbeResult.Verdict(outcome()) == ProbeResult.Verdict(kind: .available, stage: "", reason: ""))
  }

  // MARK: What is sent

  /// A target, a hop of its probe, and whether that gets what was meant for the target.
  static let places = [
    ("http://a.example/", "http://a.example/b", true), ("http://a.example/", "https://a.example/", true),
    ("http://a.example/", "http://A.example:80/", true), ("https://a.example/", "https://a.example:443/", true),
    ("http://a.example:8080/", "http://a.example:8080/", true), ("http://a.example/", "http://b.example/", false),
    ("http://a.example:8080/", "https://a.example:8080/", true), ("https://a.example/", "http://a.example/", false),
    ("http://a.example:8080/", "http://a.example/", false), ("http://a.example/", "http://a.example:8080/", false),
    ("http://a.example:8080/", "https://a.example/", false), ("http://a.example/", "https://a.example:8443/", false),
    ("https://a.example:8443/", "http://a.example:8443/", false), ("https://a.example/", "http://b.example/", false),
    ("https://a.example/", "https://b.example/", false),
  ]

  @Test(arguments: places)
  func fieldsGoToTheTargetAlone(_ target: String, _ place: String, _ isSame: Bool) throws {
    let url = try SiteURL(place)
    let own = SiteInspection.Field(name: "X-Own", value: "a")
    let plain = try hops(target) { $0.fields = [own] }
    #expect(plain.fields(for: url) == (isSame ? [own] : []) && plain.serverName(for: url) == nil)
    let named = try hops(target, hostName: "own.example") { $0.fields = [own] }
    let host = SiteInspection.Field(name: "Host", value: "own.example")
    #expect(named.fields(for: url) == (isSame ? [own, host] : []))
    #expect(named.serverName(for: url)?.text == (isSame ? "own.example" : nil))
    let field = try hops(target) { $0.fields = [own, SiteInspection.Field(name: "hOST", value: "field.example")] }
    #expect(field.serverName(for: url)?.text == (isSame ? "field.example" : nil))
    let name = try HostName("module.example")
    let module = try hops(target, hostName: "own.example") { $0.serverName = name }
    // Another host proves its own name, as for blackbox_exporter (RFC 9110, 4.3.4).
    #expect(module.serverName(for: url)?.text == (isSame ? "module.example" : nil))
  }

  @Test(arguments: ["192.0.2.1", "[::1]", "a.example:80", ""])
  func aHostFieldThatIsNoNameIsNoServerName(_ value: String) throws {
    let hops = try hops { $0.fields = [SiteInspection.Field(name: "Host", value: value)] }
    #expect(hops.serverName(for: "http://a.example/") == nil)
  }
}
