// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a routing rule does (`FR_ACT_…`, linux/fib_rules.h).
package struct RuleAction: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let unspecified = Self(rawValue: 0)
  package static let toTable = Self(rawValue: 1)
  package static let goto = Self(rawValue: 2)
  package static let noOperation = Self(rawValue: 3)
  package static let blackhole = Self(rawValue: 6)
  package static let unreachable = Self(rawValue: 7)
  package static let prohibit = Self(rawValue: 8)
}
