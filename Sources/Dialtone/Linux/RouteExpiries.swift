// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Netlink

/// When the routes end that queries were answered by.
///
/// The kernel does not use an IPv6 route beyond its lifetime, such as that of a router advertisement, but announces its
/// end only when it next collects such routes, up to 30 s later (net/ipv6/ip6_fib.c, fib6_run_gc). So what they lead to
/// is asked again at that moment. Nothing is kept of other routes, and there are as many here as the kernel has that
/// queries meet, not as there are targets.
package struct RouteExpiries {
  private struct Route: Hashable {
    let prefix: NetworkChange.Prefix
    let table: UInt32
    let priority: UInt32?
    let outputInterface: UInt32?
    let gateway: IPAddressBits?
  }

  /// The unit of `rta_expires`, in nanoseconds.
  private static let unit: Int64 = 10_000_000
  /// What is told is rounded down, and the kernel's clock ticks in steps of up to one unit: after so many units more
  /// the end is certain.
  private static let slack: Int64 = 3

  private var deadlines: [Route: Int64] = [:]

  /// When the next of them has ended, in nanoseconds of the clock that `note` was given.
  package private(set) var next: Int64?

  package init() {}

  /// Takes in a reply to a query with `RTM_F_FIB_MATCH`.
  package mutating func note(_ route: RouteMessage, now: Int64) {
    // 0 may mean that it ends within the unit: if it is known that it ends, that stands.
    guard route.expiry > 0 else { return }
    let none = IPAddressBits(ipv6High: 0, low: 0)
    let key = Route(
      prefix: .init(route.destination ?? none, length: Int(route.destinationLength)), table: route.table,
      priority: route.priority, outputInterface: route.outputInterface, gateway: route.gateway)
    let deadline = now.addingClamped((Int64(route.expiry) + Self.slack) * Self.unit)
    if deadlines[key] == deadline { return }
    deadlines[key] = deadline
    next = deadlines.values.min()
  }

  /// Has what lies inside a prefix asked again at `deadline`.
  package mutating func askAgain(_ prefix: NetworkChange.Prefix, at deadline: Int64) {
    let key = Route(prefix: prefix, table: 0, priority: nil, outputInterface: nil, gateway: nil)
    deadlines[key] = deadline
    next = deadlines.values.min()
  }

  /// Forgets the routes that have ended by `now`; returns their prefixes.
  package mutating func removeEnded(now: Int64) -> [NetworkChange.Prefix] {
    guard let next, next <= now else { return [] }
    let ended = deadlines.filter { $0.value <= now }
    for route in ended.keys { deadlines[route] = nil }
    self.next = deadlines.values.min()
    return ended.keys.map(\.prefix)
  }
}
