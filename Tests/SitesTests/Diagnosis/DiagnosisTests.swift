// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneDiagnosis
import SiteLab
import TestSupport
import Testing

@testable import Dialtone

/// A diagnosis as a program has it: events in their order, a verdict, and an end whenever it is wanted.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct DiagnosisTests {
  private func diagnosis(_ listener: DeafListener, timeout: Duration) throws -> Diagnosis {
    let target = ReachabilityTarget.address(try #require(IPAddress("127.0.0.1")), port: UInt16(listener.port))
    return Diagnosis(of: target, configuration: DiagnosisConfiguration(timeout: timeout))
  }

  @Test func findingsComeBeforeTheVerdict() async throws {
    let listener = try DeafListener()
    var findings: [Finding] = []
    var verdict: DiagnosisVerdict?
    for await event in try diagnosis(listener, timeout: .milliseconds(200)) {
      #expect(verdict == nil)
      switch event {
      case .began: break
      case .finding(let finding): findings.append(finding)
      case .verdict(let found): verdict = found
      }
    }
    let found = try #require(verdict)
    #expect(Set(found.findings) == Set(findings) && found.steps.contains { $0.kind == .link })
    // Nobody has answered, and nobody had the time to.
    #expect(found.cause == nil && found.confidence == .unknown, "\(found)")
    #expect(found.elapsed < .patience)
  }

  @Test(.timeLimit(.minutes(3)))
  func endsWithItsTask() async throws {
    let listener = try DeafListener()
    let diagnosis = try diagnosis(listener, timeout: .seconds(600))
    let hasBegun = Box(false)
    let task = Task {
      var events: [Diagnosis.Event] = []
      for await event in diagnosis {
        events.append(event)
        if event == .began(.connect) { hasBegun.value = true }
      }
      return events
    }
    try await eventually("the connection begins") { hasBegun.value }
    task.cancel()
    let events = await task.value
    #expect(!events.contains { if case .verdict = $0 { true } else { false } }, "\(events)")
    await #expect(throws: CancellationError.self) {
      let verdict = Task { try await diagnosis.verdict() }
      verdict.cancel()
      _ = try await verdict.value
    }
    try await eventually("its threads end") { ProcessCensus.threads(named: "dialtone-why") == 0 }
  }

  @Test func asksOnlyTheKernelWithoutTime() async throws {
    let listener = try DeafListener()
    let verdict = try await diagnosis(listener, timeout: .zero).verdict()
    #expect(verdict.steps.contains { $0.kind == .route && $0.outcome == .ok }, "\(verdict.steps)")
    #expect(verdict.steps.filter { $0.kind == .connect }.allSatisfy { $0.outcome == .skipped })
    #expect(verdict.cause == nil && verdict.confidence == .unknown)
  }

  // MARK: Played in a test

  private func cable() throws -> Finding {
    .kernel(
      KernelFinding(
        .link(.fails("eth0", .noCarrier, isNamed: true)), target: try #require(IPAddress("198.41.0.4"))))
  }

  @Test func aScriptPlaysADiagnosis() async throws {
    let verdict = try await Diagnosis(environment: ScriptedEvidence([cable()])).verdict()
    #expect(verdict.cause == .noCarrier && verdict.confidence == .certain && verdict.proof?.witness == .kernel)
    #expect(verdict.advice?.contains("eth0") == true)
  }

  /// The kernel begins to ask for a router anew with each packet: for most of the time it is not sure. A family that is
  /// not set up is no cause then, as in a network of IPv4 alone whose router is off.
  @Test("a router that has not answered yet is the cause, and not the family that is not set up")
  func aRouterThatHasNotAnsweredYet() async throws {
    let (router, ipv4) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("198.41.0.4")))
    let ipv6 = try #require(IPAddress("2001:503:ba3e::2:30"))
    var findings: [Finding] = [
      .kernel(KernelFinding(.link(.works("eth0")), target: ipv4)),
      .kernel(KernelFinding(.route(.leads(gateway: router, interface: "eth0")), target: ipv4)),
      .kernel(KernelFinding(.address(.missing), target: ipv6)),
      .kernel(KernelFinding(.neighbour(.asked(router, isGateway: true)), target: ipv4)),
    ]
    let early = try await Diagnosis(environment: ScriptedEvidence(findings)).verdict()
    #expect(early.cause == nil && early.confidence == .unknown, "\(early)")
    let server = NameFinding.Server(router, ipv4: .silent, ipv6: .silent)
    findings.append(.name(NameFinding(name: ".", servers: [server], isRootOnly: true)))
    let late = try await Diagnosis(environment: ScriptedEvidence(findings)).verdict()
    #expect(late.cause == .gatewaySilent && late.confidence == .likely, "\(late)")
  }

  /// What is known of a router that answers is no reason why a target is not.
  @Test func aRouterThatAnswersIsNoDoubt() throws {
    let (router, target) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("203.0.113.10")))
    func summary(_ neighbours: KernelFinding.Neighbour...) -> String {
      let way = [KernelFinding.Result.link(.works("eth0"))] + neighbours.map { .neighbour($0) }
      let findings = way.map { Finding.kernel(KernelFinding($0, target: target)) }
      return DiagnosisVerdict(of: "203.0.113.10", goal: .host, findings: findings).summary
    }
    #expect(summary(.answers(router, isGateway: true)) == summary())
    #expect(summary(.asked(router, isGateway: true)).contains("192.0.2.1"))
  }

  /// Explain.md: what changed in the last minute.
  @Test func onlyTheLastMinuteOfTheHistoryCounts() async throws {
    let now = UTCTimestamp.now.durationSince1970
    func state(_ age: Duration) -> Reachability {
      Reachability(.unreachable, reason: .noCarrier, timestamp: UTCTimestamp(durationSince1970: now - age))
    }
    let recent = state(.seconds(5))
    var configuration = DiagnosisConfiguration()
    configuration.history = [state(.seconds(3_600)), state(.milliseconds(61_100)), recent]
    let verdict = try await Diagnosis(configuration: configuration, environment: ScriptedEvidence([])).verdict()
    #expect(verdict.findings.contains(.history([recent])), "\(verdict.findings)")
  }

  /// The cable is pulled while questions are under way: none of them comes back, and what stands in between looks
  /// guilty. The kernel knows better by then.
  @Test func aLinkThatGoesMeanwhile() async throws {
    let ipv4 = try #require(IPAddress("198.41.0.4"))
    let verdict = try await Diagnosis(environment: PulledCable(target: ipv4)).verdict()
    #expect(verdict.cause == .noCarrier && verdict.confidence == .certain, "\(verdict)")
    #expect(verdict.steps.filter { $0.kind == .link }.count == 1 && !verdict.steps.contains { $0.kind == .route })
  }

  /// RFC 1122, 3.3.1.1: what is on the link itself is reached without a router. What it does not answer, nobody beyond
  /// the router knows better.
  @Test(
    arguments: [
      (nil, true, false), (nil, false, true), (nil, nil, true), ("192.0.2.1", true, true), ("192.0.2.1", false, true),
    ] as [(String?, Bool?, Bool)])
  func asksBeyondARouterAlone(gateway: String?, isResolved: Bool?, isAsked: Bool) async throws {
    let target = try #require(IPAddress("192.0.2.7"))
    let state = Reachability(
      .reachable, gateway: try gateway.map { try #require(IPAddress($0)) }, destination: target)
    let neighbour = isResolved.map {
      KernelEvidence.NeighbourFacts(
        address: state.gateway ?? target, link: "eth0", state: nil, isGateway: gateway != nil, isResolved: $0)
    }
    let evidence = KernelEvidence(target: target, state: state, neighbour: neighbour)
    let source = QuestionedEvidence([.kernel(KernelFinding(.link(.works("eth0")), evidence))])
    _ = try await Diagnosis(of: .address(target, port: 443), environment: source).verdict()
    #expect(source.questions.value.contains(.beyond) == isAsked)
    #expect(source.questions.value.contains(.portal) == isAsked)
  }

  /// A router answers, and its name server does not: that is no contradiction, but has to be said.
  @Test("a name server on the router is told from the router", arguments: ["192.0.2.1", "192.0.2.53"])
  func toldFromTheRouter(server: String) async throws {
    let router = try #require(IPAddress("192.0.2.1"))
    let silent = NameFinding.Server(try #require(IPAddress(server)), ipv4: .silent, ipv6: .silent)
    let verdict = try await Diagnosis(
      of: .host("site.example"),
      environment: ScriptedEvidence([
        .name(NameFinding(name: "site.example", servers: [silent], system: .failed)),
        .kernel(KernelFinding(.neighbour(.answers(router, isGateway: true)), target: router)),
      ])
    ).verdict()
    #expect(verdict.cause == .nameServerSilent && verdict.summary.contains(server), "\(verdict)")
    let isRouter = server == "192.0.2.1"
    #expect(verdict.summary.contains("your router answers") == isRouter, "\(verdict.summary)")
    #expect(verdict.advice?.hasPrefix("Restart the router") == isRouter)
  }

  /// A question that hangs costs no more than the time there is, and is said to be unanswered.
  @Test func endsInTimeIfAQuestionHangs() async throws {
    for question in DiagnosisQuestion.allCases where question != .way {
      let evidence = ScriptedEvidence([], hanging: [question])
      let configuration = DiagnosisConfiguration(timeout: .milliseconds(100))
      let verdict = try await Diagnosis(
        of: .address(try #require(IPAddress("192.0.2.7")), port: 443), configuration: configuration,
        environment: evidence
      ).verdict()
      #expect(verdict.cause == nil && verdict.confidence == .unknown, "\(question)")
    }
  }

  /// It ends with its task, at once, no matter what it waits for: 50 ms, as a median of tries on a busy machine.
  @Test(arguments: DiagnosisQuestion.allCases)
  func endsWithinFiftyMilliseconds(question: DiagnosisQuestion) async throws {
    var times: [Duration] = []
    for _ in 0..<9 {
      let hasBegun = Box(false)
      let evidence = ScriptedEvidence([], hanging: [question])
      let diagnosis = Diagnosis(
        configuration: DiagnosisConfiguration(timeout: .seconds(600)), environment: evidence)
      let task = Task {
        for await event in diagnosis { if case .began = event { hasBegun.value = true } }
      }
      try await eventually("it begins") { hasBegun.value }
      let clock = ContinuousClock()
      let start = clock.now
      task.cancel()
      await task.value
      times.append(start.duration(to: clock.now))
    }
    #expect(times.sorted()[times.count / 2] < .milliseconds(50), "\(times)")
  }
}
#endif

/// Evidence that notes what it is asked.
private struct QuestionedEvidence: EvidenceSource {
  let questions = Box<Set<DiagnosisQuestion>>([])
  private let evidence: ScriptedEvidence

  init(_ findings: [Finding]) { evidence = ScriptedEvidence(findings) }

  func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
    questions.update { $0.insert(question) }
    return await evidence.findings(for: question, in: inquiry)
  }
}

/// Evidence of a link that loses its carrier after the kernel was asked first.
private struct PulledCable: EvidenceSource {
  let target: IPAddress
  private let looks = Box(0)

  init(target: IPAddress) { self.target = target }

  func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
    func kernel(_ result: KernelFinding.Result) -> Finding { .kernel(KernelFinding(result, target: target)) }
    switch question {
    case .way:
      looks.value += 1
      if looks.value > 1 { return [kernel(.link(.fails("eth0", .noCarrier, isNamed: true)))] }
      return [kernel(.link(.works("eth0"))), kernel(.route(.leads(gateway: nil, interface: "eth0")))]
    case .names:
      let server = NameFinding.Server(target, ipv4: .dropped, ipv6: .dropped)
      return [.name(NameFinding(name: ".", servers: [server], isRootOnly: true))]
    default: return []
    }
  }
}
