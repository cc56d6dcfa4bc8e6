// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Who made a route (`rtm_protocol`; `RTPROT_…`, linux/rtnetlink.h).
package struct RouteProtocol: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  @inline(__always)
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let unspecified = Self(rawValue: 0)
  package static let redirect = Self(rawValue: 1)
  package static let kernel = Self(rawValue: 2)
  package static let boot = Self(rawValue: 3)
  package static let `static` = Self(rawValue: 4)
  package static let routerAdvertisement = Self(rawValue: 9)
  package static let dhcp = Self(rawValue: 16)
}
