// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct NexthopMessageTests {
  @Test func readsARecordedNexthop() throws {
    let nexthop = try decode(RecordedMessage.nexthop.bytes, NexthopMessage.init)
    #expect(nexthop.id == 11)
    #expect(nexthop.outputInterface == 3)
    #expect(nexthop.gateway == ipv4(10, 0, 0, 7))
    #expect(!nexthop.isBlackhole && nexthop.group.isEmpty)
  }

  @Test func readsTheMembersOfAGroup() throws {
    let nexthop = try decode(RecordedMessage.nexthopGroup.bytes, NexthopMessage.init)
    #expect(nexthop.id == 13)
    #expect(nexthop.group == [11, 12])
  }

  @Test func readsABlackhole() throws {
    #expect(try decode(RecordedMessage.nexthopBlackhole.bytes, NexthopMessage.init).isBlackhole)
  }

  @Test func readsAMemberWithAWeightOfTwoBytes() throws {
    let bytes = message(.newNexthop) {
      $0.appendNexthopHeader()
      $0.append(1, UInt32(5))
      $0.append(2, bytes: [9, 9, 9, 9, 0xff, 0xff, 0, 0])
    }
    #expect(try decode(bytes, NexthopMessage.init).group == [0x0909_0909])
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
