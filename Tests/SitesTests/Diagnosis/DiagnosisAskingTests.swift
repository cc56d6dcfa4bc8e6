// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What a diagnosis asks where it could ask once more, and where there is nothing to wait for.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct DiagnosisAskingTests {
  static let target = NearestCauseTests.target
  static let router = NearestCauseTests.router

  /// Evidence that counts what it is asked.
  struct CountedEvidence: EvidenceSource {
    let counts = Box<[DiagnosisQuestion: Int]>([:])
    let answer: @Sendable (DiagnosisQuestion) -> [Finding]

    func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
      counts.update { $0[question, default: 0] += 1 }
      return answer(question)
    }
  }

  static func script(_ findings: Finding...) -> CountedEvidence {
    CountedEvidence { question in findings.filter { $0.question == question } }
  }

  static func evidence(_ gateway: IPAddress?) -> KernelEvidence {
    KernelEvidence(
      target: target, state: Reachability(.reachable, gateway: gateway, destination: target),
      neighbour: KernelEvidence.NeighbourFacts(
        address: gateway ?? target, link: "eth0", state: nil, isGateway: gateway != nil))
  }

  static let way = Finding.kernel(KernelFinding(.link(.works("eth0")), evidence(router)))
  static let beyond = Finding.beyond(BeyondFinding([BeyondFinding.Question(target, .silent)]))
  static let known = Finding.kernel(
    KernelFinding(.neighbour(.answered(router, isGateway: true)), evidence(router)))
  static let name = Finding.name(NameFinding(name: "a.example", source: .literal, addresses: [target]))
  static let accepted = NearestCauseTests.connection(target, .accepted(milliseconds: 1))

  // MARK: Nothing to wait for

  /// Once what was asked for has succeeded, nobody waits for the time at which somebody beyond would be asked. On a
  /// machine that is busy for so long it is tried again.
  @Test(arguments: [nil, "https://a.example/"] as [SiteURL?])
  func aSuccessEndsAtOnce(url: SiteURL?) async throws {
    let site = SiteFinding(SiteVerdict(url: "https://a.example/", kind: .available, status: 200))
    let source = Self.script(Self.name, Self.way, Self.accepted, .site(site), .unasked(.proxy, nil, .notWanted))
    let configuration = DiagnosisConfiguration(timeout: .seconds(1_000))
    var shortest = Duration.seconds(1_000)
    for _ in 0..<5 where shortest >= .milliseconds(1_200) {
      let diagnosis =
        url.map { Diagnosis(of: $0, configuration: configuration, environment: source) }
        ?? Diagnosis(of: .address(Self.target, port: 443), configuration: configuration, environment: source)
      let verdict = try await diagnosis.verdict()
      #expect(verdict.isFine)
      shortest = min(shortest, verdict.elapsed)
    }
    #expect(shortest < .milliseconds(1_200))
  }

  /// The pause before somebody beyond is asked is no longer than the time there is.
  @Test(arguments: [nil, "https://a.example/"] as [SiteURL?])
  func noPauseOutlivesTheTime(url: SiteURL?) async throws {
    let source = Self.script(Self.name, Self.way)
    let configuration = DiagnosisConfiguration(timeout: .milliseconds(1))
    var shortest = Duration.seconds(1_000)
    for _ in 0..<5 where shortest >= .milliseconds(1_200) {
      let diagnosis =
        url.map { Diagnosis(of: $0, configuration: configuration, environment: source) }
        ?? Diagnosis(of: .address(Self.target, port: 443), configuration: configuration, environment: source)
      shortest = min(shortest, try await diagnosis.verdict().elapsed)
    }
    #expect(shortest < .milliseconds(1_200))
  }

  /// "Ends within the timeout": a source of one's own does not know how much of it is left.
  @Test func aSourceThatTakesTooLongIsCancelled() async throws {
    struct SlowEvidence: EvidenceSource {
      func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
        await DiagnosisRun.pause(.seconds(1_000))
        return []
      }
    }
    let configuration = DiagnosisConfiguration(timeout: .milliseconds(100))
    let verdict = try await Diagnosis(configuration: configuration, environment: SlowEvidence()).verdict()
    #expect(verdict.cause == nil && verdict.elapsed < .seconds(10), "\(verdict.elapsed)")
  }

  // MARK: Once

  /// The Internet lies beyond, also where the route to it names no router.
  @Test func theInternetIsAskedForWithoutARouter() async throws {
    let straight = Finding.kernel(KernelFinding(.link(.works("eth0")), Self.evidence(nil)))
    let source = Self.script(straight, Self.beyond)
    _ = try await Diagnosis(environment: source).verdict()
    #expect(source.counts.value[.beyond] == 1 && source.counts.value[.portal] == 1)
  }

  /// Without time a router that was known is not looked at again, and that is said once.
  @Test func whatWasLeftOutIsSaidOnce() async throws {
    let source = CountedEvidence { $0 == .way ? [Self.way, Self.known] : [] }
    let verdict = try await Diagnosis(
      configuration: DiagnosisConfiguration(timeout: .zero), environment: source
    ).verdict()
    #expect(verdict.findings.filter { $0 == .unasked(.neighbour, nil, .timeIsUp) }.count == 1)
    #expect(Set(source.counts.value.keys) == [.way])
  }

  // MARK: The history

  /// Explain.md: what changed in the last minute, which is told with its time, and up to now.
  @Test func whatHasChangedJustNowIsTold() async throws {
    let now = UTCTimestamp.now.durationSince1970
    func state(_ age: Duration) -> Reachability {
      Reachability(.unreachable, reason: .noCarrier, timestamp: UTCTimestamp(durationSince1970: now - age))
    }
    // Nothing was known then, nor when that was.
    let none = Reachability(.undetermined)
    #expect(none.timestamp == nil)
    var configuration = DiagnosisConfiguration()
    configuration.history = [state(.seconds(120)), none, state(.seconds(30)), state(.zero)]
    let verdict = try await Diagnosis(configuration: configuration, environment: ScriptedEvidence([])).verdict()
    #expect(verdict.findings.first == .history([state(.seconds(30)), state(.zero)]))
    configuration.history = [state(.seconds(120)), none]
    let old = try await Diagnosis(configuration: configuration, environment: ScriptedEvidence([])).verdict()
    #expect(!old.findings.contains { if case .history = $0 { true } else { false } })
  }
}
