// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// What is said of the target's name.
enum NameMeaning: Hashable, Sendable {
  case literal
  case found
  /// It has an address, and a server before does not answer.
  case foundBehind(silent: IPAddress)
  /// It has an address, and the server does not answer for records of a type.
  case foundInPart(server: IPAddress, NameFinding.Reply, lacksIPv6: Bool)
  /// The same question fails at one time, and not at another.
  case unreliable(NameFinding.Unsteady)
  /// The server also gives an address to a name that cannot exist.
  case foundByLiar(server: IPAddress, control: [IPAddress])
  case serversAnswer
  case oneServerSilent(IPAddress)
  /// hosts(5) has an address that is nobody's.
  case nobodysByHosts
  case nobodysByServer(IPAddress)
  case hijacked(server: IPAddress)
  /// A root server's name has none of its addresses.
  case untrue
  case unknown(server: IPAddress, exists: Bool)
  case unknownToFirst(IPAddress, knownTo: IPAddress)
  /// nsswitch.conf(5) has programs ask no name server, or not even hosts(5).
  case neverAsked
  /// Servers know it, and programs get no answer.
  case lostInSystem(server: IPAddress, milliseconds: Double?)
  /// No address came, and this from a server, or in its place.
  case only(NameFinding.Reply, of: IPAddress)
  /// This user may not read resolv.conf(5).
  case unreadable
  case noServer
  case silent
  /// It answers for another name.
  case silentOfName(IPAddress)
  case hurried
}

/// The rule about the target's name. Pure.
enum NameRules {
  /// `gateways` are the routers of this machine. `isBeyondHeard`: whether somebody beyond them has answered.
  static func read(_ finding: NameFinding, gateways: Set<IPAddress> = [], isBeyondHeard: Bool = false) -> Reading {
    var (meaning, outcome, cause) = judge(finding)
    if case .only(.refused(let statement), _) = meaning {
      // This machine's own router finds nobody to hand its packets on to.
      if statement.meaning == .hostUnreachable, gateways.contains(statement.sender) { cause = .routerNoRoute }
      // The way on is there: it is this server that nobody knows a way to.
      if cause == .routerNoRoute, isBeyondHeard { cause = .nameServerSilent }
    }
    let charge: Charge? =
      if case .only(.noWay(let fault), _) = meaning {
        // What stops the question is what the kernel says of it.
        Reading.readings([.kernel(fault)]).first?.charge
      } else {
        cause.map { Charge($0, DiagnosisProof(finding)) }
      }
    return Reading(.name(finding), outcome, .name(meaning), charge: charge)
  }

  private typealias Server = NameFinding.Server
  private typealias Judgement = (NameMeaning, DiagnosisStep.Outcome, DiagnosisCause?)

  private static func judge(_ finding: NameFinding) -> Judgement {
    if finding.name == RootServers.name, !finding.addresses.contains(where: RootServers.isFirst) {
      if !finding.addresses.isEmpty { return (.untrue, .fault, .nameHijacked) }
      // It may have names of its own, for a network without the Internet's.
      if finding.servers.contains(where: \.saysUnknown) { return (.untrue, .fault, nil) }
    }
    if let unsteady = finding.unsteady { return (.unreliable(unsteady), .fault, .unreliable) }
    switch finding.source {
    case .literal: return (.literal, .skipped, nil)
    case .none: return (.neverAsked, .fault, .nameWrong)
    case .hosts where finding.system == .failed: return (.neverAsked, .fault, .nameWrong)
    case .hosts:
      return finding.addresses.allSatisfy(\.isUnspecified) ? (.nobodysByHosts, .fault, .nameWrong) : (.found, .ok, nil)
    case .system:
      guard finding.isLate, let silent = finding.servers.first else { return (.found, .ok, nil) }
      return (.foundBehind(silent: silent.address), .doubtful, .nameServerSilent)
    case .dns: break
    }
    let servers = finding.servers
    let silent = servers.filter(\.isSilent)
    if finding.isRootOnly {
      // The root exists: a server that denies it knows no name.
      if servers.contains(where: { $0.hasAnswered && !$0.saysNo && $0.ipv4?.code != .nameError }) {
        return silent.first.map { (.oneServerSilent($0.address), .doubtful, .nameServerSilent) }
          ?? (.serversAnswer, .ok, nil)
      }
    } else if let found = servers.first(where: { !$0.addresses.isEmpty }) {
      return judge(finding, found, silent)
    }
    return judgeUnfound(finding, silent)
  }

  private static func judge(_ finding: NameFinding, _ found: Server, _ silent: [Server]) -> Judgement {
    let control = found.control?.addresses ?? []
    let comparable = found.addresses.filter { $0.family == control.first?.family }
    if !comparable.isEmpty, comparable.allSatisfy(control.contains) {
      return (.hijacked(server: found.address), .fault, .nameHijacked)
    }
    if found.addresses.allSatisfy(\.isUnspecified) { return (.nobodysByServer(found.address), .fault, .nameWrong) }
    if let no = finding.denier, let code = no.denial {
      if !no.saysUnknown { return (.only(.answer(code, []), of: no.address), .fault, .nameServerRefuses) }
      return (.unknownToFirst(no.address, knownTo: found.address), .fault, finding.rotates ? .unreliable : .nameUnknown)
    }
    // Silent servers and types explain by themselves why programs wait.
    let lacking = [found.ipv4, found.ipv6].compactMap(\.self).first { $0.isUseless && $0.addresses.isEmpty }
    let isLate = finding.system == .silent && silent.isEmpty && !found.replies.contains(.silent)
    // It is said only seldom that nobody listens there, and programs wait meanwhile.
    let closed = isLate ? finding.servers.prefix(1).first { !$0.hasAnswered } : nil
    if isLate && closed == nil || finding.system == .failed {
      // The resolver waits a second at least (resolv.conf(5)): what is as quick it has got.
      let isWrong = finding.system == .failed && found.milliseconds ?? 0 < 1_000
      let meaning = NameMeaning.lostInSystem(server: found.address, milliseconds: found.milliseconds)
      return (meaning, .fault, isWrong ? .nameWrong : .nameServerSilent)
    }
    if let late = closed ?? silent.first { return (.foundBehind(silent: late.address), .doubtful, .nameServerSilent) }
    if let lacking {
      let meaning = NameMeaning.foundInPart(server: found.address, lacking, lacksIPv6: found.ipv6 == lacking)
      return (meaning, .doubtful, lacking == .silent ? .nameServerSilent : .nameServerRefuses)
    }
    if !control.isEmpty { return (.foundByLiar(server: found.address, control: control), .doubtful, nil) }
    return (.found, .ok, nil)
  }

  /// What an ICMP message about a question to a name server is the sign of.
  private static func cause(of statement: NetworkStatement, from server: IPAddress) -> DiagnosisCause {
    switch ConnectionRules.cause(of: statement, from: server) {
    case .refused: .nameServerRefuses
    // Nobody has the address, so that nobody answers there.
    case .hostAbsent: .nameServerSilent
    case let other: other
    }
  }

  private static func judgeUnfound(_ finding: NameFinding, _ silent: [Server]) -> Judgement {
    let servers = finding.servers
    if finding.isForbidden { return (.unreadable, .fault, .denied) }
    if let unknown = servers.first(where: \.saysUnknown), !finding.isRootOnly {
      let exists = unknown.knowsAlias || unknown.replies.allSatisfy { $0.code != .nameError }
      return (.unknown(server: unknown.address, exists: exists), .fault, .nameUnknown)
    }
    if let long = servers.first(where: \.needsTCP) {
      return (.only(.truncated, of: long.address), .fault, .nameServerSilent)
    }
    if let no = servers.first(where: { $0.saysNo || finding.isRootOnly && $0.hasAnswered }),
      let code = no.replies.compactMap(\.code).first(where: { $0 != .success || finding.isRootOnly })
    {
      return (.only(.answer(code, []), of: no.address), .fault, .nameServerRefuses)
    }
    for reply in [NameFinding.Reply.forbidden, .dropped] {
      guard let first = servers.first, servers.allSatisfy({ $0.replies.contains(reply) }) else { continue }
      return (.only(reply, of: first.address), .fault, .localFirewall)
    }
    if let wrong = servers.first(where: { $0.replies.contains(.mismatched) }) {
      return (.only(.mismatched, of: wrong.address), .fault, .nameServerRefuses)
    }
    // If one cannot be asked and another is silent, programs wait for the silent one.
    if silent.isEmpty {
      for (server, reply) in servers.flatMap({ server in server.replies.map { (server.address, $0) } }) {
        switch reply {
        case .noWay: return (.only(reply, of: server), .fault, nil)
        case .refused(let statement):
          return (.only(reply, of: server), .fault, cause(of: statement, from: server))
        case .failed(let errno):
          // An address without its interface is a mistake of the file (EINVAL).
          let cause: DiagnosisCause? =
            [EPERM, EAFNOSUPPORT].contains(errno) ? .denied : errno == EINVAL ? .nameServerRefuses : nil
          return (.only(reply, of: server), .fault, cause)
        default: continue
        }
      }
    }
    if finding.isHurried { return (.hurried, .skipped, nil) }
    if servers.isEmpty {
      if finding.isRootOnly || finding.system == nil { return (.noServer, .skipped, nil) }
      return (.noServer, .fault, .nameServerSilent)
    }
    if let busy = servers.first(where: { $0.control?.code != nil }) {
      return (.silentOfName(busy.address), .fault, .nameServerRefuses)
    }
    return (.silent, .fault, .nameServerSilent)
  }
}
