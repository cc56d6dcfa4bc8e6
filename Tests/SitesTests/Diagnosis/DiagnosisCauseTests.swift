// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Whatever a cause needs beside its declaration.
struct DiagnosisCauseTests {
  @Test func eachHasItsIdentifier() throws {
    let path = "Sources/DialtoneDiagnosis/Values/DiagnosisCause.swift"
    #expect(try constantCount(of: "Self", in: path) == DiagnosisCause.all.count)
    for cause in DiagnosisCause.all { #expect(DiagnosisCause(identifier: cause.identifier) == cause) }
    #expect(Set(DiagnosisCause.all.map(\.identifier)).count == DiagnosisCause.all.count)
    #expect(DiagnosisCause(identifier: "nothing") == nil)
  }

  /// By one of the findings of `DiagnosisRulesTests`, or by what is known of a link.
  @Test(arguments: DiagnosisCause.all)
  func eachHasAdvice(_ cause: DiagnosisCause) {
    let target = IPAddress(ipv4: 0xCB00_710A)
    let link = KernelEvidence.LinkFacts(
      name: "eth0", isUp: true, isOperating: false, reason: .noCarrier, manager: nil)
    let evidence = KernelEvidence(
      target: target, state: Reachability(status: .unreachable, destination: target, reason: .noCarrier),
      links: [link], link: link)
    let findings = KernelFindings.findings(evidence).map(Finding.kernel) + DiagnosisRulesTests.rows.flatMap(\.findings)
    let readings = Reading.readings(findings)
    #expect(readings.contains { Advice.act(on: cause, $0, target: "site.example", device: nil) != nil })
  }

  /// Programs get all addresses, and then those with something about them (ip-address(8)).
  @Test func anAddressStepHasEachAddress() throws {
    let target = IPAddress(ipv4: 0xCB00_710A)
    let link = KernelEvidence.LinkFacts(name: "eth0", isUp: true, isOperating: true, reason: nil, manager: nil)
    var evidence = KernelEvidence(
      target: target, state: Reachability(status: .reachable, destination: target), links: [link], link: link)
    let texts = ["192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "169.254.0.7"]
    let addresses = try texts.map { try #require(IPAddress($0)) }
    evidence.addresses = [
      KernelEvidence.AddressFacts(address: addresses[0]), .init(address: addresses[1], isTentative: true),
      .init(address: addresses[2], isDuplicate: true),
      .init(address: addresses[3], prefixLength: 32, isDeprecated: true),
      .init(address: addresses[4], prefixLength: 16),
    ]
    let finding = Finding.kernel(KernelFinding(.address(.works(addresses[0])), evidence))
    let step = try #require(DiagnosisVerdict(of: "a", goal: .host, findings: [finding]).steps.first)
    func list(_ key: String) -> [String]? {
      if case .list(let texts)? = step.evidence.first(where: { $0.key == key })?.value { texts } else { nil }
    }
    let all = ["192.0.2.2/24", "192.0.2.3/24", "192.0.2.4/24", "192.0.2.5/32", "169.254.0.7/16"]
    #expect(list("addresses") == all)
    #expect(list("tentative") == [all[1]] && list("duplicate") == [all[2]])
    #expect(list("deprecated") == [all[3]] && list("linkLocal") == [all[4]])
  }

  @Test func thatNobodyCanProveItIsSaidToTheJudgeOfFaults() throws {
    let judge = try sourceText("Tests/FaultLab/judging.py")
    for cause in DiagnosisCause.all where cause.witness == nil {
      #expect(judge.contains("\"\(cause.identifier)\""), "\(cause.identifier)")
    }
  }

  @Test func eachHasARowInTheDocumentation() throws {
    let page = try sourceText("Sources/DialtoneDiagnosis/DialtoneDiagnosis.docc/Explain.md").split(separator: "\n")
    for cause in DiagnosisCause.all {
      let row = page.first { $0.hasPrefix("| ") && $0.contains("`\(cause.identifier)`") }
      #expect(row.map { cause.witness == nil || !$0.hasSuffix("– |") } == true, "\(cause.identifier)")
    }
  }
}
