// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import Netlink

/// What counts of IPv4's routing rules (ip-rule(8)). The kernel applies them itself; all there is to know is whether a source
/// address that it has chosen may lead to another answer.
package struct RuleTable: Equatable, Sendable {
  /// Whether a rule looks at the source address: `from PREFIX`, or `not from PREFIX`.
  package private(set) var namesSource = false

  package init() {}

  /// The rules could not be read. A kernel without policy routing has none (EOPNOTSUPP, EAFNOSUPPORT); else there may be any.
  package init(unreadable errno: CInt) { namesSource = errno != EOPNOTSUPP && errno != EAFNOSUPPORT }

  package mutating func removeAll() { self = RuleTable() }

  package mutating func add(_ rule: RuleMessage) {
    if rule.family == .ipv4, rule.sourceLength > 0 { namesSource = true }
  }
}
