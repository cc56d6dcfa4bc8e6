// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension TargetRecord {
  /// Returns the target's state by its queries' answers, or `nil` while one is missing.
  func decide() -> Reachability? {
    switch target.storage {
    case .host: return decideHost()
    case .address where isTranslatable: return decideTranslated()
    case .pair where configuration.comparesSources: return decideCompared()
    case .internet, .localNetwork, .address, .pair:
      // There are none if the address is not of the family asked for.
      return nodes.isEmpty ? Reachability(status: .unreachable, reason: .noRoute) : Self.best(nodes)
    }
  }

  /// Returns the best of the answers, the first of equals, or `nil` while one is missing.
  static func best(_ nodes: [QueryNode]) -> Reachability? {
    var best: Reachability?
    for node in nodes {
      guard let answer = node.answer else { return nil }
      best = better(best, answer)
    }
    return best
  }

  /// Returns the best of the answers, the first of equals, or `nil` if there are none.
  ///
  /// An unknown state ranks above a known failure. Among failures, any reason says more than "no route".
  static func best(of answers: some Sequence<Reachability>) -> Reachability? { answers.reduce(nil, better) }

  private static func better(_ first: Reachability?, _ second: Reachability) -> Reachability? {
    guard let first else { return second }
    let isMoreSpecific = second.status == first.status && first.reason == .noRoute && second.reason != .noRoute
    return rank(second) > rank(first) || isMoreSpecific ? second : first
  }

  private static func rank(_ answer: Reachability) -> Int {
    switch answer.status {
    case .reachable: 3
    case .requiresConnection: 2
    case .undetermined: 1
    case .unreachable: 0
    }
  }

  /// The pair's state, and whether the remote address can be reached from another source.
  private func decideCompared() -> Reachability? {
    guard nodes.count == 2 else { return Reachability(status: .unreachable, reason: .noRoute) }
    guard var state = nodes[0].answer, let free = nodes[1].answer else { return nil }
    // The interface says nothing if it is not known.
    guard free.isDetermined else { return free }
    state.freeInterface = free.isReachable ? free.interface?.index ?? .max : 0
    return state
  }

  // MARK: Hosts

  /// A host without an address is unreachable if its name has none, or if there is no path for the lookup. Otherwise
  /// nothing is known of it.
  private func decideHost() -> Reachability? {
    guard let name else { return nil }
    if !nodes.isEmpty { return Self.best(nodes) }
    switch name.outcome {
    // There may be addresses, but none of the family asked for.
    case .addresses, .noAddress: return Reachability(status: .unreachable, reason: .nameNotResolved)
    case .failed: return decideUnresolved(.nameNotResolved)
    case .overdue:
      guard let state = decideUnresolved(.nameNotResolved) else { return nil }
      return configuration.waitsForNames && !state.isDetermined ? nil : state
    case .exhausted(let shortage): return decideUnresolved(shortage)
    case .pending: return nil
    }
  }

  /// Returns the state of a host that could not be looked up. Without a path to the Internet or a name server, no
  /// lookup could have helped.
  private func decideUnresolved(_ reason: Reachability.Reason) -> Reachability? {
    guard var state = Self.best(pathNodes) else { return nil }
    if needsNameServers {
      guard let servers = serverNodes, !servers.contains(where: { $0.answer == nil }) else { return nil }
      if Self.best(servers)?.status == .reachable { return Reachability(status: .undetermined, reason: reason) }
    } else if state.status == .reachable {
      return Reachability(status: .undetermined, reason: reason)
    }
    state.destination = nil
    return state
  }

  /// Whether the state depends on the paths to the name servers: the host is not found, and there is no path to the
  /// Internet.
  var needsNameServers: Bool {
    guard case .host = target.storage, let name, nodes.isEmpty, let internet = Self.best(pathNodes) else {
      return false
    }
    return name.outcome.isFailure && internet.status == .unreachable
  }

  // MARK: NAT64

  /// Returns whether an IPv4 address without a path of its own is looked for behind the network's NAT64 (RFC 6146).
  static func usesTranslation(_ address: IPAddress, _ configuration: ReachabilityConfiguration) -> Bool {
    let address = address.unmapped
    return configuration.usesNAT64 && configuration.family == nil && address.family == .ipv4
      && !address.isUnspecified && !address.isLoopback && !address.isLinkLocal && !address.isMulticast
  }

  /// Whether the answer to ``onlyQuery(_:_:)`` is the target's state: it is not looked for behind a NAT64.
  static func isEnough(_ answer: Reachability, for query: RouteQuery, _ configuration: ReachabilityConfiguration)
    -> Bool
  {
    answer.status != .unreachable || !(query.address.map { usesTranslation($0, configuration) } ?? false)
  }

  /// Whether the address has no path of its own while there is an IPv6 path. Then the prefix has to be looked up.
  var needsTranslation: Bool {
    guard let own = Self.best(nodes), own.status == .unreachable, let reason = own.reason else { return false }
    switch reason {
    case .noRoute, .noAddress, .noCarrier, .linkDown: return Self.best(pathNodes)?.status == .reachable
    // Somebody wants the address to be unreachable, or the interface does not exist.
    default: return false
    }
  }

  private func decideTranslated() -> Reachability? {
    guard let own = Self.best(nodes) else { return nil }
    if pathNodes.contains(where: { $0.answer == nil }) { return nil }
    guard needsTranslation, let name else { return own }
    switch name.outcome {
    case .pending: return .unknown
    case .addresses where !translatedNodes.isEmpty: return Self.best(translatedNodes)
    case .addresses, .noAddress, .failed, .exhausted, .overdue: return own
    }
  }
}
