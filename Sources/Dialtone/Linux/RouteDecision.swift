// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// Decides by the kernel's replies and the state of the links whether a packet can leave, and why not. Pure.
///
/// An object that holds the tables, so that no answer copies them.
///
/// <doc:HowReachabilityIsDecided> says the same in words. The errors of route queries mean: ENETUNREACH no route,
/// EHOSTUNREACH a route of type unreachable, EACCES prohibit, EINVAL blackhole (rtnetlink(7), net/ipv4/fib_semantics.c,
/// fib_props).
final class RouteDecision {
  var links: LinkTable { didSet { searches.removeAll() } }
  var addresses: AddressTable { didSet { searches.removeAll() } }
  /// Returns whether the radio of a link with no link below it is blocked.
  var isBlocked: (Link) -> Bool { didSet { searches.removeAll() } }
  /// The results of earlier searches in these tables.
  let searches = ReasonSearches()

  init(
    links: LinkTable = LinkTable(), addresses: AddressTable = AddressTable(),
    isBlocked: @escaping (Link) -> Bool = { _ in false }
  ) {
    self.links = links
    self.addresses = addresses
    self.isBlocked = isBlocked
  }

  /// Returns what the replies mean for `target`. `output` is the index of the only interface that counts.
  func decide(_ target: IPAddress, _ replies: RouteReplies, output: UInt32? = nil, source: IPAddress? = nil)
    -> Reachability
  {
    var state: Reachability
    switch replies.configured {
    case .lost: state = Reachability(status: .undetermined, reason: .denied)
    // No packet from a loopback address leaves the machine; the kernel reports that with the error of a blackhole.
    case .refusal(EINVAL) where source?.isLoopback ?? false:
      state = Reachability(status: .unreachable, reason: .noAddress)
    // Nor does one from an address that is not this machine's, such as the source of a route that has outlived it. The
    // kernel says so before it looks at rules and routes, as if there were none.
    case .refusal(ENETUNREACH) where source.map { $0.family == .ipv4 && !addresses.isOurs($0, on: nil) } ?? false:
      state = Reachability(status: .unreachable, reason: .noAddress)
    case .refusal(let errno): state = refused(errno, target, output: output)
    case .route(let route):
      switch route.type {
      case .unicast, .multicast, .broadcast: state = via(route, replies, target, output: output, source: source)
      // An anycast address is this machine's, too: the subnet-router address of RFC 4291, 2.6.1.
      case .local, .anycast: state = local(replies, source)
      case .unreachable: state = Reachability(status: .unreachable, reason: .unreachableRoute)
      case .prohibit: state = Reachability(status: .unreachable, reason: .prohibited)
      case .blackhole: state = Reachability(status: .unreachable, reason: .blackhole)
      default: state = withoutRoute(output: output)
      }
    }
    state.destination = target
    return state
  }

  // MARK: A route

  /// Returns the state of an address of this machine. It needs no link of its own: the packets pass over `lo` (in a
  /// VRF, over the VRF), which has to be up.
  private func local(_ replies: RouteReplies, _ source: IPAddress?) -> Reachability {
    let loopback = links.loopback
    var carrier = loopback
    if case .route(let plain) = replies.plain, let index = plain.outputInterface, index != loopback?.index {
      carrier = links[index] ?? carrier
    }
    if let carrier, !carrier.isUp { return unreachable(.linkDown, carrier) }
    var state = Reachability(status: .reachable, flags: [.reachable, .isLocalAddress])
    state.interface = loopback.map(links.interface)
    state.source = source
    if source == nil, case .route(let plain) = replies.plain {
      state.source = plain.preferredSource.map { IPAddress($0) }
    }
    return state
  }

  private func via(
    _ route: RouteMessage, _ replies: RouteReplies, _ target: IPAddress, output: UInt32?, source: IPAddress?
  ) -> Reachability {
    var isWithoutHop = true
    var failure: Reachability?
    let found = replies.firstHop { hop -> Reachability? in
      // A reply for one interface still lists all hops.
      if let output, hop.interfaceIndex != output { return nil }
      isWithoutHop = false
      guard let link = links[hop.interfaceIndex] else { return nil }
      guard let problem = problem(of: hop, link) else {
        return usable(route, hop, link, replies, target, output: output, source: source)
      }
      // A hop that can be brought up says more than one that is dead.
      if failure == nil || failure?.status == .unreachable && problem.status != .unreachable { failure = problem }
      return nil
    }
    if isWithoutHop { return withoutRoute(output: output) }
    return found ?? failure ?? Reachability(status: .unreachable, reason: .linkDown)
  }

  /// Returns why nothing leaves by this hop, or `nil` if packets do.
  private func problem(of hop: RouteNexthop, _ link: Link) -> Reachability? {
    if !link.isUp { return unreachable(.linkDown, link) }
    // Before "linkdown", since IPv6 flags the route of a dormant link so, too.
    if link.isDormant { return requiresConnection(.dormant, link) }
    if !links.isOperating(link) || hop.flags.contains(.linkDown) { return unreachable(.noCarrier, link) }
    if hop.flags.contains(.dead) { return unreachable(.linkDown, link) }
    return nil
  }

  private func usable(
    _ route: RouteMessage, _ hop: RouteNexthop, _ link: Link, _ replies: RouteReplies, _ target: IPAddress,
    output: UInt32?, source: IPAddress?
  ) -> Reachability {
    let found: IPAddress?
    // A router may have redirected packets to another one of the link (RFC 1122, 3.2.2.2; RFC 4861, 8), and the kernel
    // uses no gateway that is this machine (rt_set_nexthop, net/ipv4/route.c).
    var usedGateway = hop.gateway
    switch replies.plain {
    // If the query has a source, IPv6 still replies with the one that it would choose.
    case .route(let plain):
      found = source ?? plain.preferredSource.map { IPAddress($0) }
      if replies.severalHops.isEmpty, plain.outputInterface == hop.interfaceIndex { usedGateway = plain.gateway }
    // The route exists, but no packet could be made for it, such as one from 127.0.0.1 to elsewhere (EINVAL).
    case .refusal(EINVAL), .refusal(EADDRNOTAVAIL): return unreachable(.noAddress, link)
    case .refusal(let errno): return refused(errno, target, output: output)
    case .lost: return Reachability(status: .undetermined, reason: .denied)
    }
    // A neighbour can answer to any address of the link.
    let isOnLink = hop.gateway == nil && route.destinationLength > 0 && !link.flags.contains(.pointToPoint)
    guard let found,
      isOnLink || target.isLinkLocal ? !found.isLoopback && !found.isUnspecified : found.isUsableSource
    else {
      return unreachable(.noAddress, link)
    }
    var state = Reachability(status: .reachable, interface: links.interface(link), source: found)
    let kind = links.kind(of: link)
    // On a wired or Wi-Fi link, link-local addresses are neighbours, no matter which route covers them. For multicast
    // and broadcast addresses, the kernel's reply has the gateway of the default route, which is not used.
    let isNeighbour = target.isLinkLocal && (kind == .wired || kind == .wifi)
    if route.type == .unicast, !isNeighbour, let usedGateway { state.gateway = IPAddress(usedGateway) }
    let isDirect = state.gateway == nil && (isNeighbour || !link.flags.contains(.pointToPoint))
    state.flags = flags(link).union(isDirect ? [.reachable, .isDirect] : .reachable)
    return state
  }

  /// Returns the state for a way that connect(2) finds over the link, while no query shows its route. Its gateway is
  /// unknown.
  func unseenRoute(over output: UInt32, to target: IPAddress, from source: IPAddress) -> Reachability {
    guard let link = links[output] else { return withoutRoute(output: output) }
    let hop = RouteNexthop(flags: [], interfaceIndex: output, gateway: nil)
    var state =
      problem(of: hop, link)
      ?? Reachability(
        status: .reachable, flags: flags(link).union(.reachable), interface: links.interface(link), source: source)
    state.destination = target
    return state
  }

  private func flags(_ link: Link) -> ReachabilityFlags {
    links.kind(of: link).impliedFlags.union(link.deviceType == .ppp ? .transientConnection : [])
  }

  // MARK: No route

  private func refused(_ errno: CInt, _ target: IPAddress, output: UInt32?) -> Reachability {
    switch errno {
    case ENETUNREACH, ENETDOWN, ENODEV: return withoutRoute(output: output)
    // With an output interface, this is IPv4's error for no route.
    case EHOSTUNREACH:
      return output == nil
        ? Reachability(status: .unreachable, reason: .unreachableRoute) : withoutRoute(output: output)
    case EACCES: return Reachability(status: .unreachable, reason: .prohibited)
    case EINVAL: return Reachability(status: .unreachable, reason: .blackhole)
    // A kernel without IPv6.
    case EOPNOTSUPP, EAFNOSUPPORT: return target.family == .ipv6 ? withoutRoute(output: output) : .denied
    default: return .denied
    }
  }

  /// Returns the state without a route. It names the link that would have to change for there to be one.
  func withoutRoute(output: UInt32? = nil) -> Reachability {
    searches.result(output) {
      var best: Candidate?
      if let output {
        // Looked up instead of searched for: a path asks for hundreds of links, one by one.
        best = links[output].flatMap { candidate($0, isAskedFor: true) }
      } else {
        for link in links.all { best = better(best, candidate(link, isAskedFor: false)) }
      }
      return best?.state ?? Reachability(status: .unreachable, reason: .noRoute)
    }
  }

  private typealias Candidate = (rank: Int, state: Reachability)

  /// The first of equals.
  private func better(_ first: Candidate?, _ second: Candidate?) -> Candidate? {
    guard let first, let second else { return first ?? second }
    return second.rank > first.rank ? second : first
  }

  private func candidate(_ link: Link, isAskedFor: Bool) -> Candidate? {
    let kind = links.kind(of: link)
    let hasAddress = addresses.usableAddress(of: link.index).map { !$0.isLinkLocal } ?? false
    guard kind == .wired || kind == .wifi || kind == .cellular || kind == .tunnel else { return nil }
    // A virtual link without an address was made for others' packets: containers' links come and go by the hundred.
    if link.infoKind != nil, kind != .cellular, !hasAddress, !isAskedFor { return nil }
    if let waiting = waiting(link, kind, hasAddress: hasAddress) { return waiting }
    if links.isOperating(link) {
      return (hasAddress ? 5 : 3, Reachability(status: .unreachable, reason: .noRoute))
    }
    if link.isUp { return (hasAddress ? 6 : 2, unreachable(.noCarrier, link)) }
    return (hasAddress ? 4 : 1, unreachable(.linkDown, link))
  }

  /// Returns a candidate if the link could be brought up for a connection.
  private func waiting(_ link: Link, _ kind: InterfaceKind, hasAddress: Bool) -> Candidate? {
    if link.isDormant { return (9, requiresConnection(.dormant, link)) }
    if kind == .wifi || kind == .cellular, !links.isOperating(link),
      links.hardware(of: link).allSatisfy(isBlocked)
    {
      return (7, requiresConnection(.radioBlocked, link))
    }
    if kind == .cellular, !links.isOperating(link) || !hasAddress { return (8, requiresConnection(.noSession, link)) }
    return nil
  }

  /// Returns why a link carries nothing, or `nil` if it carries packets.
  func reason(ofIdle link: Link) -> Reachability.Reason? {
    if links.isOperating(link) { return nil }
    if let waiting = waiting(link, links.kind(of: link), hasAddress: true) { return waiting.state.reason }
    return link.isUp ? .noCarrier : .linkDown
  }

  // MARK: The local network

  /// Returns whether some wired or Wi-Fi link operates and has a usable address, which may be link-local.
  func localNetwork(
    _ kind: InterfaceKind?, _ family: IPAddress.Family?, output: UInt32? = nil
  ) -> Reachability {
    var best: Candidate?
    for link in links.all where output == nil || link.index == output {
      let linkKind = links.kind(of: link)
      guard linkKind == .wired || linkKind == .wifi, kind == nil || kind == linkKind else { continue }
      let address = addresses.usableAddress(of: link.index, family: family)
      if links.isOperating(link), let address {
        let state = Reachability(
          status: .reachable, flags: [.reachable, .isDirect], interface: links.interface(link), source: address)
        // Perhaps nobody has set up a link that has only a link-local address.
        best = better(best, (address.isLinkLocal ? 10 : 11, state))
      } else if let waiting = waiting(link, linkKind, hasAddress: address != nil) {
        best = better(best, waiting)
      } else if links.isOperating(link) {
        best = better(best, (4, unreachable(.noAddress, link)))
      } else if link.isUp {
        best = better(best, (address == nil ? 2 : 6, unreachable(.noCarrier, link)))
      } else {
        best = better(best, (address == nil ? 1 : 5, unreachable(.linkDown, link)))
      }
    }
    return best?.state ?? Reachability(status: .unreachable, reason: .noInterface)
  }

  // MARK: Words

  /// Returns an unreachable state. It never has a gateway, so that it is the same whether the kernel still has the
  /// route or not.
  private func unreachable(_ reason: Reachability.Reason, _ link: Link) -> Reachability {
    Reachability(status: .unreachable, interface: links.interface(link), reason: reason)
  }

  private func requiresConnection(_ reason: Reachability.Reason, _ link: Link) -> Reachability {
    let flags = flags(link).union([.reachable, .connectionRequired]).union(reason.impliedFlags)
    return Reachability(status: .requiresConnection, flags: flags, interface: links.interface(link), reason: reason)
  }
}

/// The reasons why there is no route, as searches of all links found them.
///
/// The reason depends on the tables and on the interface asked for, not on the target: thousands of targets without a
/// route share one search. Invariant: code that changes the tables, or anything else a search reads, calls `removeAll`.
final class ReasonSearches {
  private struct Found {
    let output: UInt32
    let reason: Reachability
  }

  /// If no interface is asked for.
  private var general: Reachability?
  /// In the order of the interfaces' indices.
  private var found: [Found] = []
  /// How many searches were made.
  private(set) var count = 0

  func removeAll() {
    general = nil
    found.removeAll(keepingCapacity: true)
  }

  /// Returns the reason, and searches for it if it is not known.
  func result(_ output: UInt32?, _ search: () -> Reachability) -> Reachability {
    guard let output else {
      if let general { return general }
      count += 1
      let reason = search()
      general = reason
      return reason
    }
    let (position, isTaken) = found.place(of: output) { $0.output }
    if isTaken { return found[position].reason }
    count += 1
    let reason = search()
    found.insert(Found(output: output, reason: reason), at: position)
    return reason
  }
}
