// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Gathers what the kernel knows of the way to an address. It sends nothing to the network.
///
/// Belongs to one thread, and to the network namespace in which it was made.
package final class KernelWitness {
  /// How many routes of a table are looked through at most. A table with more is not explained.
  private static let routeLimit = 100_000
  /// How many tables are looked through at most.
  private static let tableLimit = 16

  private let network: LinuxNetwork
  private var client: NetlinkClient
  private var builder = NetlinkRequestBuilder()
  private let root: String

  /// - Parameter root: The folder that contains `run`, for tests.
  /// - Throws: ``ReachabilityError`` with the code `denied` if the system refuses to say.
  package init(root: String = "") throws(ReachabilityError) {
    network = LinuxNetwork()
    self.root = root
    do throws(NetlinkError) {
      client = try NetlinkClient(.route)
    } catch {
      throw ReachabilityError(.denied, "the system denies access to the network's state: \(error)")
    }
    if network.isDenied {
      throw ReachabilityError(.denied, "the system denies access to the network's state: netlink is refused")
    }
  }

  // MARK: One address

  package func evidence(_ address: IPAddress, _ configuration: ReachabilityConfiguration) -> KernelEvidence {
    var change = NetworkChange()
    network.drain(into: &change)
    if change.isInDoubt { network.poll(into: &change) }
    let address = address.unmapped
    var state = Reachability.denied
    network.answer([RouteQuery(address, port: configuration.port, configuration)]) { _, answer in state = answer }
    let snapshots = list(.getLink) { LinkMessage($0, in: $1) }.filter(\.isSnapshot)
    let messages = Dictionary(snapshots.map { ($0.index, $0) }, uniquingKeysWith: { $1 })
    let links = network.tables.links.all.filter { !$0.flags.contains(.loopback) }.map { facts($0, messages[$0.index]) }
    var evidence = KernelEvidence(
      target: address, state: state, askedInterface: configuration.interface, links: links,
      isLoopbackUp: network.tables.links.loopback?.isUp ?? false, addresses: addresses(address.family))
    let asked = configuration.interface.flatMap { network.tables.links.link(named: LinkName($0)) }
    let zone = address.zone.flatMap { network.tables.links.link(named: LinkName($0)) }
    follow(&evidence, address, configuration, output: asked ?? zone)
    evidence.link = link(of: evidence, asked: asked ?? zone)
    evidence.neighbour = neighbour(evidence)
    return evidence
  }

  /// Returns the link that the packets leave by, or would: that of the answer, of the route, or the likeliest.
  private func link(of evidence: KernelEvidence, asked: Link?) -> KernelEvidence.LinkFacts? {
    func named(_ name: String?) -> KernelEvidence.LinkFacts? { evidence.links.first { $0.name == name } }
    if let asked { return evidence.links.first { $0.index == asked.index } }
    if evidence.askedInterface != nil { return nil }
    if let interface = evidence.state.interface { return evidence.links.first { $0.index == interface.index } }
    if let hop = evidence.route?.hops.first { return named(hop.link) }
    // Without a route: the link that has what a route would need.
    let operating = evidence.links.filter(\.isOperating)
    func hasAddress(_ link: KernelEvidence.LinkFacts) -> Bool {
      evidence.addresses.contains { $0.link == link.index && $0.isUsable }
    }
    return operating.first(where: hasAddress) ?? operating.first { link in
      evidence.addresses.contains { $0.link == link.index }
    } ?? evidence.candidates.first ?? operating.first
  }

  private func facts(_ link: Link, _ message: LinkMessage?) -> KernelEvidence.LinkFacts {
    let links = network.tables.links
    var speed: UInt32 = 0
    var isFullDuplex: CInt = -1
    // The name becomes a C string for the call, which fills in the two numbers.
    let isTold = unsafe csystem_link_speed(client.descriptor, link.name.text, &speed, &isFullDuplex) == 0
    return KernelEvidence.LinkFacts(
      name: link.name.text, index: link.index, kind: links.kind(of: link), infoKind: link.infoKind, isUp: link.isUp,
      isOperating: links.isOperating(link), reason: network.decision.reason(ofIdle: link), mtu: message?.mtu,
      speed: isTold && speed > 0 ? speed : nil, isFullDuplex: isTold && isFullDuplex >= 0 ? isFullDuplex == 1 : nil,
      manager: LinkManager.of(link: link.name.text, index: link.index, root: root),
      bridge: link.master.flatMap { links[$0] }.flatMap { $0.infoKind == "bridge" ? $0.name.text : nil })
  }

  private func addresses(_ family: IPAddress.Family) -> [KernelEvidence.AddressFacts] {
    list(.getAddress, family: family == .ipv4 ? .ipv4 : .ipv6) { message, bytes in
      guard let address = AddressMessage(message, in: bytes), let own = address.localAddress,
        !IPAddress(own).isLoopback
      else { return nil }
      return KernelEvidence.AddressFacts(
        address: IPAddress(own), prefixLength: Int(address.prefixLength), link: address.interfaceIndex,
        isTentative: address.flags.contains(.tentative) && !address.flags.contains(.optimistic),
        isDuplicate: address.flags.contains(.dadFailed), isDeprecated: address.flags.contains(.deprecated),
        validFor: address.validLifetime)
    }
  }

  // MARK: Rules and routes

  /// Asks for the route that matches a destination, as it was added, or the way that comes of it. The error is what the
  /// kernel answers in place of one.
  private func match(
    _ packet: RuleWalk.Packet, _ configuration: ReachabilityConfiguration, _ output: Link?, isWhole: Bool = true
  ) -> (route: RouteMessage?, nexthops: [RouteNexthop], errno: CInt) {
    builder.removeAll()
    builder.appendLinkBarrier()
    // IPv6 names the table without being asked to, and refuses to be (inet6_rtm_valid_getroute_req).
    builder.appendRouteQuery(
      destination: packet.destination, source: packet.source, outputInterface: output?.index,
      mark: configuration.mark == 0 ? nil : configuration.mark, transport: Int(packet.ipProtocol),
      destinationPort: configuration.port.flatMap { $0 == 0 ? nil : $0 }, fibMatch: isWhole,
      namesTable: !packet.destination.isIPv6)
    var match: RouteMessage?
    var nexthops: [RouteNexthop] = []
    var errno: CInt = 0
    exchange { index, answer, bytes in
      if index == 0 { return }
      switch answer {
      case .message(let message): match = RouteMessage(message, in: bytes, nexthops: &nexthops)
      case .acknowledgement(let acknowledgement): errno = acknowledgement.errno
      case .lost: break
      }
    }
    return (match, nexthops, errno)
  }

  /// Finds the rule and the route that decide.
  private func follow(
    _ evidence: inout KernelEvidence, _ address: IPAddress, _ configuration: ReachabilityConfiguration, output: Link?
  ) {
    let number = configuration.transport == .tcp ? IPPROTO_TCP : IPPROTO_UDP
    var packet = RuleWalk.Packet(
      destination: address.bits, mark: configuration.mark, userID: geteuid(), ipProtocol: UInt8(number),
      destinationPort: configuration.port ?? 0, outputInterface: output?.name.text)
    var (match, nexthops, errno) = match(packet, configuration, output)
    // connect(2) looks the way up again with the source that it has found: IPv4's always (ip_route_connect), IPv6's if
    // it was refused (ip6_dst_lookup_tail).
    if match == nil || !packet.destination.isIPv6 {
      packet.source =
        evidence.state.source?.bits
        ?? self.match(packet, configuration, output, isWhole: false).route?.preferredSource
      if packet.source != nil { (match, nexthops, errno) = self.match(packet, configuration, output) }
    }
    let family = packet.destination.family
    let rules = list(.getRule, family: family) { RuleMessage($0, in: $1) }.filter { $0.family == family }
    let walk = RuleWalk(rules, packet)
    if let match {
      let table = table(of: match, packet.destination)
      evidence.route = facts(match, nexthops, table: table)
      evidence.rule = walk.rule(of: match, in: table).map {
        KernelEvidence.RuleFacts(priority: $0.priority, text: $0.words)
      }
      return
    }
    var tables: [UInt32: (lookup: RuleWalk.Lookup, nexthops: [RouteNexthop])] = [:]
    let end = walk.end { table in
      if let known = tables[table] { return known.lookup }
      if tables.count == Self.tableLimit { return .unknown }
      let found = lookUp(packet.destination, in: table, over: output)
      tables[table] = found
      return found.lookup
    }
    switch end {
    case .refusal(let rule):
      evidence.rule = KernelEvidence.RuleFacts(priority: rule.priority, text: rule.words, refuses: true)
      evidence.isTrailComplete = rule.refusal == errno
    case .route(let route, let rule):
      evidence.rule = KernelEvidence.RuleFacts(priority: rule.priority, text: rule.words)
      evidence.route = facts(route, tables[route.table]?.nexthops ?? [])
      // A usable route that the kernel does not use: its links have no carrier.
      evidence.isTrailComplete = evidence.state.reason != nil
    case .nothing:
      evidence.isTrailComplete = true
      if output != nil { return }
      let (unused, nexthops) = tables[RouteTableName.main] ?? lookUp(packet.destination, in: RouteTableName.main)
      if case .route(let route) = unused { evidence.unusedRoute = facts(route, nexthops) }
    case .unknown: evidence.isTrailComplete = false
    }
  }

  /// Returns the table of a route that the kernel has found. While there are no rules but its own, the kernel keeps the
  /// tables local and main as one (fib_trie_unmerge, net/ipv4/fib_trie.c), and an answer names main for both.
  private func table(of match: RouteMessage, _ address: IPAddressBits) -> UInt32 {
    guard match.family == .ipv4, match.table == RouteTableName.main, match.type != .unicast,
      case .route(let local) = lookUp(address, in: RouteTableName.local).lookup, local.type == match.type,
      local.destinationLength == match.destinationLength
    else { return match.table }
    return RouteTableName.local
  }

  private func lookUp(
    _ address: IPAddressBits, in table: UInt32, over output: Link? = nil
  ) -> (lookup: RuleWalk.Lookup, nexthops: [RouteNexthop]) {
    var search = RouteSearch(address)
    var nexthops: [RouteNexthop] = []
    var count = 0
    do throws(NetlinkError) {
      _ = try client.list(
        .getRoute, family: address.family, table: table,
        begin: {
          search = RouteSearch(address)
          count = 0
        },
        { message, bytes in
          var nexthops: [RouteNexthop] = []
          return RouteMessage(message, in: bytes, nexthops: &nexthops).map { (route: $0, nexthops: nexthops) }
        },
        { new in
          count += 1
          // Kernels that do not check strictly list all tables.
          if new.route.table != table { return }
          // For one interface, routes over others do not count (fib_lookup_good_nhc, find_match of net/ipv6/route.c).
          if let output, new.route.type == .unicast, new.route.covers(address),
            !hops(new.route, new.nexthops).contains(where: { $0.interfaceIndex == output.index })
          {
            return
          }
          if search.add(new.route) { nexthops = new.nexthops }
        })
    } catch {
      // A table that does not exist has no route (ENOENT).
      return (count == 0 ? .none : .unknown, [])
    }
    if count > Self.routeLimit { return (.unknown, []) }
    return (search.best.map(RuleWalk.Lookup.route) ?? .none, nexthops)
  }

  private func facts(
    _ route: RouteMessage, _ nexthops: [RouteNexthop], table: UInt32? = nil
  ) -> KernelEvidence.RouteFacts {
    KernelEvidence.RouteFacts(
      table: table ?? route.table, type: route.type, destination: route.destination.map { IPAddress($0) },
      prefixLength: Int(route.destinationLength), metric: route.priority, nexthopID: route.nexthopID,
      hops: hops(route, nexthops).map { hop in
        let link = network.tables.links[hop.interfaceIndex]
        return KernelEvidence.HopFacts(
          gateway: hop.gateway.map { IPAddress($0) }, link: link?.name.text, reason: reason(hop, link))
      }, expiresIn: route.expiry > 0 ? Int(route.expiry) / 100 : nil)
  }

  private func hops(_ route: RouteMessage, _ nexthops: [RouteNexthop]) -> [RouteNexthop] {
    if !nexthops.isEmpty { return nexthops }
    if let index = route.outputInterface {
      return [RouteNexthop(flags: route.flags, interfaceIndex: index, gateway: route.gateway)]
    }
    return route.nexthopID.flatMap { network.queries?.hops(ofObject: $0) } ?? []
  }

  private func reason(_ hop: RouteNexthop, _ link: Link?) -> Reachability.Reason? {
    guard let link else { return .noInterface }
    if let reason = network.decision.reason(ofIdle: link) { return reason }
    return hop.flags.contains(.dead) ? .linkDown : hop.flags.contains(.linkDown) ? .noCarrier : nil
  }

  // MARK: Neighbours

  private func neighbour(_ evidence: KernelEvidence) -> KernelEvidence.NeighbourFacts? {
    guard evidence.sendsPackets, !evidence.state.flags.contains(.isLocalAddress), let link = evidence.link
    else { return nil }
    let gateway = evidence.gateway
    return neighbour(gateway ?? evidence.target, on: link, isGateway: gateway != nil)
  }

  package func neighbour(
    _ address: IPAddress, on link: KernelEvidence.LinkFacts, isGateway: Bool = true
  ) -> KernelEvidence.NeighbourFacts {
    var facts = KernelEvidence.NeighbourFacts(address: address, link: link.name, state: nil, isGateway: isGateway)
    facts.isResolved = network.tables.links[link.index].map { !$0.flags.contains(.pointToPoint) } ?? true
    facts.state = neighbourState(facts.address, link: link.index)
    if facts.state?.contains(.noARP) ?? false { facts.isResolved = false }
    return facts
  }

  /// Returns what the kernel knows of a neighbour now; `nil` if there is no entry.
  package func neighbourState(_ address: IPAddress, link: UInt32) -> NeighbourState? {
    builder.removeAll()
    builder.appendGetNeighbour(address.bits, interface: link)
    var state: NeighbourState?
    exchange { _, answer, bytes in
      if case .message(let message) = answer { state = NeighbourMessage(message, in: bytes)?.state }
    }
    return state
  }

  /// Returns the name of a link, as of the last evidence.
  package func linkName(_ index: UInt32) -> String? { network.tables.links[index]?.name.text }

  // MARK: Questions

  private func exchange(_ body: (_ index: Int, _ answer: NetlinkAnswer, _ bytes: RawSpan) -> Void) {
    do throws(NetlinkError) {
      try client.exchange(&builder, body)
    } catch {
      // What is not answered is not known, and no step rests on it.
    }
  }

  /// Returns everything of one type that `read` can read.
  private func list<Value>(
    _ type: NetlinkMessageType, family: KernelAddressFamily = .unspecified,
    _ read: (NetlinkMessage, RawSpan) -> Value?
  ) -> [Value] {
    var values: [Value] = []
    do throws(NetlinkError) {
      _ = try client.list(type, family: family, begin: { values = [] }, read) { values.append($0) }
    } catch {
      // As above.
    }
    return values
  }
}

extension RuleMessage {
  /// The error that a rule which refuses leads to (fib_rules4.c, fib4_rule_action; fib6_rules.c, fib6_rule_action).
  fileprivate var refusal: CInt {
    switch action {
    case .unreachable: ENETUNREACH
    case .prohibit: EACCES
    default: EINVAL
    }
  }
}

extension LinkManager {
  /// Returns what manages a link: the first of them that has left a trace of it below `/run`.
  ///
  /// The traces are NetworkManager's `devices/INDEX`, networkd's `netif/links/INDEX` (sd-network), the pid files of
  /// dhcpcd(8), `ifstate` of ifup(8), and the control socket of wpa_supplicant(8).
  static func of(link name: String, index: UInt32, root: String = "") -> LinkManager? {
    let run = root + "/run"
    if let device = SystemFile.text(at: "\(run)/NetworkManager/devices/\(index)"),
      !device.split(whereSeparator: \.isNewline).contains("managed=false")
    {
      return .networkManager
    }
    if let link = SystemFile.text(at: "\(run)/systemd/netif/links/\(index)"),
      let state = link.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("ADMIN_STATE=") }),
      state != "ADMIN_STATE=unmanaged"
    {
      return .networkd
    }
    // A name may be any bytes except a slash.
    if name.contains("/") { return nil }
    let pids = ["dhcpcd/\(name).pid", "dhcpcd-\(name).pid", "dhcpcd/pid", "dhcpcd.pid"]
    if pids.contains(where: { SystemFile.exists("\(run)/\($0)") }) { return .dhcpcd }
    let states = SystemFile.text(at: "\(run)/network/ifstate") ?? ""
    if states.split(whereSeparator: \.isNewline).contains(where: { $0 == name || $0.hasPrefix("\(name)=") }) {
      return .ifupdown
    }
    return SystemFile.exists("\(run)/wpa_supplicant/\(name)") ? .wpaSupplicant : nil
  }
}
#endif
