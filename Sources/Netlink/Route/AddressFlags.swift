// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The flags of an address (`IFA_F_…`, linux/if_addr.h).
package struct AddressFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// IPv4: not the first of its subnet.
  package static let secondary = Self(rawValue: 0x01)
  /// IPv6: a privacy address (RFC 8981); the same bit.
  package static let temporary = Self(rawValue: 0x01)
  package static let noDAD = Self(rawValue: 0x02)
  package static let optimistic = Self(rawValue: 0x04)
  /// Another host has the address.
  package static let dadFailed = Self(rawValue: 0x08)
  package static let homeAddress = Self(rawValue: 0x10)
  /// Not to be used for new connections.
  package static let deprecated = Self(rawValue: 0x20)
  /// Not usable until duplicate address detection has ended.
  package static let tentative = Self(rawValue: 0x40)
  package static let permanent = Self(rawValue: 0x80)
  package static let managesTemporaryAddress = Self(rawValue: 0x100)
  package static let noPrefixRoute = Self(rawValue: 0x200)
  package static let multicastAutojoin = Self(rawValue: 0x400)
  package static let stablePrivacy = Self(rawValue: 0x800)
}
