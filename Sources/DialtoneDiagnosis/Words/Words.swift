// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// All words of a diagnosis. They are made at the very end, of readings and a conclusion: nothing reads them.
///
/// What is wrong begins with a word of ours, never with a name, so that its first letter can become a capital.
struct Words {
  let target: String
  let goal: DiagnosisGoal
  let readings: [Reading]

  // MARK: Steps

  func step(_ reading: Reading) -> DiagnosisStep {
    // What this machine does not use is no fault of it.
    let charge = isUnused(reading) ? nil : reading.charge
    return DiagnosisStep(
      kind: reading.kind, family: reading.family, outcome: isUnused(reading) ? .skipped : reading.outcome,
      text: text(reading), evidence: Facts.of(reading), charge: charge,
      advice: charge.flatMap { advice(on: $0.cause, reading) })
  }

  /// Whether somebody beyond the router has answered, so that it has an uplink.
  var isFarHeard: Bool { Reading.Context(readings.map(\.finding)).hasAnswerFromBeyond }

  func advice(on cause: DiagnosisCause, _ reading: Reading) -> String? {
    if cause == .routerNoRoute, isFarHeard { return "See whether the address is right, or ask who runs the network." }
    return Advice.act(on: cause, reading, target: target, device: device)
  }

  func text(_ reading: Reading) -> String {
    switch (reading.finding, reading.meaning) {
    case (.history(let states), _): states.last.map { "last: \($0)" } ?? "nothing has changed in the last minute"
    case (.kernel(let kernel), _): Self.text(kernel, to: isStandIn(kernel.target) ? "the Internet" : nil)
    case (.tunnel(let tunnel), _): text(tunnel)
    case (_, .beyond(let meaning)): text(meaning)
    case (.portal(let portal), _):
      portal.isPortal
        ? "the network wants a login: somebody answers for an address that nobody has"
        : (portal.status.map { "somebody answers \($0)" } ?? "nobody answers") + " for an address that nobody has"
    case (.name(let name), .name(let meaning)): text(meaning, name)
    case (.connection(let connection), .connection(let meaning, let attempt)): text(meaning, attempt, connection)
    case (.largePackets(let packets), _): text(packets)
    case (.site(let site), .site(let meaning)): text(meaning, site)
    case (.proxy(let proxy), _): text(proxy)
    case (.unasked(_, _, let gap), _): text(gap)
    default: ""
    }
  }

  private func text(_ gap: Finding.Gap) -> String {
    switch gap {
    case .timeIsUp: "not known when it ended"
    case .notWanted: "not asked, as you wanted"
    case .leadsToMany: "a broadcast or multicast address takes no connection: TCP connects to one host, not to many"
    case .shortage: "this machine has no thread or descriptor left"
    }
  }

  /// The link that packets leave by.
  var device: String? {
    for case .link(.works(let name))? in readings.map(\.finding.kernel?.result) { return name }
    return nil
  }

  /// Whether the kernel was asked about an address in the place of what is not known, or of the Internet.
  private func isStandIn(_ address: IPAddress) -> Bool {
    goal == .internet || RootServers.isFirst(address) && !target.contains("\(address)")
  }

  // MARK: Tunnels, and beyond the router

  private func text(_ tunnel: TunnelFinding) -> String {
    let name = tunnel.interface
    switch tunnel.peer {
    case .unknown: return "\(name) is a tunnel, and the kernel does not know its other end"
    case .denied: return "the other end of \(name) cannot be seen without CAP_NET_ADMIN"
    case .none: return "no peer of the tunnel \(name) takes packets for the target"
    case .known(_, _, _, let beneath?): return "beneath the tunnel \(name): \(Self.text(beneath))"
    case .known(nil, _, _, nil): return "the peer of the tunnel \(name) has no endpoint: it has to begin"
    case .known(let end?, let port, nil, nil):
      return "the peer \(Self.endpoint(end, port)) of the tunnel \(name) has never answered"
    case .known(let end?, let port, let age?, nil):
      let last = age > TunnelFinding.handshakeLimit ? "last " : ""
      return "the peer \(Self.endpoint(end, port)) of the tunnel \(name) \(last)answered \(age) s ago"
    }
  }

  private func text(_ meaning: BeyondMeaning) -> String {
    switch meaning {
    case .answers(let server): "the root server \(server) answers"
    case .answersAlone(let server, let connection):
      "the root server \(server) answers a question, but \(Self.text(connection))"
    case .stopsSites(let server, let outcome):
      "websites cannot be reached: " + Self.text(stop: outcome) + ", while the root server \(server) answers"
    case .answersInPart(let server, let family):
      "the root server \(server) answers, and none over \(Self.name(family))"
    case .intercepted: "somebody on the way answers in place of the root servers"
    case .routerSays(let statement): "the router \(statement.sender) says of the root servers: \(Self.text(statement))"
    case .forbidden: "this machine itself lets nothing out to the root servers"
    case .nothing: "nothing beyond the router answers"
    case .tunnelSilent(let tunnel): "nothing answers through the tunnel \(tunnel)"
    case .others(let address):
      "the root servers do not answer, and \(address) beyond the router does: a filter may stop questions to them"
    case .cutBehind(let last): "nothing beyond \(last) answers, which is beyond the router"
    case .silent: "the root servers do not answer; that alone says little, as a filter may stop DNS"
    case .untried: "nobody was asked"
    }
  }

  private static func text(_ connection: BeyondFinding.Connection) -> String {
    switch connection {
    case .answered, .otherPort: "connections pass"
    case .largeVanishes: "packets of full size vanish on connections"
    case .silent: "nothing passes on connections: something stops their data"
    case .reset: "connections end once data are sent on them: something on the way stops them"
    case .held: "data on connections do not leave this machine: its own firewall or the like stops them"
    case .unsteady: "only some connections carry data"
    case .leadsOn: "it is unknown whether websites can be reached"
    case .nothing: "no connection gets beyond the router: something stops TCP"
    }
  }

  private static func text(stop outcome: ConnectionFinding.Outcome) -> String {
    let connections = "connections to their port 443"
    return switch outcome {
    case .refused(let statement): "\(who(statement)) says of \(connections): \(text(statement))"
    case .reset: "somebody on the way resets \(connections)"
    case .failed: "\(connections) do not leave this machine: its own firewall or the like stops them"
    default: "\(connections) get no answer"
    }
  }

  // MARK: Names

  private func text(_ meaning: NameMeaning, _ name: NameFinding) -> String {
    let servers = Self.list(name.servers.map(\.address))
    let isOne = name.servers.count == 1
    let addresses = Self.list(name.addresses)
    let known = "\(name.foundAs ?? name.name) is \(addresses)"
    func who(_ server: IPAddress) -> String { "the name server \(server)" }
    switch meaning {
    case .literal: return "\(name.name) is an address"
    case .found where name.source == .hosts: return "\(known), by /etc/hosts"
    case .found where name.source == .system: return "\(known), by the system's resolver"
    case .found:
      let server = name.servers.first { !$0.addresses.isEmpty }
      let time = server?.milliseconds.map { " in \(Self.time($0))" } ?? ""
      return "\(known), by \(server.map { "\($0.address)" } ?? "a name server")\(time)"
    case .foundBehind(let silent):
      return name.source == .system
        ? "\(who(silent)) does not answer for three seconds, so that lookups take long; \(known) at last"
        : "\(who(silent)) does not answer, so that lookups take long; \(known), by another"
    case .foundInPart(let server, let reply, let lacksIPv6):
      let type = lacksIPv6 ? "AAAA" : "A"
      return reply == .silent
        ? "\(who(server)) does not answer for \(type) records, so that lookups take long"
        : "\(who(server)) fails for \(type) records\(reply.code.map { " (\($0))" } ?? "")"
    case .foundByLiar(let server, let control):
      return "\(known), by \(server); it gives a name that cannot exist the address \(Self.list(control))"
    case .unreliable(let unsteady):
      let often = "\(unsteady.failures) of \(unsteady.tries) times"
      return unsteady.server.map { "\(who($0)) failed \(often) for \(name.name)" }
        ?? "the system's resolver \(name.system == .silent ? "kept programs waiting for" : "left out") addresses of "
        + "\(name.name) \(often)"
    case .serversAnswer: return "\(servers) \(isOne ? "answers" : "answer")"
    case .oneServerSilent(let server): return "\(who(server)) does not answer, and another does"
    case .nobodysByHosts:
      return "the file /etc/hosts gives \(name.name) the address \(addresses), which is nobody's"
    case .nobodysByServer(let server):
      return "\(who(server)) gives \(name.name) the address \(addresses), as filters do"
    case .hijacked(let server):
      return "\(who(server)) gives \(name.name) and a name that cannot exist the same address, \(addresses)"
    case .untrue:
      let giver = servers.isEmpty ? "the system's resolver" : "the name server \(servers)"
      return "\(giver) gives \(name.name), which all of the Internet knows, "
        + (name.addresses.isEmpty ? "no address" : "a false address, \(addresses)")
    case .unknown(let server, let exists):
      let isAlias = name.servers.contains { $0.address == server && $0.knowsAlias }
      let lack = isAlias ? "is an alias of one without an address" : exists ? "has no address" : "does not exist"
      return "the name \(name.name) \(lack), says \(who(server))"
    case .unknownToFirst(let first, let other):
      return "\(who(first)) does not know \(name.name), and \(other) does; programs believe "
        + (name.rotates ? "the one that they ask, and that varies" : "the first")
    case .neverAsked where name.source == .hosts:
      return "/etc/hosts knows \(name.name), but the system's resolver gives programs no address"
    case .neverAsked:
      return "the file /etc/nsswitch.conf has programs ask no name server"
        + (name.isRootOnly ? "" : ", and /etc/hosts does not know \(name.name)")
    case .lostInSystem(let server, let milliseconds):
      let time = milliseconds.map { " after \(Self.time($0))" } ?? ""
      return "\(who(server)) knows \(name.name)\(time), but the system's resolver gives programs no address"
    case .only(.truncated, let server): return "\(who(server)) wants to be asked over TCP, and that gives no address"
    case .only(.mismatched, let server): return "\(who(server)) answers another question than the one that was asked"
    case .only(.answer(let code, _), let server): return "\(who(server)) answers \(code)"
    case .only(.forbidden, _): return "this machine itself lets no question out to \(servers)"
    case .only(.dropped, _): return "this machine drops the answers of \(servers)"
    case .only(.noWay(let fault), let server): return "this machine has no way to \(who(server)): \(Self.text(fault))"
    case .only(.refused(let statement), let server):
      return "asking \(who(server)) fails: \(Self.who(statement)) says: \(Self.text(statement))"
    case .only(.failed(EINVAL), let server): return "\(who(server)) in /etc/resolv.conf lacks its interface"
    case .only(.failed(let errno), let server): return "asking \(who(server)) fails: \(SiteError.text(errno: errno))"
    case .unreadable: return "this user may not read /etc/resolv.conf, so that programs ask \(servers)"
    case .noServer: return "there is no name server to ask"
    case .silentOfName(let server):
      return "\(who(server)) answers for others, and not for \(name.name): its domain's own may be silent"
    case .silent, .only(.silent, _):
      return "the name \(isOne ? "server \(servers) does" : "servers \(servers) do") not answer"
    case .hurried: return text(.timeIsUp)
    }
  }

  // MARK: Connections

  private func text(
    _ meaning: ConnectionMeaning, _ attempt: ConnectionFinding.Attempt?, _ connection: ConnectionFinding
  ) -> String {
    let place = attempt.map(place) ?? ""
    switch meaning {
    case .untried: return "there is no address to connect to"
    case .hurried: return text(.timeIsUp)
    case .accepted(let milliseconds):
      return "\(attempt.map { Self.endpoint($0) } ?? "") answers in \(Self.time(milliseconds))"
    case .addressesDead(let working, let dead):
      return "the address\(dead.count > 1 ? "es" : "") \(Self.list(dead)) take\(dead.count > 1 ? "" : "s") no "
        + "connection, and \(working) does"
    case .unreliable(let failures, let count): return "connecting to \(place) failed \(failures) of \(count) times"
    case .refused:
      if !connection.isOwn {
        return "connections to \(place) are refused: nothing listens there, or a firewall on the way does"
      }
      guard let listeners = connection.listeners else {
        return "this machine refuses \(place): nothing listens there, or its own firewall says so"
      }
      let port = attempt?.port ?? 0
      return listeners.isEmpty
        ? "nothing on this machine listens on port \(port)"
        : "nothing on this machine listens at \(place), but at "
          + listeners.map { Self.endpoint($0, port) }.joined(separator: ", ")
    case .statement(let statement): return "\(Self.who(statement)) says of \(place): \(Self.text(statement))"
    case .refusedBefore:
      return "this machine refuses \(place), although something listens there: its own firewall may do that"
    case .forbidden: return "this machine itself refuses \(place)"
    case .neverLeaves: return "packets to \(place) do not leave this machine: its own firewall or the like stops them"
    case .answersDropped: return "answers of \(place) come to this machine, and its own firewall drops them"
    case .dropped: return "this machine says nothing at \(place): its own firewall drops what comes there"
    case .otherWay(let interface):
      return "answers of \(place) come in by \(interface), packets leave by another interface, and this machine drops "
        + "the answers"
    case .cannotSend(EPERM), .cannotSend(EAFNOSUPPORT):
      return "the system lets this program make no connection to \(place), as a sandbox does"
    case .cannotSend(let errno): return "connecting to \(place) fails at once: \(SiteError.text(errno: errno))"
    case .gatewaySilent(let gateway):
      return routers.contains(gateway)
        ? "packets to the target go to another router than \(gateway), and nobody answers there"
        : "the router \(gateway) does not answer"
    case .hostAbsent(let address): return "nobody on the link has the address \(address)"
    case .tunnelSilent(let tunnel): return "nothing answers through the tunnel \(tunnel)"
    case .silent:
      let sight = attempt?.sight
      return "no answer comes from \(place), and nothing on the way says why; "
        + (sight?.hasLeft == true
          ? "this machine does send its packets"
          : "whether this machine's own firewall drops them cannot be "
            + (sight == nil ? "seen without CAP_NET_RAW" : "told"))
    }
  }

  /// Where a connection was to go, with the name that led there.
  private func place(_ attempt: ConnectionFinding.Attempt) -> String {
    let name = readings.compactMap(\.finding.name).first { name in
      name.source != .literal && name.addresses.contains(attempt.address)
    }
    return name.map { "\($0.name) (\(Self.endpoint(attempt)))" } ?? Self.endpoint(attempt)
  }

  private func text(_ packets: LargePacketsFinding) -> String {
    switch packets.outcome {
    case nil: "the target answers no datagrams to tell by"
    case .answered: "packets of \(packets.byteCount) bytes pass"
    case .refused: "packets of \(packets.byteCount) bytes are too large, and the sender is told"
    case .vanished: "packets of \(packets.byteCount) bytes vanish on the way, and small ones pass"
    }
  }
}

// MARK: Parts

extension Words {
  static func name(_ family: IPAddress.Family) -> String { family == .ipv4 ? "IPv4" : "IPv6" }

  static func text(_ statement: NetworkStatement) -> String {
    switch statement.meaning {
    case .networkUnreachable: "network unreachable"
    case .hostUnreachable: "host unreachable"
    case .portUnreachable: "port unreachable"
    case .protocolUnreachable: "protocol unreachable"
    case .prohibited: "prohibited"
    case .lifetimeEnded: "the packet's lifetime ended on the way"
    case .tooLarge: "the packet is too large"
    case .other(let type, let code): "ICMP type \(type), code \(code)"
    }
  }

  static func who(_ statement: NetworkStatement) -> String {
    statement.isOwn ? "this machine" : "the host \(statement.sender)"
  }

  static func endpoint(_ address: IPAddress, _ port: UInt16) -> String {
    "\(ReachabilityTarget.address(address, port: port))"
  }

  static func endpoint(_ attempt: ConnectionFinding.Attempt) -> String { endpoint(attempt.address, attempt.port) }

  static func time(_ milliseconds: Double) -> String {
    milliseconds < 10 ? "\((milliseconds * 10).rounded() / 10) ms" : "\(Int(milliseconds.rounded())) ms"
  }

  static func list(_ items: [some CustomStringConvertible]) -> String {
    var seen: [String] = []
    for item in items.map(\.description) where !seen.contains(item) { seen.append(item) }
    let shown = seen.prefix(4).joined(separator: ", ")
    return seen.count > 4 ? "\(shown) and \(seen.count - 4) more" : shown
  }
}
