// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct AddressMessageTests {
  @Test func localAddressOfAPointToPointLinkIsNotThePeer() throws {
    let address = try decode(RecordedMessage.address4Peer.bytes, AddressMessage.init)
    #expect(address.family == .ipv4)
    #expect(address.localAddress == ipv4(192, 0, 2, 1))
    #expect(address.peer == ipv4(192, 0, 2, 2))
    #expect(address.prefixLength == 32)
    #expect(address.interfaceIndex == 3)
    #expect(address.flags == .permanent)
  }

  @Test func ipv6WithoutLocalTakesTheAddress() throws {
    let address = try decode(RecordedMessage.address6Tentative.bytes, AddressMessage.init)
    #expect(address.local == nil)
    #expect(address.localAddress == IPAddressBits(ipv6High: 0x2001_0db8_0001_0000, low: 1))
    #expect(address.peer == nil)
    #expect(address.flags.contains(.tentative))
    #expect(address.prefixLength == 64)
  }

  @Test func longFlagsReplaceTheShortOnes() throws {
    let bytes = message(.newAddress) {
      $0.appendAddressHeader(family: .ipv6, prefixLength: 64, flags: 0x80, scope: .link, index: 2)
      $0.append(8, UInt32(0x120))
    }
    let address = try decode(bytes, AddressMessage.init)
    #expect(address.flags == [.deprecated, .managesTemporaryAddress])
    #expect(address.localAddress == nil)
  }

  @Test func shortFlagsCountWithoutLongOnes() throws {
    let bytes = message(.deleteAddress) { $0.appendAddressHeader(family: .ipv4, flags: 0x41) }
    #expect(try decode(bytes, AddressMessage.init).flags == [.secondary, .tentative])
  }

  @Test(arguments: [(1, 16), (2, 3), (2, 16), (8, 1)] as [(UInt16, Int)])
  func refusesAnAttributeOfTheWrongSize(type: UInt16, count: Int) throws {
    let bytes = message(.newAddress) {
      $0.appendAddressHeader(family: .ipv4)
      $0.append(type, bytes: [UInt8](repeating: 0, count: count))
    }
    #expect(try decode(bytes) { .some(AddressMessage($0, in: $1)) } == nil)
  }
}
