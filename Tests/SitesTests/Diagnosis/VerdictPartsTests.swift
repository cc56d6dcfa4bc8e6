// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneDiagnosis

/// Where two findings stand equally near, or one of them is of use for another alone; and the words of each end.
struct VerdictPartsTests {
  static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  static let router = NearestCauseTests.router
  static let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0001_0000, low: 1))
  static let server = NearestCauseTests.server

  private static func kernel(_ result: KernelFinding.Result, _ target: IPAddress = target) -> Finding {
    NearestCauseTests.kernel(result, target)
  }

  private static func leads(_ router: IPAddress, _ target: IPAddress) -> Finding {
    kernel(.route(.leads(gateway: router, interface: "eth0")), target)
  }

  private static func beyond(_ outcomes: BeyondFinding.Outcome..., trace: BeyondFinding.Trace? = nil) -> Finding {
    .beyond(BeyondFinding(outcomes.map { BeyondFinding.Question(server, $0) }, trace: trace))
  }

  private static func connection(_ outcome: ConnectionFinding.Outcome, _ target: IPAddress = target) -> Finding {
    NearestCauseTests.connection(target, outcome) { $0.gateway = router }
  }

  private static func proxy(_ outcome: ProxyFinding.Outcome) -> Finding {
    .proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", outcome))
  }

  static func says(_ meaning: NetworkStatement.Meaning) -> NetworkStatement {
    NetworkStatement(meaning, by: router)
  }

  private static let link = kernel(.link(.works("eth0")))
  private static let answers = kernel(.neighbour(.answers(router, isGateway: true)))
  private static let silent = kernel(.neighbour(.silent(router, isGateway: true, wasProbed: true)))
  private static let asked = kernel(.neighbour(.asked(router, isGateway: true)))
  private static let unknown = NearestCauseTests.names(.answer(.nameError, []))
  private static let noWay = SiteError(.cannotConnect, "connection refused")

  /// The router's own server lies: it is not beyond the router, and gives a root server's name the router's address.
  private static let lie = Finding.name(
    NameFinding(
      name: RootServers.name, servers: [NameFinding.Server(router, ipv4: .answer(.success, [router]))],
      addresses: [router]))

  typealias Row = DiagnosisRulesTests.Row

  private static let rows: [Row] = [
    Row(
      "both families have a route, and none an address", .host, .noAddress, .certain,
      [
        leads(router, target), kernel(.address(.missing)), leads(router6, target6),
        kernel(.address(.missing), target6),
      ]),
    Row(
      "an address of a bridge's port is nearer than the router that is silent for it", .host, .noAddress, .likely,
      [kernel(.address(.onPort(server, bridge: "br0"))), silent]),
    Row(
      "a router prohibits questions, and a connection fails, too", .host, .prohibited, .likely,
      [beyond(.refused(says(.prohibited))), connection(.silent)]),
    Row(
      "a neighbour that is no router has not answered yet, and a name server is silent", .host, .nameServerSilent,
      .likely, [link, kernel(.neighbour(.asked(target, isGateway: false))), NearestCauseTests.names(.silent)]),
    // Two of the same nearness: this machine's own matter counts, and else what comes first on the way.
    Row(
      "an address without a way back, and a name server that lies", .internet, .noAddress, .likely,
      [kernel(.source(.foreign(server, interface: "lo"))), beyond(.silent, trace: .silent), lie]),
    Row(
      "a name server that lies, and a dead proxy", .internet, .nameHijacked, .likely,
      [lie, proxy(.unreachable(noWay))]),
  ]

  @Test("what is nearer decides", arguments: rows)
  func theNearerDecides(row: Row) {
    for findings in [row.findings, row.findings.reversed()] {
      let verdict = DiagnosisVerdict(of: "site.example", goal: row.goal, findings: findings)
      #expect(verdict.cause == row.cause && verdict.confidence == row.confidence, "\(verdict.summary)")
    }
  }

  /// A date has passed: for certain only if something is known of the clock.
  @Test func withoutAClockADateProvesNothing() {
    func charges(_ code: SiteError.Code) -> [Charge] {
      let verdict = SiteVerdict(url: "https://site.example/", kind: .intercepted, error: SiteError(code, "words"))
      return SiteRules.read(SiteFinding(verdict)).compactMap(\.charge)
    }
    for code in [SiteError.Code.certificateExpired, .certificateNotYetValid] {
      #expect(charges(code) == [Charge(.tlsCertificate, nil)])
    }
    #expect(charges(.certificateNameMismatch).map(\.proof?.witness) == [.cryptography])
  }

  private static let unknownBeyond =
    "Nothing wrong was found up to your router 192.0.2.1. What lies beyond it is unknown: "
  private static let untried = "Whether site.example answers is not known."

  private static let sentences: [(String, DiagnosisGoal, [Finding])] = [
    ("Nothing was found out.", .host, []), (untried, .host, [link, answers]),
    (unknownBeyond + "nobody there was asked.", .internet, [link, answers]),
    (unknownBeyond + "nobody there was asked.", .internet, [link, answers, beyond()]),
    (
      unknownBeyond + "the root servers do not answer, and a filter may be why.", .internet,
      [link, answers, beyond(.silent)]
    ),
    ("The router 192.0.2.1 has not answered yet.", .host, [link, asked, NearestCauseTests.names(.silent)]),
    ("There is no IPv4 address, so the Internet is not reachable.", .internet, [kernel(.address(.missing))]),
    ("There is no IPv4 address.", .host, [kernel(.address(.missing))]),
    ("The name site.example does not exist, says the name server 192.0.2.53.", .host, [unknown]),
    (
      "The name server 192.0.2.53 does not answer, so that no name can be looked up.", .host,
      [NearestCauseTests.names(.silent)]
    ),
    (
      "The Internet is not reachable: the router 192.0.2.1 says network unreachable.", .internet,
      [beyond(.refused(says(.networkUnreachable)))]
    ),
    (
      "The target site.example is not reachable: the router 192.0.2.1 says network unreachable.", .host,
      [connection(.refused(says(.networkUnreachable)))]
    ),
    (
      "The Internet is not reachable beyond your router 192.0.2.1.", .internet,
      [answers, beyond(.silent, trace: .silent)]
    ),
    (
      "Nothing beyond your router 192.0.2.1 answers, so site.example is not reachable.", .host,
      [answers, beyond(.silent, trace: .silent)]
    ),
  ]

  @Test("each end has its sentence", arguments: sentences)
  func eachEndHasItsSentence(summary: String, goal: DiagnosisGoal, findings: [Finding]) {
    let verdict = DiagnosisVerdict(of: "site.example", goal: goal, findings: findings)
    #expect(verdict.summary == summary)
    let isUnknown = goal == .internet && verdict.cause == nil
    #expect((verdict.advice == "Name a site: dialtone explain https://example.com/") == isUnknown)
    // Only a router that says that it has no way is told about its uplink.
    #expect((verdict.details == ["The router's uplink is probably down."]) == (verdict.cause == .routerNoRoute))
  }

  @Test func aFamilyThatIsBrokenBesideACauseIsTold() {
    let findings = [Self.link, Self.unknown, Self.connection(.silent, Self.target6)]
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: findings)
    #expect(verdict.cause == .nameUnknown)
    #expect(verdict.details.map { $0.hasPrefix("IPv6 does not work either: no answer comes from ") } == [true])
    // What helps is what helps against the reason.
    let gone = Self.kernel(.neighbour(.silent(Self.router6, isGateway: true, wasProbed: true)), Self.target6)
    let broken = DiagnosisVerdict(
      of: "site.example", goal: .host, findings: [Self.link, Self.connection(.accepted(milliseconds: 1)), gone])
    #expect(broken.cause == .familyBroken && broken.advice == "Switch the router on, or check its address.")
  }

  @Test func theProxyThatLedThereIsNamed() {
    let site = Finding.site(SiteFinding(SiteVerdict(url: "https://site.example/", kind: .available, status: 200)))
    func details(_ outcome: ProxyFinding.Outcome) -> [String] {
      DiagnosisVerdict(of: "site.example", goal: .site, findings: [site, Self.proxy(outcome)]).details
    }
    #expect(details(.delivers) == ["The proxy 192.0.2.7:3128 led there (https_proxy)."] && details(.notTried) == [])
  }

  @Test func sitesAndProxiesAreToldApart() {
    func texts(_ finding: Finding) -> [String] { finding.steps.map(\.text) }
    func site(_ stage: SiteVerdict.Stage) -> Finding {
      let error = SiteError(.timedOut, "words")
      return .site(SiteFinding(SiteVerdict(url: "https://a.example/", kind: .failed, stage: stage, error: error)))
    }
    #expect(texts(site(.body)).last == "the site a.example begins its answer, and does not go on")
    #expect(texts(site(.response)).last == "the site a.example takes the request, and does not answer")
    for (now, words) in [(0, "behind this machine's"), (2_000_000_000, "years ahead of this machine's")] {
      let expired = SiteVerdict(
        url: "https://a.example/", kind: .intercepted, error: SiteError(.certificateExpired, "words"))
      let clock = SiteFinding.Clock(now: Int64(now), lastChange: 1_700_000_000)
      #expect(texts(.site(SiteFinding(expired, clock: clock))).contains { $0.contains("wrong: it is \(words) own") })
    }
    // Of several addresses one may have a wrong certificate.
    let wrong = Finding.site(
      SiteFinding(
        SiteVerdict(
          url: "https://a.example/", kind: .intercepted, error: SiteError(.certificateNameMismatch, "words"),
          address: Self.target)))
    for (addresses, place) in [([Self.target], ""), ([Self.target, Self.server], " at 203.0.113.10")] {
      let name = Finding.name(NameFinding(name: "a.example", source: .hosts, addresses: addresses))
      let verdict = DiagnosisVerdict(of: "https://a.example/", goal: .site, findings: [name, wrong])
      #expect(verdict.summary == "The certificate of a.example\(place) does not prove who it is: words.")
    }
    let who = "the proxy 192.0.2.7:3128, which other programs use (https_proxy),"
    #expect(texts(Self.proxy(.connects)) == ["\(who) takes connections"])
    #expect(texts(Self.proxy(.unreadable)) == ["the proxy that https_proxy names cannot be read"])
  }
}
