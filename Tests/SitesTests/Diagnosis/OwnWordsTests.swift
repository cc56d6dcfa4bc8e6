// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Glibc
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What this machine itself stops is not blamed on the router, the provider, a name server or the site. Each network
/// is one that a stranger broke, and looked at with a capture and the counters of its filters.
struct OwnWordsTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let server = NearestCauseTests.server
  private static let root = IPAddress(ipv4: 0xC629_0004)
  private static let root6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0503_BA3E_0000, low: 0x0002_0030))

  private static func says(_ meaning: NetworkStatement.Meaning, _ sender: IPAddress? = nil) -> NetworkStatement {
    NetworkStatement(meaning, by: sender ?? IPAddress(ipv4: 0xC000_0202), isOwn: sender == nil)
  }

  private static func beyond(_ outcomes: [BeyondFinding.Outcome], _ trace: BeyondFinding.Trace? = nil) -> Finding {
    .beyond(BeyondFinding(outcomes.map { BeyondFinding.Question(root, $0) }, trace: trace))
  }

  private static func connection(
    _ outcome: ConnectionFinding.Outcome, _ change: (inout ConnectionFinding) -> Void = { _ in }
  ) -> Finding {
    var finding = ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(target, port: 443, outcome)])
    finding.gateway = router
    change(&finding)
    return .connection(finding)
  }

  private static func cause(_ findings: [Finding], _ goal: DiagnosisGoal = .internet) -> DiagnosisCause? {
    DiagnosisVerdict(of: "site.example", goal: goal, findings: findings).cause
  }

  /// nft: output, oifname eth0, reject or drop. Datagrams get EPERM, or the own ICMP message; connections get nothing.
  @Test(arguments: [BeyondFinding.Outcome.failed(EPERM), .refused(says(.prohibited)), .refused(says(.hostUnreachable))])
  func aWallOfThisMachineIsNotTheProvider(_ outcome: BeyondFinding.Outcome) {
    #expect(Self.cause([Self.beyond([outcome, .failed(EPERM)], .silent)]) == .localFirewall)
    // A filter of questions alone: connections get out, or were not tried.
    #expect(Self.cause([Self.beyond([outcome], .leadsOn(Self.root))]) == nil)
    #expect(Self.cause([Self.beyond([outcome])]) == nil)
    // Another errno is of the network, and nobody's verdict.
    #expect(Self.cause([Self.beyond([outcome, .failed(ENETUNREACH)], .silent)]) == nil)
    // The target's own connection says more.
    let refused = Self.connection(.refused(Self.says(.prohibited)))
    #expect(Self.cause([Self.beyond([outcome]), refused], .host) == .localFirewall)
  }

  /// RFC 1122, 3.2.2.1: the kernel says that a host is unreachable after it has asked for the neighbour; a filter may
  /// say so of a router that is there.
  @Test func theOwnWordOfAnUnreachableHostIsTheKernelsOnlyIfTheNeighbourIsGone() {
    let word = ConnectionFinding.Outcome.refused(Self.says(.hostUnreachable))
    #expect(Self.cause([Self.connection(word)], .host) == .localFirewall)
    #expect(Self.cause([Self.connection(word) { $0.isNeighbourFailed = true }], .host) == .gatewaySilent)
    let onLink = Self.connection(word) { ($0.isNeighbourFailed, $0.gateway) = (true, nil) }
    #expect(Self.cause([onLink], .host) == .hostAbsent)
  }

  /// One family beyond a wall of this machine, and the other one works.
  @Test func oneFamilyBehindAWall() {
    let finding = BeyondFinding([
      BeyondFinding.Question(Self.root6, .answer), BeyondFinding.Question(Self.root, .failed(EPERM)),
    ])
    #expect(Self.cause([.beyond(finding)]) == .familyBroken)
    let other = BeyondFinding([
      BeyondFinding.Question(Self.root6, .answer), BeyondFinding.Question(Self.root, .failed(ENETUNREACH)),
    ])
    #expect(Self.cause([.beyond(other)]) == nil)
  }

  /// Of two addresses one is kept from this machine: it is not dead, and nobody who runs the target can help.
  @Test(arguments: [
    (ConnectionFinding.Outcome.refused(says(.prohibited)), DiagnosisCause.localFirewall),
    (.refused(says(.prohibited, router)), .prohibited), (.failed(EPERM), .localFirewall), (.silent, .addressDead),
    (.reset, .addressDead), (.refused(says(.hostUnreachable, router)), .addressDead),
  ])
  func whatIsKeptFromItIsNotDead(_ outcome: ConnectionFinding.Outcome, _ cause: DiagnosisCause) {
    let second = IPAddress(ipv4: 0xCB00_710B)
    let finding = ConnectionFinding(
      .ipv4,
      [
        ConnectionFinding.Attempt(Self.target, port: 443, outcome),
        ConnectionFinding.Attempt(second, port: 443, .accepted(milliseconds: 1)),
      ])
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [.connection(finding)])
    #expect(verdict.cause == cause && verdict.confidence == .likely)
  }

  /// The other family works, and root servers answer in both.
  @Test(arguments: [
    (ConnectionFinding.Outcome.refused(says(.prohibited, router)), false, DiagnosisCause.prohibited),
    (.refused(says(.prohibited)), false, .localFirewall), (.silent, true, .gatewaySilent),
    (.silent, false, .addressDead), (.reset, false, .addressDead),
  ])
  func whoStopsOneFamilyIsNamed(_ outcome: ConnectionFinding.Outcome, _ isLost: Bool, _ cause: DiagnosisCause) {
    let other = ConnectionFinding(
      .ipv6, [ConnectionFinding.Attempt(Self.target6, port: 443, .accepted(milliseconds: 1))])
    let beyond = BeyondFinding([
      BeyondFinding.Question(Self.root, .answer), BeyondFinding.Question(Self.root6, .answer),
    ])
    let findings = [
      Self.connection(outcome) { $0.isNeighbourFailed = isLost }, .connection(other), .beyond(beyond),
    ]
    #expect(Self.cause(findings, .host) == cause)
  }

  /// proc_net_tcp.rst: where nothing listens the kernel resets, and where a service takes what comes it answers.
  @Test func silenceOfThisMachineIsItsFirewall() {
    func cause(_ listeners: [IPAddress]?) -> DiagnosisCause? {
      Self.cause([Self.connection(.silent) { ($0.isOwn, $0.gateway, $0.listeners) = (true, nil, listeners) }], .host)
    }
    #expect(cause([]) == .localFirewall && cause([Self.target]) == .localFirewall)
    #expect(cause([IPAddress(ipv4: 0)]) == .localFirewall)
    // It listens at another address alone, or it is not known.
    #expect(cause([Self.server]) == .silent && cause(nil) == .silent)
  }

  /// A router that answers ARP, and has no way back to an address of another network.
  @Test func anAddressOfAnotherNetworkExcusesARouterThatIsThere() {
    let source = Finding.kernel(
      KernelFinding(.source(.otherNetwork(IPAddress(ipv4: 0x0A14_0032), gateway: Self.router)), target: Self.target))
    func neighbour(_ state: NeighbourState) -> Finding {
      let evidence = KernelEvidence(
        target: Self.target, state: Reachability(.reachable),
        neighbour: KernelEvidence.NeighbourFacts(address: Self.router, link: "eth0", state: state))
      return .kernel(KernelFinding(.neighbour(.silent(Self.router, isGateway: true, wasProbed: true)), evidence))
    }
    let lost = Self.beyond([.silent], .silent)
    #expect(Self.cause([source, neighbour(.reachable), lost]) == .noAddress)
    #expect(Self.cause([source, neighbour(.failed), lost]) == .gatewaySilent)
    #expect(Self.cause([neighbour(.reachable), lost]) == .gatewaySilent)
  }

  /// Two routers beyond the first answer, and no name server finds anything out.
  @Test func aCutFurtherAwayIsNotTheNameServers() {
    let last = IPAddress(ipv4: 0x3E9B_0002)
    let beyond = Self.beyond([.silent], .leadsOn(last))
    let verdict = DiagnosisVerdict(
      of: "internet", goal: .internet, findings: [beyond, NearestCauseTests.names(.silent)])
    #expect(verdict.cause == .uplinkDown && verdict.confidence == .likely)
    #expect(verdict.summary == "The Internet is not reachable beyond 62.155.0.2 (beyond your router).")
    #expect(Self.cause([beyond, NearestCauseTests.names(.answer(.success, [Self.target]))]) == nil)
    // A root server itself takes connections: questions are filtered.
    let filtered = Self.beyond([.silent], .leadsOn(Self.root))
    #expect(Self.cause([filtered, NearestCauseTests.names(.silent)]) == .nameServerSilent)
  }

  /// The router has no uplink, and finds nobody to hand questions on to.
  @Test func theOwnRouterThatFindsNobodyHasNoWay() {
    let refused = NameFinding.Reply.refused(Self.says(.hostUnreachable, Self.router))
    let route = NearestCauseTests.kernel(.route(.leads(gateway: Self.router, interface: "eth0")))
    #expect(Self.cause([route, NearestCauseTests.names(refused)], .host) == .routerNoRoute)
    #expect(Self.cause([NearestCauseTests.names(refused)], .host) == .nameServerSilent)
  }

  /// A site that leads elsewhere is none, where nobody answers for addresses that nobody has.
  @Test func aSiteThatLeadsElsewhereIsNoPortal() {
    let url: SiteURL = "http://site.example/"
    let site = Finding.site(
      SiteFinding(SiteVerdict(url: url, kind: .captivePortal, status: 301, location: "https://cdn.example/")))
    #expect(Self.cause([site], .site) == .captivePortal)
    #expect(Self.cause([site, .portal(PortalFinding(status: 302))], .site) == .captivePortal)
    let verdict = DiagnosisVerdict(of: url.text, goal: .site, findings: [.portal(PortalFinding(status: nil)), site])
    #expect(verdict.isFine && verdict.summary == "Nothing is wrong: site.example answers 301.")
    // That a login is wanted is said by the network (RFC 6585, 6).
    let login = Finding.site(SiteFinding(SiteVerdict(url: url, kind: .captivePortal, status: 511)))
    #expect(Self.cause([.portal(PortalFinding(status: nil)), login], .site) == .captivePortal)
  }

  /// Who answers for addresses that nobody has (RFC 5737) is not the site; one that answers otherwise may be.
  @Test(
    arguments: [
      ("http", 403, 403, .prohibited, false), ("http", 404, 404, .prohibited, false), ("http", 503, 503, nil, false),
      ("http", 403, 404, nil, true), ("http", 200, 403, nil, true), ("https", 403, 403, nil, true),
      ("http", 503, 403, .siteFault, false),
    ] as [(String, Int, Int, DiagnosisCause?, Bool)])
  func whoAnswersForAllIsNotTheSite(scheme: String, site: Int, all: Int, cause: DiagnosisCause?, isFine: Bool) throws {
    let url = try SiteURL("\(scheme)://site.example/")
    let answer = Finding.site(SiteFinding(SiteVerdict(url: url, kind: .available, status: site)))
    let portal = Finding.portal(PortalFinding(status: all))
    let verdict = DiagnosisVerdict(of: url.text, goal: .site, findings: [portal, answer])
    #expect(verdict.cause == cause && verdict.isFine == isFine, "\(verdict.summary)")
    #expect(cause == nil || verdict.confidence == .likely)
    let said = "Somebody on the way answers \(site) in place of site.example, as for an address that nobody has."
    #expect((verdict.summary == said) == (!isFine && site == all), "\(verdict.summary)")
    let step = verdict.steps.first { $0.kind == .portal }
    #expect(step?.text == "somebody answers \(all) for an address that nobody has" && step?.outcome == .doubtful)
  }

  /// Programs use their proxy: whether one that is not spoken to leads on is unknown, no matter what answers without
  /// it.
  @Test func aProxyThatIsNotSpokenToMayNotLeadOn() {
    let proxy = Finding.proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:443", .notTried))
    let site = Finding.site(SiteFinding(SiteVerdict(url: "https://site.example/", kind: .available, status: 200)))
    for (goal, findings) in [(DiagnosisGoal.site, [site, proxy]), (.internet, [Self.beyond([.answer]), proxy])] {
      let verdict = DiagnosisVerdict(of: "site.example", goal: goal, findings: findings)
      #expect(verdict.cause == nil && verdict.confidence == .unknown && !verdict.isFine)
      #expect(
        verdict.summary == "The proxy 192.0.2.7:443, which other programs use (https_proxy), speaks what is not spoken "
          + "here: whether it leads on is unknown.")
    }
    let host = DiagnosisVerdict(
      of: "site.example", goal: .host, findings: [Self.connection(.accepted(milliseconds: 1)), proxy])
    #expect(host.isFine)
  }

  /// A socket of TCP has one other end (RFC 9293, 3.1).
  @Test func manyHostsTakeNoConnection() {
    let verdict = DiagnosisVerdict(
      of: "192.0.2.255", goal: .host, findings: [.unasked(.connect, .ipv4, .leadsToMany)])
    #expect(verdict.cause == nil && !verdict.isFine)
    #expect(verdict.summary.hasPrefix("A broadcast or multicast address takes no connection: "), "\(verdict.summary)")
  }

  /// The uplink is there if somebody beyond answers; it is the address that the router has no way to.
  @Test(arguments: [BeyondFinding.Outcome.answer, .silent]) func aRouterWithoutAWayToOneHasAnUplink(
    _ outcome: BeyondFinding.Outcome
  ) {
    let says = Self.says(.networkUnreachable, Self.router)
    let verdict = DiagnosisVerdict(
      of: "site.example", goal: .host, findings: [Self.connection(.refused(says)), Self.beyond([outcome])])
    let hasUplink = outcome == .answer
    #expect(verdict.cause == .routerNoRoute && verdict.details.isEmpty == hasUplink, "\(verdict.details)")
    #expect(
      verdict.advice
        == (hasUplink
          ? "See whether the address is right, or ask who runs the network."
          : "Look at the router's WAN light, or call the provider."))
  }

  /// TCP_INFO: an answer that comes in spite of many packets that were lost is no sign that nothing is wrong.
  @Test(arguments: [(2, DiagnosisCause?.none), (3, .unreliable)])
  func anAnswerThatTookManyTriesIsInDoubt(resent: Int, cause: DiagnosisCause?) {
    var finding = SiteFinding(SiteVerdict(url: "https://site.example/", kind: .available, status: 200))
    finding.resent = resent
    let verdict = DiagnosisVerdict(of: "https://site.example/", goal: .site, findings: [.site(finding)])
    #expect(verdict.cause == cause && verdict.isFine == (cause == nil))
    #expect(verdict.details == (cause == nil ? [] : ["Yet site.example answered a check."]))
  }

  /// A host whose other port says nothing is there, and that is told.
  @Test func aSilentPortBesideOneThatAnswersIsTold() {
    let finding = ConnectionFinding(
      .ipv4,
      [
        ConnectionFinding.Attempt(Self.target, port: 443, .silent),
        ConnectionFinding.Attempt(Self.target, port: 80, .accepted(milliseconds: 1)),
      ])
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [.connection(finding)])
    #expect(verdict.isFine && verdict.details == ["Its port 443 does not answer."])
  }
}
