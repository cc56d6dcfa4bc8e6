// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Flags of a routing rule (`FIB_RULE_…`, linux/fib_rules.h).
package struct RuleFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let permanent = Self(rawValue: 0x01)
  /// The rule is for packets that do not match: `ip rule add not …`.
  package static let invert = Self(rawValue: 0x02)
  package static let unresolved = Self(rawValue: 0x04)
}
