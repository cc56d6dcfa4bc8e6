// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// What is wrong between this machine and a target, and what to try.
public struct DiagnosisVerdict: Hashable, Sendable {
  /// What was asked about, as text.
  public let target: String

  /// The first cause, in the order in which packets meet them; `nil` if nothing wrong was found.
  public let cause: DiagnosisCause?

  /// How sure that is. With no ``cause``, `certain` means that the target was reached, or, if it cannot be asked, that
  /// everything up to it works; `unknown` means that something is wrong, or may be, and the cause was not found.
  public let confidence: DiagnosisConfidence

  /// The verdict in one sentence, for a person.
  public let summary: String

  /// One command or act that may help; `nil` if there is none.
  public let advice: String?

  /// The steps that it rests on.
  public let steps: [DiagnosisStep]

  /// How long it took.
  public let elapsed: Duration

  /// Judges steps by the rules of every diagnosis. Pure.
  ///
  /// - Parameters:
  ///   - target: What was asked about.
  ///   - steps: What was found, in the order in which packets meet it.
  ///   - elapsed: How long it took.
  public init(of target: String, steps: [DiagnosisStep], elapsed: Duration = .zero) {
    let finding = DiagnosisRules.finding(in: steps)
    self.target = target
    self.steps = steps
    self.elapsed = elapsed
    cause = finding.cause
    confidence = finding.confidence
    summary = finding.summary
    advice = finding.advice
  }

  /// Whether nothing is wrong, as far as could be seen, and all of it was seen.
  public var isFine: Bool { cause == nil && confidence == .certain }
}

extension DiagnosisVerdict: CustomStringConvertible {
  /// The ``summary``.
  public var description: String { summary }
}

/// The rules that turn steps into a verdict: the first cause counts, not the last symptom. Pure.
enum DiagnosisRules {
  struct Finding: Equatable {
    var cause: DiagnosisCause?
    var confidence: DiagnosisConfidence
    var summary: String
    var advice: String?
  }

  static func finding(in steps: [DiagnosisStep]) -> Finding {
    // If a certificate proves who answered, the name led to the right place, however the name server came to it.
    let isProven = steps.contains { $0.kind == .tls && $0.outcome == .ok }
    let faults = steps.filter { $0.outcome == .fault && !(isProven && $0.cause == .nameHijacked) }
    let broken = brokenFamily(faults, steps)
    if let broken, isFirst(broken.step, faults) { return broken.finding }
    let counting = faults.filter { fault in
      guard let family = fault.family else { return true }
      return !workingFamilies(steps).contains { $0 != family }
    }
    if let first = first(counting, steps) { return finding(of: first, in: steps, beside: broken?.step) }
    if let doubt = steps.first(where: { $0.outcome == .doubtful && $0.cause != nil && !isAbsence($0, steps) }) {
      return Finding(
        cause: doubt.cause, confidence: min(doubt.confidence, .likely), summary: sentence(doubt.text),
        advice: doubt.advice)
    }
    if steps.isEmpty {
      return Finding(cause: nil, confidence: .unknown, summary: "Nothing was found out.", advice: nil)
    }
    if let late = steps.first(where: { $0.outcome == .skipped && $0.text == Self.timeIsUp }) {
      return Finding(
        cause: nil, confidence: .unknown, summary: "The time was up before \(late.kind) was looked at.", advice: nil)
    }
    let isProvenByAnswer = steps.contains { [.connect, .tls, .http].contains($0.kind) && $0.outcome == .ok }
    if !isProvenByAnswer, let open = steps.first(where: { $0.kind == .neighbour && $0.outcome == .doubtful }) {
      return Finding(cause: nil, confidence: .unknown, summary: sentence(open.text), advice: nil)
    }
    return Finding(cause: nil, confidence: .certain, summary: "Nothing is wrong: \(proof(steps)).", advice: nil)
  }

  /// What a step says that was not reached in time.
  static let timeIsUp = "the time was up"

  // MARK: Families

  /// The families that have steps of their own, and no fault in them.
  private static func workingFamilies(_ steps: [DiagnosisStep]) -> Set<IPAddress.Family> {
    let families = Set(steps.compactMap(\.family))
    return families.filter { family in !steps.contains { $0.family == family && $0.outcome == .fault } }
  }

  /// Whether a fault only says that this machine does not use the family.
  private static func isAbsence(_ step: DiagnosisStep, _ steps: [DiagnosisStep]) -> Bool {
    guard step.family != nil else { return false }
    return [.noAddress, .noRoute, .noInterface].contains(step.cause) && position(step) <= position(.source)
  }

  /// The fault of a family that this machine uses, while another family works.
  private static func brokenFamily(
    _ faults: [DiagnosisStep], _ steps: [DiagnosisStep]
  ) -> (step: DiagnosisStep, finding: Finding)? {
    let working = workingFamilies(steps)
    guard !working.isEmpty,
      let fault = faults.first(where: { step in step.family.map { !working.contains($0) } ?? false }),
      let family = fault.family, !isAbsence(fault, steps)
    else { return nil }
    let other: IPAddress.Family = family == .ipv4 ? .ipv6 : .ipv4
    return (
      fault,
      Finding(
        cause: .familyBroken, confidence: fault.confidence,
        summary: "\(words(family)) does not work, and \(words(other)) does: \(fault.text).", advice: fault.advice)
    )
  }

  private static func words(_ family: IPAddress.Family) -> String { family == .ipv4 ? "IPv4" : "IPv6" }

  /// Whether no fault stops the other family, too, or comes before both. What stops the family that works is the
  /// reason why the target is not reached; that the other one does not work is not.
  private static func isFirst(_ step: DiagnosisStep, _ faults: [DiagnosisStep]) -> Bool {
    !faults.contains { fault in
      if fault.family != nil { return false }
      if position(fault) < position(step) { return true }
      switch fault.kind {
      // Servers that only the broken family reaches are silent because of it.
      case .name: return !isAsked(fault, onlyBy: step.family)
      case .pathMTU, .tls, .http: return true
      default: return false
      }
    }
  }

  private static func isAsked(_ name: DiagnosisStep, onlyBy family: IPAddress.Family?) -> Bool {
    for evidence in name.evidence where evidence.key == NameStep.unansweredKey {
      guard case .list(let servers)? = evidence.value, !servers.isEmpty else { return false }
      return servers.allSatisfy { IPAddress($0)?.family == family }
    }
    return false
  }

  // MARK: The first cause

  /// The nearest fault. If each family has one, the family that came further counts: the other one may not be in use.
  private static func first(_ faults: [DiagnosisStep], _ steps: [DiagnosisStep]) -> DiagnosisStep? {
    var nearest: [DiagnosisStep] = []
    for family in [IPAddress.Family.ipv4, .ipv6] {
      if let fault = faults.filter({ $0.family == family }).min(by: { position($0) < position($1) }) {
        nearest.append(fault)
      }
    }
    let ofFamilies = nearest.max { position($0) < position($1) }.map { furthest in
      nearest.first { position($0) == position(furthest) } ?? furthest
    }
    let common = faults.filter { $0.family == nil }.min { position($0) < position($1) }
    guard let ofFamilies else { return common }
    guard let common else { return ofFamilies }
    return position(common) < position(ofFamilies) ? common : ofFamilies
  }

  private static func position(_ step: DiagnosisStep) -> Int { position(step.kind) }

  private static func position(_ kind: DiagnosisStep.Kind) -> Int {
    DiagnosisStep.Kind.all.firstIndex(of: kind) ?? DiagnosisStep.Kind.all.count
  }

  /// What a fault says; `broken` is the fault of a family that does not work either, and is told beside it.
  private static func finding(
    of fault: DiagnosisStep, in steps: [DiagnosisStep], beside broken: DiagnosisStep?
  ) -> Finding {
    guard let cause = fault.cause else {
      return Finding(cause: nil, confidence: .unknown, summary: sentence(fault.text), advice: fault.advice)
    }
    let isLast = position(fault) >= position(.connect)
    var summary =
      isLast
      ? sentence(fault.text) : "\(sentence(fault.text).dropLast()); everything behind it was not tried."
    if let broken, let family = broken.family {
      summary += " Beside that, \(words(family)) does not work: \(broken.text)."
    }
    return Finding(cause: cause, confidence: fault.confidence, summary: summary, advice: fault.advice)
  }

  private static func sentence(_ text: String) -> String {
    let first = text.prefix(1).uppercased()
    // A name or an address stays as it is written.
    let word = text.prefix { $0 != " " }
    let isWord = word.allSatisfy { $0.isLetter }
    return (isWord ? first + text.dropFirst() : text) + "."
  }

  private static func proof(_ steps: [DiagnosisStep]) -> String {
    let kinds: [DiagnosisStep.Kind] = [.http, .tls, .connect, .name, .neighbour, .route]
    for kind in kinds {
      if let step = steps.first(where: { $0.kind == kind && $0.outcome == .ok }) { return step.text }
    }
    return "no step has a fault"
  }
}
