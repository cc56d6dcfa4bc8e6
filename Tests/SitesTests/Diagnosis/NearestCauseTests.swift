// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Of several faults the one that a packet meets first is the cause, in whatever order they were found.
struct NearestCauseTests {
  static let target = IPAddress(ipv4: 0xCB00_710A)
  static let target6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xA))
  static let router = IPAddress(ipv4: 0xC000_0201)
  static let server = IPAddress(ipv4: 0xC000_0235)

  static func kernel(_ result: KernelFinding.Result, _ target: IPAddress = target) -> Finding {
    .kernel(KernelFinding(result, target: target))
  }

  static func names(_ reply: NameFinding.Reply) -> Finding {
    .name(NameFinding(name: "site.example", servers: [NameFinding.Server(server, ipv4: reply, ipv6: reply)]))
  }

  static let noWay = names(
    .noWay(KernelFinding(.route(.refuses(.prohibited)), target: server)))

  static let reset = Finding.connection(
    ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(target, port: 443, .reset)]))

  struct Step: Sendable, CustomTestStringConvertible {
    let cause: DiagnosisCause
    let finding: Finding
    var testDescription: String { "\(cause)" }

    init(_ cause: DiagnosisCause, _ finding: Finding) { (self.cause, self.finding) = (cause, finding) }
  }

  /// On the way of a packet, each with a fault of its own. A tunnel's outer packets come after its neighbour.
  static let way: [Step] = [
    Step(.noCarrier, kernel(.link(.fails("eth0", .noCarrier, isNamed: true)))),
    Step(.duplicateAddress, kernel(.address(.duplicate(router)))),
    Step(.ruleRefuses, kernel(.rule(.refuses(priority: 7, isProven: true)))),
    Step(.routeDead, kernel(.route(.dead))),
    Step(.noRoute, kernel(.source(.refused(.noRoute)))),
    Step(.localFirewall, kernel(.neighbour(.stopped(router, isGateway: true, hasLeft: false)))),
    Step(.tunnelSilent, .tunnel(TunnelFinding(.ipv4, interface: "wg0", kind: "wireguard", peer: .none))),
    Step(.captivePortal, .portal(PortalFinding(status: 302))),
    Step(.nameUnknown, names(.answer(.nameError, []))),
    Step(.refused, reset),
  ]

  static func cause(_ findings: [Finding], _ goal: DiagnosisGoal = .host) -> DiagnosisCause? {
    DiagnosisVerdict(of: "site.example", goal: goal, findings: findings).cause
  }

  /// A router is looked at twice, and the second time may be left out.
  @Test func whatEndedTooEarlyIsWhatHasNotAnswered() {
    let verdict = DiagnosisVerdict(
      of: "internet", goal: .internet,
      findings: [
        Self.kernel(.neighbour(.answers(Self.router, isGateway: true))), .unasked(.neighbour, nil, .timeIsUp),
        .unasked(.beyond, nil, .timeIsUp),
      ])
    #expect(verdict.cause == nil && verdict.confidence == .unknown)
    #expect(verdict.summary == "It ended before anybody beyond the router had answered.")
  }

  /// What the others waited for is told, in whatever order they were left out.
  @Test func whatOthersWaitedForIsTold() {
    let kinds: [DiagnosisStep.Kind] = [.portal, .neighbour, .proxy, .beyond, .connect, .name]
    let gaps = kinds.map { Finding.unasked($0, nil, .timeIsUp) }
    func summary(_ gaps: [Finding]) -> String {
      DiagnosisVerdict(of: "site.example", goal: .host, findings: gaps).summary
    }
    #expect(summary(gaps) == "It ended before a name server had answered.")
    #expect(summary(gaps.dropLast()) == "It ended before the target had taken a connection.")
    #expect(summary(gaps.dropLast(2)) == "It ended before anybody beyond the router had answered.")
    #expect(summary([gaps[1]]) == "It ended before the router or the neighbour had answered.")
  }

  @Test("each alone is the cause", arguments: way)
  func eachAlone(step: Step) { #expect(Self.cause([step.finding]) == step.cause) }

  @Test("of two, the nearer is the cause", arguments: way.indices)
  func ofTwo(nearer: Int) {
    // A portal answers in others' place: it is certain, whatever else is told.
    for further in Self.way[(nearer + 1)...] where further.cause != .captivePortal {
      for findings in [[Self.way[nearer].finding, further.finding], [further.finding, Self.way[nearer].finding]] {
        #expect(Self.cause(findings) == Self.way[nearer].cause, "beside \(further.cause)")
      }
    }
  }

  /// That the kernel has no way to the name server is found as late as the name, and is about a route.
  @Test func aWayToTheNameServerIsNearerThanWhatLiesBehindARoute() {
    #expect(Self.cause([Self.noWay]) == .routeRefuses)
    let positions = Self.way.map { Self.cause([$0.finding, Self.noWay]) }
    let route = Self.way.firstIndex { $0.cause == .routeDead } ?? 0
    for (position, step) in Self.way.enumerated() where step.cause != .captivePortal && position != route {
      #expect(positions[position] == (position < route ? step.cause : .routeRefuses), "beside \(step.cause)")
    }
  }

  /// If both families have a fault, the one that is set up counts, and the one that came further.
  @Test(arguments: [
    (kernel(.link(.missing("eth0"))), kernel(.route(.dead), target6), DiagnosisCause.routeDead),
    (kernel(.route(.dead)), kernel(.address(.missing), target6), .routeDead),
    (kernel(.address(.missing)), kernel(.address(.duplicate(target6)), target6), .duplicateAddress),
    (kernel(.address(.duplicate(router))), kernel(.address(.missing), target6), .duplicateAddress),
    (kernel(.rule(.refuses(priority: 7, isProven: true))), kernel(.route(.missing), target6), .ruleRefuses),
    // A bridge of containers has the target's network, and there is only a link-local IPv6 address.
    (
      kernel(.link(.fails("br0", .noCarrier, isNamed: true))), kernel(.address(.linkLocal(target6)), target6),
      .noCarrier
    ),
  ])
  func theFamilyThatComesFurtherCounts(_ first: Finding, _ second: Finding, _ cause: DiagnosisCause) {
    #expect(Self.cause([first, second]) == cause && Self.cause([second, first]) == cause)
  }

  /// A fault of neither family is the cause if it is nearer than that of the family that came furthest.
  @Test func whatConcernsBothFamiliesIsComparedWithTheFurthest() {
    let far = [Self.reset, Self.kernel(.address(.missing), Self.target6)]
    #expect(Self.cause(far + [Self.names(.answer(.nameError, []))]) == .nameUnknown)
    #expect(Self.cause([Self.kernel(.route(.dead)), Self.names(.answer(.nameError, []))]) == .routeDead)
  }

  /// Nothing was asked for, nothing failed: what is only doubtful is what can be told.
  @Test func whatIsDoubtfulIsLikelyAtBest() {
    let old = Finding.tunnel(
      TunnelFinding(
        .ipv4, interface: "wg0", kind: "wireguard",
        peer: .known(endpoint: nil, port: 0, handshakeAge: nil, beneath: nil)))
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [old])
    #expect(verdict.cause == .tunnelSilent && verdict.confidence == .likely)
  }

  /// A neighbour that was looked at again: only the later look counts.
  @Test func theLastLookAtANeighbourCounts() {
    let silent = Self.kernel(.neighbour(.silent(Self.router, isGateway: true, wasProbed: true)))
    let answers = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    #expect(Self.cause([answers, silent]) == .gatewaySilent)
    #expect(Self.cause([silent, answers]) == nil)
    // Of another target it is another one.
    let other = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)), Self.target6)
    #expect(DiagnosisVerdict(of: "site.example", goal: .host, findings: [silent, other]).findings.count == 2)
  }

  static func connection(
    _ target: IPAddress, _ outcome: ConnectionFinding.Outcome, _ change: (inout ConnectionFinding) -> Void = { _ in }
  ) -> Finding {
    var finding = ConnectionFinding(target.family, [ConnectionFinding.Attempt(target, port: 443, outcome)])
    change(&finding)
    return .connection(finding)
  }

  /// A service of this machine listens at one of the addresses of localhost: programs try the other one at once.
  @Test func aServiceOfThisMachineMayListenInOneFamily() {
    let refused = Self.connection(Self.target6, .reset) { $0.isOwn = true }
    let accepted = Self.connection(Self.target, .accepted(milliseconds: 1)) { $0.isOwn = true }
    #expect(Self.cause([refused, accepted]) == nil)
    #expect(DiagnosisVerdict(of: "localhost", goal: .host, findings: [refused, accepted]).confidence == .certain)
    #expect(Self.cause([refused]) == .refused)
    // Elsewhere that is a fault of one address.
    let far = [Self.connection(Self.target6, .reset), Self.connection(Self.target, .accepted(milliseconds: 1))]
    #expect(Self.cause(far) == .addressDead)
  }

  /// On a link without a router the Internet would have to be there itself: what is missing is the router.
  @Test func whoShouldLeadToTheInternetIsARouter() {
    let silent = Self.kernel(.neighbour(.silent(Self.target, isGateway: false, wasProbed: true)))
    #expect(Self.cause([silent], .internet) == .gatewaySilent)
    #expect(Self.cause([silent], .host) == .hostAbsent)
  }

  static let dormant = kernel(.link(.fails("eth0", .dormant, isNamed: true)))

  /// The kernel leaves it to others what a dormant link carries (RFC 2863, 3.1.12).
  @Test func aDormantLinkIsTheCauseUnlessSomebodyIsHeardOverIt() {
    let silent = Self.connection(Self.target, .silent) { $0.gateway = Self.router }
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [Self.dormant, silent])
    #expect(verdict.cause == .dormant && verdict.confidence == .likely)
    let reset = Self.connection(Self.target, .reset) { $0.gateway = Self.router }
    #expect(Self.cause([Self.dormant, reset]) == .refused)
    let router = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    #expect(Self.cause([Self.dormant, router, silent]) == .silent)
    let accepted = Self.connection(Self.target, .accepted(milliseconds: 1)) { $0.gateway = Self.router }
    #expect(DiagnosisVerdict(of: "site.example", goal: .host, findings: [Self.dormant, accepted]).isFine)
  }

  /// What the kernel does not tell need not be in the way.
  @Test func aKernelThatTellsNothingIsNoProof() {
    let denied = Self.kernel(.link(.denied))
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [denied])
    #expect(verdict.cause == .denied && verdict.confidence == .likely)
    let accepted = Self.connection(Self.target, .accepted(milliseconds: 1))
    #expect(DiagnosisVerdict(of: "site.example", goal: .host, findings: [denied, accepted]).isFine)
  }

  /// An unplugged interface is no fault of a family of which nothing was ever set up.
  @Test func aFamilyThatIsNotSetUpHasNoBrokenLink() {
    func idle(_ addresses: [KernelEvidence.AddressFacts]) -> Finding {
      let evidence = KernelEvidence(
        target: Self.target6, state: Reachability(.unreachable, reason: .noCarrier), addresses: addresses)
      return .kernel(KernelFinding(.link(.fails("eth1", .noCarrier, isNamed: true)), evidence))
    }
    let accepted = Self.connection(Self.target, .accepted(milliseconds: 1))
    #expect(DiagnosisVerdict(of: "site.example", goal: .host, findings: [idle([]), accepted]).isFine)
    let own = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0xB))
    #expect(Self.cause([idle([KernelEvidence.AddressFacts(address: own)]), accepted]) == .familyBroken)
  }

  @Test(arguments: [
    (target, target6, "IPv6 does not work, and IPv4 does: "), (target6, target, "IPv4 does not work, and"),
  ])
  func saysWhichFamilyWorks(working: IPAddress, broken: IPAddress, words: String) {
    let findings = [Self.connection(broken, .silent), Self.connection(working, .accepted(milliseconds: 1))]
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: findings)
    #expect(verdict.summary.hasPrefix(words), "\(verdict.summary)")
  }

  /// Programs go by their proxy: that the Internet answers this machine itself is not what was asked for.
  @Test func aProxyThatTakesConnectionsIsNoSuccess() {
    let root = Finding.beyond(BeyondFinding([BeyondFinding.Question(Self.target, .answer)]))
    let proxy = Finding.proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", .connects))
    let verdict = DiagnosisVerdict(of: "internet", goal: .internet, findings: [root, proxy])
    #expect(verdict.cause == nil && verdict.confidence == .unknown)
    #expect(verdict.summary.contains("192.0.2.7:3128"))
    #expect(DiagnosisVerdict(of: "internet", goal: .internet, findings: [root]).confidence == .certain)
    // It takes the place of the way, so that no route is missed; not, if nobody reaches it.
    let way = Self.kernel(.route(.missing))
    let beside = DiagnosisVerdict(of: "internet", goal: .internet, findings: [way, proxy])
    #expect(beside.cause == nil && beside.summary == verdict.summary)
    #expect(Self.cause([Self.noWay, proxy], .internet) == nil && Self.cause([way, proxy]) == .noRoute)
    #expect(Self.cause([way], .internet) == .noRoute)
  }

  /// What connections to the port of sites meet near is a fault, however well a root server answers. Anybody may be the
  /// reason (RFC 9293, 3.10.7.3; RFC 1812, 5.2.7.1).
  @Test func whatStopsSitesIsAFaultBesideAnAnswer() {
    func verdict(_ stop: ConnectionFinding.Outcome?) -> DiagnosisVerdict {
      let question = BeyondFinding.Question(Self.target, .answer)
      var beyond = BeyondFinding([question], connection: .answered)
      beyond.stopsSites = stop
      return DiagnosisVerdict(of: "internet", goal: .internet, findings: [.beyond(beyond)])
    }
    let prohibited = NetworkStatement(.prohibited, by: Self.router)
    let rows: [(ConnectionFinding.Outcome, DiagnosisCause, String)] = [
      (.silent, .silent, "get no answer"), (.reset, .prohibited, "somebody on the way resets"),
      (.refused(prohibited), .prohibited, "192.0.2.1 says of"),
      (.failed(1), .localFirewall, "do not leave this machine"),
    ]
    for (stop, cause, words) in rows {
      let verdict = verdict(stop)
      #expect(verdict.cause == cause && verdict.confidence == .likely, "\(stop)")
      #expect(verdict.summary.hasPrefix("Websites cannot be reached: ") && verdict.summary.contains(words))
    }
    #expect(verdict(nil).cause == nil && verdict(nil).confidence == .certain)
  }

  /// ip-rule(8): rules may lead connections another way than questions. If its router does not answer, that is why.
  @Test func aRouterOfConnectionsAloneIsTheCause() {
    let router = Self.kernel(.neighbour(.silent(Self.router, isGateway: true, wasProbed: true)))
    func cause(_ connection: BeyondFinding.Connection, _ stop: ConnectionFinding.Outcome?) -> DiagnosisCause? {
      var beyond = BeyondFinding([.init(Self.target, .answer)], connection: connection)
      beyond.stopsSites = stop
      return Self.cause([router, .beyond(beyond)], .internet)
    }
    #expect(cause(.answered, .silent) == .gatewaySilent && cause(.nothing, nil) == .gatewaySilent)
    // Its entry is an old one.
    #expect(cause(.answered, nil) == nil && cause(.answered, .reset) == .prohibited)
  }

  /// What the router says of questions to name servers is about all, if a connection fails, too.
  @Test func aFilterOfQuestionsAloneIsNoFault() {
    let prohibited = BeyondFinding.Outcome.refused(NetworkStatement(.prohibited, by: Self.router))
    func cause(_ trace: BeyondFinding.Trace?) -> DiagnosisCause? {
      let question = BeyondFinding.Question(Self.target, prohibited)
      return Self.cause([.beyond(BeyondFinding([question], trace: trace))], .internet)
    }
    #expect(cause(.refused(NetworkStatement(.prohibited, by: Self.router))) == .prohibited)
    #expect(cause(.silent) == .prohibited)
    #expect(cause(.leadsOn(Self.server)) == nil && cause(nil) == nil)
  }

  /// There is no exchange without a connection before: whoever has no address then had one. Who waits does not
  /// contradict.
  @Test func aNameThatLeadsNowhereForTheExchangeIsUnreliable() throws {
    let accepted = Self.connection(Self.target, .accepted(milliseconds: 1))
    func cause(_ kind: SiteVerdict.Kind, _ stage: SiteVerdict.Stage?, _ code: SiteError.Code) -> DiagnosisCause? {
      let verdict = SiteVerdict(url: "https://site.example/", kind: kind, stage: stage, error: SiteError(code, "w"))
      return Self.cause([accepted, .site(SiteFinding(verdict))], .site)
    }
    #expect(cause(.failed, .name, .nameNotResolved) == .unreliable)
    #expect(cause(.offline, nil, .cannotConnect) == .unreliable)
    #expect(cause(.failed, .name, .timedOut) == nil)
  }

  /// Addresses of a family that is not set up here are no fault if the site answers, though one of the other is dead.
  @Test func aFamilyThatIsMissingIsHarmlessBesideASuccess() {
    let own = Self.kernel(.route(.leads(gateway: nil, interface: "lo")))
    let answered = SiteFinding(SiteVerdict(url: "https://site.example/", kind: .available, status: 200))
    var name = NameFinding(name: "site.example", source: .system, addresses: [Self.target])
    name.unsteady = NameFinding.Unsteady(nil, failures: 1, tries: 3)
    let verdict = DiagnosisVerdict(
      of: "site.example", goal: .site,
      findings: [
        own, Self.kernel(.address(.linkLocal(Self.target6)), Self.target6), Self.reset, .site(answered), .name(name),
      ])
    #expect(verdict.cause == .unreliable && verdict.summary.contains("left out addresses of site.example 1 of 3 times"))
  }

  /// Linux drops what is not for itself on lo (ip-route(8)), unless netfilter has changed where it goes.
  @Test func aRouteToTheLoopbackInterfaceLeadsNowhere() {
    func verdict(_ type: RouteType, _ outcome: ConnectionFinding.Outcome) -> DiagnosisVerdict {
      let route = KernelEvidence.RouteFacts(
        type: type, destination: Self.target, prefixLength: 32, hops: [KernelEvidence.HopFacts(link: "lo")])
      var evidence = KernelEvidence(
        target: Self.target, state: Reachability(status: .reachable, destination: Self.target))
      evidence.route = route
      let finding = KernelFinding(.route(.leads(gateway: nil, interface: "lo")), evidence)
      return DiagnosisVerdict(
        of: "site.example", goal: .host, findings: [.kernel(finding), Self.connection(Self.target, outcome)])
    }
    let silent = verdict(.unicast, .silent)
    #expect(silent.cause == .routeRefuses && silent.confidence == .likely)
    #expect(silent.summary.hasPrefix("The route 203.0.113.10 dev lo (table main) leads to this machine's loopback"))
    #expect(verdict(.unicast, .accepted(milliseconds: 1)).cause == nil)
    #expect(verdict(.local, .silent).cause == .silent)
  }

  /// A source address of another interface may be why nobody answers, unless somebody does or the router is not there.
  @Test func aSourceOfAnotherInterfaceMayHaveNoWayBack() {
    let source = Self.kernel(.source(.foreign(Self.server, interface: "lo")))
    func verdict(_ more: Finding...) -> DiagnosisVerdict {
      DiagnosisVerdict(
        of: "203.0.113.10", goal: .host, findings: [source, Self.connection(Self.target, .silent)] + more)
    }
    let lost = Finding.beyond(BeyondFinding([BeyondFinding.Question(Self.target, .silent)], trace: .silent))
    let answered = Finding.beyond(BeyondFinding([BeyondFinding.Question(Self.target, .answer)]))
    #expect(verdict(lost).cause == .noAddress && verdict(lost).confidence == .likely)
    #expect(verdict(lost).summary.contains("may have no way back"))
    #expect(verdict(lost).advice?.contains("ip route get") ?? true)
    #expect(verdict(answered).cause == .silent)
    let silent = Self.kernel(.neighbour(.silent(Self.router, isGateway: true, wasProbed: true)))
    #expect(verdict(lost, silent).cause == .gatewaySilent)
    let elsewhere = Self.kernel(.source(.otherNetwork(Self.server, gateway: Self.router)))
    let other = DiagnosisVerdict(
      of: "203.0.113.10", goal: .host, findings: [elsewhere, Self.connection(Self.target, .silent), lost])
    #expect(other.cause == .noAddress && other.summary.contains("not in the network of the router \(Self.router)"))
  }

  /// A name server that lies until somebody logs in explains why nothing passes.
  @Test func aServerThatLiesIsNearerThanSilence() {
    let lie = NameFinding.Reply.answer(.success, [Self.router])
    let name = NameFinding(
      name: RootServers.name, servers: [NameFinding.Server(Self.router, ipv4: lie)], addresses: [Self.router])
    let lost = Finding.beyond(BeyondFinding([BeyondFinding.Question(Self.target, .silent)], trace: .silent))
    #expect(Self.cause([.name(name), lost], .internet) == .nameHijacked)
    #expect(Self.cause([lost], .internet) == .uplinkDown)
  }

  /// A mark or a rule leads packets to another router than the one that answers.
  @Test func aRouterThatAnswersIsNotCalledSilent() {
    let answers = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    let own = ConnectionFinding.Outcome.refused(NetworkStatement(.hostUnreachable, by: Self.server, isOwn: true))
    let failed = Self.connection(Self.target, own) { ($0.gateway, $0.isNeighbourFailed) = (Self.router, true) }
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [answers, failed])
    #expect(verdict.cause == .gatewaySilent && verdict.summary.contains("another router than 192.0.2.1"))
    let alone = DiagnosisVerdict(of: "site.example", goal: .host, findings: [failed])
    #expect(alone.summary == "The router 192.0.2.1 does not answer.")
  }

  @Test func namesTheInternetAndNotTheAddressThatStandsForIt() {
    let finding = Self.kernel(.route(.missing))
    let internet = DiagnosisVerdict(of: "internet", goal: .internet, findings: [finding])
    #expect(internet.summary == "There is no IPv4 route to the Internet.")
    let host = DiagnosisVerdict(of: "203.0.113.10", goal: .host, findings: [finding])
    #expect(host.summary == "There is no route to 203.0.113.10.")
  }
}
