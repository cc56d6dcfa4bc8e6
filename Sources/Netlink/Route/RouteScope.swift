// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// How far a destination is (`rtm_scope`, `ifa_scope`; `enum rt_scope_t`, linux/rtnetlink.h).
package struct RouteScope: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  @inline(__always)
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let universe = Self(rawValue: 0)
  package static let site = Self(rawValue: 200)
  /// On the attached link.
  package static let link = Self(rawValue: 253)
  package static let host = Self(rawValue: 254)
  package static let nowhere = Self(rawValue: 255)
}
