// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What an inquiry knows of what was found, and which finding answers which question.
struct InquiryEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let router6 = IPAddress(IPAddressBits(ipv6High: 0xFE80_0000_0000_0000, low: 1))

  private static func inquiry(
    _ findings: [Finding], _ target: ReachabilityTarget = .address(target), family: IPAddress.Family? = nil
  ) -> DiagnosisInquiry {
    var configuration = DiagnosisConfiguration()
    configuration.family = family
    return DiagnosisInquiry(
      subject: DiagnosisSubject(target), configuration: configuration, findings: findings, deadline: 0)
  }

  private static func kernel(_ result: KernelFinding.Result, _ target: IPAddress = target) -> Finding {
    NearestCauseTests.kernel(result, target)
  }

  // MARK: Addresses

  /// Programs try what getaddrinfo(3) gives, in its order, and else what servers and files have.
  @Test func addressesAreThoseThatProgramsTry() throws {
    func addresses(
      _ known: [IPAddress], _ system: NameFinding.SystemReply?, family: IPAddress.Family? = nil,
      _ target: ReachabilityTarget = .address(Self.target)
    ) -> [IPAddress] {
      Self.inquiry([.name(NameFinding(name: "a", addresses: known, system: system))], target, family: family).addresses
    }
    let (four, six) = (Self.target, Self.target6)
    #expect(addresses([four], nil) == [four] && addresses([four], .failed) == [four])
    #expect(addresses([four], .addresses([six, four])) == [six, four] && addresses([four], .addresses([])) == [four])
    #expect(addresses([four, six], nil, family: .ipv6) == [six] && addresses([four], nil, family: .ipv6) == [])
    // The Internet has none of its own, what is an address needs no look-up, and of a name nothing is known before it.
    #expect(addresses([four], nil, .internet) == [])
    #expect(Self.inquiry([]).name == nil && Self.inquiry([]).addresses == [four])
    #expect(Self.inquiry([], try .host("site.example")).addresses == [])
  }

  /// ip(7), RFC 4291, 2.5.2: Linux takes the unspecified address for this machine itself.
  @Test func theUnspecifiedAddressIsThisMachine() {
    let nobodys = [IPAddress(ipv4: 0), IPAddress(IPAddressBits(ipv6High: 0, low: 0))]
    let found = Self.inquiry([.name(NameFinding(name: "a", addresses: nobodys))]).addresses
    #expect(found.map(\.description) == ["127.0.0.1", "::1"])
  }

  /// ipv6(7), sin6_scope_id: nothing is sent to a link-local address without its interface. A server can name any.
  @Test func aLinkLocalAddressNeedsItsInterface() {
    let site = IPAddress(ipv4: 0xCB00_710A)
    let found = Self.inquiry([.name(NameFinding(name: "a", addresses: [Self.router6, site]))]).addresses
    #expect(Self.router6.isLinkLocal && found == [site])
  }

  @Test func anAddressIsNoName() throws {
    #expect(Self.inquiry([]).subject.isAddress && !Self.inquiry([], .internet).subject.isAddress)
    #expect(!Self.inquiry([], try .host("a.example")).subject.isAddress)
    #expect(Self.inquiry([]).families == [.ipv4, .ipv6] && Self.inquiry([], family: .ipv6).families == [.ipv6])
  }

  // MARK: Ways

  private static func evidence(_ target: IPAddress) -> KernelEvidence {
    KernelEvidence(target: target, state: Reachability(.reachable, destination: target))
  }

  /// A way is open as long as no fault of its family stops packets; the last that the kernel said of it counts.
  @Test func aWayIsOpenUnlessAFaultStopsIt() {
    let link = Finding.kernel(KernelFinding(.link(.works("eth0")), Self.evidence(Self.target)))
    let link6 = Finding.kernel(KernelFinding(.link(.works("eth0")), Self.evidence(Self.target6)))
    let dead = Self.kernel(.route(.dead))
    let dormant = Finding.kernel(
      KernelFinding(.link(.fails("eth0", .dormant, isNamed: true)), Self.evidence(Self.target)))
    func state(_ findings: [Finding]) -> ([IPAddress], Set<IPAddress.Family>, isCutOff: Bool) {
      let inquiry = Self.inquiry(findings)
      return (inquiry.openWays.map(\.target), inquiry.openFamilies, inquiry.isCutOff)
    }
    #expect(state([]) == ([], [], false))
    #expect(state([link]) == ([Self.target], [.ipv4], false))
    #expect(state([link6, link]) == ([Self.target, Self.target6], [.ipv4, .ipv6], false))
    #expect(state([link, dead]) == ([], [], true))
    #expect(state([link, dead, link6]) == ([Self.target6], [.ipv6], false))
    // What is sent by a dormant link leaves (RFC 2863).
    #expect(state([dormant]) == ([Self.target], [.ipv4], false))
    // Made by hand, it has no evidence of a way, and is a way all the same.
    #expect(state([Self.kernel(.link(.works("eth0")))]) == ([], [.ipv4], false))
    #expect(state([NearestCauseTests.reset]) == ([], [], false))
    #expect(Self.inquiry([link, link6], family: .ipv6).openWays.map(\.target) == [Self.target6])
  }

  /// Of several routers that share the packets, one that is there leaves the way open.
  @Test func oneRouterOfSeveralIsEnough() {
    let link = Finding.kernel(KernelFinding(.link(.works("eth0")), Self.evidence(Self.target)))
    func router(_ neighbour: KernelFinding.Neighbour) -> Finding {
      .kernel(KernelFinding(.neighbour(neighbour), Self.evidence(Self.target)))
    }
    let silent = router(.silent(Self.router, isGateway: true, wasProbed: true))
    let there = router(.answers(Self.router, isGateway: true))
    for (routers, isOpen) in [([silent], false), ([there, silent], true), ([silent, there], true)] {
      let inquiry = Self.inquiry([link] + routers)
      #expect(inquiry.isCutOff == !isOpen && inquiry.openWays.count == (isOpen ? 1 : 0))
    }
    let other = Self.neighbour(Self.target6, Self.router6)
    #expect(Self.inquiry([link, silent, other]).openFamilies == [.ipv6])
  }

  // MARK: Who was heard

  private static func neighbour(_ target: IPAddress, _ router: IPAddress) -> Finding {
    kernel(.neighbour(.answers(router, isGateway: true)), target)
  }

  /// Anything that is heard by a router shows that it is there; silence, and what this machine says itself, do not.
  @Test func aRouterIsSureOnceSomebodyIsHeardByIt() throws {
    let router = Self.neighbour(Self.target, Self.router)
    func beyond(_ outcome: BeyondFinding.Outcome, _ server: IPAddress, _ trace: BeyondFinding.Trace? = nil) -> Finding {
      .beyond(BeyondFinding([BeyondFinding.Question(server, outcome)], trace: trace))
    }
    func site(_ kind: SiteVerdict.Kind, _ code: SiteError.Code? = nil) -> Finding {
      let error = code.map { SiteError($0, "words") }
      return .site(SiteFinding(SiteVerdict(url: "http://a.example/", kind: kind, stage: .response, error: error)))
    }
    func proxy(_ outcome: ProxyFinding.Outcome) -> Finding {
      .proxy(ProxyFinding(variable: "http_proxy", server: "192.0.2.7:3128", outcome))
    }
    func server(_ reply: NameFinding.Reply, _ address: IPAddress) -> Finding {
      .name(NameFinding(name: "a", servers: [NameFinding.Server(address, ipv4: reply)]))
    }
    let word = NetworkStatement(.prohibited, by: Self.router)
    let rows: [(Finding, isHeard: Bool)] = [
      (beyond(.answer, Self.target), true), (beyond(.answer, Self.target6), false),
      (beyond(.forged, Self.target), true), (beyond(.refused(word), Self.target), true),
      (beyond(.failed(1), Self.target), false), (beyond(.silent, Self.target), false),
      (beyond(.silent, Self.target, .silent), false), (beyond(.silent, Self.target6, .endsBehind(Self.router)), true),
      (beyond(.silent, Self.target6, .leadsOn(Self.router)), true), (server(.answer(.success, []), Self.router), true),
      (server(.answer(.success, []), Self.router6), false), (server(.failed(1), Self.router), false),
      (site(.available), true), (site(.failed, .timedOut), false), (site(.failed, .connectionLost), true),
      (proxy(.delivers), true), (proxy(.connects), true), (proxy(.unresolved), false), (proxy(.notTried), false),
      (.portal(PortalFinding(status: 503)), true), (.portal(PortalFinding(status: nil)), false),
      (.unasked(.beyond, nil, .timeIsUp), false), (.history([]), false),
      (.largePackets(LargePacketsFinding(.ipv4, .answered)), false),
    ]
    for (finding, isHeard) in rows {
      #expect(Self.inquiry([router, finding]).isUnsure(.ipv4) == !isHeard, "\(finding)")
    }
    // Of another family nothing is known.
    let router6 = Self.neighbour(Self.target6, Self.router6)
    #expect(!Self.inquiry([router]).isUnsure(.ipv6) && Self.inquiry([router6]).isUnsure(.ipv6))
    #expect(!Self.inquiry([router6, server(.answer(.success, []), Self.router6)]).isUnsure(.ipv6))
  }

  @Test func aProxyThatDeliversTakesThePlaceOfTheWay() {
    func has(_ outcome: ProxyFinding.Outcome) -> Bool {
      Self.inquiry([.proxy(ProxyFinding(variable: "a", server: "b", outcome))]).hasProxyDelivered
    }
    #expect(has(.delivers) && !has(.connects) && !has(.unresolved))
    #expect(!Self.inquiry([NearestCauseTests.reset]).hasProxyDelivered && !Self.inquiry([]).hasProxyDelivered)
  }

  @Test func aConnectionIsKnownOfItsFinding() {
    let accepted = NearestCauseTests.connection(Self.target, .accepted(milliseconds: 1))
    #expect(Self.inquiry([accepted]).isConnected && !Self.inquiry([NearestCauseTests.reset]).isConnected)
    #expect(!Self.inquiry([Self.kernel(.link(.works("eth0")))]).isConnected && !Self.inquiry([]).isConnected)
    // A kernel that tells nothing hinders nobody.
    let denied = Self.kernel(.link(.denied))
    #expect(Self.inquiry([denied]).mayExchange && Self.inquiry([denied, denied]).mayExchange)
    #expect(!Self.inquiry([denied, Self.kernel(.link(.works("eth0")))]).mayExchange)
    #expect(!Self.inquiry([Self.kernel(.link(.works("eth0")))]).mayExchange)
    let unsteady = NearestCauseTests.connection(Self.target, .silent) {
      $0.attempts[0].tries = [.silent, .accepted(milliseconds: 1)]
    }
    #expect(Self.inquiry([unsteady]).isConnected && Self.inquiry([unsteady]).mayExchange)
  }

  // MARK: Questions

  /// Each finding answers the question that a script has it for.
  @Test func eachFindingHasItsQuestion() {
    let verdict = SiteVerdict(url: "http://a.example/", kind: .offline)
    let tunnel = TunnelFinding(.ipv4, interface: "wg0", kind: "wireguard", peer: .unknown)
    let rows: [(Finding, DiagnosisQuestion?)] = [
      (.history([]), nil), (Self.kernel(.link(.works("eth0"))), .way), (Self.kernel(.address(.missing)), .way),
      (Self.kernel(.rule(.none)), .way), (Self.kernel(.route(.dead)), .way), (Self.kernel(.source(.missing)), .way),
      (Self.kernel(.neighbour(.none)), .neighbours), (.tunnel(tunnel), .tunnels),
      (.portal(PortalFinding(status: nil)), .portal), (.beyond(BeyondFinding([])), .beyond),
      (.name(NameFinding(name: "a")), .names), (NearestCauseTests.reset, .connections),
      (.largePackets(LargePacketsFinding(.ipv4, nil)), .connections), (.site(SiteFinding(verdict)), .exchange),
      (.proxy(ProxyFinding(variable: "a", server: "b", .connects)), .proxy),
      (.unasked(.beyond, nil, .timeIsUp), .beyond), (.unasked(.http, nil, .timeIsUp), .exchange),
      (.unasked(.link, nil, .timeIsUp), .way), (.unasked(.connect, .ipv4, .leadsToMany), .connections),
    ]
    for (finding, question) in rows { #expect(finding.question == question, "\(finding)") }
  }

  /// What hangs says that the time was up; the rest of a script is told as it stands.
  @Test(arguments: DiagnosisQuestion.allCases)
  func aScriptAnswersItsQuestions(question: DiagnosisQuestion) async {
    let findings = [
      Self.kernel(.link(.works("eth0"))), Self.kernel(.neighbour(.none)), .name(NameFinding(name: "a")),
      NearestCauseTests.reset, .portal(PortalFinding(status: nil)), .beyond(BeyondFinding([])),
    ]
    // The deadline has passed, so that nothing is waited for.
    let inquiry = Self.inquiry([])
    let told = await ScriptedEvidence(findings).findings(for: question, in: inquiry)
    #expect(told == findings.filter { $0.question == question })
    let hanging = await ScriptedEvidence(findings, hanging: [question]).findings(for: question, in: inquiry)
    #expect(hanging == [.unasked(question.kind, nil, .timeIsUp)])
    let others = ScriptedEvidence(findings, hanging: Set(DiagnosisQuestion.allCases).subtracting([question]))
    #expect(await others.findings(for: question, in: inquiry) == told)
  }
}
