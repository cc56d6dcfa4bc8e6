// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a netlink message is (`nlmsg_type`): control types from linux/netlink.h, the others from linux/rtnetlink.h.
package struct NetlinkMessageType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  @inline(__always)
  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let noop = Self(rawValue: 1)
  /// An error, or with error number 0 an acknowledgement.
  package static let error = Self(rawValue: 2)
  /// The end of a dump.
  package static let done = Self(rawValue: 3)
  package static let overrun = Self(rawValue: 4)

  package static let newLink = Self(rawValue: 16)
  package static let deleteLink = Self(rawValue: 17)
  package static let getLink = Self(rawValue: 18)
  package static let setLink = Self(rawValue: 19)

  package static let newAddress = Self(rawValue: 20)
  package static let deleteAddress = Self(rawValue: 21)
  package static let getAddress = Self(rawValue: 22)

  package static let newRoute = Self(rawValue: 24)
  package static let deleteRoute = Self(rawValue: 25)
  package static let getRoute = Self(rawValue: 26)

  package static let newNeighbour = Self(rawValue: 28)
  package static let deleteNeighbour = Self(rawValue: 29)
  package static let getNeighbour = Self(rawValue: 30)

  package static let newRule = Self(rawValue: 32)
  package static let deleteRule = Self(rawValue: 33)
  package static let getRule = Self(rawValue: 34)

  /// A neighbour discovery option that the kernel passes on, such as PREF64 (RFC 8781).
  package static let newNeighbourUserOption = Self(rawValue: 68)

  package static let newNetconf = Self(rawValue: 80)
  package static let deleteNetconf = Self(rawValue: 81)
  package static let getNetconf = Self(rawValue: 82)

  package static let newNexthop = Self(rawValue: 104)
  package static let deleteNexthop = Self(rawValue: 105)
  package static let getNexthop = Self(rawValue: 106)

  /// The controller of generic netlink, `GENL_ID_CTRL` (linux/genetlink.h).
  package static let genericController = Self(rawValue: 16)
}
