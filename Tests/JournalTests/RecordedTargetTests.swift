// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis
@testable import DialtoneJournal

/// What a target's states mean to a recorder, and what its explanations may ask.
struct RecordedTargetTests {
  private typealias TargetState = RecorderStateMachine.TargetState

  /// A name that cannot be looked up is an outage; what the system does not say is none.
  @Test func eachStatusIsAState() {
    let states: [(Reachability, RecorderStateMachine.TargetState)] = [
      (Reachability(status: .reachable), .up(words: Reachability(status: .reachable).description)),
      (
        Reachability(status: .unreachable, reason: .noCarrier),
        .down(reason: "no-carrier", words: Reachability(status: .unreachable, reason: .noCarrier).description)
      ),
      (
        Reachability(status: .requiresConnection, reason: .dormant),
        .down(reason: "dormant", words: Reachability(status: .requiresConnection, reason: .dormant).description)
      ),
      (
        Reachability(status: .undetermined, reason: .nameNotResolved),
        .down(
          reason: "name-not-resolved",
          words: Reachability(status: .undetermined, reason: .nameNotResolved).description)
      ),
      (Reachability(status: .undetermined, reason: .denied), .unknown(reason: "denied")),
      (Reachability(status: .undetermined), .unknown(reason: nil)),
    ]
    for (reachability, state) in states { #expect(TargetState(reachability) == state, "\(reachability)") }
  }

  /// The first interface counts, if packets leave by it.
  @Test func aPathIsSummedUp() throws {
    let interfaces = [
      NetworkPath.Interface(try #require(NetworkInterface(name: "wlan0", index: 3, kind: .wifi))),
      NetworkPath.Interface(try #require(NetworkInterface(name: "eth0", index: 2, kind: .wired))),
    ]
    #expect(
      NetworkSummary(NetworkPath(.satisfied, interfaces: interfaces))
        == NetworkSummary(status: "satisfied", interface: "wlan0", kind: "wifi"))
    #expect(
      NetworkSummary(NetworkPath(.unsatisfied, reason: .noCarrier, interfaces: interfaces))
        == NetworkSummary(status: "unsatisfied", reason: "no-carrier"))
    #expect(
      NetworkSummary(NetworkPath(.requiresConnection, reason: .dormant))
        == NetworkSummary(status: "requires-connection", reason: "dormant"))
    #expect(NetworkSummary(NetworkPath(.undetermined)) == NetworkSummary(status: "undetermined"))
  }

  // MARK: Evidence

  /// Gives what it is told, and notes what it was asked.
  private final class Source: EvidenceSource {
    let asked = Box<[DiagnosisQuestion]>([])
    let findings: [Finding]

    init(_ findings: [Finding] = []) { self.findings = findings }

    func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
      asked.update { $0.append(question) }
      return findings
    }
  }

  private func inquiry(_ target: ReachabilityTarget, _ findings: [Finding] = []) -> DiagnosisInquiry {
    DiagnosisInquiry(
      subject: DiagnosisSubject(target), configuration: DiagnosisConfiguration(), findings: findings, deadline: 0)
  }

  private enum Subject: String, CaseIterable { case internet, name, address }

  private func target(_ subject: Subject) throws -> ReachabilityTarget {
    switch subject {
    case .internet: .internet
    case .name: try .host("site.example")
    case .address: .address(try #require(IPAddress("192.0.2.7")))
    }
  }

  /// "Unless somebody says otherwise, nothing goes beyond the router": a name is looked up, and a neighbour is asked.
  /// The kernel's scopes send nothing. An address is its own answer.
  @Test(
    arguments: [
      (.kernel, [.way], [.way], [.names, .way]), (.passive, [.way], [.way], [.names, .way]),
      (.upToRouter, [.way, .neighbours], [.names, .way, .neighbours], [.names, .way, .neighbours]),
      (.beyondRouter, DiagnosisQuestion.allCases, DiagnosisQuestion.allCases, DiagnosisQuestion.allCases),
    ] as [(RecorderEvidence.Scope, [DiagnosisQuestion], [DiagnosisQuestion], [DiagnosisQuestion])])
  func asksNothingThatItMayNot(
    scope: RecorderEvidence.Scope, internet: [DiagnosisQuestion], name: [DiagnosisQuestion],
    address: [DiagnosisQuestion]
  ) async throws {
    for (subject, allowed) in zip(Subject.allCases, [internet, name, address]) {
      let source = Source()
      let evidence = RecorderEvidence(source, scope)
      for question in DiagnosisQuestion.allCases {
        let found = await evidence.findings(for: question, in: inquiry(try target(subject)))
        // The kernel's own neighbours are looked at without the source, and there are none.
        let isOwn = scope == .passive && question == .neighbours
        let refusal = Finding.unasked(question.kind, nil, .notWanted)
        #expect(found == (allowed.contains(question) || isOwn ? [] : [refusal]), "\(subject) \(question)")
      }
      #expect(source.asked.value == allowed, "\(subject)")
    }
  }

  /// A family that no packet can leave by is left out where another one is open.
  @Test func aClosedFamilySaysNothing() async throws {
    let (four, six) = (try #require(IPAddress("192.0.2.7")), try #require(IPAddress("2001:db8::7")))
    func works(_ target: IPAddress) -> Finding { .kernel(KernelFinding(.link(.works("eth0")), target: target)) }
    func fails(_ target: IPAddress) -> Finding { .kernel(KernelFinding(.route(.missing), target: target)) }
    let name = Finding.name(NameFinding(name: "site.example", addresses: [four, six]))
    let rows: [(all: [Finding], open: [Finding])] = [
      ([works(four), fails(six), name], [works(four), name]), ([fails(four), name, works(six)], [name, works(six)]),
      ([fails(four), fails(six)], [fails(four), fails(six)]), ([works(four), works(six)], [works(four), works(six)]),
      ([fails(four)], [fails(four)]), ([works(six), fails(six), works(four)], [works(four)]), ([], []),
      ([name], [name]),
    ]
    let inquiry = inquiry(.address(four))
    for row in rows {
      let passive = await RecorderEvidence(Source(row.all), .passive).findings(for: .way, in: inquiry)
      #expect(passive == row.open)
      for scope in [RecorderEvidence.Scope.kernel, .upToRouter, .beyondRouter] {
        #expect(await RecorderEvidence(Source(row.all), scope).findings(for: .way, in: inquiry) == row.all)
      }
    }
  }

  // MARK: Layers

  /// What is known of silence: somebody beyond the router has answered, or nobody has.
  @Test(arguments: [(true, OutageLayer.site), (false, .provider)])
  func silenceIsTheSitesIfOthersAnswer(isAnswered: Bool, layer: OutageLayer) throws {
    let (target, router) = (try #require(IPAddress("203.0.113.9")), try #require(IPAddress("192.0.2.1")))
    let root = try #require(IPAddress("198.41.0.4"))
    let findings: [Finding] = [
      .kernel(KernelFinding(.route(.leads(gateway: router, interface: "eth0")), target: target)),
      .beyond(BeyondFinding([BeyondFinding.Question(root, isAnswered ? .answer : .silent)])),
      .connection(ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(target, port: 443, .silent)])),
    ]
    #expect(OutageLayer(DiagnosisVerdict(of: "a", goal: .host, findings: findings)) == layer)
  }

  @Test(
    arguments: [
      (nil, .unknown), ("", .unknown), ("no-such-reason", .unknown), ("connection-refused", .site),
      ("connection-refused-not", .unknown), ("certificate-expired", .site), ("certificate-", .site),
      ("certificates", .unknown), ("no-carrier", .link), ("no-route", .machine), ("name-not-resolved", .nameServer),
      ("denied", .unknown), ("captive-portal", .provider), ("intercepted", .provider), ("offline", .unknown),
      ("unexpected-response", .site), ("failed", .unknown),
    ] as [(String?, OutageLayer)])
  func aReasonHasItsLayer(reason: String?, layer: OutageLayer) { #expect(OutageLayer(reason: reason) == layer) }
}
