// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)

/// Makes lookups as connect(2) would, and remembers what may change their answers although no event tells of it: routes
/// that end, IPv6 gateways that cease to answer, and IPv6 routes that were announced before the kernel found them.
///
/// The kernel announces an IPv6 route that has a new node in its tree before lookups find it: fib6_add_rt2node
/// (net/ipv6/ip6_fib.c) sets RTN_RTINFO last. Since Linux 6.16 it holds no lock meanwhile for which a query could wait.
/// That takes less than a microsecond, but milliseconds if a hypervisor or an interrupt stops the processor just then.
/// So what was announced is asked about once more.
final class RouteLookups {
  /// The time from an announcement to the second question, in nanoseconds.
  private static let confirmationDelay: Int64 = 100_000_000
  /// With more prefixes than this, all of IPv6 is asked about.
  private static let confirmationLimit = 256

  let gateways: GatewayWatch
  private let time: TimeSource
  let probe = ConnectProbe()
  private var expiries = RouteExpiries()
  /// When to ask once more about IPv6 routes that were announced.
  private var confirmations = RouteExpiries()

  /// When to ask again for what ``passDeadlines(_:_:now:)`` returns then; `nil` if there is nothing.
  var deadline: Int64? {
    let next = min(gateways.nextLook ?? .max, expiries.next ?? .max, confirmations.next ?? .max)
    return next == .max ? nil : next
  }

  init(_ time: TimeSource) {
    self.time = time
    gateways = GatewayWatch(time)
  }

  /// Takes in that IPv6 routes were announced, with what they touch among other things.
  func ipv6RoutesWereAnnounced(_ change: NetworkChange) {
    let deadline = time.now().addingClamped(Self.confirmationDelay)
    if change.touchesEverything || confirmations.count > Self.confirmationLimit {
      return confirmations.askAgain(GatewayWatch.touched, at: deadline)
    }
    for prefix in change.prefixes where prefix.address.isIPv6 { confirmations.askAgain(prefix, at: deadline) }
  }

  /// Takes in a router's advertisement: its routes may end at another time by now, be preferred otherwise (RFC 4191),
  /// or be used again after their end, and no event tells of that.
  func routerHasAdvertised(_ change: inout NetworkChange) { change.markRoute(GatewayWatch.touched) }

  /// Returns the prefixes whose routes have ended by `now`, are chosen anew because of a gateway, or were announced a
  /// moment ago.
  func passDeadlines(_ queries: KernelQueries?, _ events: KernelEvents?, now: Int64) -> [IPPrefix] {
    var prefixes = expiries.pass(now: now) + confirmations.pass(now: now)
    if gateways.look(queries, events, now: now) { prefixes.append(GatewayWatch.touched) }
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
      let asked = queries.routes(open) { lookups[$0].destination }
      // By position: they are large, and a loop over elements would copy each.
      for position in asked.indices where asked[position].replies.expires {
        if case .route(let route) = asked[position].replies.match { expiries.note(route, now: time.now()) }
      }
      if let events, asked.indices.contains(where: { asked[$0].replies.mayHaveIPv6Gateway }) {
        let now = time.now()
        let areAllToBeAsked = gateways.note(asked.map(\.replies), queries, events, now: now)
        if areAllToBeAsked { expiries.askAgain(GatewayWatch.touched, at: now) }
      }
      var rest = 0
      for position in 0..<open where lookups[position].take(asked[position].replies, decision, rules, probe) {
        lookups.swapAt(rest, position)
        rest += 1
      }
      open = rest
    }
  }
}
#endif
