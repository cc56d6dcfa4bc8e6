// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Whatever a cause needs outside of its table.
struct DiagnosisCauseTests {
  @Test func eachHasItsIdentifier() {
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
    #expect(readings.contains { Advice.act(on: cause, $0, target: "site.example") != nil })
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
