// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Makes a path from the state of the links and the kernel's replies for each of them. Pure.
///
/// <doc:HowReachabilityIsDecided> says the same in words.
struct NetworkPathAssembly {
  /// What is known of the way to the Internet by one family.
  struct Way: Sendable {
    let state: Reachability
    /// The metric of the route: lower wins.
    let metric: UInt32

    init(_ state: Reachability, metric: UInt32 = 0) {
      self.state = state
      self.metric = metric
    }

    fileprivate var family: IPAddress.Family? { state.destination?.family }
  }

  /// The ways over one link, of both families.
  struct Ways: Sendable {
    let link: Link
    let ways: [Way]

    fileprivate var reachable: [Way] { ways.filter(\.state.isReachable) }
    fileprivate var metric: UInt32 { reachable.map(\.metric).min() ?? .max }
  }

  private let decision: RouteDecision
  private let configuration: PathConfiguration
  /// The link that the configuration names, if it exists.
  private let named: Link?

  init(_ decision: RouteDecision, _ configuration: PathConfiguration) {
    self.decision = decision
    self.configuration = configuration
    named = configuration.interface.flatMap { decision.links.link(named: LinkName($0)) }
  }

  private var links: LinkTable { decision.links }

  /// Returns whether the configuration allows packets over the link.
  private func counts(_ link: Link) -> Bool {
    if link.flags.contains(.loopback) || (configuration.interface != nil && link.index != named?.index) { return false }
    return configuration.allows(links.kind(of: link))
  }

  /// Returns whether packets of this machine never choose the link. A port carries another link's packets. A virtual
  /// link without an address was made for others' packets, such as those of containers; there may be hundreds of them.
  private func isInner(_ link: Link) -> Bool {
    if configuration.interface != nil { return false }
    if links.isPort(link) { return true }
    guard link.infoKind != nil, links.kind(of: link) != .cellular else { return false }
    return decision.addresses.usableAddress(of: link.index)?.isLinkLocal ?? true
  }

  private func hasUsableAddress(_ link: Link) -> Bool { decision.addresses.usableAddress(of: link.index) != nil }

  /// The links whose ways are to be asked for: they are allowed, operate and have a usable address. One that is named
  /// needs none: packets that are bound to it may have another link's address.
  var candidates: [Link] {
    links.all.filter { link in
      counts(link) && !isInner(link) && links.isOperating(link) && (named != nil || hasUsableAddress(link))
    }
  }

  /// Returns the links whose ways are to be asked for, too: packets that are bound to no interface leave by them.
  func others(takenBy general: [Way], than candidates: [Link]) -> [Link] {
    var others: [Link] = []
    for way in general where way.state.isReachable {
      guard let index = way.state.interface?.index, let link = links[index], counts(link),
        !candidates.contains(where: { $0.index == index }), !others.contains(where: { $0.index == index })
      else { continue }
      others.append(link)
    }
    return others
  }

  /// Returns the path.
  ///
  /// - Parameters:
  ///   - general: The ways of a packet that is bound to no interface.
  ///   - bound: The ways over each of the ``candidates`` and ``others(takenBy:than:)``.
  ///   - nameServers: What is known of the way to each name server.
  /// - Returns: The path, as it is at the time of the replies.
  func path(general: [Way], bound: [Ways], nameServers: [Reachability]) -> NetworkPath {
    let ways = inOrder(complete(bound, by: general), first: TargetRecord.best(of: general.map(\.state)))
    let verdict = configuration.isUnrestricted ? general.map(\.state) : ways.flatMap(\.ways).map(\.state) + idle(ways)
    var path = path(TargetRecord.best(of: verdict) ?? Reachability(status: .unreachable, reason: .noInterface))
    let families = verdict.filter(\.isReachable).compactMap { $0.destination?.family }
    path.supportsIPv4 = families.contains(.ipv4)
    path.supportsIPv6 = families.contains(.ipv6)
    path.supportsDNS = nameServers.contains { server in
      if !server.isReachable { return false }
      // A server on this machine asks others, so it counts only if the Internet can be reached.
      if server.flags.contains(.isLocalAddress) { return path.status == .satisfied }
      return configuration.isUnrestricted || server.interface.flatMap { links[$0.index] }.map(counts) ?? false
    }
    path.interfaces = ways.filter { !$0.reachable.isEmpty || hasUsableAddress($0.link) }.map(interface)
    return path
  }

  private func path(_ verdict: Reachability) -> NetworkPath {
    switch verdict.status {
    case .undetermined: NetworkPath(.undetermined, reason: verdict.reason)
    case .unreachable: NetworkPath(.unsatisfied, reason: verdict.reason)
    case .requiresConnection: NetworkPath(.requiresConnection, reason: verdict.reason)
    case .reachable: NetworkPath(.satisfied)
    }
  }

  /// Returns why nothing leaves by the allowed links that are not asked for.
  private func idle(_ asked: [Ways]) -> [Reachability] {
    let asked = Set(asked.map(\.link.index))
    return links.all.filter { counts($0) && !asked.contains($0.index) && (named != nil || !links.isPort($0)) }
      .map { decision.withoutRoute(output: $0.index) }
  }

  /// Adds the ways of packets that are bound to no interface. They may use a link by which packets bound to it cannot
  /// leave. Who asks for one interface by its name binds to it.
  private func complete(_ bound: [Ways], by general: [Way]) -> [Ways] {
    if configuration.interface != nil { return bound }
    return bound.map { known in
      let missing = general.filter { way in
        way.state.isReachable && way.state.interface?.index == known.link.index
          && !known.reachable.contains { $0.family == way.family }
      }
      if missing.isEmpty { return known }
      let others = known.ways.filter { way in !missing.contains { $0.family == way.family } }
      return Ways(link: known.link, ways: others + missing)
    }
  }

  /// Returns first the link that unbound packets take, then the others that lead to the Internet, by metric, then the
  /// rest.
  private func inOrder(_ all: [Ways], first: Reachability?) -> [Ways] {
    let first = first.flatMap { $0.isReachable ? $0.interface?.index : nil }
    let ranked = all.map { ways in
      (rank: ways.link.index == first ? 0 : ways.reachable.isEmpty ? 2 : 1, metric: ways.metric, ways: ways)
    }
    return ranked.sorted { a, b in (a.rank, a.metric, a.ways.link.index) < (b.rank, b.metric, b.ways.link.index) }
      .map(\.ways)
  }

  private func interface(_ ways: Ways) -> NetworkPath.Interface {
    let known = links.interface(ways.link)
    let families = ways.reachable.compactMap(\.family)
    var gateways: [IPAddress] = []
    for gateway in ways.reachable.compactMap(\.state.gateway) where !gateways.contains(gateway) {
      gateways.append(gateway)
    }
    let usable = decision.addresses.addresses(of: ways.link.index).filter(\.isUsable)
    var interface = NetworkPath.Interface(
      known, addresses: inOrder(usable.filter { !$0.isTemporary }), gateways: gateways,
      isExpensive: known.kind == .cellular || ways.link.isNamed(in: configuration.meteredInterfaces),
      isConstrained: ways.link.isNamed(in: configuration.constrainedInterfaces),
      supportsIPv4: families.contains(.ipv4), supportsIPv6: families.contains(.ipv6))
    interface.temporaryAddresses = inOrder(usable.filter(\.isTemporary))
    return interface
  }

  /// Returns the addresses in an order of their own, since the kernel's may differ once the tables are read anew. The
  /// same address may be there with two prefixes.
  private func inOrder(_ entries: [AddressTable.Entry]) -> [IPAddress] {
    Set(entries.map(\.ipAddress)).sorted { a, b in
      if a.family == b.family, a.isLinkLocal != b.isLinkLocal { return b.isLinkLocal }
      return a.bits < b.bits
    }
  }
}

extension AddressTable.Entry {
  /// Whether it is an IPv6 temporary address (RFC 8981). For IPv4 the same bit means something else.
  fileprivate var isTemporary: Bool { address.isIPv6 && flags.contains(.temporary) }
}
