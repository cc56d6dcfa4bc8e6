// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What each finding says by itself, and what all of them say of the network together.
struct RuleEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let server = NearestCauseTests.server

  // MARK: The kernel

  struct Row: Sendable, CustomTestStringConvertible {
    let result: KernelFinding.Result
    let outcome: DiagnosisStep.Outcome
    let cause: DiagnosisCause?
    let isProven: Bool
    var testDescription: String { "\(result)" }

    init(
      _ result: KernelFinding.Result, _ outcome: DiagnosisStep.Outcome, _ cause: DiagnosisCause? = nil,
      isProven: Bool = false
    ) {
      (self.result, self.outcome, self.cause, self.isProven) = (result, outcome, cause, isProven)
    }
  }

  /// As `KernelFinding` words each case: it serves, it is odd, it was not found out, or it stops the packets. What
  /// others say, as of neighbours, the kernel does not prove.
  private static let rows: [Row] = [
    Row(.link(.works("eth0")), .ok), Row(.link(.loopback), .ok),
    Row(.link(.failsAmongOthers("eth0", .noCarrier)), .doubtful), Row(.link(.unclear), .doubtful),
    Row(.link(.fails("eth0", .noCarrier, isNamed: true)), .fault, .noCarrier, isProven: true),
    Row(.link(.fails("eth0", .noCarrier, isNamed: false)), .fault, .noCarrier),
    Row(.link(.fails("eth0", .dormant, isNamed: true)), .fault, .dormant),
    Row(.link(.missing("eth0")), .fault, .noInterface, isProven: true),
    Row(.link(.missing(nil)), .fault, .noInterface, isProven: true),
    Row(.link(.loopbackDown), .fault, .loopbackDown, isProven: true), Row(.link(.denied), .fault, .denied),
    Row(.address(.works(server)), .ok), Row(.address(.notNeeded), .ok), Row(.address(.deprecated(server)), .doubtful),
    Row(.address(.onPort(server, bridge: "br0")), .fault, .noAddress),
    Row(.address(.missing), .fault, .noAddress, isProven: true),
    Row(.address(.linkLocal(server)), .fault, .noAddress, isProven: true),
    Row(.address(.tentative(server)), .fault, .noAddress, isProven: true),
    Row(.address(.duplicate(server)), .fault, .duplicateAddress, isProven: true),
    Row(.rule(.passes(priority: 7)), .ok), Row(.rule(.none), .ok), Row(.rule(.unknown), .skipped),
    Row(.rule(.refuses(priority: 7, isProven: true)), .fault, .ruleRefuses, isProven: true),
    Row(.rule(.refuses(priority: 7, isProven: false)), .fault, .ruleRefuses),
    Row(.route(.leads(gateway: router, interface: "eth0")), .ok),
    Row(.route(.leads(gateway: nil, interface: nil)), .ok),
    Row(.route(.missing), .fault, .noRoute, isProven: true),
    Row(.route(.refuses(.prohibited)), .fault, .routeRefuses, isProven: true),
    Row(.route(.unexplained(.prohibited)), .fault, .routeRefuses),
    Row(.route(.dead), .fault, .routeDead, isProven: true),
    Row(.source(.address(server)), .ok), Row(.source(.unknown), .skipped),
    // Nobody was asked who might have had no way back.
    Row(.source(.foreign(server, interface: "lo")), .doubtful),
    Row(.source(.otherNetwork(server, gateway: router)), .doubtful),
    Row(.source(.missing), .fault, .noAddress, isProven: true),
    Row(.source(.refused(.noRoute)), .fault, .noRoute),
    Row(.neighbour(.answers(router, isGateway: true)), .ok), Row(.neighbour(.answered(router, isGateway: true)), .ok),
    Row(.neighbour(.silent(router, isGateway: true, wasProbed: true)), .fault, .gatewaySilent),
    Row(.neighbour(.silent(router, isGateway: false, wasProbed: true)), .fault, .hostAbsent),
    Row(.neighbour(.stopped(router, isGateway: true, hasLeft: true)), .fault, .localFirewall),
    Row(.neighbour(.asked(router, isGateway: true)), .doubtful),
    Row(.neighbour(.unknown(router, isGateway: true)), .skipped), Row(.neighbour(.notAsked), .skipped),
    Row(.neighbour(.none), .skipped),
  ]

  @Test("what the kernel says of the way is judged by itself", arguments: rows)
  func theKernelsWord(row: Row) throws {
    let readings = Reading.readings([.kernel(KernelFinding(row.result, target: Self.target))])
    let reading = try #require(readings.first)
    #expect(readings.count == 1 && reading.outcome == row.outcome && reading.charge?.cause == row.cause)
    #expect((reading.charge?.proof?.witness == .kernel) == row.isProven)
    #expect(reading.family == .ipv4 && reading.isFault == (row.outcome == .fault) && reading.meaning == .plain)
  }

  /// wireguard.com/protocol: keys of more than 180 s are not used any more (REJECT_AFTER_TIME).
  @Test(arguments: [(0, .ok), (180, .ok), (181, .doubtful), (359, .doubtful)] as [(Int64, DiagnosisStep.Outcome)])
  func keysOfATunnelGrowOld(age: Int64, outcome: DiagnosisStep.Outcome) throws {
    let peer = TunnelFinding.Peer.known(endpoint: Self.server, port: 51_820, handshakeAge: age, beneath: nil)
    let finding = Finding.tunnel(TunnelFinding(.ipv6, interface: "wg0", kind: "wireguard", peer: peer))
    let reading = try #require(Reading.readings([finding]).first)
    #expect(reading.outcome == outcome && reading.charge == nil && reading.family == .ipv6)
    let step = try #require(finding.steps.first)
    #expect(step.text.contains(" last answered \(age) s ago") == (outcome == .doubtful), "\(step.text)")
  }

  @Test func aTunnelIsSilentIfNothingElseIsKnownToBeWrong() {
    func reading(_ peer: TunnelFinding.Peer) -> Reading? {
      Reading.readings([.tunnel(TunnelFinding(.ipv4, interface: "wg0", kind: "wireguard", peer: peer))]).first
    }
    func beneath(_ result: KernelFinding.Result) -> TunnelFinding.Peer {
      .known(
        endpoint: Self.server, port: 1, handshakeAge: 1, beneath: KernelFinding(result, target: Self.server))
    }
    #expect(reading(beneath(.link(.unclear)))?.charge == Charge(.tunnelSilent, nil))
    #expect(reading(beneath(.link(.unclear)))?.outcome == .fault)
    #expect(reading(beneath(.route(.dead)))?.charge?.proof?.witness == .kernel)
    #expect(reading(.unknown)?.outcome == .skipped)
    let unbegun = reading(.known(endpoint: nil, port: 0, handshakeAge: 1, beneath: nil))
    #expect(unbegun?.outcome == .doubtful && unbegun?.charge?.cause == .tunnelSilent)
  }

  // MARK: What all of them say

  private static func context(_ findings: Finding...) -> Reading.Context { Reading.Context(findings) }

  private static func connection(
    _ outcome: ConnectionFinding.Outcome, gateway: IPAddress? = router, sight: ConnectionFinding.Sight? = nil
  ) -> Finding {
    var finding = ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(target, port: 443, outcome, sight: sight)])
    finding.gateway = gateway
    return .connection(finding)
  }

  private static func names(_ replies: NameFinding.Reply..., isBeyond: Bool = false) -> Finding {
    .name(
      NameFinding(name: "a", servers: replies.map { NameFinding.Server(server, ipv4: $0, isBeyond: isBeyond) }))
  }

  private static func beyond(
    _ outcome: BeyondFinding.Outcome, _ trace: BeyondFinding.Trace? = nil, _ address: IPAddress = target
  ) -> Finding {
    .beyond(BeyondFinding([BeyondFinding.Question(address, outcome)], trace: trace))
  }

  private static func site(_ kind: SiteVerdict.Kind, _ status: Int? = nil, _ error: SiteError.Code? = nil) -> Finding {
    .site(
      SiteFinding(
        SiteVerdict(
          url: "http://site.example/", kind: kind, status: status, stage: .response,
          error: error.map { SiteError($0, "words") })))
  }

  private static func proxy(_ outcome: ProxyFinding.Outcome) -> Finding {
    .proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", outcome))
  }

  private static func neighbour(_ neighbour: KernelFinding.Neighbour, _ state: NeighbourState? = nil) -> Finding {
    let evidence = KernelEvidence(
      target: target, state: Reachability(.reachable),
      neighbour: state.map { KernelEvidence.NeighbourFacts(address: router, link: "eth0", state: $0) })
    return .kernel(KernelFinding(.neighbour(neighbour), evidence))
  }

  private static let own = NetworkStatement(.prohibited, by: server, isOwn: true)
  private static let prohibited = NetworkStatement(.prohibited, by: router)

  /// An answer that came by the router, in any way, and nothing else.
  @Test(
    arguments: [
      (beyond(.answer), true), (beyond(.silent), false), (beyond(.forged), false),
      (connection(.accepted(milliseconds: 1)), true), (connection(.accepted(milliseconds: 1), gateway: nil), false),
      (connection(.reset), true), (connection(.reset, gateway: nil), false), (connection(.silent), false),
      (connection(.silent, gateway: nil, sight: .init(hasLeft: true, hasReturned: true)), true),
      (connection(.silent, sight: .init(hasLeft: true, hasReturned: false)), false),
      (names(.answer(.success, []), isBeyond: true), true), (names(.answer(.success, [])), false),
      (names(.silent, isBeyond: true), false), (names(.dropped), true), (names(.forbidden), false),
      (site(.available, 200), true), (site(.failed, nil, .timedOut), false), (proxy(.delivers), true),
      (proxy(.connects), true), (proxy(.unresolved), false), (proxy(.notTried), false),
      (.portal(PortalFinding(status: 302)), false), (.unasked(.beyond, nil, .timeIsUp), false),
    ] as [(Finding, Bool)])
  func whoAnswersFromBeyond(finding: Finding, isAnswer: Bool) {
    #expect(Self.context(finding).hasAnswerFromBeyond == isAnswer)
  }

  @Test(
    arguments: [
      (connection(.silent), true), (connection(.silent, gateway: nil), false),
      (connection(.accepted(milliseconds: 1)), false), (names(.silent), true),
      (names(.answer(.serverFailure, [])), true), (names(.refused(prohibited)), true), (names(.refused(own)), false),
      (names(.answer(.success, [])), false), (names(.forbidden), false), (names(.truncated), false),
      (names(.answer(.success, []), .silent), true), (beyond(.silent), false),
    ] as [(Finding, Bool)])
  func whatWasAskedBeyondInVain(finding: Finding, isSilence: Bool) {
    #expect(Self.context(finding).hasSilenceBeyond == isSilence)
  }

  @Test func namesAreLostIfNoServerFindsAnythingOut() {
    #expect(Self.context(Self.names(.silent, .answer(.serverFailure, []))).areNamesLost)
    #expect(!Self.context(Self.names(.silent, .answer(.nameError, []))).areNamesLost)
    #expect(!Self.context(Self.names(.answer(.success, []))).areNamesLost)
    #expect(!Self.context(Self.names()).areNamesLost && !Self.context().areNamesLost)
  }

  /// Those that have been asked, and one that answers is enough.
  @Test func aRouterIsSilentIfNoneAnswers() {
    let silent = KernelFinding.Neighbour.silent(Self.router, isGateway: true, wasProbed: true)
    let rows: [([Finding], Bool)] = [
      ([], false), ([Self.neighbour(silent)], true), ([Self.neighbour(.answers(Self.router, isGateway: true))], false),
      ([Self.neighbour(.answered(Self.router, isGateway: true))], false),
      ([Self.neighbour(silent), Self.neighbour(.answers(Self.router, isGateway: true))], false),
      ([Self.neighbour(.stopped(Self.router, isGateway: true, hasLeft: true))], true),
      ([Self.neighbour(.asked(Self.router, isGateway: true))], true),
      ([Self.neighbour(.unknown(Self.router, isGateway: true))], false), ([Self.neighbour(.notAsked)], false),
      ([Self.neighbour(silent, .reachable)], true),
    ]
    for (findings, isSilent) in rows { #expect(Reading.Context(findings).isRouterSilent == isSilent, "\(findings)") }
    // It may have no way back to such an address, and is there by ARP.
    for source: KernelFinding.Source in [
      .foreign(Self.server, interface: "lo"), .otherNetwork(Self.server, gateway: Self.router),
    ] {
      let foreign = NearestCauseTests.kernel(.source(source))
      #expect(!Self.context(foreign, Self.neighbour(silent, .reachable)).isRouterSilent)
      #expect(Self.context(foreign, Self.neighbour(silent, .failed)).isRouterSilent)
      #expect(Self.context(foreign, Self.neighbour(silent)).isRouterSilent)
      #expect(Self.context(foreign).foreignSources == [.ipv4])
    }
    #expect(Self.context(NearestCauseTests.kernel(.source(.address(Self.server)))).foreignSources == [])
    // IPv6's question for a neighbour comes from the packet's source (RFC 4861, 7.2.2), so that silence tells less.
    let six = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 1))
    let question = Finding.kernel(KernelFinding(.neighbour(silent), target: six))
    let source = Finding.kernel(KernelFinding(.source(.otherNetwork(six, gateway: six)), target: six))
    #expect(Self.context(question).isRouterSilent && !Self.context(source, question).isRouterSilent)
    let readings = Reading.readings([source, question])
    #expect(readings.map(\.outcome) == [.fault, .doubtful] && readings[0].charge == Charge(.noAddress, nil))
  }

  /// RFC 9110, 15.3: 2xx. What the network answers in the site's place is no page of it.
  @Test(
    arguments: [
      (site(.available, 200), true), (site(.available, 299), true), (site(.unexpectedResponse, 300), false),
      (site(.available, 404), false), (site(.captivePortal, 302), false), (site(.failed), false),
    ] as [(Finding, Bool)])
  func aPageIsTheSitesOwn(finding: Finding, isPage: Bool) {
    #expect(Self.context(finding).hasPage == isPage)
  }

  @Test func familiesAreToldApart() {
    let six = Self.beyond(.answer, nil, Self.target6)
    #expect(Self.context(six).answeredBeyond == [.ipv6] && Self.context(Self.beyond(.silent)).answeredBeyond == [])
    let accepted = Self.connection(.accepted(milliseconds: 1))
    #expect(Self.context(accepted).answeredBeyond == [.ipv4] && Self.context(accepted).connected == [.ipv4])
    let near = Self.connection(.accepted(milliseconds: 1), gateway: nil)
    #expect(Self.context(near).answeredBeyond == [] && Self.context(near).connected == [.ipv4])
    let names = Self.names(.answer(.success, []), isBeyond: true)
    #expect(Self.context(names).answeredBeyond == [.ipv4] && Self.context(names).connected == [])
    // Who took a connection was heard in its family; a router, or a site, may be of any.
    #expect(Self.context(near).isHeard(.ipv4) && !Self.context(near).isHeard(.ipv6))
    let router = Self.neighbour(.answers(Self.router, isGateway: true))
    for heard in [router, six, Self.site(.available, 200)] { #expect(Self.context(heard).isHeard(.ipv4), "\(heard)") }
    #expect(!Self.context(Self.connection(.silent)).isHeard(.ipv4) && !Self.context().isHeard(.ipv4))
  }

  /// Silence of a family is known if somebody was asked, nobody on the way answered, and no filter is known to be why.
  @Test func aFamilyIsSilentIfNobodyAnswers() {
    let lost = Self.beyond(.silent, .silent)
    #expect(Self.context(lost).isSilent(.ipv4) && !Self.context(lost).isSilent(.ipv6))
    #expect(!Self.context(Self.beyond(.silent)).isSilent(.ipv4) && !Self.context().isSilent(.ipv4))
    #expect(!Self.context(Self.beyond(.silent, .endsBehind(Self.server))).isSilent(.ipv4))
    #expect(!Self.context(Self.beyond(.refused(Self.prohibited), .silent)).isSilent(.ipv4))
    let noWay = NetworkStatement(.networkUnreachable, by: Self.router)
    #expect(Self.context(Self.beyond(.refused(noWay), .silent)).isSilent(.ipv4))
    #expect(!Self.context(lost, Self.proxy(.connects)).isSilent(.ipv4))
  }

  @Test func routersAndTunnelsAreThoseOfTheWay() {
    let route = NearestCauseTests.kernel(.route(.leads(gateway: Self.router, interface: "eth0")))
    let tunnel = Finding.tunnel(TunnelFinding(.ipv4, interface: "wg0", kind: "wireguard", peer: .unknown))
    #expect(Self.context(route, tunnel).gateways == [Self.router] && Self.context(route, tunnel).tunnel == "wg0")
    let straight = NearestCauseTests.kernel(.route(.leads(gateway: nil, interface: "eth0")))
    #expect(Self.context(straight).gateways == [] && Self.context(straight).tunnel == nil)
  }

  /// Without a server in resolv.conf(5) nobody can answer. If programs were not asked, that need not harm them.
  @Test func aMachineWithoutNameServersHasAFaultIfProgramsGetNothing() {
    var finding = NameFinding(name: "site.example")
    let unasked = NameRules.read(finding)
    #expect(unasked.outcome == .skipped && unasked.charge == nil && unasked.meaning == .name(.noServer))
    finding.system = .failed
    let failed = NameRules.read(finding)
    #expect(failed.outcome == .fault && failed.charge?.cause == .nameServerSilent)
  }

  /// RFC 2308, 2.2: that there are no records of a type says nothing of another type, which failed or got no answer.
  @Test(arguments: [NameFinding.Reply.answer(.serverFailure, []), .silent])
  func aNameIsUnknownOnlyIfNoTypeFailed(reply: NameFinding.Reply) {
    let empty = NameFinding.Reply.answer(.success, [])
    let server = NameFinding.Server(Self.server, ipv4: reply, ipv6: empty, control: .answer(.nameError, []))
    let reading = NameRules.read(NameFinding(name: "site.example", servers: [server], system: .failed))
    #expect(reading.charge?.cause == .nameServerRefuses, "\(reading.meaning)")
  }
}
