// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// When the routes of the answers end.
///
/// The kernel does not use an IPv6 route, such as one of a router advertisement, beyond its lifetime. But it announces
/// the end only when it next collects such routes, up to 30 s later (net/ipv6/ip6_fib.c, fib6_run_gc). So the
/// destinations of such a route are asked again when it ends, and every two seconds until it must have been collected:
/// meanwhile another advertisement makes the kernel use it again, without a word. Other routes are not kept. The number
/// of entries grows with the routes that queries meet, not with the targets.
struct RouteExpiries {
  private struct Route: Equatable {
    let prefix: IPPrefix
    let table: UInt32
    let priority: UInt32?
    let outputInterface: UInt32?
    let gateway: IPAddressBits?
  }

  /// The unit of `rta_expires`, in nanoseconds.
  private static let unit: Int64 = 10_000_000
  /// The units to add until the end is certain: the kernel rounds down, and its clock ticks in steps of up to one unit.
  private static let slack: Int64 = 3

  /// How long after its end the kernel may still have a route: ip6_rt_gc_interval, and what its timers are rounded by.
  private static let collection: Int64 = 32_000_000_000
  private static let spacing: Int64 = 2_000_000_000

  /// The routes that end, when to ask next, and when for the last time. Few do; and an array, unlike a dictionary, has
  /// no type that is made at run time before then.
  private var ending: [(route: Route, deadline: Int64, last: Int64)] = []

  /// When the next of them has ended, in nanoseconds of the clock of `note`.
  private(set) var next: Int64?

  var count: Int { ending.count }

  /// Takes in a reply to a query with `RTM_F_FIB_MATCH`.
  mutating func note(_ route: RouteMessage, now: Int64) {
    // 0 may also mean that it ends within one unit; then an earlier deadline stays.
    guard route.expiry > 0 else { return }
    let none = IPAddressBits(ipv6High: 0, low: 0)
    let key = Route(
      prefix: .init(route.destination ?? none, length: Int(route.destinationLength)), table: route.table,
      priority: route.priority, outputInterface: route.outputInterface, gateway: route.gateway)
    let deadline = now.addingClamped((Int64(route.expiry) + Self.slack) * Self.unit)
    ask(key, at: deadline, last: deadline.addingClamped(Self.collection))
  }

  /// Has the destinations inside a prefix asked again at `deadline`.
  mutating func askAgain(_ prefix: IPPrefix, at deadline: Int64) {
    let route = Route(prefix: prefix, table: 0, priority: nil, outputInterface: nil, gateway: nil)
    ask(route, at: deadline, last: deadline)
  }

  private mutating func ask(_ route: Route, at deadline: Int64, last: Int64) {
    if let place = ending.firstIndex(where: { $0.route == route }) {
      ending[place] = (route, deadline, last)
    } else {
      ending.append((route, deadline, last))
    }
    next = ending.lazy.map(\.deadline).min()
  }

  /// Returns the prefixes that are to be asked about by `now`, and forgets those that are not to be asked about again.
  mutating func pass(now: Int64) -> [IPPrefix] {
    guard let next, next <= now else { return [] }
    var prefixes: [IPPrefix] = []
    for place in ending.indices where ending[place].deadline <= now {
      prefixes.append(ending[place].route.prefix)
      ending[place].deadline = now.addingClamped(Self.spacing)
    }
    ending.removeAll { $0.deadline > $0.last }
    self.next = ending.lazy.map(\.deadline).min()
    return prefixes
  }
}
