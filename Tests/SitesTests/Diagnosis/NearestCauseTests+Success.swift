// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What succeeds beside a fault, and what is only odd.
extension NearestCauseTests {
  private static let lost = Finding.beyond(
    BeyondFinding([BeyondFinding.Question(server, .silent)], trace: .silent))
  private static let accepted = connection(target, .accepted(milliseconds: 1))

  /// If the router has not answered yet, it is why nobody behind it does; not, if another one has.
  @Test func aRouterThatHasNotAnsweredExplainsSilence() {
    let asked = Self.kernel(.neighbour(.asked(Self.router, isGateway: true)))
    let silent = DiagnosisVerdict(of: "internet", goal: .internet, findings: [asked, Self.lost])
    #expect(silent.cause == nil && silent.confidence == .unknown)
    let names = Self.cause([asked, Self.names(.silent)])
    #expect(names == .gatewaySilent)
    let answers = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)), Self.target6)
    #expect(Self.cause([asked, answers, Self.lost], .internet) == .uplinkDown)
    #expect(Self.cause([asked, answers, Self.names(.silent)]) == .nameServerSilent)
  }

  /// ip-route(8), nexthop: each router gets a share, so that one that is not there loses some of the connections. IPv6
  /// passes over it (the kernel's rt6_score_route).
  @Test func oneRouterOfSeveralLosesItsShare() {
    let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 1))
    func verdict(
      hops: Int, _ target: IPAddress, via router: IPAddress, beside more: [Finding] = []
    ) -> DiagnosisVerdict {
      let hop = KernelEvidence.HopFacts(gateway: router, link: "eth0")
      let evidence = KernelEvidence(
        target: target, state: Reachability(.reachable, destination: target),
        route: KernelEvidence.RouteFacts(hops: Array(repeating: hop, count: hops)))
      let silent = KernelFinding(.neighbour(.silent(router, isGateway: true, wasProbed: true)), evidence)
      let answer = BeyondFinding([BeyondFinding.Question(target, .answer)], connection: .answered)
      let goal: DiagnosisGoal = more.isEmpty ? .internet : .host
      return DiagnosisVerdict(of: "target", goal: goal, findings: [.kernel(silent), .beyond(answer)] + more)
    }
    #expect(verdict(hops: 1, Self.target, via: Self.router).cause == nil)
    #expect(verdict(hops: 2, Self.target6, via: router6).cause == nil)
    let half = verdict(hops: 2, Self.target, via: Self.router)
    #expect(half.cause == .gatewaySilent && half.confidence == .likely)
    // What is sent to one address goes to one router: it is nearer than a name server that is not heard.
    let unheard = [1, 2].map { hops in
      verdict(hops: hops, Self.target, via: Self.router, beside: [Self.names(.silent)]).cause
    }
    #expect(unheard == [.nameServerSilent, .gatewaySilent])
    #expect(!half.summary.contains("not reachable") && half.details.contains { $0.hasPrefix("Yet the Internet") })
  }

  /// A proxy beyond the router that takes connections is somebody beyond it.
  @Test func aProxyThatAnswersIsBeyondTheRouter() {
    func cause(_ outcome: ProxyFinding.Outcome) -> DiagnosisCause? {
      let proxy = Finding.proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", outcome))
      return Self.cause([Self.lost, proxy], .internet)
    }
    #expect(cause(.connects) == nil && cause(.notTried) == .uplinkDown)
    // Without it nothing works, no matter what else passes.
    #expect(cause(.unreachable(SiteError(.cannotConnect, "words"))) == .proxyUnreachable)
  }

  /// A router that says that it has no way is there before a name server that lies.
  @Test func aRouterWithoutAWayIsNearerThanALie() {
    let lie = NameFinding(
      name: RootServers.name, servers: [NameFinding.Server(Self.router, ipv4: .answer(.success, [Self.router]))],
      addresses: [Self.router])
    let refused = BeyondFinding.Outcome.refused(NetworkStatement(.networkUnreachable, by: Self.router))
    let beyond = Finding.beyond(BeyondFinding([BeyondFinding.Question(Self.target, refused)]))
    #expect(Self.cause([.name(lie), beyond], .internet) == .routerNoRoute)
  }

  /// What this machine itself says stays certain beside a success, if it is about a proxy or about the other family.
  @Test func whatIsWrongBesideASuccessIsCertainIfThisMachineSaysSo() {
    func verdict(_ more: Finding...) -> DiagnosisVerdict {
      DiagnosisVerdict(of: "site.example", goal: .host, findings: more + [Self.accepted])
    }
    let unreadable = verdict(.proxy(ProxyFinding(variable: "https_proxy", server: "", .unreadable)))
    #expect(unreadable.cause == .proxyUnreachable && unreadable.confidence == .certain)
    let family = verdict(Self.kernel(.address(.duplicate(Self.target6)), Self.target6))
    #expect(family.cause == .familyBroken && family.confidence == .certain)
    // A connection came about in spite of it: it cannot be all there is.
    let contradicted = verdict(Self.kernel(.route(.dead)))
    #expect(contradicted.cause == .routeDead && contradicted.confidence == .likely)
    #expect(contradicted.details.contains { $0.hasPrefix("Yet 203.0.113.10:443") })
  }

  /// Of two faults of one kind the first that was found is told.
  @Test func ofTwoAlikeTheFirstIsTold() {
    func unsteady(_ target: IPAddress) -> Finding {
      Self.connection(target, .reset) {
        $0.attempts[0].tries = [.reset, .accepted(milliseconds: 1)]
      }
    }
    for (first, second) in [(Self.target, Self.target6), (Self.target6, Self.target)] {
      let verdict = DiagnosisVerdict(
        of: "site.example", goal: .host, findings: [unsteady(first), unsteady(second)])
      #expect(verdict.cause == .unreliable && verdict.summary.contains("\(first)"), "\(verdict.summary)")
    }
  }

  /// A family that is not set up is no fault beside one that has a way, also if nothing was tried in it.
  @Test func aFamilyThatIsMissingIsNoCauseIfNothingWasTried() {
    let way = Self.kernel(.route(.leads(gateway: Self.router, interface: "eth0")))
    let answers = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    let missing = Self.kernel(.route(.missing), Self.target6)
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [way, answers, missing])
    #expect(verdict.cause == nil && verdict.confidence == .unknown)
  }

  /// What is odd is told if it is the router that was asked.
  @Test func whatIsOddIsToldOfTheRouterAlone() {
    func summary(_ results: KernelFinding.Result...) -> String {
      DiagnosisVerdict(of: "site.example", goal: .host, findings: results.map { Self.kernel($0) }).summary
    }
    let untried = summary(.link(.works("eth0")))
    #expect(summary(.address(.deprecated(Self.target))) == untried)
    #expect(summary(.neighbour(.answers(Self.router, isGateway: true))) == untried)
    #expect(summary(.neighbour(.asked(Self.router, isGateway: true))) != untried)
  }

  /// The other family's fault is told beside the cause, and the cause is not told twice.
  @Test func theOtherFamilysFaultIsTold() {
    let both = DiagnosisVerdict(
      of: "site.example", goal: .host,
      findings: [Self.kernel(.route(.dead)), Self.kernel(.address(.duplicate(Self.target6)), Self.target6)])
    #expect(!both.details.contains { $0.contains("does not work either") })
    // A name that is unknown is about both, and a third family is none.
    let cut = DiagnosisVerdict(
      of: "site.example", goal: .host,
      findings: [
        Self.kernel(.route(.dead)), Self.names(.answer(.nameError, [])),
        Self.kernel(.link(.works("eth0")), Self.target6),
      ])
    #expect(cut.cause == .nameUnknown, "\(cut)")
    #expect(cut.details.filter { $0.hasPrefix("IPv4 does not work either: ") }.count == 1, "\(cut.details)")
  }

  /// A step that is not to blame gives no advice.
  @Test(arguments: way) func onlyWhatIsToBlameGivesAdvice(step: Step) {
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [step.finding])
    for told in verdict.steps { #expect(told.advice == nil || told.cause != nil, "\(told)") }
    // What to do about dead hops is in the evidence of the kernel, which is not here.
    #expect(step.cause == .routeDead || verdict.steps.contains { $0.advice != nil && $0.cause == step.cause })
    let fine = DiagnosisVerdict(of: "site.example", goal: .host, findings: [Self.accepted])
    #expect(fine.steps.allSatisfy { $0.advice == nil })
  }

  /// curl(1): programs ask their proxy first, and names for the Internet. What had not answered by then is unknown.
  @Test func whatProgramsNeedHasToHaveAnswered() {
    var hurried = NameFinding(name: "the root", servers: [NameFinding.Server(Self.server)], isRootOnly: true)
    hurried.isHurried = true
    let beyond = BeyondFinding([BeyondFinding.Question(Self.target, .answer)], connection: .answered)
    let site = SiteFinding(SiteVerdict(url: "https://site.example/", kind: .available, status: 200))
    let (noName, noProxy) = (Finding.unasked(.name, nil, .timeIsUp), Finding.unasked(.proxy, nil, .timeIsUp))
    func verdict(_ goal: DiagnosisGoal, _ success: Finding, _ open: Finding...) -> DiagnosisVerdict {
      DiagnosisVerdict(of: "site.example", goal: goal, findings: open + [success])
    }
    #expect(verdict(.internet, .beyond(beyond)).isFine && verdict(.site, .site(site)).isFine)
    #expect(verdict(.host, Self.accepted, noName, noProxy).isFine)
    for open in [Finding.name(hurried), noName] {
      let found = verdict(.internet, .beyond(beyond), open)
      #expect(!found.isFine && found.cause == nil && found.summary == "It ended before a name server had answered.")
    }
    for (goal, success) in [(DiagnosisGoal.internet, Finding.beyond(beyond)), (.site, .site(site))] {
      let found = verdict(goal, success, noProxy)
      #expect(!found.isFine && found.cause == nil && found.summary.hasPrefix("It ended before"), "\(found.summary)")
    }
  }

  /// A check of a site looks the name up as programs do; a connection goes to what the name servers say.
  @Test func aSiteThatAnswersHasAName() {
    let accepted = Self.connection(Self.target, .accepted(milliseconds: 1))
    func verdict(_ reply: NameFinding.SystemReply, _ goal: DiagnosisGoal, lookup: Duration) -> DiagnosisVerdict? {
      guard case .name(var name) = Self.names(.answer(.success, [Self.target])) else { return nil }
      name.addresses = [Self.target]
      name.system = reply
      let timings = SiteVerdict.Timings(name: lookup)
      let answer = SiteVerdict(url: "https://site.example/", kind: .available, status: 200, timings: timings)
      return DiagnosisVerdict(
        of: "site.example", goal: goal, findings: [.name(name), accepted, .site(SiteFinding(answer))])
    }
    #expect(verdict(.silent, .site, lookup: .seconds(3))?.isFine == true)
    // The server knows it, so that this machine's own files are why programs do not (resolv.conf(5)).
    #expect(verdict(.failed, .site, lookup: .seconds(3))?.cause == .nameWrong)
    #expect(verdict(.silent, .host, lookup: .seconds(3))?.cause == .nameServerSilent)
    // The same look-up took longer than programs wait at one time, and no time at another.
    let unsteady = verdict(.silent, .site, lookup: .milliseconds(20))
    #expect(unsteady?.cause == .unreliable && unsteady?.confidence == .likely)
    #expect(unsteady?.steps.contains { $0.text.contains("kept programs waiting") } == true)
  }

  /// A cause explains what fails each time: a name that is lost at times is found at others.
  @Test func aNameThatIsLostAtTimesDoesNotExplainARefusal() {
    guard case .name(var name) = Self.names(.answer(.success, [Self.target])) else { return }
    name.addresses = [Self.target]
    name.unsteady = NameFinding.Unsteady(Self.server, failures: 1, tries: 3)
    // Answers that differ from time to time may explain it.
    #expect(Self.cause([.name(name), Self.reset]) == .unreliable)
    name.servers[0].ipv6 = .silent
    #expect(Self.cause([.name(name), Self.reset]) == .refused)
    #expect(Self.cause([.name(name), Self.accepted]) == .unreliable)
    let answer = BeyondFinding([BeyondFinding.Question(Self.target, .answer)], connection: .answered)
    let verdict = DiagnosisVerdict(of: "internet", goal: .internet, findings: [.name(name), .beyond(answer)])
    #expect(verdict.summary.hasPrefix("Names cannot be looked up at times: "), "\(verdict.summary)")
    // Nor does it if the system's resolver took long, though the servers answer at once.
    (name.unsteady, name.system, name.servers[0].ipv6) = (nil, .silent, nil)
    #expect(Self.cause([.name(name), Self.reset]) == .refused)
    #expect(Self.cause([.name(name)]) == .nameServerSilent)
  }

  /// resolv.conf(5): the resolver waits a second at least, and has got what is as quick.
  @Test func whatTheResolverHasGotIsLostInThisMachine() {
    guard case .name(var name) = Self.names(.answer(.success, [Self.target])) else { return }
    (name.addresses, name.system) = ([Self.target], .failed)
    for (milliseconds, cause) in [(20.0, DiagnosisCause.nameWrong), (2_000, .nameServerSilent)] {
      name.servers[0].milliseconds = milliseconds
      #expect(Self.cause([.name(name)]) == cause)
    }
  }
}
