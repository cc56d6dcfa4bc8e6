// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What becomes of a packet that takes a route (`rtm_type`; rtnetlink(7)).
package struct RouteType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  @inline(__always)
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let unspecified = Self(rawValue: 0)
  package static let unicast = Self(rawValue: 1)
  /// For this machine.
  package static let local = Self(rawValue: 2)
  package static let broadcast = Self(rawValue: 3)
  package static let anycast = Self(rawValue: 4)
  package static let multicast = Self(rawValue: 5)
  package static let blackhole = Self(rawValue: 6)
  package static let unreachable = Self(rawValue: 7)
  package static let prohibit = Self(rawValue: 8)
  /// As if the table had no route: the next rule is asked.
  package static let `throw` = Self(rawValue: 9)
  package static let nat = Self(rawValue: 10)
}
