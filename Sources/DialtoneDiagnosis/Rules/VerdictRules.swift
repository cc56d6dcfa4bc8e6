// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

enum Conclusion: Hashable, Sendable {
  /// What was asked for succeeded, and nothing contradicts.
  case works(Success)
  /// This is the nearest cause.
  case wrong(Charge, Ground)
  /// No cause was found.
  case unknown(Unknown)

  var success: Success? { if case .works(let success) = self { success } else { nil } }
  var charge: Charge? { if case .wrong(let charge, _) = self { charge } else { nil } }

  /// Why a cause is the nearest.
  struct Ground: Hashable, Sendable {
    /// The reading that names it.
    let reading: Reading
    /// A family that does not work beside one that does; `nil` if that is not the matter.
    var brokenFamily: IPAddress.Family?
    /// The reading of a family that does not work either.
    var beside: Reading?
    /// What was asked for, if it succeeded in spite of it.
    var success: Success?
  }

  /// Why no cause was found.
  enum Unknown: Hashable, Sendable {
    case nothingFound
    case timeIsUp(DiagnosisStep.Kind)
    /// Nobody beyond the router was asked, or nobody answered, and that alone tells nothing.
    case beyondUnknown(wasAsked: Bool)
    /// Something is odd, and no cause follows from it.
    case doubt(Reading)
    /// What was asked for was not tried, and nothing says why.
    case untried
  }
}

/// The rules that turn findings into a conclusion: the nearest cause counts, not the loudest. Pure; they read no text.
struct VerdictRules {
  private let readings: [Reading]
  private let findings: [Finding]
  private let success: Success?
  private let goal: DiagnosisGoal
  private let context: Reading.Context

  static func conclude(_ goal: DiagnosisGoal, _ findings: [Finding], _ readings: [Reading]) -> Conclusion {
    let isByProxy = findings.proxy(.delivers) != nil
    // A proxy that leads to the site takes the place of the way there, and one that may lead to the Internet, too.
    let mayBeByProxy = goal == .internet && findings.proxy(.connects) != nil
    let counting: Set<DiagnosisStep.Kind> =
      isByProxy ? [.proxy, .pathMTU, .tls, .http] : mayBeByProxy ? [.proxy, .portal, .beyond] : []
    return VerdictRules(
      readings: counting.isEmpty ? readings : readings.filter { counting.contains($0.kind) },
      findings: findings, success: Success(of: goal, in: findings), goal: goal, context: Reading.Context(findings)
    ).conclusion
  }

  private var conclusion: Conclusion {
    if findings.isEmpty { return .unknown(.nothingFound) }
    if let success { return conclude(success) }
    // A portal that answers in others' place explains everything behind it.
    let portal = readings.first { $0.kind == .portal && $0.isFault }
    if let portal, let charge = portal.charge { return .wrong(charge, Conclusion.Ground(reading: portal)) }
    let broken = brokenFamily
    if let broken, areNamesAskedOnly(by: broken.family) { return familyBroken(broken) }
    let counting = faults.filter { fault in
      guard let family = fault.family else { return true }
      let isNamePartial = findings.contains { $0.name?.isPartial(beside: family) == true }
      if isMissing(fault), isNamePartial || isAnotherInUse(family) { return false }
      return !workingFamilies.contains { $0 != family }
    }
    // That a name is lost at times does not explain what fails each time.
    let isNameLost = counting.contains {
      $0.finding.name?.isLostAtTimes == true && [.unreliable, .nameServerSilent].contains($0.charge?.cause)
    }
    let steady = counting.filter { $0.kind != .name && ![.unreliable, nil].contains($0.charge?.cause) }
    if var first = nearest(isNameLost ? steady : []) ?? nearest(counting) {
      // If it is only that nothing behind the router answered.
      if [.name(.silent), .beyond(.nothing), .beyond(.silent)].contains(first.meaning) {
        if let router = unansweringRouter {
          return .wrong(Charge(.gatewaySilent, nil), Conclusion.Ground(reading: router))
        }
        // A router limits how often it says so (icmp_ratelimit), so other questions may get no answer.
        first = counting.first { [.routerNoRoute, .prohibited].contains($0.charge?.cause) } ?? first
      }
      for beyond in readings {
        guard case .beyond(.answersInPart(_, let family)) = beyond.meaning, explains(family, first) else { continue }
        return .wrong(Charge(.familyBroken, nil), Conclusion.Ground(reading: beyond, brokenFamily: family))
      }
      if var charge = first.charge {
        // The router that should have led on to the Internet is not there.
        if goal == .internet, charge.cause == .hostAbsent { charge = Charge(.gatewaySilent, nil) }
        return .wrong(
          isContradicted(first) ? charge.inDoubt : charge,
          Conclusion.Ground(reading: first, beside: broken.flatMap { $0 == first ? nil : $0 }))
      }
      return .unknown(.doubt(first))
    }
    if let broken { return familyBroken(broken) }
    return doubts
  }

  // MARK: What was asked for has succeeded

  private func conclude(_ success: Success) -> Conclusion {
    let isProven = readings.contains { $0.kind == .tls && $0.outcome == .ok }
    var suspects: [(reading: Reading, charge: Charge, family: IPAddress.Family?)] = []
    for reading in readings {
      guard let charge = reading.charge, !isAbsence(reading), !isHarmless(reading, isProven) else { continue }
      if case .beyond(.answersInPart(_, let family)) = reading.meaning {
        suspects.append((reading, charge, family))
      } else if reading.isFault, let family = reading.family, workingFamilies.contains(where: { $0 != family }) {
        if reading.kind == .connect, context.answeredBeyond.contains(family) || isOfTarget(reading) {
          // Others of the family answer: it is the target's address that is dead, or something stops packets to it.
          let isDead = [.silent, .refused, .hostAbsent].contains(charge.cause)
          suspects.append((reading, isDead ? Charge(.addressDead, nil) : charge, nil))
        } else {
          suspects.append((reading, Charge(.familyBroken, charge.proof), family))
        }
      } else {
        suspects.append((reading, charge, nil))
      }
    }
    let first = suspects.min { $0.reading.kind.position < $1.reading.kind.position }
    // Programs ask by names, too. What has become of these during the diagnosis, nobody knows.
    let lost = goal == .internet ? readings.first { $0.kind == .name && $0.isFault && $0.charge == nil } : nil
    guard let first else { return lost.map { .unknown(.doubt($0)) } ?? .works(success) }
    var ground = Conclusion.Ground(reading: first.reading, success: success)
    if first.charge.cause == .familyBroken { ground.brokenFamily = first.family }
    // What this machine's own kernel or files say is so, even if something else succeeds. All else is in doubt.
    let isOwn = first.reading.kind == .proxy || first.charge.cause == .familyBroken
    return .wrong(isOwn ? first.charge : first.charge.inDoubt, ground)
  }

  /// Whether what was asked for succeeded in spite of it, and will.
  private func isHarmless(_ reading: Reading, _ isProven: Bool) -> Bool {
    switch reading.meaning {
    case .beyond(.answersInPart): false
    case .beyond: true
    // Programs take the addresses of the other type.
    case .name(.foundInPart(_, let reply, _)): reply != .silent
    // What the kernel does not tell has not been in the way.
    case .plain where reading.charge?.cause == .denied: true
    // A check of a site looks its name up as programs do: it only took long.
    case .name(.lostInSystem): goal == .site && reading.finding.name?.system == .silent
    // It is this machine's own, and serves what was asked for.
    case .name(.nobodysByHosts), .name(.nobodysByServer): true
    // A service of this machine may listen at one of its addresses alone: programs try the other one at once.
    case .connection(.refused, _): reading.finding.connection?.isOwn == true
    // If a certificate proves who answered, it was the site, no matter what lies on the way.
    default: isProven && [.nameHijacked, .captivePortal].contains(reading.charge?.cause)
    }
  }

  /// Whether the target itself seems to refuse connections, so that packets come to it and back.
  private func isOfTarget(_ reading: Reading) -> Bool {
    if case .connection(.refused, _) = reading.meaning { true } else { reading.isOfTarget }
  }

  // MARK: Families

  private var faults: [Reading] { readings.filter(\.isFault) }

  /// The families that have findings of their own, and no fault in them.
  private var workingFamilies: Set<IPAddress.Family> {
    let families = Set(readings.compactMap(\.family))
    return families.filter { family in
      !readings.contains { $0.family == family && ($0.isFault || $0.kind == .neighbour && $0.outcome == .doubtful) }
    }
  }

  /// Whether this machine uses another family, whose router may not have answered yet. Then a family that is not set up
  /// is no cause.
  private func isAnotherInUse(_ family: IPAddress.Family?) -> Bool {
    readings.contains { reading in
      guard case .route(.leads)? = reading.finding.kernel?.result else { return false }
      return reading.family != family && !faults.contains { $0.family == reading.family && isMissing($0) }
    }
  }

  /// Whether a fault only says that this machine does not use the family.
  private func isAbsence(_ reading: Reading) -> Bool {
    isMissing(reading) && (workingFamilies.contains { $0 != reading.family } || isAnotherInUse(reading.family))
  }

  /// Whether a fault says that this machine has nothing of the family.
  private func isMissing(_ reading: Reading) -> Bool {
    guard case .kernel(let kernel) = reading.finding else { return false }
    switch kernel.result {
    case .address(.missing), .address(.linkLocal), .route(.missing), .link(.missing), .source(.missing): return true
    // The link doesn't matter: nothing of the family has ever been set up.
    case .link(.fails), .link(.failsAmongOthers):
      return kernel.evidence.map { $0.route == nil && !$0.addresses.contains(where: \.isUsable) } ?? false
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
    let asked = findings.lazy.compactMap(\.name).first { !$0.servers.isEmpty && $0.addresses.isEmpty }
    return asked?.servers.allSatisfy { !$0.hasAnswered && $0.address.family == family } ?? false
  }

  /// Whether it explains a fault that nobody beyond the router answers in a family alone.
  private func explains(_ family: IPAddress.Family, _ fault: Reading) -> Bool {
    switch (fault.finding, fault.meaning) {
    // The name server on the link asks others by a family that leads nowhere.
    case (.name(let name), _):
      context.areNamesLost
        && name.servers.allSatisfy { context.gateways.contains($0.address) || $0.address.family == family }
    // The target has addresses of that family alone, and nobody answers in it.
    case (_, .connection(.silent, _)): fault.family == family
    default: false
    }
  }

  // MARK: The nearest cause

  /// A router that has not answered so far, if none has, or one of several that share the packets. The kernel begins to
  /// ask anew with each packet, and is sure only after three seconds.
  private var unansweringRouter: Reading? {
    readings.first { reading in
      if case .neighbour(.asked(_, true))? = reading.finding.kernel?.result { return context.isRouterSilent }
      return reading.outcome == .doubtful && reading.charge?.cause == .gatewaySilent
    }
  }

  /// Whether a connection was made although a fault stands before it: then the fault cannot be all there is.
  private func isContradicted(_ fault: Reading) -> Bool {
    readings.contains { reading in
      reading.kind == .connect && reading.outcome == .ok && rank(fault) < rank(reading)
        && (fault.family == nil || fault.family == reading.family)
    }
  }

  /// Which of two faults is nearer: they stand in the order of a packet's way, and a proxy comes before names and the
  /// target, as programs ask it in their place.
  private func rank(_ fault: Reading) -> Int {
    func rank(_ kind: DiagnosisStep.Kind) -> Int { 3 * kind.position }
    switch (fault.finding, fault.meaning) {
    case (.proxy(let proxy), _): return proxy.outcome == .unresolved ? rank(.name) + 1 : rank(.beyond) + 1
    // What may be wrong with the source address is of no matter if the router is not there.
    case _ where fault.isForeignSource: return rank(.beyond) + 1
    case (_, .connection(.gatewaySilent, _)): return rank(.neighbour)
    // That this machine has no way to a name server is its own matter.
    case (_, .name(.only(.noWay, _))): return rank(.route)
    // What this machine keeps back has not come to a router.
    case (_, .name(.only(.forbidden, _))), (_, .connection(.forbidden, _)), (_, .connection(.neverLeaves, _)):
      return rank(.neighbour) + 1
    // A network that lets nothing but its proxy through is silent otherwise, as one is whose name server lies until
    // somebody logs in.
    case (_, .beyond(.nothing)): return rank(.beyond) + 2
    case (_, .name) where fault.charge?.cause == .nameHijacked: return rank(.beyond) + 1
    default: return rank(fault.kind)
    }
  }

  /// The nearest fault. If each family has one, that of a family in use counts, and the one that came further.
  private func nearest(_ faults: [Reading]) -> Reading? {
    let ofFamilies = [IPAddress.Family.ipv4, .ipv6].compactMap { family in
      faults.filter { $0.family == family }.min { rank($0) < rank($1) }
    }
    let furthest = ofFamilies.max { (isMissing($0) ? 0 : 1, rank($0)) < (isMissing($1) ? 0 : 1, rank($1)) }
    let common = faults.filter { $0.family == nil }.min { rank($0) < rank($1) }
    guard let furthest, let common else { return furthest ?? common }
    return rank(common) < rank(furthest) ? common : furthest
  }

  // MARK: No fault and no success

  /// What had not answered when the time was up. Of several, what the others, or the success, waited for.
  private var awaited: DiagnosisStep.Kind? {
    let open = readings.filter { reading in
      switch (reading.finding, reading.meaning) {
      case (.unasked(_, _, .timeIsUp), _), (_, .name(.hurried)), (_, .connection(.hurried, _)): true
      default: false
      }
    }.map(\.kind)
    let order: [DiagnosisStep.Kind] =
      goal == .internet ? [.beyond, .name] : [.name, .connect, .http, .tls, .beyond, .portal]
    return order.first(where: open.contains) ?? open.first
  }

  private var doubts: Conclusion {
    if let doubt = readings.first(where: { $0.outcome == .doubtful && $0.charge != nil }), let charge = doubt.charge {
      return .wrong(charge.inDoubt, Conclusion.Ground(reading: doubt))
    }
    if let awaited { return .unknown(.timeIsUp(awaited)) }
    let open = readings.first { reading in
      if case .beyond(.answersAlone) = reading.meaning { return true }
      return [.neighbour, .connect, .proxy].contains(reading.kind) && reading.outcome == .doubtful
    }
    if let open { return .unknown(.doubt(open)) }
    if goal == .internet {
      let wasAsked = findings.contains { if case .beyond(let beyond) = $0 { !beyond.questions.isEmpty } else { false } }
      return .unknown(.beyondUnknown(wasAsked: wasAsked))
    }
    return .unknown(.untried)
  }
}
