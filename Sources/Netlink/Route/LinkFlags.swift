// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The flags of a link (`ifi_flags`; `enum net_device_flags`, linux/if.h; netdevice(7)).
package struct LinkFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  @inline(__always)
  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Switched on by an administrator. Says nothing of a carrier.
  package static let up = Self(rawValue: 1 << 0)
  package static let broadcast = Self(rawValue: 1 << 1)
  package static let loopback = Self(rawValue: 1 << 3)
  package static let pointToPoint = Self(rawValue: 1 << 4)
  /// Operational state up or unknown (RFC 2863).
  package static let running = Self(rawValue: 1 << 6)
  package static let noARP = Self(rawValue: 1 << 7)
  package static let promiscuous = Self(rawValue: 1 << 8)
  /// The active member of a bond or a load balancer's primary.
  package static let primary = Self(rawValue: 1 << 10)
  /// A member of a bond or team.
  package static let secondary = Self(rawValue: 1 << 11)
  package static let multicast = Self(rawValue: 1 << 12)
  /// The driver signals a carrier.
  package static let lowerUp = Self(rawValue: 1 << 16)
  package static let dormant = Self(rawValue: 1 << 17)
  package static let echo = Self(rawValue: 1 << 18)
}
