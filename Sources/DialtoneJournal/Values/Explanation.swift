// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
package import DialtoneDiagnosis

/// What a diagnosis has found about an outage.
package struct Explanation: Equatable, Sendable {
  package struct Step: Equatable, Sendable {
    package var step: String
    package var family: String?
    package var outcome: String
    package var text: String
  }

  /// The identifier of the nearest cause; `nil` if none was found.
  package var cause: String?
  package var confidence: String
  package var layer: OutageLayer
  package var summary: String
  package var advice: String?
  /// The steps that differ from a good time.
  package var steps: [Step] = []
  /// The target whose diagnosis this was, if it was another one's that went down at the same time.
  package var sharedFrom: String?
}

extension Explanation {
  /// `goodTime` has the steps of the same target when nothing was wrong. A step that nothing is to be compared with
  /// differs if it is not all right.
  package init(_ verdict: DiagnosisVerdict, goodTime: [Step] = []) {
    let steps = verdict.steps.filter { $0.outcome != .skipped }.map(Step.init)
    self.init(
      cause: verdict.cause?.identifier, confidence: verdict.confidence.identifier, layer: OutageLayer(verdict),
      summary: verdict.summary, advice: verdict.advice,
      steps: steps.filter { step in
        let usual = goodTime.filter { $0.step == step.step && $0.family == step.family }
        return usual.isEmpty ? step.outcome != DiagnosisStep.Outcome.ok.identifier : !usual.contains(step)
      })
  }
}

extension Explanation.Step {
  package init(_ step: DiagnosisStep) {
    self.init(
      step: step.kind.identifier, family: step.family.map { $0 == .ipv4 ? "ipv4" : "ipv6" },
      outcome: step.outcome.identifier, text: step.text)
  }
}
