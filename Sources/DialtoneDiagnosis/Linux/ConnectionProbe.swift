// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone

/// Connects to the target's addresses, again where a try failed. Belongs to one thread.
struct ConnectionProbe {
  /// How many connections of a family are tried: a check tries no more in its time.
  static let addressLimit = 6
  /// How many of those that failed are tried again, of one family and of each of two, and how often.
  private static let retriedLimits = [3, 2]
  private static let retries = 2
  /// How long a further try may take, in milliseconds: longer than a first segment that is sent again.
  private static let retryPatience: Int64 = 1_300
  /// How long no connection is begun before silence is tried again, in milliseconds: the last segment of a first try is
  /// two seconds old then (`NameRound.pausing`).
  private static let pause: Int64 = 1_700

  let inquiry: DiagnosisInquiry
  let patience: Patience

  /// The line "Seccomp:" of proc_pid_status(5): 0 is none.
  static var hasCallFilter: Bool {
    let status = SystemFile.text(at: "/proc/thread-self/status") ?? ""
    return status.split(separator: "\n").contains { $0.hasPrefix("Seccomp:") && !$0.hasSuffix("\t0") }
  }

  func findings(_ witness: KernelWitness) -> [Finding] {
    let ways = inquiry.openWays
    var found: [Finding] = ways.filter(\.leadsToMany).map { .unasked(.connect, $0.target.family, .leadsToMany) }
    let open = ways.filter { !$0.leadsToMany }
    guard let first = open.first else { return found }
    let limit = Self.addressLimit / inquiry.subject.ports.count
    let tried = open.flatMap { way in inquiry.addresses.filter { $0.family == way.target.family }.prefix(limit) }
    let interface = inquiry.interface(first)
    let connector = Connector(tried, ports: inquiry.subject.ports, interface: interface, patience)
    connector.wait(upTo: Connector.silence) {
      // If each family has a connection, the rest need not be waited for as long.
      connector.elapsed > Self.retryPatience && open.allSatisfy { connector.isConnected($0.target.family) }
    }
    // A router that was known may have gone: the kernel takes some eight seconds to be sure (DELAY, then three probes).
    let isUnsure = { (way: KernelEvidence) in connector.isSilent(way.target.family) && self.isUnsure(way, witness) }
    if open.contains(where: isUnsure) { connector.wait(upTo: 9_000) { !open.contains(where: isUnsure) } }
    let findings = open.map { finding($0, connector, interface, witness) }
    let isSilent = open.allSatisfy { connector.isSilent($0.target.family) }
    if isSilent, patience.rest >= (Self.pause + Self.retryPatience) * 1_000_000, findings.contains(where: mayTryAgain) {
      connector.end()
      _ = patience.wait([], until: patience.moment(in: Self.pause))
    }
    for (way, var finding) in zip(open, findings) {
      if mayTryAgain(finding) { tryAgain(&finding, interface, limit: Self.retriedLimits[open.count - 1]) }
      if let first = finding.attempts.first, finding.attempts.flatMap(\.tries).allSatisfy({ $0 == .silent }) {
        // A rule about the port, or about all datagrams, says nothing of connections.
        let isForbidden = { DatagramProbe.isForbidden($0, port: first.port, interface: interface) }
        finding.isDatagramForbidden = isForbidden(first.address) && !(way.gateway.map(isForbidden) ?? false)
      }
      found.append(.connection(finding))
      if inquiry.subject.url == nil, let working = finding.attempts.first(where: \.isAccepted), !finding.isOwn,
        let mtu = way.link?.mtu
      {
        let packets = DatagramProbe.largePackets(to: working.address, mtu: mtu, interface: interface, patience)
        found.append(.largePackets(packets))
      }
    }
    return found
  }

  /// Whether the kernel is still finding out whether the neighbour is there.
  private func isUnsure(_ way: KernelEvidence, _ witness: KernelWitness) -> Bool {
    guard let neighbour = way.neighbour, let link = way.link, neighbour.isResolved else { return false }
    return witness.neighbourState(neighbour.address, link: link.index).map {
      !$0.isDisjoint(with: [.stale, .delay, .probe, .incomplete])
    } ?? false
  }

  private func finding(
    _ way: KernelEvidence, _ connector: Connector, _ interface: UInt32?, _ witness: KernelWitness
  ) -> ConnectionFinding {
    let family = way.target.family
    var finding = ConnectionFinding(family, connector.results(family) { witness.linkName($0) })
    finding.isAnyPort = inquiry.subject.port == nil
    finding.isHurried = connector.isHurried
    finding.isOwn = way.state.flags.contains(.isLocalAddress)
    if finding.isOwn, let failed = finding.attempts.first(where: { !$0.isAccepted }),
      let listeners = LocalListeners.listeners(port: failed.port)
    {
      // The kernel says nothing to whom a service does not come to take.
      let isBusy = failed.outcome == .silent && listeners.contains(where: \.isBehind)
      // Who listens at [::] takes IPv4, too, unless it has set IPV6_V6ONLY, which the table does not tell.
      let isUnclear = family == .ipv4 && listeners.contains { $0.address.family == .ipv6 && $0.address.isUnspecified }
      finding.listeners = isBusy || isUnclear ? nil : listeners.map(\.address)
    }
    finding.hasCallFilter = Self.hasCallFilter
    let lost = way.lostGateway(witness)
    finding.gateway = lost ?? way.gateway
    if let neighbour = way.neighbour, let link = way.link, neighbour.isResolved {
      func state(_ address: IPAddress) -> NeighbourState { witness.neighbourState(address, link: link.index) ?? [] }
      // The kernel says that a host is unreachable if the neighbour does not answer. A firewall may say so at any time.
      finding.isNeighbourFailed =
        state(neighbour.address).contains(.failed)
        || finding.attempts.contains { attempt in
          guard case .refused(let statement) = attempt.outcome, statement.isOwn else { return false }
          return statement.meaning == .hostUnreachable
            && (lost != nil || state(way.gateway ?? attempt.address).isUnanswered)
        }
    }
    if let link = way.link, link.kind == .tunnel {
      finding.tunnel = link.name
      finding.hasTunnelAnswered =
        inquiry.name?.servers.contains { server in
          server.hasAnswered && server.address.family == family
            && witness.evidence(server.address, inquiry.path(.udp, port: 53)).link?.name == link.name
        } ?? false
    }
    return finding
  }

  /// Whether further tries may tell more, and there is time for them.
  private func mayTryAgain(_ finding: ConnectionFinding) -> Bool {
    // A target that uses any port is there if one of them answers.
    if finding.isAnyPort, finding.attempts.contains(where: \.isAccepted) { return false }
    return !finding.isOwn && !finding.isHurried && !finding.isNeighbourFailed
      && patience.rest >= Self.retryPatience * 1_000_000
  }

  /// Tries again what failed, unless the system itself has refused it: what fails at one time only is unreliable.
  private func tryAgain(_ finding: inout ConnectionFinding, _ interface: UInt32?, limit: Int) {
    let failed = finding.attempts.indices.filter { index in
      let (outcome, sight) = (finding.attempts[index].outcome, finding.attempts[index].sight)
      return outcome == .reset || outcome.isRefusedOnWay || outcome == .silent && sight?.hasLeft != false
    }.prefix(limit)
    // All at the same time: silence takes as long as one.
    let again = failed.flatMap { index in
      (0..<Self.retries).map { _ in
        let attempt = finding.attempts[index]
        return (index, Connector([attempt.address], ports: [attempt.port], interface: interface, patience))
      }
    }
    for (index, connector) in again {
      connector.wait(upTo: Self.retryPatience)
      if let outcome = connector.results(finding.family).first?.outcome {
        finding.attempts[index].tries.append(outcome)
      }
    }
  }
}

extension KernelEvidence {
  /// Of several routers that share the packets, one that does not answer the kernel.
  func lostGateway(_ witness: KernelWitness) -> IPAddress? {
    guard let hops = route?.hops, hops.count > 1 else { return nil }
    return hops.lazy.compactMap { hop -> IPAddress? in
      guard let gateway = hop.gateway, let link = links.first(where: { $0.name == hop.link }) else { return nil }
      return witness.neighbourState(gateway, link: link.index)?.isUnanswered ?? false ? gateway : nil
    }.first
  }

  /// Whether the target is a broadcast address or a multicast group.
  var leadsToMany: Bool {
    target.isOfMany || route.map { [.broadcast, .multicast].contains($0.type) } ?? false
  }
}

/// At which addresses of this machine something listens on a TCP port (proc_net_tcp.rst). Reads two files.
enum LocalListeners {
  /// TCP_LISTEN (net/tcp_states.h).
  private static let listening = "0A"

  struct Listener: Equatable {
    /// Unspecified where it listens at all of a family.
    let address: IPAddress
    /// Whether connections wait until it takes them.
    let isBehind: Bool
  }

  /// Returns `nil` if the kernel does not tell.
  static func listeners(port: UInt16) -> [Listener]? {
    guard let ofIPv4 = table("tcp") else { return nil }
    // A kernel without IPv6 has no table of it.
    return listeners(in: ofIPv4, port: port) + listeners(in: table("tcp6") ?? "", port: port)
  }

  private static func table(_ name: String) -> String? {
    SystemFile.text(at: "/proc/thread-self/net/\(name)", limit: 1 << 24)
  }

  /// A line has the number of the entry, the own address and port, the peer's, the state, and two queues: the second is
  /// of connections that wait to be taken. Addresses are words of 32 bits in network order, printed as this machine's
  /// numbers.
  static func listeners(in table: String, port: UInt16) -> [Listener] {
    table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ").prefix(5)
      guard fields.count == 5, fields[3] == listening else { return nil }
      let own = fields[1].split(separator: ":")
      guard own.count == 2, UInt16(own[1], radix: 16) == port else { return nil }
      var bytes: [UInt8] = []
      var digits = own[0]
      while let word = UInt32(digits.prefix(8), radix: 16), digits.count >= 8 {
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: word.bigEndian >> (24 - 8 * $0)) }
        digits = digits.dropFirst(8)
      }
      var reader = NetworkByteReader(bytes[...])
      return reader.address(isIPv6: bytes.count == 16).map {
        Listener(address: IPAddress($0), isBehind: !fields[4].hasSuffix(":00000000"))
      }
    }
  }
}
#endif
