// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// Field by field, where linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h and linux/neighbour.h put them.
struct LinkAndAddressFieldsTests {
  private typealias Raw = RawMessage

  // MARK: Links

  /// `struct ifinfomsg`: family, a pad, type, index, flags, change.
  private func link(_ attributes: [UInt8]...) throws -> LinkMessage? {
    let header = [0, 0] + Raw.host(UInt16(772)) + Raw.host(Int32(9)) + Raw.host(UInt32(0x49)) + Raw.host(UInt32(0x40))
    return try decode(Raw.bytes(16, header, attributes.flatMap { $0 })) { .some(LinkMessage($0, in: $1)) }
  }

  @Test func readsEachFieldOfALink() throws {
    let link = try #require(
      try link(
        Raw.attribute(1, [2, 0, 0, 0, 0, 7]), Raw.attribute(3, Raw.text("eth0")),
        Raw.attribute(4, Raw.host(UInt32(1500))), Raw.attribute(5, Raw.host(UInt32(11))),
        Raw.attribute(10, Raw.host(UInt32(12))), Raw.attribute(16, [6]), Raw.attribute(37, Raw.host(Int32(13)))))
    #expect(link.family == .unspecified && link.deviceType == .loopback && link.index == 9)
    #expect(link.flags == [.up, .loopback, .running])
    #expect(link.hardwareAddress == [2, 0, 0, 0, 0, 7] && link.name == "eth0" && link.mtu == 1500)
    #expect(link.lower == 11 && link.master == 12 && link.operationalState == .up && link.linkNamespaceID == 13)
    #expect(link.infoKind == nil && link.bondActiveSlave == nil && link.alternativeNames.isEmpty)
    #expect(link.isSnapshot)
  }

  @Test func whatALinkDoesNotSayIsUnknown() throws {
    let link = try #require(try link())
    #expect(link.hardwareAddress == nil && link.name == nil && link.mtu == nil && link.lower == nil)
    #expect(link.master == nil && link.operationalState == nil && link.linkNamespaceID == nil)
    #expect(!link.isSnapshot)
  }

  @Test func aLinkWithoutANameOrAStateIsNoSnapshot() throws {
    #expect(try link(Raw.attribute(16, [6]))?.isSnapshot == false)
    #expect(try link(Raw.attribute(3, Raw.text("eth0")))?.isSnapshot == false)
  }

  /// IFNAMSIZ is 16, the NUL included (linux/if.h).
  @Test func aNameHasFifteenBytesAtMost() throws {
    let longest = String(repeating: "x", count: 15)
    #expect(try link(Raw.attribute(3, Raw.text(longest)))?.name == longest)
    #expect(try link(Raw.attribute(3, Raw.text(longest + "y"))) == nil)
  }

  /// Only an explanation reads it.
  @Test func anMTUOfAnotherSizeIsUnknown() throws {
    #expect(try #require(try link(Raw.attribute(4, [1, 2]))).mtu == nil)
  }

  private func info(_ kind: String, _ data: [UInt8]) -> [UInt8] {
    Raw.attribute(18, Raw.attribute(1, Raw.text(kind)) + Raw.attribute(2, data))
  }

  @Test func onlyABondHasAnActivePort() throws {
    let data = Raw.attribute(2, Raw.host(UInt32(7)))
    #expect(try #require(try link(info("bond", data))).bondActiveSlave == 7)
    #expect(try #require(try link(info("bridge", data))).bondActiveSlave == nil)
    #expect(try #require(try link(info("bond", Raw.attribute(1, [4])))).bondActiveSlave == nil)
    #expect(try #require(try link(Raw.attribute(18, Raw.attribute(1, Raw.text("bond"))))).infoKind == "bond")
  }

  @Test func refusesABondsDataThatIsCut() throws {
    #expect(try link(info("bond", Raw.attribute(2, [7, 0]))) == nil)
    #expect(try link(info("bond", Raw.attribute(1, [4]) + [3, 0, 2, 0])) == nil)
    // What another kind has there is not read.
    #expect(try #require(try link(info("bridge", [3, 0, 2, 0]))).infoKind == "bridge")
  }

  @Test func refusesAListOfNamesThatIsCut() throws {
    #expect(try link(Raw.attribute(52, Raw.attribute(53, Raw.text("uplink"))))?.alternativeNames == ["uplink"])
    #expect(try link(Raw.attribute(52, Raw.attribute(53, Raw.text("uplink")) + [3, 0, 53, 0])) == nil)
  }

  // MARK: Addresses

  /// `struct ifaddrmsg`: family, length, flags, scope, index.
  private func address(_ family: UInt8 = 2, _ attributes: [UInt8]...) throws -> AddressMessage? {
    let header = [family, 61, 0x84, 253] + Raw.host(UInt32(7))
    return try decode(Raw.bytes(20, header, attributes.flatMap { $0 })) { .some(AddressMessage($0, in: $1)) }
  }

  @Test func readsEachFieldOfAnAddress() throws {
    let address = try #require(try address(10, Raw.attribute(1, Raw.ipv6(1))))
    #expect(address.family == .ipv6 && address.prefixLength == 61 && address.interfaceIndex == 7)
    #expect(address.flags == [.permanent, .optimistic])
    #expect(address.address == Raw.address(1) && address.local == nil && address.localAddress == Raw.address(1))
    #expect(address.peer == nil && address.validLifetime == nil)
  }

  @Test func thePeerIsWhatIsNotItsOwn() throws {
    let own = Raw.attribute(2, [192, 0, 2, 1])
    let same = try #require(try address(2, Raw.attribute(1, [192, 0, 2, 1]), own))
    #expect(same.localAddress == ipv4(192, 0, 2, 1) && same.peer == nil)
    let other = try #require(try address(2, Raw.attribute(1, [192, 0, 2, 2]), own))
    #expect(other.localAddress == ipv4(192, 0, 2, 1) && other.peer == ipv4(192, 0, 2, 2))
    let alone = try #require(try address(2, own))
    #expect(alone.localAddress == ipv4(192, 0, 2, 1) && alone.peer == nil)
  }

  /// `struct ifa_cacheinfo`: preferred and valid seconds, then two times. All ones are "for ever" (linux/if_addr.h,
  /// net/ipv6/addrconf.c: INFINITY_LIFE_TIME).
  @Test(
    arguments: [
      ([60, 3600, 1, 2], 3600), ([60, 3600], 3600), ([60, 0, 1, 2], 0), ([.max, .max, 1, 2], nil),
      ([60, .max, 1, 2], nil), ([60, .max - 1, 1, 2], .max - 1),
    ] as [([UInt32], UInt32?)])
  func readsHowLongAnAddressIsValid(words: [UInt32], expected: UInt32?) throws {
    let address = try #require(try address(2, Raw.attribute(6, words.flatMap { Raw.host($0) })))
    #expect(address.validLifetime == expected)
  }

  @Test func refusesTimesOfAnAddressThatAreCut() throws {
    #expect(try address(2, Raw.attribute(6, [1, 0, 0, 0, 2, 0, 0])) == nil)
    #expect(try address(2, Raw.attribute(6, [1, 0, 0, 0])) == nil)
  }

  /// The size must be that of the family, if it is one of IP.
  @Test func refusesAnAddressOfAnotherFamily() throws {
    #expect(try address(10, Raw.attribute(1, [192, 0, 2, 1])) == nil)
    #expect(try address(2, Raw.attribute(2, Raw.ipv6(1))) == nil)
    #expect(try address(10, Raw.attribute(2, [192, 0, 2, 1])) == nil)
    #expect(try address(7, Raw.attribute(1, [192, 0, 2, 1]))?.address == ipv4(192, 0, 2, 1))
    #expect(try address(7, Raw.attribute(1, Raw.ipv6(1)))?.address == Raw.address(1))
  }

  // MARK: Neighbours

  /// `struct ndmsg`: family, three bytes of pad, index, state, flags, type.
  private func neighbour(_ family: UInt8 = 10, _ attributes: [UInt8]...) throws -> NeighbourMessage? {
    let header = [family, 0, 0, 0] + Raw.host(Int32(5)) + Raw.host(UInt16(0x20)) + [0x81, 1]
    return try decode(Raw.bytes(28, header, attributes.flatMap { $0 })) { .some(NeighbourMessage($0, in: $1)) }
  }

  @Test func readsEachFieldOfANeighbour() throws {
    let neighbour = try #require(
      try neighbour(10, Raw.attribute(2, [2, 0, 0, 0, 0, 1]), Raw.attribute(1, Raw.ipv6(1))))
    #expect(neighbour.family == .ipv6 && neighbour.interfaceIndex == 5 && neighbour.state == .failed)
    #expect(neighbour.address == Raw.address(1))
  }

  @Test func aBridgesEntryHasNoAddress() throws {
    #expect(try #require(try neighbour(7, Raw.attribute(2, [2, 0, 0, 0, 0, 1]))).address == nil)
  }

  @Test func refusesANeighbourOfAnotherFamily() throws {
    #expect(try neighbour(10, Raw.attribute(1, [192, 0, 2, 1])) == nil)
    #expect(try neighbour(2, Raw.attribute(1, Raw.ipv6(1))) == nil)
    #expect(try neighbour(2, Raw.attribute(1, [192, 0, 2, 1]))?.address == ipv4(192, 0, 2, 1))
  }
}
