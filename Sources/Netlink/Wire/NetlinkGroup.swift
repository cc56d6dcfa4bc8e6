// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A multicast group of rtnetlink (`enum rtnetlink_groups`, linux/rtnetlink.h), or of the kernel's uevents.
package struct NetlinkGroup: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let link = Self(rawValue: 1)
  package static let neighbour = Self(rawValue: 3)
  package static let ipv4Address = Self(rawValue: 5)
  package static let ipv4Route = Self(rawValue: 7)
  package static let ipv4Rule = Self(rawValue: 8)
  package static let ipv6Address = Self(rawValue: 9)
  package static let ipv6Route = Self(rawValue: 11)
  package static let ipv6Rule = Self(rawValue: 19)
  package static let neighbourUserOption = Self(rawValue: 20)
  package static let ipv4Netconf = Self(rawValue: 24)
  package static let ipv6Netconf = Self(rawValue: 25)
  package static let nexthop = Self(rawValue: 32)

  /// The kernel's own group of the uevent protocol; group 2 is what udevd sends on.
  package static let kernelUevent = Self(rawValue: 1)
}
