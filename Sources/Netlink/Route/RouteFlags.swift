// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Flags of a route and of its nexthops. Both words share their low bits: `RTNH_F_…` describe a nexthop, and stand in
/// `rtm_flags` too where a route has just one; `RTM_F_…` describe the message (linux/rtnetlink.h).
package struct RouteFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  @inline(__always)
  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The nexthop's link is down.
  package static let dead = Self(rawValue: 1 << 0)
  package static let pervasive = Self(rawValue: 1 << 1)
  /// The gateway is reached without a route to it.
  package static let onLink = Self(rawValue: 1 << 2)
  package static let offload = Self(rawValue: 1 << 3)
  /// The nexthop's link has no carrier.
  package static let linkDown = Self(rawValue: 1 << 4)
  package static let unresolved = Self(rawValue: 1 << 5)
  package static let trap = Self(rawValue: 1 << 6)

  package static let notify = Self(rawValue: 0x100)
  /// A cached clone of a route: what a plain query answers with.
  package static let cloned = Self(rawValue: 0x200)
  package static let equalize = Self(rawValue: 0x400)
  package static let prefix = Self(rawValue: 0x800)
  /// Asks that the answer name the table; without it IPv4 always says main.
  package static let lookupTable = Self(rawValue: 0x1000)
  /// Asks for the route as configured instead of the one chosen.
  package static let fibMatch = Self(rawValue: 0x2000)
}
