// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// The rules that make a verdict of findings: sure only when proven, and the nearest cause, not the loudest.
struct DiagnosisRulesTests {
  private static let target = IPAddress(ipv4: 0xCB00_710A)
  private static let target6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xA))
  private static let router = IPAddress(ipv4: 0xC000_0201)
  private static let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0001_0000, low: 1))
  private static let root = IPAddress(ipv4: 0xC629_0004)
  private static let server = IPAddress(ipv4: 0xC000_0235)

  private static func address(_ family: IPAddress.Family) -> IPAddress { family == .ipv4 ? target : target6 }

  /// A family in which everything up to the router works.
  private static func way(_ family: IPAddress.Family = .ipv4) -> [Finding] {
    [
      kernel(.link(.works("eth0")), family), kernel(.route(.leads(gateway: nil, interface: "eth0")), family),
      kernel(.neighbour(.answers(family == .ipv4 ? router : router6, isGateway: true)), family),
    ]
  }

  private static func kernel(_ result: KernelFinding.Result, _ family: IPAddress.Family = .ipv4) -> Finding {
    .kernel(KernelFinding(result, target: address(family)))
  }

  private static let noRouter6 = kernel(.neighbour(.silent(router6, isGateway: true, wasProbed: true)), .ipv6)

  private static func connection(
    _ outcome: ConnectionFinding.Outcome, _ family: IPAddress.Family = .ipv4
  ) -> Finding {
    var finding = ConnectionFinding(family, [ConnectionFinding.Attempt(address(family), port: 443, outcome)])
    finding.gateway = family == .ipv4 ? router : router6
    return .connection(finding)
  }

  private static let connected = connection(.accepted(milliseconds: 3))

  private static func names(_ reply: NameFinding.Reply, _ servers: [IPAddress] = [server], isBeyond: Bool = false)
    -> Finding
  {
    var finding = NameFinding(
      name: "site.example",
      servers: servers.map { NameFinding.Server($0, ipv4: reply, ipv6: reply, isBeyond: isBeyond) })
    finding.addresses = reply.addresses
    return .name(finding)
  }

  private static func rootNames(_ reply: NameFinding.Reply) -> Finding {
    .name(NameFinding(name: "the root", servers: [NameFinding.Server(server, ipv4: reply)], isRootOnly: true))
  }

  private static func beyond(_ outcomes: BeyondFinding.Outcome...) -> Finding {
    .beyond(BeyondFinding(outcomes.map { BeyondFinding.Question(root, $0) }))
  }

  private static let noRoute = BeyondFinding.Outcome.refused(NetworkStatement(.networkUnreachable, by: router))

  private static func site(
    _ kind: SiteVerdict.Kind, status: Int? = nil, stage: SiteVerdict.Stage? = nil, error: SiteError.Code? = nil
  ) -> Finding {
    .site(
      SiteFinding(
        SiteVerdict(
          url: "https://site.example/", kind: kind, status: status, stage: stage,
          error: error.map { SiteError($0, "w") }),
        clock: SiteFinding.Clock(now: 1_000, isKept: true)))
  }

  private static func openSite(_ kind: SiteVerdict.Kind, status: Int?) -> Finding {
    .site(SiteFinding(SiteVerdict(url: "http://site.example/", kind: kind, status: status)))
  }

  private static func proxy(_ outcome: ProxyFinding.Outcome) -> Finding {
    .proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", outcome))
  }

  private static let noWay = SiteError(.cannotConnect, "connection refused", errno: 111)
  private static let cable = kernel(.link(.fails("eth0", .noCarrier, isNamed: true)))

  private static func traced(_ trace: BeyondFinding.Trace) -> Finding {
    .beyond(BeyondFinding([BeyondFinding.Question(root, .silent)], trace: trace))
  }

  private static func answering(_ connection: BeyondFinding.Connection) -> Finding {
    .beyond(BeyondFinding([BeyondFinding.Question(root, .answer)], connection: connection))
  }

  private static let nobodys: Finding = {
    var finding = NameFinding(name: "site.example", source: .hosts)
    finding.addresses = [IPAddress(ipv4: 0)]
    return .name(finding)
  }()

  private static func partialName(_ ipv4: NameFinding.Reply) -> Finding {
    let reply = NameFinding.Reply.answer(.success, [target6])
    return .name(
      NameFinding(
        name: "site.example", servers: [NameFinding.Server(server, ipv4: ipv4, ipv6: reply)], addresses: [target6]))
  }

  private static let hijacked: Finding = {
    var finding = NameFinding(name: "site.example")
    let reply = NameFinding.Reply.answer(.success, [target])
    finding.servers = [NameFinding.Server(server, ipv4: reply, control: reply)]
    finding.addresses = [target]
    return .name(finding)
  }()

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let goal: DiagnosisGoal
    let cause: DiagnosisCause?
    let confidence: DiagnosisConfidence
    let findings: [Finding]

    init(
      _ description: String, _ goal: DiagnosisGoal, _ cause: DiagnosisCause?, _ confidence: DiagnosisConfidence,
      _ findings: [Finding]
    ) {
      testDescription = description
      self.goal = goal
      self.cause = cause
      self.confidence = confidence
      self.findings = findings
    }
  }

  static let rows: [Row] = [
    Row("nothing was found out", .host, nil, .unknown, []),
    Row("a connection was made", .host, nil, .certain, way() + [connected]),
    Row("the way works, and nothing was asked", .host, nil, .unknown, way()),
    Row("a connection is no answer of a site", .site, nil, .unknown, way() + [connected]),
    Row("a site answers", .site, nil, .certain, way() + [connected, site(.available, status: 204)]),
    Row(
      "a site is asked for, and fails", .site, .siteFault, .certain,
      way() + [connected, site(.available, status: 503)]),
    Row("the time was up", .host, nil, .unknown, way() + [.unasked(.connect, .ipv4, .timeIsUp)]),
    Row("a cable", .host, .noCarrier, .certain, [kernel(.link(.fails("eth0", .noCarrier, isNamed: true)))]),
    Row(
      "the likeliest of several links", .host, .noCarrier, .likely,
      [kernel(.link(.fails("eth0", .noCarrier, isNamed: false)))]),
    // ARP entries raise likelihood, never to certain.
    Row(
      "the nearer of two", .host, .gatewaySilent, .likely,
      [kernel(.neighbour(.silent(router, isGateway: true, wasProbed: true))), names(.silent)]),
    Row(
      "the nearer of two, said later", .host, .nameServerSilent, .likely, way() + [connection(.reset), names(.silent)]),
    Row("a refusal is a fault, on any port", .host, .refused, .likely, way() + [connection(.reset)]),
    Row(
      "a family that is not in use", .host, nil, .certain, way() + [connected, kernel(.address(.missing), .ipv6)]),
    Row(
      "a family that is broken", .host, .familyBroken, .likely,
      way() + way(.ipv6) + [connected, connection(.silent, .ipv6)]),
    Row("a family whose router is gone", .host, .familyBroken, .likely, way() + [connected, noRouter6]),
    Row(
      "a dead address of a family that works", .host, .addressDead, .likely,
      way() + way(.ipv6) + [
        connected, connection(.silent, .ipv6),
        .beyond(
          BeyondFinding([
            BeyondFinding.Question(IPAddress(IPAddressBits(ipv6High: 0x2001_07FE_0000_0000, low: 0x53)), .answer)
          ])),
      ]),
    Row(
      "a name that does not exist, and a family whose router is gone", .host, .nameUnknown, .likely,
      way() + [noRouter6, names(.answer(.nameError, []))]),
    Row(
      "a silent name server of the family that works", .host, .nameServerSilent, .likely,
      way() + [noRouter6, names(.silent)]),
    Row(
      "a silent name server of the broken family", .host, .familyBroken, .likely,
      way() + [noRouter6, names(.silent, [router6])]),
    Row(
      "a bad certificate, and a family that is lost on the way", .site, .tlsCertificate, .certain,
      way() + way(.ipv6) + [
        connected, connection(.silent, .ipv6), site(.intercepted, error: .certificateNameMismatch),
      ]),
    Row(
      "a name that a certificate has proven", .site, nil, .certain,
      way() + [hijacked, connected, site(.available, status: 200)]),
    Row("a name that nobody has proven", .host, .nameHijacked, .likely, way() + [hijacked, connected]),
    Row(
      "a gateway that has not answered yet", .host, nil, .unknown,
      [kernel(.link(.works("eth0"))), kernel(.neighbour(.asked(router, isGateway: true)))]),
    Row("a fault without a cause", .host, nil, .unknown, way() + [connection(.failed(99))]),
    Row(
      "an answer of somebody else's router entry", .host, nil, .certain,
      [kernel(.neighbour(.silent(router, isGateway: true, wasProbed: true))), connected]),
    // Beyond the router.
    Row(
      "a root server answers", .internet, nil, .certain, way() + [rootNames(.answer(.success, [])), beyond(.answer)]),
    Row("a root server takes a connection, too", .internet, nil, .certain, way() + [answering(.answered)]),
    Row(
      "a root server answers, and no connection gets there", .internet, .silent, .likely,
      way() + [rootNames(.answer(.success, [])), answering(.nothing)]),
    Row(
      "a router's cache answers, and nobody beyond", .internet, nil, .unknown,
      way() + [rootNames(.answer(.success, [])), beyond(.silent, .silent)]),
    Row("nobody beyond was asked", .internet, nil, .unknown, way() + [rootNames(.answer(.success, []))]),
    Row(
      "somebody on the way answers for the root", .internet, nil, .unknown,
      way() + [rootNames(.answer(.success, [])), beyond(.forged, .forged)]),
    Row(
      "a router's server fails, and nobody beyond answers", .internet, .uplinkDown, .likely,
      way() + [rootNames(.answer(.serverFailure, [])), beyond(.silent, .silent)]),
    Row(
      "a router's server fails, and the root answers", .internet, .nameServerRefuses, .likely,
      way() + [names(.answer(.serverFailure, [])), beyond(.silent, .answer)]),
    Row(
      "the router says that it has no way", .internet, .routerNoRoute, .likely,
      way() + [rootNames(.answer(.success, [])), beyond(noRoute, .silent)]),
    Row(
      "neither names nor the target nor the root answer", .site, .uplinkDown, .likely,
      way() + [names(.answer(.success, [target])), connection(.silent), beyond(.silent, .silent)]),
    Row(
      "a name server beyond answers, and the target does not", .site, .silent, .likely,
      way() + [names(.answer(.success, [target]), isBeyond: true), connection(.silent), beyond(.silent, .silent)]),
    Row(
      "names are silent, and the root answers", .site, .nameServerSilent, .likely,
      way() + [names(.silent), beyond(.answer)]),
    Row(
      "names are silent, and so is the root", .site, .uplinkDown, .likely, way() + [names(.silent), beyond(.silent)]),
    // Proxies.
    Row(
      "a proxy leads there, and nothing else does", .site, nil, .certain,
      way() + [names(.silent), proxy(.delivers), site(.available, status: 200)]),
    Row("a proxy leads there, and the site says nothing", .site, nil, .unknown, way() + [proxy(.delivers)]),
    Row(
      "a proxy leads to a bad certificate", .site, .tlsCertificate, .certain,
      way() + [names(.silent), proxy(.delivers), site(.intercepted, error: .certificateNameMismatch)]),
    Row(
      "a dead proxy beside a site that answers", .site, .proxyUnreachable, .likely,
      way() + [connected, site(.available, status: 200), proxy(.unreachable(noWay))]),
    Row(
      "a dead proxy, and a network that lets nothing else through", .internet, .proxyUnreachable, .likely,
      way() + [beyond(.silent, .silent), proxy(.unreachable(noWay))]),
    Row(
      "a name server is silent, and so the proxy has no address", .site, .nameServerSilent, .likely,
      way() + [names(.silent), proxy(.unresolved), beyond(.answer)]),
    Row(
      "a proxy that refuses, and a target that does", .site, .proxyRefuses, .likely,
      way() + [connection(.reset), proxy(.refuses(noWay))]),
    Row("a cable, and so a dead proxy", .site, .noCarrier, .certain, [cable, proxy(.unreachable(noWay))]),
    // Portals.
    Row(
      "a portal, and a page in the site's place", .site, .captivePortal, .likely,
      way() + [connected, openSite(.available, status: 200), .portal(PortalFinding(status: 200))]),
    Row(
      "a portal, and a site that has proven itself", .site, nil, .certain,
      way() + [connected, site(.available, status: 200), .portal(PortalFinding(status: 302))]),
    Row(
      "a portal that sends others to its login, and lets this site through", .site, nil, .certain,
      way() + [connected, openSite(.available, status: 200), .portal(PortalFinding(status: 302))]),
    Row(
      "a portal that leads elsewhere, and so does what answers for the site", .site, .captivePortal, .likely,
      way() + [connected, openSite(.available, status: 302), .portal(PortalFinding(status: 302))]),
    Row(
      "a portal that resets https", .site, .captivePortal, .likely,
      way() + [connection(.reset), .portal(PortalFinding(status: 302))]),
    Row(
      "a portal that lets questions to name servers through", .internet, .captivePortal, .likely,
      way() + [beyond(.answer), .portal(PortalFinding(status: 511))]),
    Row(
      "a proxy that nobody sees finds no way", .site, nil, .certain,
      way() + [connected, openSite(.available, status: 200), .portal(PortalFinding(status: 503))]),
    // How far packets come.
    Row(
      "nobody beyond answers anything", .internet, .uplinkDown, .likely,
      way() + [rootNames(.answer(.success, [])), traced(.silent)]),
    Row(
      "routers beyond answer, and root servers do not", .internet, nil, .unknown,
      way() + [rootNames(.answer(.success, [])), traced(.leadsOn(server))]),
    Row(
      "routers beyond answer, and no name server does", .site, .uplinkDown, .likely,
      way() + [names(.silent), traced(.leadsOn(server))]),
    Row(
      "a tunnel through which nobody answers", .internet, .tunnelSilent, .likely,
      way() + [
        rootNames(.answer(.success, [])), traced(.silent),
        .tunnel(TunnelFinding(.ipv4, interface: "wg0", kind: "tun", peer: .unknown)),
      ]),
    Row(
      "the router is silent, and so is all behind it", .internet, .gatewaySilent, .likely,
      [kernel(.neighbour(.silent(router, isGateway: true, wasProbed: true))), traced(.silent)]),
    Row(
      "the router answers again", .internet, nil, .certain,
      way() + [kernel(.neighbour(.silent(router, isGateway: true, wasProbed: true))), beyond(.answer)]),
    Row(
      "root servers of one family answer", .internet, .familyBroken, .likely,
      way() + way(.ipv6) + [
        .beyond(BeyondFinding([BeyondFinding.Question(root, .answer), BeyondFinding.Question(router6, .silent)]))
      ]),
    Row(
      "a filter of this machine stops ARP", .internet, .localFirewall, .likely,
      [kernel(.neighbour(.stopped(router, isGateway: true, hasLeft: false)))]),
    // Names.
    Row(
      "a server fails for one type, and has the other, which is not in use here", .site, .nameServerRefuses, .likely,
      [
        kernel(.link(.works("eth0")), .ipv6), kernel(.address(.missing), .ipv6),
        partialName(.answer(.serverFailure, [])),
      ]),
    Row(
      "the name has addresses of a family alone that is not in use here", .site, .noAddress, .certain,
      [kernel(.link(.works("eth0")), .ipv6), kernel(.address(.missing), .ipv6), partialName(.answer(.success, []))]),
    Row("hosts(5) has nobody's address", .site, .nameWrong, .certain, way() + [nobodys, connection(.reset)]),
    Row(
      "hosts(5) has nobody's address, which takes connections", .site, .nameWrong, .likely,
      way() + [nobodys, connected]),
    Row(
      "hosts(5) has nobody's address, and the site answers", .site, nil, .certain,
      way() + [nobodys, connected, site(.available, status: 200)]),
    Row(
      "a connection at one time, and none for the exchange", .site, .unreliable, .likely,
      way() + [connected, site(.failed, stage: .connect, error: .timedOut)]),
  ]

  @Test("a verdict follows from findings", arguments: rows)
  func aVerdictFollows(row: Row) {
    let verdict = DiagnosisVerdict(of: "site.example", goal: row.goal, findings: row.findings)
    #expect(verdict.cause == row.cause && verdict.confidence == row.confidence, "\(verdict.summary)")
    #expect(verdict.isFine == (row.cause == nil && row.confidence == .certain))
    #expect((verdict.proof == nil) == (row.cause == nil || row.confidence != .certain))
  }

  /// The law, over all that was made up here in any order and number: certain takes a proof, fine takes a success.
  @Test func nothingIsCertainWithoutAProof() {
    var random = SystemRandomNumberGenerator()
    let all = Self.rows.flatMap(\.findings)
    for _ in 0..<300 {
      let findings = (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in all.randomElement(using: &random) }
      for goal in [DiagnosisGoal.internet, .host, .site] {
        let verdict = DiagnosisVerdict(of: "site.example", goal: goal, findings: findings)
        if verdict.isFine { #expect(Success(of: goal, in: findings) != nil, "\(findings)") }
        if verdict.confidence == .certain, let cause = verdict.cause {
          #expect(verdict.proof?.witness == cause.witness, "\(findings)")
        }
        #expect(!verdict.summary.isEmpty && verdict.steps.allSatisfy { !$0.text.isEmpty })
      }
    }
  }

  // MARK: Words

  /// E12: what a stranger has named is quoted, and never capitalised.
  @Test func quotesForAShell() {
    #expect(Advice.shell("eth0") == "eth0" && Advice.shell("2001:db8::1%eth0") == "2001:db8::1%eth0")
    #expect(Advice.shell("e;reboot") == "'e;reboot'" && Advice.shell("$(id)") == "'$(id)'")
    #expect(Advice.shell("a'b") == "'a'\\''b'" && Advice.shell("") == "''")
  }

  @Test func namesTheCommandOfTheProgramThatManagesTheLink() throws {
    let commands: [(LinkManager?, String)] = [
      (.networkManager, "nmcli"), (.networkd, "networkctl"), (.ifupdown, "ifup"), (nil, "ip link set"),
    ]
    for (manager, command) in commands {
      let link = KernelEvidence.LinkFacts(
        name: "e;reboot", isUp: false, isOperating: false, reason: .linkDown, manager: manager)
      let evidence = KernelEvidence(
        target: Self.target, state: Reachability(status: .unreachable, destination: Self.target, reason: .linkDown),
        links: [link], link: link)
      let findings = KernelFindings.findings(evidence).map(Finding.kernel)
      let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: findings)
      let advice = try #require(verdict.advice)
      #expect(advice.hasPrefix(command) && advice.contains("'e;reboot'"), "\(advice)")
    }
  }

  /// E13: a family that this machine does not use is no fault in the list.
  @Test func aFamilyThatIsNotInUseIsNoFault() throws {
    let verdict = DiagnosisVerdict(
      of: "site.example", goal: .host,
      findings: Self.way() + [Self.connected, Self.kernel(.address(.missing), .ipv6)])
    #expect(verdict.isFine && verdict.others.count == 1)
    #expect(verdict.steps.allSatisfy { $0.outcome != .fault && $0.cause == nil })
    // If it is all there is, it is one.
    let alone = DiagnosisVerdict(
      of: "site.example", goal: .host, findings: [Self.kernel(.address(.missing), .ipv6)])
    #expect(alone.steps.contains { $0.outcome == .fault } && alone.others.isEmpty)
  }

  @Test func doesNotCapitaliseNames() {
    let unknown = DiagnosisVerdict(
      of: "site", goal: .host, findings: Self.way() + [Self.names(.answer(.nameError, []))])
    #expect(unknown.summary.hasPrefix("The name site.example does not exist"), "\(unknown.summary)")
    let loopback = DiagnosisVerdict(of: "127.0.0.1", goal: .host, findings: [Self.kernel(.link(.loopbackDown))])
    #expect(loopback.summary.hasPrefix("The interface lo is down"), "\(loopback.summary)")
  }
}
