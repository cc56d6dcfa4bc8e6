// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The rules that tell what the kernel's evidence says of the way to an address. Pure.
///
/// The findings come in the order in which a packet meets them: link, address, rule, route, source, neighbour. The
/// first fault is the last finding: what would come behind it follows from it.
package struct KernelFindings: Sendable {
  private let evidence: KernelEvidence

  package static func findings(_ evidence: KernelEvidence) -> [KernelFinding] {
    let rules = KernelFindings(evidence: evidence)
    var found: [KernelFinding] = []
    let steps: [(KernelFindings) -> KernelFinding.Result] = [
      { .link($0.link) }, { .address($0.address) }, { .rule($0.rule) }, { .route($0.route) }, { .source($0.source) },
      { .neighbour(neighbour($0.evidence.neighbour)) },
    ]
    for step in steps where !(found.last?.stopsPackets ?? false) { found.append(KernelFinding(step(rules), evidence)) }
    return found
  }

  private init(evidence: KernelEvidence) { self.evidence = evidence }

  private var target: IPAddress { evidence.target }
  private var isLocal: Bool {
    evidence.state.flags.contains(.isLocalAddress) || evidence.route?.type == .local
  }

  // MARK: Link

  private var link: KernelFinding.Link {
    if isLocal || target.isLoopback { return evidence.isLoopbackUp ? .loopback : .loopbackDown }
    if evidence.state.reason == .denied { return .denied }
    if let asked = evidence.askedInterface, evidence.link == nil {
      if asked == "lo" { return evidence.isLoopbackUp ? .loopback : .loopbackDown }
      return .missing(asked)
    }
    if evidence.links.isEmpty { return .missing(nil) }
    if evidence.state.reason == .noInterface { return .missing(target.zone ?? "") }
    guard let link = evidence.likeliestLink else { return .unclear }
    guard let reason = link.reason, reason.isOfLink, !link.isOperating else { return .works(link.name) }
    // Several hops, or a nexthop object: which link it is, is the route's matter.
    if hasDeadHops { return .failsAmongOthers(link.name, reason) }
    // Where nothing points to the link, it is only the likeliest of several.
    let isNamed = evidence.askedInterface != nil || evidence.route != nil || evidence.state.reason == reason
    return .fails(link.name, reason, isNamed: isNamed || evidence.links.count == 1)
  }

  // MARK: Addresses

  private var address: KernelFinding.Address {
    if isLocal || target.isLinkLocal { return .notNeeded }
    if target.isLoopback {
      let isLeftToRoute = evidence.rule?.refuses ?? false || evidence.route?.type == .broadcast
      // Else packets go elsewhere: lo has lost it.
      return isLeftToRoute || evidence.state.status == .undetermined ? .notNeeded : .missing
    }
    let here = evidence.link.map { link in evidence.addresses.filter { $0.link == link.index } } ?? evidence.addresses
    // An address of another link serves as well. If the link has one, it is the route's source that is missing.
    let usable = evidence.addresses.filter(\.isUsable)
    if !usable.isEmpty, evidence.state.reason != .noAddress || usable.contains(where: here.contains) {
      let own = usable.first { $0.address == evidence.state.source } ?? usable.first { here.contains($0) } ?? usable[0]
      if let link = evidence.link, let bridge = link.bridge, own.link == link.index {
        return .onPort(own.address, bridge: bridge)
      }
      return own.isDeprecated ? .deprecated(own.address) : .works(own.address)
    }
    if let duplicate = here.first(where: \.isDuplicate) { return .duplicate(duplicate.address) }
    if let tentative = here.first(where: { $0.isTentative && !$0.address.isLinkLocal }) {
      return .tentative(tentative.address)
    }
    guard let own = here.first(where: \.address.isLinkLocal)?.address else { return .missing }
    // The kernel sends from it: an IPv4 router may translate it, and an IPv6 neighbour answers to it.
    let isSource = own == evidence.state.source && (own.family == .ipv4) == (evidence.state.gateway != nil)
    return isSource && evidence.state.isReachable ? .works(own) : .linkLocal(own)
  }

  // MARK: Rule and route

  private var rule: KernelFinding.Rule {
    guard let rule = evidence.rule else {
      return evidence.isTrailComplete && evidence.route == nil ? .none : .unknown
    }
    return rule.refuses && !evidence.sendsPackets
      ? .refuses(priority: rule.priority, isProven: evidence.isTrailComplete) : .passes(priority: rule.priority)
  }

  private var hasDeadHops: Bool {
    guard let route = evidence.route, route.hops.count > 1 || route.nexthopID != nil else { return false }
    return route.hops.allSatisfy { $0.reason != nil }
  }

  private var route: KernelFinding.Route {
    guard let route = evidence.route else {
      switch evidence.state.reason {
      // The walk through rules and routes did not find what the kernel says there is.
      case let reason? where [.prohibited, .blackhole, .unreachableRoute].contains(reason): return .unexplained(reason)
      default: return .missing
      }
    }
    switch route.type {
    case .unreachable: return .refuses(.unreachableRoute)
    case .prohibit: return .refuses(.prohibited)
    case .blackhole: return .refuses(.blackhole)
    default: break
    }
    if hasDeadHops { return .dead }
    if evidence.state.status == .unreachable, route.hops.first?.reason != nil { return .dead }
    return .leads(gateway: route.hops.first?.gateway, interface: route.hops.first?.link)
  }

  // MARK: Source

  private var source: KernelFinding.Source {
    if let source = evidence.state.source {
      let owner = evidence.addresses.first { $0.address == source }
      guard let link = evidence.link, let owner, !isLocal else { return .address(source) }
      if owner.link != link.index {
        return .foreign(source, interface: evidence.links.first { $0.index == owner.link }?.name ?? "lo")
      }
      // Hosters give an address by itself, with a router of another network.
      let isAlone = owner.prefixLength == (source.family == .ipv4 ? 32 : 128)
      guard let gateway = evidence.gateway, !gateway.isLinkLocal, !owner.isInNetwork(of: gateway),
        !isAlone
          || evidence.addresses.contains(where: { $0.link == link.index && $0.isUsable && $0.isInNetwork(of: gateway) })
      else { return .address(source) }
      return .otherNetwork(source, gateway: gateway)
    }
    // What goes to all on a link has one, though monitors see no way.
    if evidence.route?.type == .broadcast { return .unknown }
    if evidence.state.reason == .noAddress { return .missing }
    if !evidence.sendsPackets, let reason = evidence.state.reason { return .refused(reason) }
    return .unknown
  }

  // MARK: Neighbour

  /// Returns what is known of a neighbour.
  ///
  /// - Parameters:
  ///   - facts: What the kernel's table has; `nil` if the packets go to no neighbour.
  ///   - wasProbed: Whether something was sent, so that the kernel would ask for it.
  ///   - hasAnswered: Whether the neighbour itself has answered a packet.
  /// - Returns: What the kernel knows of the neighbour.
  package static func neighbour(
    _ facts: KernelEvidence.NeighbourFacts?, wasProbed: Bool = false, hasAnswered: Bool = false
  ) -> KernelFinding.Neighbour {
    guard let facts else { return .none }
    guard facts.isResolved else { return .notAsked }
    let (address, isGateway) = (facts.address, facts.isGateway)
    if hasAnswered { return .answers(address, isGateway: isGateway) }
    guard let state = facts.state else { return .unknown(address, isGateway: isGateway) }
    if !state.isDisjoint(with: [.reachable, .permanent]) { return .answers(address, isGateway: isGateway) }
    if state.contains(.failed) { return .silent(address, isGateway: isGateway, wasProbed: wasProbed) }
    if state.contains(.incomplete) { return .asked(address, isGateway: isGateway) }
    // STALE, DELAY and PROBE: it was there, and is asked again only while packets are sent to it.
    return .answered(address, isGateway: isGateway)
  }
}

extension KernelEvidence {
  /// The link that packets leave by, or the one that would have to change, if no other could carry them instead.
  package var likeliestLink: LinkFacts? {
    if let link { return link }
    return links.contains(where: \.isOperating) ? nil : links.first
  }
}

extension NeighbourState {
  /// The state as ip-neighbour(8) prints it.
  package var words: String {
    let names: [(NeighbourState, String)] = [
      (.incomplete, "INCOMPLETE"), (.reachable, "REACHABLE"), (.stale, "STALE"), (.delay, "DELAY"), (.probe, "PROBE"),
      (.failed, "FAILED"), (.noARP, "NOARP"), (.permanent, "PERMANENT"),
    ]
    return names.first { contains($0.0) }?.1 ?? "NONE"
  }
}
