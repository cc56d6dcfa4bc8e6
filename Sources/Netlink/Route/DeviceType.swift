// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What hardware a link imitates (`ifi_type`; `ARPHRD_…`, linux/if_arp.h).
package struct DeviceType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let ethernet = Self(rawValue: 1)
  package static let infiniband = Self(rawValue: 32)
  package static let ppp = Self(rawValue: 512)
  /// A modem that carries bare IP packets, some Qualcomm ones.
  package static let rawIP = Self(rawValue: 519)
  package static let phonet = Self(rawValue: 820)
  package static let tunnel = Self(rawValue: 768)
  package static let tunnel6 = Self(rawValue: 769)
  package static let loopback = Self(rawValue: 772)
  package static let sit = Self(rawValue: 776)
  package static let gre = Self(rawValue: 778)
  package static let gre6 = Self(rawValue: 823)
  package static let ieee80211 = Self(rawValue: 801)
  /// A monitor device of Wi-Fi.
  package static let ieee80211Radiotap = Self(rawValue: 803)
  package static let netlink = Self(rawValue: 824)
  /// No link layer at all: tun, wireguard, wwan.
  package static let none = Self(rawValue: 0xfffe)
}
