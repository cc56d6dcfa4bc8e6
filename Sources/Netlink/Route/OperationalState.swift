// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The operational state of a link (`IFLA_OPERSTATE`; RFC 2863; linux/if.h).
package struct OperationalState: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The driver does not say; loopback, tunnels and modems that are up stay here.
  package static let unknown = Self(rawValue: 0)
  package static let notPresent = Self(rawValue: 1)
  package static let down = Self(rawValue: 2)
  /// A link below it is down.
  package static let lowerLayerDown = Self(rawValue: 3)
  package static let testing = Self(rawValue: 4)
  /// Waits for something outside, such as authentication (IEEE 802.1X) or traffic.
  package static let dormant = Self(rawValue: 5)
  package static let up = Self(rawValue: 6)
}
