// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import DialtoneSites

/// The rule that makes a verdict of steps: the first cause counts, and not the last symptom.
struct DiagnosisRulesTests {
  private static func step(
    _ kind: DiagnosisStep.Kind, _ family: IPAddress.Family? = nil, _ outcome: DiagnosisStep.Outcome = .ok,
    _ cause: DiagnosisCause? = nil, _ confidence: DiagnosisConfidence = .certain
  ) -> DiagnosisStep {
    DiagnosisStep(kind, family: family, outcome, "a text", cause: cause, confidence: confidence)
  }

  private static func silentServers(_ addresses: String...) -> DiagnosisStep {
    NameStep.step(
      NameEvidence(
        name: "site.example",
        servers: addresses.compactMap { IPAddress($0) }.map { address in
          NameEvidence.Server(address: address, ipv4: .silent, ipv6: .silent)
        }))
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cause: DiagnosisCause?
    let confidence: DiagnosisConfidence
    let steps: [DiagnosisStep]

    init(_ description: String, _ cause: DiagnosisCause?, _ steps: [DiagnosisStep]) {
      self.init(description, cause, .certain, steps)
    }

    init(
      _ description: String, _ cause: DiagnosisCause?, _ confidence: DiagnosisConfidence, _ steps: [DiagnosisStep]
    ) {
      testDescription = description
      self.cause = cause
      self.confidence = confidence
      self.steps = steps
    }
  }

  private static let rows: [Row] = [
    Row("nothing is wrong", nil, [step(.link, .ipv4), step(.connect, .ipv4), step(.http)]),
    Row("nothing was found out", nil, .unknown, []),
    Row(
      "the time was up", nil, .unknown,
      [
        step(.link, .ipv4), DiagnosisStep(.connect, .skipped, DiagnosisRules.timeIsUp),
      ]),
    Row(
      "the nearer of two", .gatewaySilent,
      [
        step(.neighbour, .ipv4, .fault, .gatewaySilent), step(.name, nil, .fault, .nameServerSilent),
      ]),
    Row(
      "the nearer of two, said later", .nameServerSilent,
      [
        step(.connect, .ipv4, .fault, .refused), step(.name, nil, .fault, .nameServerSilent),
      ]),
    Row(
      "a family that is not in use", nil,
      [
        step(.connect, .ipv4), step(.address, .ipv6, .fault, .noAddress),
      ]),
    Row(
      "a family that is broken", .familyBroken,
      [
        step(.connect, .ipv4), step(.connect, .ipv6, .fault, .silent),
      ]),
    Row(
      "a family whose router is gone", .familyBroken,
      [
        step(.connect, .ipv4), step(.neighbour, .ipv6, .fault, .gatewaySilent),
      ]),
    Row(
      "a name fault before a broken family", .nameHijacked,
      [
        step(.connect, .ipv4), step(.name, nil, .fault, .nameHijacked), step(.connect, .ipv6, .fault, .silent),
      ]),
    Row(
      "a name that does not exist, and a family whose router is gone", .nameUnknown,
      [
        step(.neighbour, .ipv4), step(.neighbour, .ipv6, .fault, .gatewaySilent),
        step(.name, nil, .fault, .nameUnknown),
      ]),
    Row(
      "a bad certificate, and a family that is lost on the way", .tlsCertificate,
      [
        step(.connect, .ipv4), step(.connect, .ipv6, .fault, .silent, .likely),
        step(.tls, nil, .fault, .tlsCertificate),
      ]),
    Row(
      "a silent name server of the family that works", .nameServerSilent, .likely,
      [
        step(.neighbour, .ipv4), step(.neighbour, .ipv6, .fault, .gatewaySilent),
        silentServers("192.0.2.53"),
      ]),
    Row(
      "a silent name server of either family", .nameServerSilent, .likely,
      [
        step(.neighbour, .ipv4), step(.neighbour, .ipv6, .fault, .gatewaySilent),
        silentServers("2001:db8:2::53", "192.0.2.53"),
      ]),
    Row(
      "a silent name server of the broken family", .familyBroken,
      [
        step(.neighbour, .ipv4), step(.neighbour, .ipv6, .fault, .gatewaySilent), silentServers("2001:db8:2::53"),
      ]),
    Row(
      "a proxy that is gone, and a family that is broken", .familyBroken,
      [
        step(.connect, .ipv4), step(.connect, .ipv6, .fault, .silent), step(.http),
        step(.proxy, nil, .fault, .proxyUnreachable),
      ]),
    Row(
      "the family that came further", .gatewaySilent,
      [
        step(.neighbour, .ipv4, .fault, .gatewaySilent), step(.address, .ipv6, .fault, .noAddress),
      ]),
    Row(
      "a name that a certificate has proven", nil,
      [
        step(.name, nil, .fault, .nameHijacked), step(.connect, .ipv4), step(.tls),
      ]),
    Row(
      "a doubt", .nameServerSilent, .likely,
      [
        step(.name, nil, .doubtful, .nameServerSilent), step(.connect, .ipv4), step(.http),
      ]),
    Row(
      "a fault behind a doubt", .refused,
      [
        step(.name, nil, .doubtful, .nameServerSilent), step(.connect, .ipv4, .fault, .refused),
      ]),
    Row(
      "a gateway that has not answered yet", nil, .unknown, [step(.link, .ipv4), step(.neighbour, .ipv4, .doubtful)]),
    Row("a fault without a cause", nil, .unknown, [step(.connect, .ipv4, .fault)]),
    Row("a likely fault", .silent, .likely, [step(.connect, .ipv4, .fault, .silent, .likely)]),
  ]

  @Test("the first cause counts", arguments: rows)
  func theFirstCauseCounts(row: Row) {
    let verdict = DiagnosisVerdict(of: "example.com", steps: row.steps)
    #expect(verdict.cause == row.cause && verdict.confidence == row.confidence, "\(verdict.summary)")
    #expect(verdict.isFine == (row.cause == nil && row.confidence == .certain))
  }

  @Test func eachCauseHasItsIdentifier() {
    for cause in DiagnosisCause.all { #expect(DiagnosisCause(identifier: cause.identifier) == cause) }
    #expect(Set(DiagnosisCause.all.map(\.identifier)).count == DiagnosisCause.all.count)
    #expect(DiagnosisCause(identifier: "nothing") == nil)
  }

  @Test func aStepWithoutAFaultHasNoCause() {
    for outcome in [DiagnosisStep.Outcome.ok, .skipped] {
      let step = DiagnosisStep(.link, outcome, "a text", cause: .linkDown, advice: "ip link set eth0 up")
      #expect(step.cause == nil && step.advice == nil)
    }
  }
}
