// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Which questions a diagnosis asks, in which order, and how often. Nothing here waits: somebody beyond is asked at
/// once if the target is the Internet, and not at all once what was asked for has succeeded.
@Suite(.timeLimit(.minutes(5)))
struct QuestionOrderTests {
  private static let target = NearestCauseTests.target
  private static let router = NearestCauseTests.router

  /// Evidence that notes what it is asked.
  private struct NotedEvidence: EvidenceSource {
    let questions = Box<[DiagnosisQuestion]>([])
    let deadlines = Box<Set<Int64>>([])
    let answer: @Sendable (DiagnosisQuestion) -> [Finding]

    func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
      questions.update { $0.append(question) }
      deadlines.update { $0.insert(inquiry.deadline) }
      return answer(question)
    }

    /// How often each question was asked.
    var counts: [DiagnosisQuestion: Int] { questions.value.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
  }

  private static func evidence(_ target: IPAddress = target) -> KernelEvidence {
    KernelEvidence(
      target: target, state: Reachability(.reachable, gateway: router, destination: target),
      neighbour: KernelEvidence.NeighbourFacts(address: router, link: "eth0", state: nil))
  }

  private static func kernel(_ result: KernelFinding.Result) -> Finding { .kernel(KernelFinding(result, evidence())) }

  private static let way = kernel(.link(.works("eth0")))
  private static let accepted = NearestCauseTests.connection(target, .accepted(milliseconds: 1))
  private static let name = Finding.name(NameFinding(name: "a.example", source: .literal, addresses: [target]))

  private static func beyond(_ outcome: BeyondFinding.Outcome) -> Finding {
    .beyond(BeyondFinding([BeyondFinding.Question(target, outcome)], trace: outcome == .answer ? nil : .silent))
  }

  private static func script(_ findings: Finding...) -> NotedEvidence {
    NotedEvidence { question in findings.filter { $0.question == question } }
  }

  private static func configuration(_ timeout: Duration = .seconds(1_000)) -> DiagnosisConfiguration {
    DiagnosisConfiguration(timeout: timeout)
  }

  private static let once: [DiagnosisQuestion: Int] = [
    .way: 1, .names: 1, .proxy: 1, .neighbours: 1, .tunnels: 1, .portal: 1, .beyond: 1,
  ]

  // MARK: The Internet

  @Test func theInternetIsAskedForOnce() async throws {
    let source = Self.script(Self.way, Self.beyond(.answer))
    let before = TimeSource.system.now()
    var events: [Diagnosis.Event] = []
    for await event in Diagnosis(configuration: Self.configuration(), environment: source) { events.append(event) }
    let after = TimeSource.system.now()
    #expect(source.counts == Self.once && source.questions.value.first == .way, "\(source.questions.value)")
    let began = source.questions.value.map { Diagnosis.Event.began($0.kind) }
    #expect(Set(events.filter(began.contains)) == Set(began) && events.contains(.finding(Self.way)))
    guard case .verdict(let verdict)? = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(verdict.isFine && verdict.elapsed >= .zero && verdict.elapsed <= .nanoseconds(after - before))
    // Explain.md: the rest of the time, a twentieth, is for what is not waited for any more.
    let deadline = try #require(source.deadlines.value.first)
    let rest: Int64 = 950_000_000_000
    #expect(source.deadlines.value.count == 1 && (before + rest...after + rest).contains(deadline))
  }

  /// What was known of a router is looked at again if nobody was heard by it, and the way if nothing has succeeded.
  @Test(arguments: [(BeyondFinding.Outcome.silent, 2), (.forged, 1)])
  func aRouterIsLookedAtAgainIfNobodyIsHeard(outcome: BeyondFinding.Outcome, count: Int) async throws {
    let known = Self.kernel(.neighbour(.answered(Self.router, isGateway: true)))
    let source = Self.script(Self.way, known, Self.beyond(outcome))
    let verdict = try await Diagnosis(configuration: Self.configuration(), environment: source).verdict()
    let counts = Self.once.merging([.way: 2, .neighbours: count]) { $1 }
    #expect(source.counts == counts && !verdict.isFine, "\(source.questions.value)")
    // The second look at the way is the same, and is not told twice.
    #expect(verdict.findings.filter { $0 == Self.way }.count == 1)
  }

  /// Who has no way at all asks nobody but its own servers and its proxy.
  @Test func withoutAWayNobodyIsAsked() async throws {
    let source = Self.script(Self.kernel(.link(.missing("eth9"))))
    let verdict = try await Diagnosis(configuration: Self.configuration(), environment: source).verdict()
    #expect(source.counts == [.way: 1, .names: 1, .proxy: 1] && verdict.cause == .noInterface)
  }

  @Test func nobodyBeyondIsAskedIfThatIsNotWanted() async throws {
    let source = Self.script(Self.way, Self.beyond(.answer))
    var configuration = Self.configuration()
    configuration.asksBeyondRouter = false
    let verdict = try await Diagnosis(configuration: configuration, environment: source).verdict()
    #expect(source.counts == [.way: 2, .names: 1, .proxy: 1, .neighbours: 1, .tunnels: 1])
    #expect(verdict.findings.filter { $0 == .unasked(.beyond, nil, .notWanted) }.count == 1)
    #expect(verdict.confidence == .unknown)
  }

  /// With no time at all the kernel alone is asked, and all else is said not to have been.
  @Test func withoutTimeOnlyTheKernelIsAsked() async throws {
    let source = Self.script(Self.way, Self.beyond(.answer))
    let verdict = try await Diagnosis(configuration: Self.configuration(.zero), environment: source).verdict()
    #expect(Set(source.questions.value) == [.way])
    let kinds: [DiagnosisStep.Kind] = [.name, .proxy, .neighbour, .tunnel, .portal, .beyond]
    #expect(Set(verdict.findings.dropFirst()) == Set(kinds.map { .unasked($0, nil, .timeIsUp) }))
    #expect(verdict.findings.count == 1 + kinds.count && verdict.findings.first == Self.way)
  }

  // MARK: Hosts and sites

  /// A machine that is busy for more than a second has somebody beyond asked, too: then it is tried again.
  private func played(
    _ findings: [Finding], _ counts: [DiagnosisQuestion: Int], _ diagnosis: (NotedEvidence) -> Diagnosis
  ) async throws -> (questions: [DiagnosisQuestion], verdict: DiagnosisVerdict) {
    var questions: [DiagnosisQuestion] = []
    for _ in 0..<5 {
      let source = NotedEvidence { question in
        // A proxy that leads to the site brings its answer.
        let isLed = question == .proxy && findings.contains(Self.delivers)
        return findings.filter { isLed ? $0.question != .way : $0.question == question }
      }
      let verdict = try await diagnosis(source).verdict()
      questions = source.questions.value
      if source.counts == counts { return (questions, verdict) }
    }
    Issue.record("\(questions)")
    throw CancellationError()
  }

  private static let delivers = Finding.proxy(
    ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", .delivers))
  private static let unasked = Finding.unasked(.proxy, nil, .notWanted)

  /// A host that takes a connection has nobody else asked. Its name is looked up first, as the way is that to it.
  @Test func aHostThatAnswersHasNobodyElseAsked() async throws {
    let counts: [DiagnosisQuestion: Int] = [.names: 1, .way: 1, .neighbours: 1, .tunnels: 1, .connections: 1]
    let target = ReachabilityTarget.address(Self.target, port: 443)
    let (questions, verdict) = try await played([Self.name, Self.way, Self.accepted], counts) {
      Diagnosis(of: target, configuration: Self.configuration(), environment: $0)
    }
    #expect(questions.prefix(2) == [.names, .way] && verdict.isFine)
  }

  /// Over http somebody else may answer in the site's place; over https the site proves who it is. A proxy that had
  /// nothing to say without an address is asked again with one.
  @Test(
    arguments: [("https://a.example/", true), ("http://a.example/", true), ("https://a.example/", false)]
      as [(SiteURL, Bool)])
  func aSiteThatAnswersHasNobodyBeyondAsked(url: SiteURL, hasProxy: Bool) async throws {
    let answer = Finding.site(SiteFinding(SiteVerdict(url: url, kind: .available, status: 200)))
    var counts: [DiagnosisQuestion: Int] = [
      .proxy: hasProxy ? 1 : 2, .names: 1, .way: 1, .neighbours: 1, .tunnels: 1, .connections: 1, .exchange: 1,
    ]
    if !url.isSecure { counts[.portal] = 1 }
    let findings = [Self.name, Self.way, Self.accepted, answer] + (hasProxy ? [Self.unasked] : [])
    let (questions, verdict) = try await played(findings, counts) {
      Diagnosis(of: url, configuration: Self.configuration(), environment: $0)
    }
    #expect(questions.first == .proxy && questions.last == .exchange && verdict.isFine, "\(questions)")
  }

  /// RFC 4443, 3.1: a router has no way to an address of one family. Whether the family works, others beyond tell.
  @Test func whoseFamilyARouterRefusesHasOthersAsked() async throws {
    let target6 = NearestCauseTests.target6
    let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 1))
    let refused = ConnectionFinding.Outcome.refused(NetworkStatement(.networkUnreachable, by: router6))
    let beyond = BeyondFinding([BeyondFinding.Question(target6, .answer)])
    let name = NameFinding(name: "a.example", source: .literal, addresses: [Self.target, target6])
    let counts: [DiagnosisQuestion: Int] = [
      .names: 1, .way: 1, .neighbours: 1, .tunnels: 1, .connections: 1, .portal: 1, .beyond: 1,
    ]
    let findings = [
      .name(name), Self.way, Self.accepted, NearestCauseTests.connection(target6, refused), .beyond(beyond),
    ]
    let (_, verdict) = try await played(findings, counts) {
      Diagnosis(of: .address(Self.target, port: 443), configuration: Self.configuration(), environment: $0)
    }
    #expect(verdict.cause == .routerNoRoute && verdict.confidence == .likely, "\(verdict.summary)")
  }

  /// A proxy looks names up itself: the way is looked at, and nobody else is asked.
  @Test func aProxyTakesThePlaceOfTheWay() async throws {
    let url: SiteURL = "https://a.example/"
    let answer = Finding.site(SiteFinding(SiteVerdict(url: url, kind: .available, status: 200)))
    let (questions, verdict) = try await played([Self.way, Self.delivers, answer], [.proxy: 1, .way: 1]) {
      Diagnosis(of: url, configuration: Self.configuration(), environment: $0)
    }
    #expect(questions == [.proxy, .way] && verdict.isFine)
  }
}
