// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// What a rule does with what it matches.
package struct LabRuleAction: Sendable, CustomStringConvertible {
  let code: UInt8
  let table: UInt32?
  package let description: String

  /// Looks the destination up in a table.
  package static func lookup(_ table: UInt32) -> LabRuleAction {
    LabRuleAction(code: UInt8(FR_ACT_TO_TBL), table: table, description: "lookup \(table)")
  }

  package static let blackhole = LabRuleAction(code: UInt8(FR_ACT_BLACKHOLE), table: nil, description: "blackhole")
  package static let unreachable = LabRuleAction(
    code: UInt8(FR_ACT_UNREACHABLE), table: nil, description: "unreachable")
  package static let prohibit = LabRuleAction(code: UInt8(FR_ACT_PROHIBIT), table: nil, description: "prohibit")
}
#endif
