// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct RuleMessageTests {
  @Test func readsARecordedRule() throws {
    let rule = try decode(RecordedMessage.rule.bytes, RuleMessage.init)
    #expect(rule.family == .ipv4)
    #expect(rule.action == .toTable)
    #expect(rule.table == 51820)
    #expect(rule.priority == 100)
    #expect(rule.flags.contains(.invert))
    #expect(rule.mark == 0xca6c && rule.markMask == .max)
    #expect(rule.suppressPrefixLength == 0)
    #expect(rule.inputInterfaceName == "v0")
    #expect(rule.outputInterfaceName == nil)
    #expect(rule.userIDs == 0...0)
    #expect(rule.source == ipv4(10, 9, 0, 0) && rule.sourceLength == 16)
    #expect(rule.destination == nil)
  }

  @Test func allOnesSuppressNothing() throws {
    let bytes = message(.deleteRule) {
      $0.appendRuleHeader(family: .ipv6, table: 254, action: .unreachable)
      $0.append(14, UInt32.max)
    }
    let rule = try decode(bytes, RuleMessage.init)
    #expect(rule.suppressPrefixLength == nil)
    #expect(rule.action == .unreachable)
    #expect(rule.table == 254)
  }

  @Test(
    arguments: [
      (1, [1]), (2, [UInt8](repeating: 0, count: 16)), (6, []), (10, [1, 2]), (15, [1]),
      (20, [1, 0, 0, 0, 0, 0, 0, 0]),
      (20, [0]), (3, [UInt8](repeating: 65, count: 17)),
    ] as [(UInt16, [UInt8])])
  func refusesAMalformedAttribute(type: UInt16, payload: [UInt8]) throws {
    let bytes = message(.newRule) {
      $0.appendRuleHeader(family: .ipv4)
      $0.append(type, bytes: payload)
    }
    #expect(try decode(bytes) { .some(RuleMessage($0, in: $1)) } == nil)
  }
}
