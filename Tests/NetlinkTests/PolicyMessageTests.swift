// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Netlink
import Testing

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

struct NexthopMessageTests {
  @Test func readsARecordedNexthop() throws {
    let nexthop = try decode(RecordedMessage.nexthop.bytes, NexthopMessage.init)
    #expect(nexthop.id == 11)
    #expect(nexthop.family == .ipv4)
    #expect(nexthop.outputInterface == 3)
    #expect(nexthop.gateway == ipv4(10, 0, 0, 7))
    #expect(!nexthop.isBlackhole && nexthop.group.isEmpty)
  }

  @Test func readsTheMembersOfAGroup() throws {
    let nexthop = try decode(RecordedMessage.nexthopGroup.bytes, NexthopMessage.init)
    #expect(nexthop.id == 13)
    #expect(nexthop.group == [.init(id: 11, weight: 5), .init(id: 12, weight: 1)])
  }

  @Test func readsABlackhole() throws {
    #expect(try decode(RecordedMessage.nexthopBlackhole.bytes, NexthopMessage.init).isBlackhole)
  }

  @Test func readsAWeightOfTwoBytes() throws {
    let bytes = message(.newNexthop) {
      $0.appendNexthopHeader()
      $0.append(1, UInt32(5))
      $0.append(2, bytes: [9, 9, 9, 9, 0xff, 0xff, 0, 0])
    }
    #expect(try decode(bytes, NexthopMessage.init).group == [.init(id: 0x0909_0909, weight: 65_536)])
  }

  @Test(arguments: [(2, [1, 2, 3, 4]), (5, [1]), (6, [1, 2]), (1, [0, 0, 0, 0])] as [(UInt16, [UInt8])])
  func refusesAMalformedAttribute(type: UInt16, payload: [UInt8]) throws {
    let bytes = message(.newNexthop) {
      $0.appendNexthopHeader()
      if type != 1 { $0.append(1, UInt32(5)) }
      $0.append(type, bytes: payload)
    }
    #expect(try decode(bytes) { .some(NexthopMessage($0, in: $1)) } == nil)
  }
}

struct NeighbourMessageTests {
  @Test func readsARecordedNeighbour() throws {
    let neighbour = try decode(RecordedMessage.neighbour.bytes, NeighbourMessage.init)
    #expect(neighbour.address == ipv4(10, 0, 0, 2))
    #expect(neighbour.linkLayerAddress == [2, 0, 0, 0, 0, 2])
    #expect(neighbour.state == .permanent)
    #expect(neighbour.interfaceIndex == 3)
  }
}

struct GenericNetlinkMessageTests {
  private static let familyAnswer = message(.genericController) {
    $0.appendGenericHeader(command: 1, version: 2)
    $0.append(2, string: "nl80211")
    $0.append(1, UInt16(35))
  }

  @Test func findsTheNumberOfAFamily() throws {
    let id = try decode(Self.familyAnswer) { GenericNetlinkMessage($0, in: $1)?.familyID(in: $1) }
    #expect(id == NetlinkMessageType(rawValue: 35))
  }

  @Test func findsTheWirelessInterface() throws {
    let bytes = message(NetlinkMessageType(rawValue: 35)) {
      $0.appendGenericHeader(command: 7, version: 1)
      $0.append(3, UInt32(9))
    }
    #expect(try decode(bytes) { GenericNetlinkMessage($0, in: $1)?.wirelessInterfaceIndex(in: $1) } == 9)
  }

  @Test func anotherCommandNamesNothing() throws {
    var bytes = Self.familyAnswer
    bytes[16] = 2
    let generic = try decode(bytes, GenericNetlinkMessage.init)
    withBytes(of: bytes) {
      #expect(generic.familyID(in: $0) == nil)
      #expect(generic.wirelessInterfaceIndex(in: $0) == nil)
    }
  }

  @Test func controlMessagesAreNone() throws {
    #expect(try decode(RecordedMessage.done.bytes) { .some(GenericNetlinkMessage($0, in: $1)) } == nil)
  }
}
