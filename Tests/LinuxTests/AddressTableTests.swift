// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

/// The addresses of this machine, as messages announce and withdraw them.
struct AddressTableTests {
  /// A message as the kernel sends it for a point-to-point link: IFA_LOCAL is this end, IFA_ADDRESS the other one.
  private func message(
    _ own: String, peer: String? = nil, length: UInt8 = 24,
    on link: UInt32 = 3, flags: AddressFlags = []
  ) throws -> AddressMessage {
    let (own, peer) = (try address(own).bits, try peer.map { try address($0).bits })
    let bytes = BuiltMessages.bytes(.newAddress) { builder in
      builder.appendAddressHeader(family: own.family, prefixLength: length, index: link)
      builder.append(AddressMessage.Attribute.address, address: peer ?? own)
      if peer != nil || !own.isIPv6 { builder.append(AddressMessage.Attribute.local, address: own) }
      builder.append(AddressMessage.Attribute.flags, flags.rawValue)
    }
    return try BuiltMessages.decode(bytes) { AddressMessage($0, in: $1) }
  }

  private func table(_ messages: AddressMessage...) -> AddressTable {
    var table = AddressTable()
    for message in messages { table.update(message) }
    return table
  }

  private func texts(_ table: AddressTable, of link: UInt32 = 3) -> [String] {
    table.addresses(of: link).map { "\($0.ipAddress)/\($0.prefixLength)" }
  }

  /// RFC 4862, 5.4, and RFC 4429: a tentative address is of no use unless it is optimistic, a duplicate one is never.
  @Test(
    "flags say whether packets may come from an address",
    arguments: [
      ([], true), (.tentative, false), ([.tentative, .optimistic], true), (.optimistic, true), (.dadFailed, false),
      ([.dadFailed, .optimistic], false), ([.dadFailed, .tentative], false),
      ([.dadFailed, .tentative, .optimistic], false), (.deprecated, true), (.permanent, true), (.noDAD, true),
      (.temporary, true), ([.deprecated, .tentative], false),
    ] as [(AddressFlags, Bool)])
  func flagsSayWhetherItIsUsable(flags: AddressFlags, isUsable: Bool) throws {
    let table = table(try message("2001:db8::1", length: 64, flags: flags))
    #expect(table.addresses(of: 3).map(\.isUsable) == [isUsable])
    #expect(table.usableAddress(of: 3) == (isUsable ? try address("2001:db8::1") : nil))
    #expect(table.isOurs(try address("2001:db8::1"), on: nil) == isUsable)
  }

  @Test(
    "the usable address of a link is the first that is not link-local, else the first; loopback addresses do not count",
    arguments: [
      (["fe80::1", "10.0.0.1", "10.0.0.2"], nil, "10.0.0.1"), (["fe80::1", "169.254.1.1"], nil, "fe80::1"),
      (["169.254.1.1", "fe80::1"], nil, "169.254.1.1"), (["127.0.0.1", "::1"], nil, nil),
      (["127.0.0.1", "fe80::1"], nil, "fe80::1"), ([], nil, nil),
      (["10.0.0.1", "2001:db8::1"], .ipv6, "2001:db8::1"), (["2001:db8::1", "10.0.0.1"], .ipv4, "10.0.0.1"),
      (["10.0.0.1", "fe80::1"], .ipv6, "fe80::1"), (["10.0.0.1"], .ipv6, nil), (["2001:db8::1"], .ipv4, nil),
    ] as [([String], IPAddress.Family?, String?)])
  func oneAddressStandsForALink(addresses: [String], family: IPAddress.Family?, found: String?) throws {
    var table = AddressTable()
    for text in addresses { table.update(try message(text)) }
    #expect(table.usableAddress(of: 3, family: family) == found.flatMap { IPAddress($0) })
    #expect(table.usableAddress(of: 4, family: family) == nil)
  }

  @Test(
    "an address is this machine's on any link, a link-local one on its own link, and 127/8 always",
    arguments: [
      ("10.0.0.1", nil, true), ("10.0.0.1", 3, true), ("10.0.0.1", 4, true), ("10.0.0.1", 99, true),
      ("10.0.0.2", nil, false), ("10.0.0.2", 3, false), ("fe80::1", nil, true), ("fe80::1", 3, true),
      ("fe80::1", 4, false), ("fe80::4", 4, true), ("fe80::4", 3, false), ("127.0.0.1", nil, true),
      ("127.9.9.9", 3, true), ("::1", nil, false), ("2001:db8::1", nil, false), ("128.0.0.1", nil, false),
    ] as [(String, UInt32?, Bool)])
  func addressesAreOurs(text: String, link: UInt32?, isOurs: Bool) throws {
    let table = table(
      try message("10.0.0.1"), try message("fe80::1", length: 64), try message("fe80::4", length: 64, on: 4))
    #expect(table.isOurs(try address(text), on: link) == isOurs)
    #expect(AddressTable().isOurs(try address(text), on: link) == text.hasPrefix("127."))
  }

  @Test func loopbackOfIPv6IsOursIfALinkHasIt() throws {
    #expect(table(try message("::1", length: 128, on: 1)).isOurs(try address("::1"), on: 3))
  }

  /// ip-address(8): an address may be there with two prefixes, or with two peers, and each is added and deleted apart.
  @Test func anAddressWithAnotherPrefixOrPeerIsAnotherOne() throws {
    var table = table(
      try message("10.0.0.1"), try message("10.0.0.1", length: 16), try message("10.0.0.1", peer: "10.0.0.2"),
      try message("10.0.0.1", peer: "10.0.0.3"))
    #expect(texts(table) == ["10.0.0.1/24", "10.0.0.1/16", "10.0.0.1/24", "10.0.0.1/24"])
    let peers = table.addresses(of: 3).map { $0.peer.map { IPAddress($0).description } }
    #expect(peers == [nil, nil, "10.0.0.2", "10.0.0.3"])
    table.remove(try message("10.0.0.1", peer: "10.0.0.2"))
    table.remove(try message("10.0.0.1"))
    #expect(table.addresses(of: 3).map { $0.peer.map { IPAddress($0).description } } == [nil, "10.0.0.3"])
    #expect(texts(table) == ["10.0.0.1/16", "10.0.0.1/24"])
    #expect(table.isOurs(try address("10.0.0.1"), on: nil))
  }

  /// ip-address(8), `change`: an IPv6 address is on a link once, and its peer may change.
  @Test func anIPv6AddressWithAnotherPeerIsTheSame() throws {
    var table = table(try message("2001:db8::1", length: 128))
    table.update(try message("2001:db8::1", peer: "2001:db8::2", length: 128))
    #expect(texts(table) == ["2001:db8::1/128"])
    table.remove(try message("2001:db8::1", peer: "2001:db8::2", length: 128))
    #expect(!table.isOurs(try address("2001:db8::1"), on: nil))
  }

  @Test func anAddressThatIsAnnouncedAgainKeepsItsPlace() throws {
    var table = table(
      try message("2001:db8::1", length: 64, flags: .tentative), try message("2001:db8::2", length: 64))
    #expect(table.usableAddress(of: 3) == IPAddress("2001:db8::2"))
    table.update(try message("2001:db8::1", length: 64))
    #expect(texts(table) == ["2001:db8::1/64", "2001:db8::2/64"])
    #expect(table.usableAddress(of: 3) == IPAddress("2001:db8::1"))
  }

  @Test func whatIsNotThereIsNotRemoved() throws {
    var table = table(try message("10.0.0.1"), try message("10.0.0.2"))
    table.remove(try message("10.0.0.3"))
    table.remove(try message("10.0.0.1", length: 25))
    table.remove(try message("10.0.0.1", on: 4))
    #expect(texts(table) == ["10.0.0.1/24", "10.0.0.2/24"])
    table.remove(try message("10.0.0.1"))
    #expect(texts(table) == ["10.0.0.2/24"])
    #expect(!table.isOurs(try address("10.0.0.1"), on: nil))
    table.update(try message("10.0.0.1"))
    #expect(texts(table) == ["10.0.0.2/24", "10.0.0.1/24"])
  }

  @Test("the order stays that of the announcements, whatever is removed", arguments: 2...5)
  func theOrderStaysWhateverIsRemoved(step: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(step))
    var left = Array(1...40).shuffled(using: &numbers)
    var table = AddressTable()
    for number in left { table.update(try message("10.0.0.\(number)")) }
    while !left.isEmpty {
      #expect(texts(table) == left.map { "10.0.0.\($0)/24" })
      let gone = left.remove(at: left.count / step)
      table.remove(try message("10.0.0.\(gone)"))
      #expect(!table.isOurs(try address("10.0.0.\(gone)"), on: nil))
      for number in left { #expect(table.isOurs(try address("10.0.0.\(number)"), on: nil)) }
    }
    #expect(texts(table) == [])
  }

  @Test func eachLinkHasItsOwnAddresses() throws {
    var numbers = SeededNumbers(seed: 9)
    var table = AddressTable()
    for link in (UInt32(1)...12).shuffled(using: &numbers) {
      table.update(try message("fe80::\(link)", length: 64, on: link * 3))
      table.update(try message("10.0.\(link).1", on: link * 3))
    }
    for link in (UInt32(1)...12).shuffled(using: &numbers) {
      #expect(texts(table, of: link * 3) == ["fe80::\(String(link))/64", "10.0.\(link).1/24"])
      #expect(texts(table, of: link * 3 + 1) == [])
      #expect(table.isOurs(try address("fe80::\(link)"), on: link * 3))
      #expect(!table.isOurs(try address("fe80::\(link)"), on: link * 3 + 3))
      table.remove(try message("10.0.\(link).1", on: link * 3 + 1))
      table.remove(try message("fe80::\(link)", length: 64, on: link * 3))
      #expect(table.usableAddress(of: link * 3) == IPAddress("10.0.\(link).1"))
      table.remove(try message("10.0.\(link).1", on: link * 3))
      #expect(texts(table, of: link * 3) == [] && table.usableAddress(of: link * 3) == nil)
    }
  }

  // MARK: Memory

  /// How many places the lists of all links take; `nil` if there is no list.
  private func places(_ value: Any) -> Int? {
    var found: Int?
    for child in Mirror(reflecting: value).children {
      let count = child.label == "slots" ? Mirror(reflecting: child.value).children.count : places(child.value)
      if let count { found = (found ?? 0) + count }
    }
    return found
  }

  /// Temporary addresses come and go for as long as the machine runs (RFC 8981).
  @Test func addressesThatAreGoneTakeNoMemory() throws {
    var table = AddressTable()
    #expect(places(table) == nil)
    table.update(try message("10.0.0.1"))
    #expect(places(table) == 1)
    for number in 2...200 {
      table.update(try message("10.0.0.\(number)"))
      table.remove(try message("10.0.0.\(number)"))
      // Empty places are never the majority.
      #expect((places(table) ?? .max) <= 2)
    }
    table.remove(try message("10.0.0.1"))
    #expect(places(table) == nil, "a link without an address has no list")
  }
}
