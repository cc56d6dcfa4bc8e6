// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What is known of a neighbour (`NUD_…`, linux/neighbour.h).
package struct NeighbourState: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let incomplete = Self(rawValue: 0x01)
  package static let reachable = Self(rawValue: 0x02)
  package static let stale = Self(rawValue: 0x04)
  package static let delay = Self(rawValue: 0x08)
  package static let probe = Self(rawValue: 0x10)
  package static let failed = Self(rawValue: 0x20)
  /// The link has no need of neighbours.
  package static let noARP = Self(rawValue: 0x40)
  package static let permanent = Self(rawValue: 0x80)
}
