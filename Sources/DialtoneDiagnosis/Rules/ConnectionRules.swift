// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// What is said of connections to the target in one family, by the attempt that tells most.
enum ConnectionMeaning: Hashable, Sendable {
  case untried
  case hurried
  case accepted(milliseconds: Double)
  case addressesDead(working: IPAddress, dead: [IPAddress])
  case unreliable(failures: Int, of: Int)
  case refused
  /// Something on this machine listens there, and yet this machine refuses.
  case refusedBefore
  case statement(NetworkStatement)
  case forbidden
  case neverLeaves
  case answersDropped
  /// This machine itself, where something listens and takes connections, says nothing.
  case dropped
  case otherWay(interface: String)
  case cannotSend(errno: Int32)
  case gatewaySilent(IPAddress)
  case hostAbsent(IPAddress)
  case tunnelSilent(String)
  case silent
}

/// The rule about connections to the target in one family. Pure.
enum ConnectionRules {
  static func read(_ finding: ConnectionFinding) -> Reading {
    let ((meaning, outcome, cause), attempt) = judge(finding)
    let charge = cause.map { Charge($0, attempt.flatMap { DiagnosisProof(finding, $0) }) }
    return Reading(.connection(finding), outcome, .connection(meaning, attempt), charge: charge)
  }

  /// What an ICMP message about a packet to an address is the sign of.
  static func cause(of statement: NetworkStatement, from address: IPAddress) -> DiagnosisCause {
    let isOfItself = statement.sender.bits == address.bits
    return switch statement.meaning {
    case .prohibited: .prohibited
    case .lifetimeEnded: .routingLoop
    case .portUnreachable, .protocolUnreachable: isOfItself ? .refused : .prohibited
    // Who says so of itself may lead connections on to another host, which is off. A router that has no address of the
    // Internet is no neighbour of a host there: it is its own next router that it does not find.
    case .hostUnreachable: !statement.sender.isPublic && address.isPublic ? .routerNoRoute : .hostAbsent
    case .networkUnreachable: isOfItself ? .prohibited : .routerNoRoute
    case .tooLarge: .pathMTU
    case .other: .prohibited
    }
  }

  private typealias Attempt = ConnectionFinding.Attempt
  private typealias Judgement = (ConnectionMeaning, DiagnosisStep.Outcome, DiagnosisCause?)

  private static func judge(_ finding: ConnectionFinding) -> (Judgement, Attempt?) {
    if let working = finding.attempts.first(where: \.isAccepted) { return judge(finding, beside: working) }
    guard let attempt = finding.attempts.max(by: { weight($0) < weight($1) }) else {
      return ((.untried, .skipped, nil), nil)
    }
    return (judge(finding, attempt), attempt)
  }

  private static func judge(_ finding: ConnectionFinding, _ attempt: Attempt) -> Judgement {
    switch attempt.outcome {
    case .accepted(let milliseconds): return (.accepted(milliseconds: milliseconds), .ok, nil)
    case .reset:
      // A reset that did not come from outside is this machine's.
      if attempt.sight?.hasReturned == false, !finding.isOwn { return (.forbidden, .fault, .localFirewall) }
      return finding.hasListener(for: attempt) ? (.refusedBefore, .fault, .localFirewall) : (.refused, .fault, .refused)
    case .refused(let statement): return judge(finding, attempt, statement)
    // Netfilter's verdict on a segment does not come to connect(2): it is a policy of IPsec, or BPF, that forbids it,
    // unless a filter of system calls does.
    case .failed(EPERM) where !finding.hasCallFilter: return (.forbidden, .fault, .localFirewall)
    case .failed(let errno): return (.cannotSend(errno: errno), .fault, causes[errno])
    case .silent: return judgeSilence(finding, attempt)
    }
  }

  /// What the system's refusal is the sign of. Other errors are about this machine, such as a lack of ports.
  private static let causes: [CInt: DiagnosisCause] = [
    EPERM: .denied, EAFNOSUPPORT: .denied, ENETUNREACH: .noRoute, EHOSTUNREACH: .noRoute,
    // A rule that prohibits, perhaps by what the kernel was not asked about, such as the port that packets come from.
    EACCES: .ruleRefuses,
  ]

  /// What a family with a connection has beside it.
  private static func judge(_ finding: ConnectionFinding, beside working: Attempt) -> (Judgement, Attempt) {
    for attempt in finding.attempts {
      let failures = attempt.tries.count { !$0.isAccepted }
      if failures > 0, failures < attempt.tries.count {
        return ((.unreliable(failures: failures, of: attempt.tries.count), .doubtful, .unreliable), attempt)
      }
    }
    var known = Set(finding.attempts.filter(\.isAccepted).map(\.address))
    let dead = finding.attempts.filter { known.insert($0.address).inserted }
    // Not dead is what this machine, or somebody on the way, keeps from it.
    if let attempt = dead.first(where: \.isForbidden) {
      let (meaning, _, cause) = judge(finding, attempt)
      return ((meaning, .doubtful, cause), attempt)
    }
    if dead.isEmpty { return (judge(finding, working), working) }
    let addresses = dead.map(\.address)
    return ((.addressesDead(working: working.address, dead: addresses), .doubtful, .addressDead), working)
  }

  private static func judge(
    _ finding: ConnectionFinding, _ attempt: Attempt, _ statement: NetworkStatement
  ) -> Judgement {
    if !statement.isOwn { return (.statement(statement), .fault, cause(of: statement, from: attempt.address)) }
    // What a route to this machine itself leads to. Of what a router was to get, a filter says so.
    let isNoWay = statement.meaning == .networkUnreachable && finding.gateway == nil
    if isNoWay { return (.statement(statement), .fault, .noRoute) }
    // The kernel says so if nobody answers on the link (RFC 1122, 3.2.2.1; RFC 4861, 7.2.2).
    return statement.meaning == .hostUnreachable && finding.isNeighbourFailed
      ? neighbourSilent(finding, attempt) : (.forbidden, .fault, .localFirewall)
  }

  private static func neighbourSilent(_ finding: ConnectionFinding, _ attempt: Attempt) -> Judgement {
    finding.gateway.map { (.gatewaySilent($0), .fault, .gatewaySilent) }
      ?? (.hostAbsent(attempt.address), .fault, .hostAbsent)
  }

  private static func judgeSilence(_ finding: ConnectionFinding, _ attempt: Attempt) -> Judgement {
    // Where it cannot be seen, datagrams tell. What waits for the neighbour's answer has not left yet.
    let hasLeft = attempt.sight?.hasLeft ?? !finding.isDatagramForbidden
    if !hasLeft, !finding.isHurried || finding.isDatagramForbidden { return (.neverLeaves, .fault, .localFirewall) }
    if let other = attempt.sight?.otherWay { return (.otherWay(interface: other), .fault, .localFirewall) }
    if attempt.sight?.hasReturned == true { return (.answersDropped, .fault, .localFirewall) }
    if finding.isNeighbourFailed { return neighbourSilent(finding, attempt) }
    if finding.isHurried { return (.hurried, .skipped, nil) }
    // Where nothing listens the kernel refuses.
    if finding.isOwn, finding.listeners?.isEmpty == true || finding.hasListener(for: attempt) {
      return (.dropped, .fault, .localFirewall)
    }
    if let tunnel = finding.tunnel, !finding.hasTunnelAnswered { return (.tunnelSilent(tunnel), .fault, .tunnelSilent) }
    return (.silent, .fault, .silent)
  }

  /// How much an attempt says: a refusal says more than silence.
  private static func weight(_ attempt: Attempt) -> Int {
    switch attempt.outcome {
    case .refused: 3
    case .reset: 2
    case .failed: 1
    default: 0
    }
  }
}

/// What is said of what lies beyond the router.
enum BeyondMeaning: Hashable, Sendable {
  case answers(IPAddress)
  /// It answers a question, and connections fail, or may.
  case answersAlone(IPAddress, BeyondFinding.Connection)
  /// It answers, and something near stops connections to the port of sites.
  case stopsSites(IPAddress, ConnectionFinding.Outcome)
  /// Servers of one family answer, and none of the other.
  case answersInPart(IPAddress, silent: IPAddress.Family)
  /// Somebody on the way answers in a root server's place.
  case intercepted
  /// A router says that it has no way.
  case routerSays(NetworkStatement)
  /// This machine lets no question out.
  case forbidden
  /// Nothing beyond answers, no matter what was asked.
  case nothing
  case tunnelSilent(String)
  /// The root servers do not answer, and others beyond the router do: a filter of questions may be why.
  case others(IPAddress)
  /// Nothing behind the last router that answers says anything, names included.
  case cutBehind(IPAddress)
  /// The root servers do not answer, and that alone says nothing.
  case silent
  case untried
}

/// The rule about what lies beyond the router. Pure.
enum BeyondRules {
  /// What a router has said of a question or a connection, and to whom that went.
  private static func refusal(_ finding: BeyondFinding) -> (NetworkStatement, IPAddress)? {
    for question in finding.questions {
      if case .refused(let statement) = question.outcome, !statement.isOwn { return (statement, question.server) }
    }
    guard case .refused(let statement)? = finding.trace, let first = finding.questions.first else { return nil }
    return (statement, first.server)
  }

  static func read(_ finding: BeyondFinding, _ context: Reading.Context) -> Reading {
    let (meaning, outcome, cause) = judge(finding, context)
    return Reading(.beyond(finding), outcome, .beyond(meaning), charge: cause.map { Charge($0, nil) })
  }

  /// Whether a root server seems to say that nobody there answers questions: who leads them elsewhere says so.
  private static func isRedirected(_ question: BeyondFinding.Question) -> Bool {
    guard case .refused(let statement) = question.outcome, !statement.isOwn else { return false }
    return statement.meaning == .portUnreachable && statement.sender.bits == question.server.bits
  }

  private static func cause(of connection: BeyondFinding.Connection) -> DiagnosisCause? {
    switch connection {
    case .answered, .otherPort, .leadsOn: nil
    case .nothing, .silent: .silent
    case .largeVanishes: .pathMTU
    case .reset: .prohibited
    case .held: .localFirewall
    case .unsteady: .unreliable
    }
  }

  private static func judge(
    _ finding: BeyondFinding, _ context: Reading.Context
  ) -> (BeyondMeaning, DiagnosisStep.Outcome, DiagnosisCause?) {
    if let answer = finding.questions.first(where: { $0.outcome == .answer }) {
      // Something on the way says so: the packet has not come to its target.
      if let stop = finding.stopsSites {
        let cause: DiagnosisCause =
          switch stop {
          case .failed: .localFirewall
          case .silent: .silent
          case .refused(let statement): ConnectionRules.cause(of: statement, from: answer.server)
          default: .prohibited
          }
        return (.stopsSites(answer.server, stop), .doubtful, cause)
      }
      if let connection = finding.connection, ![.answered, .otherPort].contains(connection) {
        return (.answersAlone(answer.server, connection), .doubtful, cause(of: connection))
      }
      let silent = finding.questions.first { question in
        question.server.family != answer.server.family && (question.isLost || question.isForbidden)
      }
      return silent.map { (.answersInPart(answer.server, silent: $0.server.family), .doubtful, .familyBroken) }
        ?? (.answers(answer.server), .ok, nil)
    }
    if finding.questions.isEmpty { return (.untried, .skipped, nil) }
    if finding.questions.contains(where: { $0.outcome == .forged || isRedirected($0) }) {
      // Port 53 leads to somebody else: what lies beyond was not asked.
      return (.intercepted, .doubtful, nil)
    }
    if let (statement, target) = refusal(finding) {
      let cause = ConnectionRules.cause(of: statement, from: target)
      // A filter of port 53 alone is no fault of what was asked for: connections get beyond it.
      let leadsOn = finding.trace.map { if case .leadsOn = $0 { true } else { false } }
      let isBlamed =
        !context.hasAnswerFromBeyond && leadsOn != true
        && (cause != .prohibited || context.hasSilenceBeyond || leadsOn == false)
      guard isBlamed else { return (.routerSays(statement), .doubtful, nil) }
      return (.routerSays(statement), .fault, cause == .hostAbsent ? .routerNoRoute : cause)
    }
    if finding.questions.allSatisfy(\.isHeld) {
      // A filter of port 53 alone is no fault of what was asked for, unless nothing else gets out either, or a name
      // server of this machine has nobody else to ask.
      let isAlone = finding.trace == nil ? context.hasSilenceBeyond : finding.trace == .silent
      let isWall = finding.questions.allSatisfy(\.isForbidden) && (isAlone || context.areNamesLostHere)
      return isWall && !context.hasAnswerFromBeyond
        ? (.forbidden, .fault, .localFirewall) : (.forbidden, .doubtful, nil)
    }
    // If the router is silent, so is all behind it.
    if context.hasAnswerFromBeyond || context.isRouterSilent { return (.silent, .doubtful, nil) }
    if case .leadsOn(let last)? = finding.trace {
      // A filter of questions does not explain that no name server of this machine's finds anything out either.
      let isCut = context.areNamesLost && !finding.questions.contains { $0.server == last }
      return isCut ? (.cutBehind(last), .fault, .uplinkDown) : (.others(last), .doubtful, nil)
    }
    if let tunnel = context.tunnel { return (.tunnelSilent(tunnel), .fault, .tunnelSilent) }
    let isNothing = context.hasSilenceBeyond || finding.trace == .silent
    return isNothing ? (.nothing, .fault, .uplinkDown) : (.silent, .doubtful, nil)
  }
}
