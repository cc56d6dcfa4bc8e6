// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Netlink

/// Makes lookups as connect(2) would, and remembers what may change their answers although no event tells of it: routes
/// that end, and IPv6 gateways that cease to answer.
final class RouteLookups {
  let gateways: GatewayWatch
  private let time: TimeSource
  private let probe = ConnectProbe()
  /// When the routes of the answers end.
  private var expiries = RouteExpiries() { didSet { nextExpiry = expiries.next } }
  private var nextExpiry: Int64?

  /// When to ask again for what ``passDeadlines(_:_:now:)`` returns then; `nil` if there is nothing.
  var deadline: Int64? {
    guard let nextLook = gateways.nextLook else { return nextExpiry }
    return min(nextLook, nextExpiry ?? .max)
  }

  /// - Parameter time: The clock of deadlines.
  init(_ time: TimeSource) {
    self.time = time
    gateways = GatewayWatch(time)
  }

  /// Returns the prefixes whose routes have ended by `now`, or are chosen anew because of a gateway; each once.
  func passDeadlines(_ queries: KernelQueries?, _ events: KernelEvents?, now: Int64) -> [NetworkChange.Prefix] {
    var prefixes: [NetworkChange.Prefix] = []
    if let nextExpiry, nextExpiry <= now { prefixes = expiries.removeEnded(now: now) }
    if let queries, let events, gateways.look(queries, events, now: now) { prefixes.append(GatewayWatch.touched) }
    return prefixes
  }

  /// Makes the lookups: mostly in one round, and further rounds only for lookups that need them. Their order changes.
  func lookUp(
    _ lookups: inout [ConnectLookup], _ decision: RouteDecision, _ rules: RuleTable, _ queries: KernelQueries,
    _ events: KernelEvents?
  ) {
    // Those that have something to ask come first.
    var open = lookups.count
    while open > 0 {
      let replies = queries.routes(open) { lookups[$0].destination }
      // By position: they are large, and a loop over elements would copy each.
      for position in replies.indices where replies[position].expires {
        if case .route(let route) = replies[position].match { expiries.note(route, now: time.now()) }
      }
      if let events, replies.indices.contains(where: { replies[$0].mayHaveIPv6Gateway }) {
        noteGateways(replies, queries, events)
      }
      var rest = 0
      for position in 0..<open where lookups[position].take(replies[position], decision, rules, probe) {
        lookups.swapAt(rest, position)
        rest += 1
      }
      open = rest
    }
  }

  private func noteGateways(
    _ replies: [RouteReplies], _ queries: KernelQueries, _ events: KernelEvents
  ) {
    let now = time.now()
    if gateways.note(replies, queries, events, now: now) { expiries.askAgain(GatewayWatch.touched, at: now) }
  }
}
#endif
