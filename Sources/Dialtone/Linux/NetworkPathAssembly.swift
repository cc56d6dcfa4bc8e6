// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Netlink

/// Makes a path of the state of the links and of what the kernel replies for each of them. Pure.
///
/// <doc:HowReachabilityIsDecided> says the same in words.
package struct NetworkPathAssembly {
  /// What is known of the way to the Internet by one family.
  package struct Way: Sendable {
    package let state: Reachability
    /// Of the route: lower wins.
    package let metric: UInt32

    package init(_ state: Reachability, metric: UInt32 = 0) {
      self.state = state
      self.metric = metric
    }
  }

  /// The ways over one link, of both families.
  package struct Ways: Sendable {
    package let link: Link
    package let ways: [Way]

    package init(_ link: Link, _ ways: [Way]) {
      self.link = link
      self.ways = ways
    }

    fileprivate var reachable: [Way] { ways.filter(\.state.isReachable) }
    fileprivate var metric: UInt32 { reachable.map(\.metric).min() ?? .max }
  }

  private let decision: PathDecision
  private let configuration: PathConfiguration

  package init(_ decision: PathDecision, _ configuration: PathConfiguration) {
    self.decision = decision
    self.configuration = configuration
  }

  private var links: LinkTable { decision.links }

  /// The links that count.
  private var allowed: [Link] {
    links.all.filter { !$0.flags.contains(.loopback) && configuration.allows(links.interface($0)) }
  }

  /// The links whose ways are to be asked for: those that count, operate and have a usable address.
  package var candidates: [Link] {
    allowed.filter { links.isOperating($0) && decision.addresses.usableAddress(of: $0.index) != nil }
  }

  /// - Parameters:
  ///   - general: The ways that a packet gets which is bound to no interface.
  ///   - bound: Those that it gets over each of the ``candidates``.
  ///   - nameServers: What is known of the way to each name server.
  package func path(general: [Way], bound: [Ways], nameServers: [Reachability]) -> NetworkPath {
    let verdict = verdict(general, bound)
    var path =
      switch verdict.status {
      case .undetermined: NetworkPath(.undetermined, reason: verdict.reason)
      case .unreachable: NetworkPath(.unsatisfied, reason: verdict.reason)
      case .requiresConnection: NetworkPath(.requiresConnection, reason: verdict.reason)
      case .reachable: NetworkPath(.satisfied)
      }
    // A server on this machine asks others, so it says something only where those can be reached.
    path.supportsDNS = nameServers.contains {
      $0.isReachable && (path.status == .satisfied || !$0.flags.contains(.isLocalAddress))
    }
    let first = configuration.isUnrestricted && verdict.isReachable ? verdict.interface?.index : nil
    path.interfaces = complete(bound, by: general).sorted { a, b in
      let keys = [a, b].map { ($0.link.index == first ? 0 : 1, $0.reachable.isEmpty ? 1 : 0, $0.metric, $0.link.index) }
      return keys[0] < keys[1]
    }.map(interface)
    return path
  }

  private func verdict(_ general: [Way], _ bound: [Ways]) -> Reachability {
    if configuration.isUnrestricted {
      return TargetRecord.best(of: general.map(\.state)) ?? Reachability(status: .unreachable, reason: .noRoute)
    }
    // In the order of preference, so that the first of equals is the one that packets take.
    let ways = bound.sorted { ($0.metric, $0.link.index) < ($1.metric, $1.link.index) }.flatMap(\.ways).map(\.state)
    let asked = Set(bound.map(\.link.index))
    let idle = allowed.filter { !asked.contains($0.index) }.map { decision.withoutRoute(output: $0.index) }
    return TargetRecord.best(of: ways + idle) ?? Reachability(status: .unreachable, reason: .noInterface)
  }

  /// Adds what packets take that are bound to no interface: a link without an address of its own, or one that is no way for
  /// packets which are bound to it.
  private func complete(_ bound: [Ways], by general: [Way]) -> [Ways] {
    var all = bound
    for way in general where way.state.isReachable {
      guard let index = way.state.interface?.index, let link = links[index], !link.flags.contains(.loopback),
        configuration.allows(links.interface(link))
      else { continue }
      let family = way.state.destination?.family
      if let position = all.firstIndex(where: { $0.link.index == index }) {
        let known = all[position]
        if known.reachable.contains(where: { $0.state.destination?.family == family }) { continue }
        all[position] = Ways(link, known.ways.filter { $0.state.destination?.family != family } + [way])
      } else {
        all.append(Ways(link, [way]))
      }
    }
    return all
  }

  private func interface(_ ways: Ways) -> NetworkPath.Interface {
    let link = ways.link
    let known = links.interface(link)
    let usable = decision.addresses.addresses(of: link.index).filter(\.isUsable)
    let (lasting, temporary) = (usable.filter { !$0.isTemporary }, usable.filter(\.isTemporary))
    let families = Set(ways.reachable.compactMap { $0.state.destination?.family })
    var gateways: [IPAddress] = []
    for gateway in ways.reachable.compactMap(\.state.gateway) where !gateways.contains(gateway) {
      gateways.append(gateway)
    }
    var interface = NetworkPath.Interface(
      known, addresses: (lasting + temporary).map(\.ipAddress), gateways: gateways,
      isExpensive: known.kind == .cellular || configuration.meteredInterfaces.contains(known.name),
      isConstrained: configuration.constrainedInterfaces.contains(known.name),
      supportsIPv4: families.contains(.ipv4), supportsIPv6: families.contains(.ipv6))
    interface.temporaryCount = temporary.count
    return interface
  }
}

extension AddressTable.Entry {
  /// An IPv6 privacy address (RFC 8981); for IPv4 the same bit means something else.
  fileprivate var isTemporary: Bool { address.isIPv6 && flags.contains(.temporary) }
}
