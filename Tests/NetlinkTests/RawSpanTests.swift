// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Reading of bytes up to the first and the last of them, and not beyond.
struct RawSpanTests {
  private static let four: [UInt8] = [1, 1, 1, 1]

  @Test(arguments: [(0, true), (-1, false), (1, false), (4, false), (.max, false), (.min, false)])
  func readsAnIntegerThatFillsTheBytes(offset: Int, isRead: Bool) {
    #expect(withBytes(of: Self.four) { $0.integer(at: offset, as: UInt32.self) } == (isRead ? 0x0101_0101 : nil))
  }

  @Test(arguments: [(0, 1), (1, 2), (2, 3), (3, 4), (4, nil), (-1, nil)] as [(Int, UInt8?)])
  func readsEachByte(offset: Int, expected: UInt8?) {
    #expect(withBytes(of: [1, 2, 3, 4]) { $0.integer(at: offset, as: UInt8.self) } == expected)
  }

  @Test func readsNothingWhereThereIsTooLittle() {
    #expect(withBytes(of: [1, 1, 1]) { $0.integer(at: 0, as: UInt32.self) } == nil)
    #expect(withBytes(of: []) { $0.integer(at: 0, as: UInt8.self) } == nil)
  }

  @Test(arguments: [(0..<4, true), (0..<3, false), (1..<4, false), (0..<0, false), (0..<5, false), (2..<6, false)])
  func readsAPayloadOfExactlyItsSize(range: Range<Int>, isRead: Bool) {
    #expect(withBytes(of: Self.four) { $0.integer(in: range, as: UInt32.self) } == (isRead ? 0x0101_0101 : nil))
  }

  @Test(
    arguments: [
      (0..<4, [1, 2, 3, 4]), (0..<0, []), (4..<4, []), (1..<3, [2, 3]), (3..<4, [4]), (0..<5, nil), (-1..<4, nil),
      (4..<5, nil), (-1..<0, nil),
    ] as [(Range<Int>, [UInt8]?)])
  func copiesWhatLiesInside(range: Range<Int>, expected: [UInt8]?) {
    #expect(withBytes(of: [1, 2, 3, 4]) { $0.array(in: range) } == expected)
    #expect(withBytes(of: [1, 2, 3, 4]) { $0.contains(range) } == (expected != nil))
  }

  @Test(
    arguments: [
      (0..<4, "ab"), (0..<2, "ab"), (0..<1, "a"), (2..<4, ""), (3..<4, "c"), (0..<0, ""), (4..<4, ""), (0..<5, nil),
      (-1..<4, nil),
    ] as [(Range<Int>, String?)])
  func aStringEndsAtNULOrWithItsPayload(range: Range<Int>, expected: String?) {
    #expect(withBytes(of: [0x61, 0x62, 0, 0x63]) { $0.string(in: range) } == expected)
  }

  @Test(arguments: [(3, false), (4, true), (5, true)]) func aStringHasAsManyBytesAsItMay(limit: Int, isRead: Bool) {
    #expect((withBytes(of: [0x61, 0x62, 0x63, 0]) { $0.string(in: 0..<4, limit: limit) } == "abc") == isRead)
    #expect((withBytes(of: [0x61, 0x62, 0x63, 0]) { $0.string(in: 0..<4, limit: limit) } == nil) != isRead)
  }

  @Test func takesInWhatThereIs() {
    var value: Int? = 3
    let isSomething = value.takeIn(4)
    #expect(isSomething && value == 4)
    let isNothing = !value.takeIn(nil)
    #expect(isNothing && value == nil)
  }

  // MARK: Addresses as numbers

  @Test func anAddressKnowsItsSizeAndFamily() {
    let (first, second) = (ipv4(192, 0, 2, 1), RawMessage.address(1))
    #expect(first.bitWidth == 32 && first.byteCount == 4 && first.family == .ipv4 && !first.isIPv6 && first.high == 0)
    #expect(second.bitWidth == 128 && second.byteCount == 16 && second.family == .ipv6 && second.isIPv6)
  }

  /// `::ffff:0:0/96` alone (RFC 4291, 2.5.5.2).
  @Test(
    arguments: [
      (0, 0xffff_0000_0000, true), (0, 0xffff_ffff_ffff, true), (0, 0xfffe_0000_0001, false),
      (0, 0x1_ffff_0000_0001, false), (1, 0xffff_0000_0001, false), (0, 0x7fff_8000_0000, false), (0, 1, false),
    ] as [(UInt64, UInt64, Bool)])
  func mappedAddressesHaveOnePrefix(high: UInt64, low: UInt64, isMapped: Bool) {
    let address = IPAddressBits(ipv6High: high, low: low)
    #expect(address.isIPv4Mapped == isMapped)
    #expect(address.unmapped == (isMapped ? IPAddressBits(ipv4: UInt32(low & 0xffff_ffff)) : address))
  }

  @Test func anIPv4AddressIsNeverMapped() {
    let address = IPAddressBits(ipv4: .max)
    #expect(!address.isIPv4Mapped && address.unmapped == address)
  }

  @Test func noAddressIsBeforeItself() {
    let ordered = [
      ipv4(0, 0, 0, 0), ipv4(10, 0, 0, 1), ipv4(10, 0, 0, 2), IPAddressBits(ipv6High: 0, low: 0),
      IPAddressBits(ipv6High: 0, low: 9), IPAddressBits(ipv6High: 1, low: 3), IPAddressBits(ipv6High: 2, low: 1),
    ]
    for (first, address) in ordered.enumerated() {
      for (second, other) in ordered.enumerated() { #expect((address < other) == (first < second)) }
    }
  }

  @Test func aPrefixOfNoLengthHoldsAllOfItsFamily() {
    let (first, second) = (ipv4(192, 0, 2, 1), RawMessage.address(1))
    #expect(first.matches(prefix: ipv4(10, 0, 0, 0), length: 0))
    #expect(second.matches(prefix: IPAddressBits(ipv6High: 0, low: 0), length: 0))
    #expect(!first.matches(prefix: ipv4(193, 0, 2, 1), length: 8))
    #expect(first.matches(prefix: ipv4(193, 0, 0, 0), length: 7))
    #expect(first.matches(prefix: first, length: 32) && !first.matches(prefix: ipv4(192, 0, 2, 0), length: 32))
    #expect(!first.matches(prefix: second, length: 0) && !second.matches(prefix: first, length: 0))
  }
}
