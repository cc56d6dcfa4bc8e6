// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import SiteLab
import TestSupport
import Testing

@testable import DialtoneDiagnosis
@testable import DialtoneSites

/// Sites that choose HTTP/2 (RFC 9113) when a diagnosis offers it.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct HTTP2Tests {
  // MARK: nginx

  private static func outcome(
    _ url: String, in sites: LabSites, keeps count: Int? = nil, offersHTTP2: Bool
  ) async throws -> CheckOutcome {
    var configuration = SiteCheckConfiguration(timeout: .seconds(30))
    configuration.trust = try Trust.trust()
    configuration.method = .get
    configuration.offersHTTP2 = offersHTTP2
    if let count {
      var inspection = SiteInspection()
      inspection.keptBody = count
      configuration.inspection = inspection
    }
    return try await sites.environment.provider.inspect(SiteURL(url), configuration)
  }

  @Test(
    .enabled(if: NginxServer.path != nil, "nginx is not installed"),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
  func nginxIsAskedByWhatItChooses() async throws {
    let lab = try NetworkLab()
    let server = try await NginxServer(as: try Trust.identity.get(), in: lab)
    defer { withExtendedLifetime(server) {} }
    let sites = try LabSites(lab, names: ["site.example": ["127.0.0.1"]])
    let page = "<html>the site</html>\n"
    for (port, offers, isHTTP2) in [(443, true, false), (444, true, true), (444, false, false)] {
      let site = "https://site.example:\(port)"
      func outcome(_ path: String, keeps count: Int = 0) async throws -> CheckOutcome {
        try await Self.outcome(site + path, in: sites, keeps: count, offersHTTP2: offers)
      }
      let found = try await outcome("/", keeps: 100)
      #expect(found.verdict.kind == .available && found.verdict.status == 200, "\(found.verdict)")
      #expect(found.details.isHTTP2 == isHTTP2 && String(decoding: found.details.body, as: UTF8.self) == page)
      #expect(found.verdict.timings.firstByte != nil && found.verdict.timings.tls != nil)
      let other = try await outcome("/302")
      #expect(other.verdict.status == 302 && other.details.value(of: "location") == "http://login.example/")
      let large = try await outcome("/large")
      #expect(large.verdict.kind == .available && large.details.bodyLength == NginxServer.largeCount, "\(large)")
      #expect(try await outcome("/nothing").verdict.status == 404)
    }
    // The head alone.
    let head = try await Self.outcome("https://site.example:444/large", in: sites, offersHTTP2: true)
    #expect(head.verdict.status == 200 && head.details.bodyLength == 0 && head.details.isHTTP2)
  }

  // MARK: Servers that fail

  /// A frame (RFC 9113, 4.1).
  private static func frame(_ type: UInt8, _ flags: UInt8, stream: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, flags, 0, 0, 0, stream] + payload
  }

  /// A server's own, and that it has taken in the client's (RFC 9113, 6.5.3).
  private static let settings = frame(4, 0, stream: 0) + frame(4, 1, stream: 0)
  /// `:status: 200` is entry 8 of HPACK's table (RFC 7541, A); 103 is written out.
  private static let interim = frame(1, 4, stream: 1, [0x08, 3] + Array("103".utf8))
  private static let answer = frame(1, 4, stream: 1, [0x88])
  private static let page = frame(0, 1, stream: 1, Array("a whole page".utf8))
  private static func reset(_ code: UInt8) -> [UInt8] { frame(3, 0, stream: 1, [0, 0, 0, code]) }

  /// Whether a client's preface and frames have a request's headers among them.
  private static func hasRequest(_ received: [UInt8]) -> Bool {
    var rest = received.dropFirst("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      if head[3] == 1 { return true }
      rest = rest.dropFirst(9 + Int(head[1]) << 8 + Int(head[2]))
    }
    return false
  }

  /// Does something with a server that answers a request over HTTP/2 with `frames`, and another one with `otherwise`.
  private static func serving<R>(
    _ protocols: [String], _ frames: [UInt8], otherwise: @escaping @Sendable (SiteRequest) -> [SiteStep],
    _ body: (SiteServer) async throws -> R
  ) async throws -> R {
    let made = Box<SiteServer?>(nil)
    let isAsked: @Sendable () -> Bool = {
      // The preface looks like a request.
      let connection = made.value?.connections.last { $0.requests.first?.method == "PRI" }
      return connection.map { hasRequest($0.received) } ?? false
    }
    let server = try await SiteServer(
      SiteBehaviour { request in
        request.method == "PRI" ? [.send(settings), .hold(until: isAsked), .send(frames), .close] : otherwise(request)
      }, as: try Trust.identity.get(), protocols: protocols)
    made.update { $0 = server }
    defer { made.update { $0 = nil } }
    return try await body(server)
  }

  /// What a diagnosis finds of such a server, which answers with a page over HTTP/1.1.
  private static func finding(
    _ protocols: [String], _ frames: [UInt8], isHTTP1Fine: Bool = true
  ) async throws -> SiteFinding? {
    let page: @Sendable (SiteRequest) -> [SiteStep] = { request in
      [.answer(isHTTP1Fine ? 200 : 503, to: request, body: Array("a whole page".utf8)), .close]
    }
    return try await serving(protocols, frames, otherwise: page) { try await finding($0) }
  }

  private static func finding(_ server: SiteServer) async throws -> SiteFinding? {
    var configuration = DiagnosisConfiguration()
    configuration.trust = try Trust.trust()
    let inquiry = DiagnosisInquiry(
      subject: DiagnosisSubject(try server.url(.secure)), configuration: configuration, findings: [],
      deadline: TimeSource.system.now() + 60_000_000_000)
    guard case .site(let site)? = await SiteExchange(inquiry: inquiry).findings().first else { return nil }
    return site
  }

  private static let both = ["h2", "http/1.1"]

  @Test(arguments: [
    (both, interim + answer + page), (["h2"], answer + page), (["http/1.1"], []),
    // HTTP_1_1_REQUIRED (RFC 9113, 7): such a site is asked so.
    (both, reset(13)),
  ])
  func aSiteThatAnswersIsFine(protocols: [String], frames: [UInt8]) async throws {
    let site = try #require(try await Self.finding(protocols, frames))
    #expect(SiteFinding.isGood(site.verdict) && site.usual.count == 1 && site.http1Verdicts.isEmpty, "\(site)")
  }

  @Test(arguments: [
    // INTERNAL_ERROR, before and in the answer; GOAWAY; a head that cannot be decoded; what is no frame at all.
    reset(2), answer + reset(2), frame(7, 0, stream: 0, [0, 0, 0, 0, 0, 0, 0, 2]),
    frame(1, 4, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
    // It ends without an answer.
    [],
  ])
  func aSiteWhoseHTTP2AloneFailsIsAtFault(frames: [UInt8]) async throws {
    let site = try #require(try await Self.finding(Self.both, frames))
    #expect(site.isHTTP2Broken && site.usual.count > 1 && site.http1Verdicts.count > 1, "\(site)")
    let readings = SiteRules.read(site)
    #expect(readings.last?.meaning == .site(.http2Fails) && readings.last?.charge?.cause == .siteFault)
    #expect(readings[1].meaning == .site(.proven), "TLS was agreed upon")
    let url = site.verdict.url
    let verdict = DiagnosisVerdict(of: url.text, goal: .site, findings: [.site(site)])
    #expect(verdict.cause == .siteFault && verdict.summary.contains("HTTP/1.1"), "\(verdict)")
  }

  /// curl takes 300 KiB of headers: what a check's own limit ends is not the site's fault.
  @Test(arguments: [(4, nil), (7, SiteError.Code.headersTooLarge)])
  func longHeadersAreNoFault(count: Int, code: SiteError.Code?) async throws {
    // A field of 10,000 bytes, written out (RFC 7541, 5.1 and 6.2.2), in a frame of its own: HEADERS and CONTINUATION.
    let field = [0x00, 1, UInt8(ascii: "x"), 0x7F, 0x91, 0x4D] + [UInt8](repeating: UInt8(ascii: "x"), count: 10_000)
    let head = Self.frame(1, 0, stream: 1, [0x88])
    let rest = (1...count).flatMap { Self.frame(9, $0 == count ? 4 : 0, stream: 1, field) }
    let site = try #require(try await Self.finding(Self.both, head + rest + Self.page))
    #expect(site.verdict.error?.code == code && !site.isHTTP2Broken, "\(site)")
    #expect(SiteRules.read(site).compactMap(\.charge).isEmpty)
  }

  @Test func aSiteThatFailsOverBothIsNotSaidToFailOverOne() async throws {
    let site = try #require(try await Self.finding(Self.both, Self.reset(2), isHTTP1Fine: false))
    #expect(!site.isHTTP2Broken && site.http1Verdicts.map(\.status) == [503], "\(site)")
    #expect(SiteRules.read(site).last?.meaning == .site(.malformed))
  }

  /// Asks such a server as every check does. `unasked` is what it does with a request over HTTP/1.1.
  private static func check(
    _ protocols: [String], unasked: SiteStep = .close, _ change: (inout SiteCheckConfiguration) -> Void = { _ in }
  ) async throws -> (verdict: SiteVerdict, connections: Int) {
    try await serving(protocols, answer + page, otherwise: { _ in [unasked] }) { server in
      let verdict = try await SitesTests.check(try server.url(.secure), in: .system, change)
      return (verdict, server.connectionCount)
    }
  }

  /// Servers of gRPC close if HTTP/2 is not chosen (RFC 7301, 3.2, has others say so).
  @Test(arguments: [SiteCheckConfiguration.Method.get, .head])
  func aSiteOfHTTP2AloneIsChecked(method: SiteCheckConfiguration.Method) async throws {
    let found = try await Self.check(["h2"]) { $0.method = method }
    #expect(found.verdict.kind == .available && found.verdict.status == 200, "\(found)")
    #expect(found.connections == 2 && (found.verdict.timings.total ?? .zero) > (found.verdict.timings.tls ?? .zero))
  }

  @Test func oneThatChoosesHTTP1OrSaysSomethingIsAskedOnce() async throws {
    let chosen = try await Self.check(["http/1.1"])
    #expect(chosen.verdict.error?.code == .connectionLost && chosen.connections == 1, "\(chosen)")
    let strange = try await Self.check([], unasked: .send("SSH-2.0-OpenSSH_9.9\r\n"))
    #expect(strange.verdict.error?.code == .malformedResponse && strange.connections == 1, "\(strange)")
  }

  /// SECURITY.md: a check costs 1 MiB at most, and each connection half of that. A site that has answered is not asked
  /// anew.
  @Test func oneThatAnswersOnceIsAskedOverNoOtherVersion() async throws {
    let server = try await SiteServer(
      .head(.answer(405), otherwise: SiteBehaviour { _ in [.close] }), as: try Trust.identity.get())
    let verdict = try await SitesTests.check(try server.url(.secure))
    #expect(verdict.error?.code == .connectionLost, "\(verdict)")
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
  }

  /// Each connection has a handshake with a certificate (RFC 8446, 4.4.2), and little else comes.
  @Test func theBytesOfAllConnectionsAreCounted() async throws {
    var configuration = SiteCheckConfiguration(timeout: .seconds(30))
    configuration.trust = try Trust.trust()
    let asked = configuration
    var received: [Int] = []
    for protocols in [["http/1.1"], ["h2"]] {
      received += try await Self.serving(protocols, Self.answer + Self.page, otherwise: { _ in [.close] }) { server in
        [try await SiteEnvironment.system.provider.inspect(try server.url(.secure), asked).details.received]
      }
    }
    #expect(received[0] > 500 && received[1] > received[0] * 3 / 2, "\(received)")
  }

  /// The second exchange has what the first has left of the time.
  @Test func bothHaveOneTime() async throws {
    let found = try await Self.check([], unasked: .close)
    #expect(found.verdict.error?.code == .connectionLost && found.connections == 2, "\(found)")
    // On a busy machine the first exchange may take all of a short time.
    for scale in [1, 4, 16] {
      let server = try await SiteServer(
        SiteBehaviour { _ in [.pause(.seconds(scale)), .close] }, as: try Trust.identity.get())
      let late = try await SitesTests.check(try server.url(.secure)) { $0.timeout = .milliseconds(scale * 1_700) }
      #expect(late.error?.code == .timedOut, "\(late)")
      if server.connectionCount == 2 { return }
    }
    Issue.record("there was no second exchange")
  }

  @Test func onlyASiteThatWorksEachTimeOverOneFailsOverTheOther() {
    func verdict(_ isGood: Bool) -> SiteVerdict {
      SiteVerdict(
        url: "https://a.example/", kind: isGood ? .available : .failed, status: isGood ? 200 : nil,
        stage: isGood ? nil : .response, error: isGood ? nil : SiteError(.connectionLost, "words"))
    }
    func isBroken(_ usual: [Bool], _ http1: [Bool], small: [Bool] = []) -> Bool {
      var finding = SiteFinding(
        verdict(usual[0]), small: small.map(verdict), later: usual.dropFirst().map(verdict))
      finding.http1Verdicts = http1.map(verdict)
      return finding.isHTTP2Broken
    }
    #expect(isBroken([false], [true]) && isBroken([false, false], [true, true], small: [false]))
    #expect(!isBroken([false], []) && !isBroken([false], [true, false]) && !isBroken([false, true], [true]))
    #expect(!isBroken([false], [true], small: [true]))
  }
}
#endif
