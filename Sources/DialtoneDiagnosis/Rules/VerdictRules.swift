// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// The rules that turn findings into a conclusion: the nearest cause counts, not the loudest. Pure; they read no text.
struct VerdictRules {
  private let readings: [Reading]
  private let findings: [Finding]
  private let success: Success?
  private let goal: DiagnosisGoal
  private let context: Reading.Context

  static func conclude(_ goal: DiagnosisGoal, _ findings: [Finding], _ readings: [Reading]) -> Conclusion {
    VerdictRules(
      readings: readings, findings: findings, success: Success(of: goal, in: findings), goal: goal,
      context: Reading.Context(findings)
    ).conclusion
  }

  private var conclusion: Conclusion {
    if findings.isEmpty { return .unknown(.nothingFound) }
    if let success { return conclude(success) }
    let broken = brokenFamily
    if let broken, areNamesAskedOnly(by: broken.family) { return familyBroken(broken) }
    if let portal, let charge = portal.charge { return .wrong(charge, Conclusion.Ground(reading: portal)) }
    let counting = faults.filter { fault in
      guard let family = fault.family else { return true }
      return !workingFamilies.contains { $0 != family }
    }
    if let first = nearest(counting) {
      if let charge = first.charge {
        return .wrong(charge, Conclusion.Ground(reading: first, beside: broken.flatMap { $0 == first ? nil : $0 }))
      }
      return .unknown(.doubt(first))
    }
    if let broken { return familyBroken(broken) }
    return doubts
  }

  // MARK: What was asked for has succeeded

  private func conclude(_ success: Success) -> Conclusion {
    // If the proxy leads there, nothing else has to.
    if case .proxy = success.kind, readings.allSatisfy({ $0.kind != .http || !$0.isFault }) { return .works(success) }
    let isProven = readings.contains { $0.kind == .tls && $0.outcome == .ok }
    var suspects: [(reading: Reading, charge: Charge, family: IPAddress.Family?)] = []
    for reading in readings {
      guard let charge = reading.charge, !isAbsence(reading), reading.kind != .beyond else { continue }
      // If a certificate proves who answered, the name led to the right place, however the name server came to it.
      if isProven, charge.cause == .nameHijacked { continue }
      if reading.isFault, let family = reading.family, workingFamilies.contains(where: { $0 != family }) {
        // Others of the family answer: it is the target's address that is dead.
        let isDead = reading.kind == .connect && context.answeredBeyond.contains(family)
        suspects.append((reading, isDead ? Charge(.addressDead, nil) : Charge(.familyBroken, charge.proof), family))
      } else {
        suspects.append((reading, charge, nil))
      }
    }
    guard let first = suspects.min(by: { $0.reading.position < $1.reading.position }) else { return .works(success) }
    var ground = Conclusion.Ground(reading: first.reading, success: success)
    if first.charge.cause == .familyBroken { ground.brokenFamily = first.family }
    // What this machine's own kernel or files say is so, whatever else succeeds; all else is in doubt.
    let isOwn = first.reading.kind == .proxy || first.charge.cause == .familyBroken
    return .wrong(isOwn ? first.charge : first.charge.inDoubt, ground)
  }

  // MARK: Families

  private var faults: [Reading] { readings.filter(\.isFault) }

  /// The families that have findings of their own, and no fault in them.
  private var workingFamilies: Set<IPAddress.Family> {
    let families = Set(readings.compactMap(\.family))
    return families.filter { family in !readings.contains { $0.family == family && $0.isFault } }
  }

  /// Whether a fault only says that this machine does not use the family.
  private func isAbsence(_ reading: Reading) -> Bool {
    guard reading.family != nil, case .kernel(let kernel) = reading.finding else { return false }
    guard workingFamilies.contains(where: { $0 != reading.family }) else { return false }
    switch kernel.result {
    case .address(.missing), .address(.linkLocal), .route(.missing), .link(.missing), .source(.missing): return true
    default: return false
    }
  }

  /// The first fault of a family that this machine uses, while another family works.
  private var brokenFamily: Reading? {
    faults.first { fault in
      guard let family = fault.family else { return false }
      return !isAbsence(fault) && !workingFamilies.contains(family) && !workingFamilies.isEmpty
    }
  }

  private func familyBroken(_ reading: Reading) -> Conclusion {
    .wrong(
      Charge(.familyBroken, reading.charge?.proof),
      Conclusion.Ground(reading: reading, brokenFamily: reading.family))
  }

  /// Whether all name servers are in one family, and none has answered: then that family is the reason.
  private func areNamesAskedOnly(by family: IPAddress.Family?) -> Bool {
    for case .name(let name) in findings where !name.servers.isEmpty && name.addresses.isEmpty {
      return name.servers.allSatisfy { !$0.hasAnswered && $0.address.family == family }
    }
    return false
  }

  // MARK: The nearest cause

  /// A portal that answers in the site's place explains the reset, the certificate and the address.
  private var portal: Reading? {
    guard let portal = readings.first(where: { $0.meaning == .site(.impostor) }) else { return nil }
    let explained: Set<DiagnosisCause> = [.refused, .tlsCertificate, .nameHijacked, .siteFault, .captivePortal]
    return faults.allSatisfy { fault in
      isAbsence(fault) || fault.charge.map { explained.contains($0.cause) } ?? false
    } ? portal : nil
  }

  /// The nearest fault. If each family has one, the family that came further counts: the other one may not be in use.
  private func nearest(_ faults: [Reading]) -> Reading? {
    let ofFamilies = [IPAddress.Family.ipv4, .ipv6].compactMap { family in
      faults.filter { $0.family == family }.min { $0.position < $1.position }
    }
    let furthest = ofFamilies.map(\.position).max().flatMap { position in
      ofFamilies.first { $0.position == position }
    }
    let common = faults.filter { $0.family == nil }.min { $0.position < $1.position }
    guard let furthest, let common else { return furthest ?? common }
    return common.position < furthest.position ? common : furthest
  }

  // MARK: No fault and no success

  private var doubts: Conclusion {
    if let doubt = readings.first(where: { $0.outcome == .doubtful && $0.charge != nil }), let charge = doubt.charge {
      return .wrong(charge.inDoubt, Conclusion.Ground(reading: doubt))
    }
    for reading in readings {
      if case .unasked(let kind, _, .timeIsUp) = reading.finding { return .unknown(.timeIsUp(kind)) }
      if reading.meaning == .name(.hurried) || reading.meaning == .connection(.hurried) {
        return .unknown(.timeIsUp(reading.kind))
      }
    }
    if let open = readings.first(where: { $0.kind == .neighbour && $0.outcome == .doubtful }) {
      return .unknown(.doubt(open))
    }
    if goal == .internet {
      let wasAsked = findings.contains { if case .beyond(let beyond) = $0 { !beyond.questions.isEmpty } else { false } }
      return .unknown(.beyondUnknown(wasAsked: wasAsked))
    }
    return .unknown(.untried)
  }
}

extension DiagnosisVerdict {
  /// Judges findings by the rules of every diagnosis. Pure.
  ///
  /// - Parameters:
  ///   - target: What was asked about, as text.
  ///   - goal: What would have to succeed.
  ///   - findings: What was found.
  ///   - elapsed: How long it took.
  public init(of target: String, goal: DiagnosisGoal, findings: [Finding], elapsed: Duration = .zero) {
    let order = findings.enumerated().sorted { a, b in
      (a.element.position, a.offset) < (b.element.position, b.offset)
    }
    let sorted = order.map(\.element)
    let readings = Reading.readings(sorted)
    let conclusion = VerdictRules.conclude(goal, sorted, readings)
    let words = Words(target: target, goal: goal, readings: readings).verdict(conclusion)
    switch conclusion {
    case .works(let success): self.init(target, nil, success, words, sorted, elapsed)
    case .wrong(let charge, _): self.init(target, charge, nil, words, sorted, elapsed)
    case .unknown: self.init(target, nil, nil, words, sorted, elapsed)
    }
  }
}

extension Finding {
  /// Where it stands on the way of a packet: findings come in any order.
  var position: Int {
    let kind: DiagnosisStep.Kind =
      switch self {
      case .history: .history
      case .kernel(let kernel):
        switch kernel.result {
        case .link: .link
        case .address: .address
        case .rule: .rule
        case .route: .route
        case .source: .source
        case .neighbour: .neighbour
        }
      case .tunnel: .tunnel
      case .beyond: .beyond
      case .name: .name
      case .connection: .connect
      case .largePackets, .site: .pathMTU
      case .proxy: .proxy
      case .unasked(let kind, _, _): kind
      }
    return DiagnosisStep.Kind.all.firstIndex(of: kind) ?? DiagnosisStep.Kind.all.count
  }
}
