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

  // Only the rules make a verdict: `certain` takes a proof, and "nothing wrong" a success.
  let charge: Charge?
  let success: Success?

  /// What it rests on.
  public let findings: [Finding]

  /// How long it took.
  public let elapsed: Duration

  /// The nearest cause; `nil` if none was found.
  public var cause: DiagnosisCause? { charge?.cause }

  /// How sure that is. With no ``cause``, `certain` means that what was asked for has just succeeded; `unknown` means
  /// that it has not, or that it is not known, and the cause was not found.
  public var confidence: DiagnosisConfidence { charge?.confidence ?? (success == nil ? .unknown : .certain) }

  /// Who proves it; `nil` if it is not `certain`, or if there is no cause.
  public var proof: DiagnosisProof? { charge?.proof }

  /// The verdict in one sentence, for a person.
  public internal(set) var summary = ""

  /// More about it, a sentence each.
  public internal(set) var details: [String] = []

  /// One command or act that may help; `nil` if there is none.
  public internal(set) var advice: String?

  /// What works on the way, in a few words each.
  public internal(set) var works: [String] = []

  /// What does not work, and is not the cause.
  public internal(set) var others: [String] = []

  /// The findings in words.
  public internal(set) var steps: [DiagnosisStep] = []

  /// Whether what was asked for has just succeeded, and nothing else is wrong.
  public var isFine: Bool { cause == nil && confidence == .certain }
}

extension DiagnosisVerdict: CustomStringConvertible {
  /// The ``summary``.
  public var description: String { summary }
}
