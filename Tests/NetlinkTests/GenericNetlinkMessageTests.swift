// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

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
