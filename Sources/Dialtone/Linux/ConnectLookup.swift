// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

#if os(Linux)
/// What connect(2) would look up for one destination, step by step.
///
/// The kernel first looks up without a source.
/// - IPv4 then looks up again with the source that was chosen, and uses that answer (ip_route_connect,
///   include/net/route.h). It can differ only if a rule names a source, if the route's source is no longer this
///   machine's, or for a multicast address and 255.255.255.255: with a source, they leave by the link that has it,
///   without a route or rule (ip_route_output_key_hash_rcu, net/ipv4/route.c).
/// - IPv6 looks up again only if the first answer is an error, with the source that RFC 6724 chooses among all links
///   (ip6_dst_lookup_tail, net/ipv6/ip6_output.c).
///
/// A socket that already has a source makes one lookup. The source never changes again.
struct ConnectLookup {
  private enum Step {
    case first
    /// Rules name sources, and a hash chose another hop than the state has: whether its source finds a way.
    indirect case sourceOfHash(RouteReplies, hop: UInt32)
    /// The first replies are known; the source of the chosen hop is asked for.
    indirect case sourceOfHop(RouteReplies)
    case fromChosenSource
    /// IPv6, from a source over an interface: looked up without the source, since only that lookup keeps to the
    /// interface. `isConnected` is whether connect(2) is known to find a way.
    case strict(source: IPAddress, isConnected: Bool)
  }

  let target: IPAddress
  /// Which of the caller's questions it answers.
  let number: Int
  /// What the kernel is to be asked about next.
  private(set) var destination: KernelQueries.Destination
  /// What is known so far.
  private(set) var state = Reachability.denied
  private(set) var metric: UInt32 = 0
  private var step = Step.first
  /// Whether ``state(from:_:)`` may be asked.
  var hasFollowers = false
  /// Whether what was found is a unicast route, or none at all; only if it has followers.
  private var isPlainUnicast = false

  init(_ target: IPAddress, _ destination: KernelQueries.Destination, number: Int = 0) {
    self.target = target
    self.number = number
    self.destination = destination
  }

  /// Takes in the replies for ``destination``.
  ///
  /// - Returns: Whether there is more to ask.
  mutating func take(
    _ replies: RouteReplies, _ decision: RouteDecision, _ rules: RuleTable, _ probe: ConnectProbe?
  ) -> Bool {
    switch step {
    case .first:
      decide(replies, decision)
      if let source = destination.source { return keepToInterface(replies, IPAddress(source), decision, probe) }
      if let hop = hopWithAnotherSource(replies) {
        if !target.bits.isIPv6, rules.namesSource, case .route(let plain) = replies.plain,
          let source = plain.preferredSource
        {
          step = .sourceOfHash(replies, hop: hop)
          destination.source = source
          return true
        }
        step = .sourceOfHop(replies)
        destination.output = hop
        return true
      }
      return lookUpAgain(replies, decision, rules, probe)
    case .sourceOfHash(let first, let hop):
      decide(replies, decision)
      destination.source = nil
      // connect(2) takes the hop that the hash chose. If it fails there, it fails each time.
      guard state.isReachable else { return false }
      decide(first, decision)
      step = .sourceOfHop(first)
      destination.output = hop
      return true
    case .sourceOfHop(var first):
      destination.output = nil
      if case .route = replies.plain { first.plain = replies.plain }
      decide(first, decision)
      return lookUpAgain(first, decision, rules, probe)
    case .fromChosenSource:
      decide(replies, decision)
      // In IPv6 it was connect(2) that chose the source, over the interface.
      if let source = destination.source.map({ IPAddress($0) }), let output = destination.output,
        leavesElsewhere(replies)
      {
        state = decision.unseenRoute(over: output, to: target, from: source)
      }
    case .strict(let source, let isConnected):
      decide(replies, decision)
      if state.isReachable {
        state.source = source
      } else if isConnected, replies.hops.isEmpty, let output = destination.output {
        state = decision.unseenRoute(over: output, to: target, from: source)
      }
    }
    return false
  }

  private mutating func decide(_ replies: RouteReplies, _ decision: RouteDecision) {
    state = decision.decide(
      target, replies, output: destination.output, source: destination.source.map { IPAddress($0) })
    metric = replies.metric
    if hasFollowers { noteKind(replies) }
  }

  /// Apart from the rest, since replies are large and most lookups have no followers.
  @inline(never)
  private mutating func noteKind(_ replies: RouteReplies) {
    isPlainUnicast =
      switch (replies.configured, replies.plain) {
      case (.route(let route), .route): route.type == .unicast
      case (.refusal, .refusal): true
      default: false
      }
  }

  // MARK: The same from a source

  /// Returns what a socket that has this source would find, if this lookup tells; it was made without a source.
  ///
  /// IPv4 looks at the source only in rules (and, where packets need no route, for multicast and broadcast addresses).
  /// So a socket with the source that the kernel chose finds the same. If nothing leaves from any source, it finds the
  /// same, too. IPv6 has routes for sources of their own (ip-route(8), `from`), which no answer without a source shows.
  func state(from source: IPAddress, _ rules: RuleTable) -> Reachability? {
    guard !target.bits.isIPv6, !leavesByItsSource, !rules.namesSource, destination.source == nil,
      isPlainUnicast, !source.isLoopback
    else { return nil }
    switch state.status {
    case .reachable: return state.source == source ? state : nil
    // Another source may be the address that is missing; or the one that the kernel chose cannot be a source there,
    // such as a loopback address, which it says as it says blackhole (EINVAL).
    case .unreachable, .requiresConnection:
      return state.reason == .noAddress || state.reason == .blackhole ? nil : state
    case .undetermined: return nil
    }
  }

  /// Whether a packet with a source leaves by the link that has it, without a route or rule.
  private var leavesByItsSource: Bool { !target.bits.isIPv6 && target.isOfMany }

  // MARK: Several hops

  /// Returns the interface of the hop in the state, if the plain reply has the source of another hop, which a hash
  /// chose. What leaves by its source's link takes no hop: there the hash's source counts.
  private func hopWithAnotherSource(_ replies: RouteReplies) -> UInt32? {
    guard destination.output == nil, state.isReachable, !state.flags.contains(.isLocalAddress),
      case .route(let plain) = replies.plain, let hop = state.interface?.index, let chosen = plain.outputInterface,
      hop != chosen, !leavesByItsSource
    else { return nil }
    return hop
  }

  // MARK: The second lookup

  private mutating func lookUpAgain(
    _ replies: RouteReplies, _ decision: RouteDecision, _ rules: RuleTable, _ probe: ConnectProbe?
  ) -> Bool {
    switch replies.plain {
    case .route(let plain):
      guard !target.bits.isIPv6, let source = plain.preferredSource, !IPAddress(source).isUnspecified,
        leavesByItsSource || rules.namesSource
          || replies.namesSource && !decision.addresses.isOurs(IPAddress(source), on: nil)
      else { return false }
      destination.source = source
    case .refusal:
      guard target.bits.isIPv6, let probe else { return false }
      switch probe.connect(destination) {
      case .connected(let source): destination.source = source
      case .refused(let errno):
        decide(RouteReplies(match: .refusal(errno), plain: .refusal(errno)), decision)
        return false
      case .unknown: return false
      case .short(let errno): return beShort(errno)
      }
    case .lost: return false
    }
    step = .fromChosenSource
    return true
  }

  // MARK: A source and an interface

  /// Returns whether the replies are about another interface than the one asked for: with a source, IPv6 only prefers
  /// that one.
  private func leavesElsewhere(_ replies: RouteReplies) -> Bool {
    // For destinations of link-local scope the kernel keeps to it (rt6_need_strict, include/net/ip6_route.h).
    guard target.bits.isIPv6, let output = destination.output, !target.isLinkLocal, !target.isMulticast,
      replies.configured != .lost
    else { return false }
    return !replies.hops.contains { $0.interfaceIndex == output }
  }

  private mutating func keepToInterface(
    _ replies: RouteReplies, _ source: IPAddress, _ decision: RouteDecision, _ probe: ConnectProbe?
  ) -> Bool {
    guard leavesElsewhere(replies) else { return false }
    switch probe?.connect(destination) ?? .unknown {
    case .connected: step = .strict(source: source, isConnected: true)
    case .unknown: step = .strict(source: source, isConnected: false)
    case .refused(let errno):
      decide(RouteReplies(match: .refusal(errno), plain: .refusal(errno)), decision)
      return false
    case .short(let errno): return beShort(errno)
    }
    destination.source = nil
    return true
  }

  /// Nothing is known until the system has what it lacks. Returns that there is no more to ask.
  private mutating func beShort(_ errno: CInt) -> Bool {
    let destination = state.destination
    state = .denied(for: Reachability.Reason(shortage: errno))
    state.destination = destination
    return false
  }
}
#endif

/// What counts of IPv4's routing rules (ip-rule(8)). The kernel applies them itself. Dialtone only has to know whether
/// the source address that the kernel has chosen may lead to another answer.
struct RuleTable: Equatable, Sendable {
  /// Whether a rule looks at the source address: `from PREFIX`, or `not from PREFIX`.
  private(set) var namesSource = false

  init() {}

  /// The table to assume if the rules cannot be read. A kernel without policy routing has none (EOPNOTSUPP,
  /// EAFNOSUPPORT); otherwise there may be any.
  init(unreadable errno: CInt) { namesSource = errno != EOPNOTSUPP && errno != EAFNOSUPPORT }

  mutating func add(_ rule: RuleMessage) {
    if rule.family == .ipv4, rule.sourceLength > 0 { namesSource = true }
  }
}
