// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a diagnosis is asked for: what would have to succeed for nothing to be wrong.
public enum DiagnosisGoal: Hashable, Sendable {
  /// That somebody on the Internet answers.
  case internet
  /// That a host takes a connection.
  case host
  /// That a site is available.
  case site
}

/// What is wrong between this machine and a target, and what to try.
public struct DiagnosisVerdict: Hashable, Sendable {
  /// What was asked about, as text.
  public let target: String

  /// The nearest cause; `nil` if none was found.
  public let cause: DiagnosisCause?

  /// How sure that is. With no ``cause``, `certain` means that what was asked for has just succeeded; `unknown` means
  /// that it has not, or that it is not known, and the cause was not found.
  public let confidence: DiagnosisConfidence

  /// Who proves it; `nil` if it is not `certain`, or if there is no cause.
  public let proof: DiagnosisProof?

  /// The verdict in one sentence, for a person.
  public let summary: String

  /// More about it, a sentence each.
  public let details: [String]

  /// One command or act that may help; `nil` if there is none.
  public let advice: String?

  /// What works on the way, in a few words each.
  public let works: [String]

  /// What does not work, and is not the cause.
  public let others: [String]

  /// What it rests on.
  public let findings: [Finding]

  /// The findings in words.
  public let steps: [DiagnosisStep]

  /// How long it took.
  public let elapsed: Duration

  /// Only the rules make a verdict: `certain` takes a proof, and "nothing wrong" a success.
  init(
    _ target: String, _ charge: Charge?, _ success: Success?, _ words: VerdictWords, _ findings: [Finding],
    _ elapsed: Duration
  ) {
    self.target = target
    self.findings = findings
    self.elapsed = elapsed
    cause = charge?.cause
    proof = charge?.proof
    confidence =
      charge.map { $0.proof == nil ? .likely : .certain } ?? (success == nil ? .unknown : .certain)
    steps = words.steps
    summary = words.summary
    details = words.details
    advice = words.advice
    works = words.works
    others = words.others
  }

  /// Whether what was asked for has just succeeded, and nothing else is wrong.
  public var isFine: Bool { cause == nil && confidence == .certain }
}

extension DiagnosisVerdict: CustomStringConvertible {
  /// The ``summary``.
  public var description: String { summary }
}

/// What words make of a conclusion.
struct VerdictWords: Hashable, Sendable {
  var steps: [DiagnosisStep] = []
  var summary = ""
  var details: [String] = []
  var advice: String?
  var works: [String] = []
  var others: [String] = []
}
