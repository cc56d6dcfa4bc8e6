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
      reading.kind, family: reading.family, isUnused(reading) ? .skipped : reading.outcome, text(reading),
      evidence: Facts.of(reading), charge: charge,
      advice: charge.flatMap { Advice.act(on: $0.cause, reading, target: target) })
  }

  func text(_ reading: Reading) -> String {
    switch (reading.finding, reading.meaning) {
    case (.history(let states), _): history(states)
    case (.kernel(let kernel), _): Self.text(kernel, to: goal == .internet ? "the Internet" : nil)
    case (.tunnel(let tunnel), _): text(tunnel)
    case (_, .beyond(let meaning)): text(meaning)
    case (.portal(let portal), _):
      portal.isPortal
        ? "the network wants a login: somebody answers for an address that nobody has"
        : "nobody answers for an address that nobody has"
    case (.name(let name), .name(let meaning)): text(meaning, name)
    case (.connection(let connection), .connection(let meaning)): text(meaning, connection)
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
    case .leadsToMany: "not tried: TCP connects to one host, not to many"
    case .shortage: "this machine has no thread or descriptor left"
    }
  }

  private func history(_ states: [Reachability]) -> String {
    states.last.map { "last: \($0)" } ?? "nothing has changed in the last minute"
  }

  // MARK: The kernel

  /// A finding about the way to an address. Its words name the address, or what it stands for: who asks about the
  /// Internet knows nothing of the root server that the kernel was asked about.
  static func text(_ finding: KernelFinding, to meant: String? = nil) -> String {
    let target = meant ?? "\(finding.target)"
    let evidence = finding.evidence
    let family = Self.name(finding.target.family)
    switch finding.result {
    case .link(let link): return text(link, finding.target, evidence)
    case .address(let address):
      let on = evidence?.link.map { " on \($0.name)" } ?? ""
      switch address {
      case .works(let own): return Facts.words(own, evidence)
      case .deprecated(let own): return "\(own) is deprecated, and there is no better one"
      case .notNeeded: return "none is needed to reach \(target)"
      case .missing: return "there is no \(family) address\(on)"
      case .linkLocal(let own): return "there is only a link-local \(family) address\(on), \(own)"
      case .tentative(let own): return "the address \(own)\(on) is tentative: it is still looked for elsewhere"
      case .duplicate(let own): return "another host has the address \(own), which this machine would have\(on)"
      }
    case .rule(let rule):
      let words = evidence?.rule.map { ": \($0.text)" } ?? ""
      switch rule {
      case .passes(let priority): return "\(priority)\(words)"
      case .none: return "no rule refuses packets to \(target)"
      case .refuses(let priority, _): return "the rule \(priority)\(words) refuses packets to \(target)"
      case .unknown: return "the rules could not be followed to the end"
      }
    case .route(let route): return text(route, finding, to: meant)
    case .source(let source):
      switch source {
      case .address(let own): return "\(own)"
      case .foreign(let own, let interface):
        return "packets come from \(own), which belongs to \(interface), and leave by another interface"
      case .missing: return "no address of this machine can be the source of packets to \(target)"
      case .refused(let reason): return "the kernel sends nothing to \(target): \(reason)"
      case .unknown: return "the kernel names none"
      }
    case .neighbour(let neighbour): return text(neighbour, evidence?.link?.name)
    }
  }

  private static func text(_ route: KernelFinding.Route, _ finding: KernelFinding, to meant: String?) -> String {
    let target = meant ?? "\(finding.target)"
    let words = Facts.words(finding.evidence)
    let known = "the route \(words ?? "to \(target)")"
    switch route {
    case .leads where finding.leadsNowhere:
      return "\(known) leads to this machine's loopback interface, where packets for others end"
    case .leads(let gateway, let interface):
      return words
        ?? [gateway.map { "via \($0)" }, interface.map { "dev \($0)" }].compactMap(\.self).joined(separator: " ")
    case .missing: return "there is no \(meant == nil ? "" : "\(name(finding.target.family)) ")route to \(target)"
    case .refuses(let reason): return "\(known) refuses the packets: \(reason)"
    case .unexplained(let reason): return "a route or a rule refuses packets to \(target): \(reason)"
    case .dead: return "no next hop of \(known) works"
    }
  }

  private static func text(
    _ link: KernelFinding.Link, _ target: IPAddress, _ evidence: KernelEvidence?
  ) -> String {
    switch link {
    case .works(let name): "\(Facts.link(name, evidence)) is up\(Facts.details(name, evidence))"
    case .fails(let name, .noCarrier, _) where Advice.isBridge(evidence?.likeliestLink):
      "the bridge \(name) has no carrier: it has no port that forwards packets"
    case .fails(let name, .noCarrier, _):
      "the interface \(Facts.link(name, evidence)) has no carrier: nothing is connected, or what is connected is off"
    case .fails(let name, .dormant, _):
      "the interface \(Facts.link(name, evidence)) is dormant: it waits to be let in, as by a switch (802.1X)"
    case .fails(let name, let reason, _): "the interface \(Facts.link(name, evidence)) carries nothing: \(reason)"
    case .failsAmongOthers(let name, let reason): "\(Facts.link(name, evidence)): \(reason)"
    case .missing(let name?): "there is no interface \(name)"
    case .missing(nil): "there is no interface besides lo"
    case .loopback: "\(target) is this machine, over lo"
    case .loopbackDown: "the interface lo is down: this machine cannot reach itself"
    case .unclear: "no interface can be told to be the one"
    case .denied: "the kernel does not say: netlink is refused"
    }
  }

  private static func text(_ neighbour: KernelFinding.Neighbour, _ link: String?) -> String {
    let on = link.map { " on \($0)" } ?? ""
    func who(_ address: IPAddress, _ isGateway: Bool) -> String {
      isGateway ? "the router \(address)" : "the host \(address)"
    }
    switch neighbour {
    case .answers(let address, let isGateway): return "\(who(address, isGateway)) answers\(on)"
    case .answered(let address, let isGateway):
      return "\(who(address, isGateway)) was there\(on); whether it still is, is not known"
    case .silent(let address, let isGateway, _): return "\(who(address, isGateway)) does not answer\(on)"
    case .stopped(let address, let isGateway, let hasLeft):
      return hasLeft
        ? "\(who(address, isGateway)) answers\(on), and this machine's own firewall drops that"
        : "this machine's own firewall lets no question for \(who(address, isGateway)) out"
    case .asked(let address, let isGateway): return "\(who(address, isGateway)) has not answered\(on) yet"
    case .unknown(let address, let isGateway): return "\(who(address, isGateway)) was not asked for\(on)"
    case .notAsked: return "the link has no neighbours to ask for"
    case .none: return "the packets go to no neighbour"
    }
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
      return age > Reading.handshakeLimit
        ? "the peer \(Self.endpoint(end, port)) of the tunnel \(name) last answered \(age) s ago"
        : "the peer \(Self.endpoint(end, port)) of the tunnel \(name) answered \(age) s ago"
    }
  }

  private func text(_ meaning: BeyondMeaning) -> String {
    switch meaning {
    case .answers(let server): "the root server \(server) answers"
    case .answersAlone(let server):
      "the root server \(server) answers a question, and no connection gets beyond the router: something stops TCP"
    case .stopsSites(let server, let outcome):
      "websites cannot be reached: " + Self.text(stop: outcome) + ", while the root server \(server) answers"
    case .answersInPart(let server, let family):
      "the root server \(server) answers, and none over \(Self.name(family))"
    case .intercepted: "somebody on the way answers in place of the root servers"
    case .routerSays(let statement): "the router \(statement.sender) says of the root servers: \(Self.text(statement))"
    case .forbidden: "this machine lets no question out to the root servers"
    case .nothing: "nothing beyond the router answers"
    case .tunnelSilent(let tunnel): "nothing answers through the tunnel \(tunnel)"
    case .others(let address):
      "the root servers do not answer, and \(address) beyond the router does: a filter may stop questions to them"
    case .silent: "the root servers do not answer; that alone says little, as a filter may stop DNS"
    case .untried: "nobody was asked"
    }
  }

  private static func text(stop outcome: ConnectionFinding.Outcome) -> String {
    let connections = "connections to their port 443"
    return switch outcome {
    case .refused(let statement): "\(who(statement)) says of \(connections): \(text(statement))"
    case .reset: "somebody on the way resets \(connections)"
    case .failed: "\(connections) do not leave this machine, whose own firewall stops them"
    default: "\(connections) get no answer"
    }
  }

  // MARK: Names

  private func text(_ meaning: NameMeaning, _ name: NameFinding) -> String {
    let servers = Self.list(name.servers.map(\.address))
    let isOne = name.servers.count == 1
    switch meaning {
    case .literal: return "\(name.name) is an address"
    case .found, .foundBehind, .foundInPart, .foundByLiar: return foundText(meaning, name)
    case .unreliable(let unsteady):
      let often = "\(unsteady.failures) of \(unsteady.tries) times"
      return unsteady.server.map { "the name server \($0) failed \(often) for \(name.name)" }
        ?? "the system's resolver left out addresses of \(name.name) \(often)"
    case .serversAnswer: return "\(servers) \(isOne ? "answers" : "answer")"
    case .oneServerSilent(let server): return "the name server \(server) does not answer, and another does"
    case .nobodysByHosts:
      return "the file /etc/hosts gives \(name.name) the address \(Self.list(name.addresses)), which is nobody's"
    case .nobodysByServer(let server):
      return "the name server \(server) gives \(name.name) the address \(Self.list(name.addresses)): a filter does that"
    case .hijacked(let server):
      return "the name server \(server) gives \(name.name) and a name that cannot exist the same address, "
        + Self.list(name.addresses)
    case .untrue:
      let who = servers.isEmpty ? "the system's resolver" : "the name server \(servers)"
      return "\(who) gives \(name.name), which all of the Internet knows, "
        + (name.addresses.isEmpty ? "no address" : "a false address, \(Self.list(name.addresses))")
    case .unknown(let server, let exists):
      return "the name \(name.name) \(exists ? "has no address" : "does not exist"), says the name server \(server)"
    case .unknownToFirst(let first, let other):
      return "the name server \(first) does not know \(name.name), and \(other) does; programs believe the first"
    case .neverAsked:
      return "the file /etc/nsswitch.conf has programs ask no name server"
        + (name.isRootOnly ? "" : ", and /etc/hosts does not know \(name.name)")
    case .lostInSystem(let server, let milliseconds):
      let time = milliseconds.map { " after \(Self.time($0))" } ?? ""
      return "the name server \(server) knows \(name.name)\(time), but the system's resolver gives programs no address"
    case .needsTCP(let server): return "the name server \(server) wants to be asked over TCP, and that gets no answer"
    case .mismatched(let server):
      return "the name server \(server) answers another question than the one that was asked"
    case .says(let code, let server): return "the name server \(server) answers \(code)"
    case .forbidden: return "this machine's own firewall lets no question out to \(servers)"
    case .dropped: return "this machine drops the answers of \(servers)"
    case .noWay(let server, let fault):
      return "this machine has no way to the name server \(server): \(Self.text(fault))"
    case .refused(let server, let statement):
      return "asking the name server \(server) fails: \(Self.who(statement)) says: \(Self.text(statement))"
    case .cannotSend(let server, let errno):
      return "asking the name server \(server) fails: \(Self.text(errno: errno))"
    case .noServer: return "there is no name server to ask"
    case .silent: return "the name \(isOne ? "server \(servers) does" : "servers \(servers) do") not answer"
    case .hurried: return text(.timeIsUp)
    }
  }

  private func foundText(_ meaning: NameMeaning, _ name: NameFinding) -> String {
    let known = "\(name.foundAs ?? name.name) is \(Self.list(name.addresses))"
    switch meaning {
    case .foundBehind(let silent):
      return "the name server \(silent) does not answer, so that lookups take long; \(known), by another"
    case .foundInPart(let server, let reply, let lacksIPv6):
      let type = lacksIPv6 ? "AAAA" : "A"
      return reply == .silent
        ? "the name server \(server) does not answer for \(type) records, so that lookups take long"
        : "the name server \(server) fails for \(type) records\(reply.code.map { " (\($0))" } ?? "")"
    case .foundByLiar(let server, let control):
      return "\(known), by \(server); it gives a name that cannot exist the address \(Self.list(control))"
    default:
      switch name.source {
      case .hosts: return "\(known), by /etc/hosts"
      case .system: return "\(known), by the system's resolver"
      default:
        let server = name.servers.first { !$0.addresses.isEmpty }
        let time = server?.milliseconds.map { " in \(Self.time($0))" } ?? ""
        return "\(known), by \(server.map { "\($0.address)" } ?? "a name server")\(time)"
      }
    }
  }

  // MARK: Connections

  private func text(_ meaning: ConnectionMeaning, _ connection: ConnectionFinding) -> String {
    switch meaning {
    case .untried: "there is no address to connect to"
    case .hurried: text(.timeIsUp)
    case .accepted(let attempt, let milliseconds): "\(Self.endpoint(attempt)) answers in \(Self.time(milliseconds))"
    case .addressesDead(let working, let dead):
      "the address \(Self.list(dead.map(\.address))) does not answer, and \(working.address) does"
    case .unreliable(let attempt, let failures, let count):
      "connecting to \(Self.endpoint(attempt)) failed \(failures) of \(count) times"
    case .refused(let attempt):
      connection.isOwn
        ? text(refusing: attempt, connection.listeners)
        : "a refusal comes back from \(Self.endpoint(attempt)): nothing listens there, or a firewall on the way says so"
    case .statement(let attempt, let statement):
      "\(Self.who(statement)) says of \(Self.endpoint(attempt)): \(Self.text(statement))"
    case .refusedBefore(let attempt):
      "this machine refuses \(Self.endpoint(attempt)), although something listens there: its own firewall may do that"
    case .forbidden(let attempt): "this machine's own firewall refuses \(Self.endpoint(attempt))"
    case .neverLeaves(let attempt):
      "packets to \(Self.endpoint(attempt)) do not leave this machine: its own firewall stops them"
    case .answersDropped(let attempt):
      "answers of \(Self.endpoint(attempt)) come to this machine, and its own firewall drops them"
    case .otherWay(let attempt, let interface):
      "answers of \(Self.endpoint(attempt)) come in by \(interface), packets leave by another interface, and this "
        + "machine drops the answers"
    case .cannotSend(let attempt, EPERM), .cannotSend(let attempt, EAFNOSUPPORT):
      "the system lets this program make no connection to \(Self.endpoint(attempt)), as a sandbox does"
    case .cannotSend(let attempt, let errno):
      "connecting to \(Self.endpoint(attempt)) fails at once: \(Self.text(errno: errno))"
    case .gatewaySilent(let gateway):
      routers.contains(gateway)
        ? "packets to the target go to another router than \(gateway), and nobody answers there"
        : "the router \(gateway) does not answer"
    case .hostAbsent(let address): "nobody on the link has the address \(address)"
    case .tunnelSilent(let tunnel): "nothing answers through the tunnel \(tunnel)"
    case .silent(let attempt):
      "no answer comes from \(Self.endpoint(attempt)), and nobody says why; "
        + (attempt.sight?.hasLeft == true
          ? "the packets leave this machine"
          : "whether this machine's own firewall drops them cannot be "
            + (attempt.sight == nil ? "seen without CAP_NET_RAW" : "told"))
    }
  }

  private func text(refusing attempt: ConnectionFinding.Attempt, _ listeners: [IPAddress]?) -> String {
    guard let listeners else {
      return "this machine refuses \(Self.endpoint(attempt)): nothing listens there, or its own firewall says so"
    }
    return listeners.isEmpty
      ? "nothing on this machine listens on port \(attempt.port)"
      : "nothing on this machine listens at \(Self.endpoint(attempt)), but at "
        + listeners.map { Self.endpoint($0, attempt.port) }.joined(separator: ", ")
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

  static func text(errno: Int32) -> String {
    let text = SystemError.text(of: errno)
    return ASCII.folded(text.prefix(1)) + text.dropFirst()
  }

  static func endpoint(_ address: IPAddress, _ port: UInt16) -> String {
    address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }

  static func endpoint(_ attempt: ConnectionFinding.Attempt) -> String { endpoint(attempt.address, attempt.port) }

  static func time(_ milliseconds: Double) -> String {
    milliseconds < 10 ? "\((milliseconds * 10).rounded() / 10) ms" : "\(Int(milliseconds.rounded())) ms"
  }

  static func list(_ addresses: [IPAddress]) -> String {
    var seen: [String] = []
    for address in addresses.map(\.description) where !seen.contains(address) { seen.append(address) }
    let shown = seen.prefix(4).joined(separator: ", ")
    return seen.count > 4 ? "\(shown) and \(seen.count - 4) more" : shown
  }
}
