// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// What a netlink socket talks to (linux/netlink.h).
package struct NetlinkProtocol: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Links, addresses, routes, rules: rtnetlink(7).
  package static let route = Self(rawValue: 0)
  /// Devices that come and go, as text.
  package static let kobjectUevent = Self(rawValue: 15)
  /// Families numbered when the kernel starts, nl80211 among them.
  package static let generic = Self(rawValue: 16)
}
#endif
