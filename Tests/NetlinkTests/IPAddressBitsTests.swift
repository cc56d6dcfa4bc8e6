// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

struct IPAddressBitsTests {
  static let v6 = IPAddressBits(ipv6High: 0x2001_0db8_0000_0001, low: 0x8000_0000_0000_00ff)

  @Test(
    arguments: [
      ([192, 0, 2, 1], ipv4(192, 0, 2, 1)), ([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0xff], v6),
    ] as [([UInt8], IPAddressBits)])
  func firstByteIsTheMostSignificant(bytes: [UInt8], address: IPAddressBits) {
    let read = withBytes(of: [0xaa] + bytes) { IPAddressBits($0, in: 1..<$0.byteCount) }
    #expect(read == address)
    #expect(bytes.count == address.byteCount)
  }

  @Test(arguments: [0, 1, 3, 5, 15, 17]) func takesOnlyFourOrSixteenBytes(count: Int) {
    #expect(withBytes(of: [UInt8](repeating: 1, count: 32)) { IPAddressBits($0, in: 0..<count) } == nil)
  }

  @Test(arguments: [1..<5, 0..<16, -4..<0, 8..<24]) func rejectsARangeOutsideTheBytes(range: Range<Int>) {
    #expect(withBytes(of: [1, 2, 3, 4]) { IPAddressBits($0, in: range) } == nil)
  }

  @Test func unmapsOnlyMappedAddresses() {
    let mapped = IPAddressBits(ipv6High: 0, low: 0xffff_0a00_0001)
    #expect(mapped.isIPv4Mapped)
    #expect(mapped.unmapped == ipv4(10, 0, 0, 1))
    for address in [IPAddressBits(ipv6High: 1, low: 0xffff_0a00_0001), IPAddressBits(ipv6High: 0, low: 1), Self.v6] {
      #expect(!address.isIPv4Mapped)
      #expect(address.unmapped == address)
    }
  }

  @Test(
    arguments: [
      (-1, 0, 0), (0, 0, 0), (1, 0, 0), (16, 0x2001_0db8_0000_0001 & ~0x0000_ffff_ffff_ffff, 0),
      (63, 0x2001_0db8_0000_0000, 0), (64, 0x2001_0db8_0000_0001, 0),
      (65, 0x2001_0db8_0000_0001, 0x8000_0000_0000_0000), (127, 0x2001_0db8_0000_0001, 0x8000_0000_0000_00fe),
      (128, 0x2001_0db8_0000_0001, 0x8000_0000_0000_00ff), (200, 0x2001_0db8_0000_0001, 0x8000_0000_0000_00ff),
    ] as [(Int, UInt64, UInt64)])
  func prefixKeepsTheFirstBits(length: Int, high: UInt64, low: UInt64) {
    #expect(Self.v6.prefix(length) == IPAddressBits(ipv6High: high, low: low))
  }

  @Test(arguments: [(-1, 0), (0, 0), (1, 0x8000_0000), (31, 0xffff_fffe), (32, 0xffff_ffff), (33, 0xffff_ffff)])
  func prefixOfIPv4KeepsTheFirstBits(length: Int, expected: UInt32) {
    #expect(IPAddressBits(ipv4: .max).prefix(length) == IPAddressBits(ipv4: expected))
  }

  @Test(arguments: seeds) func matchesAgreesWithComparingBitByBit(seed: UInt64) {
    var generator = SeededNumbers(seed: seed)
    func bit(_ address: IPAddressBits, _ index: Int) -> UInt64 {
      if !address.isIPv6 { return address.low >> UInt64(31 - index) & 1 }
      return index < 64 ? address.high >> UInt64(63 - index) & 1 : address.low >> UInt64(127 - index) & 1
    }
    for _ in 0..<2_000 {
      let (first, second) = RandomPrefix.pair(using: &generator)
      let length = Int.random(in: 0...first.bitWidth, using: &generator)
      let expected = (0..<length).allSatisfy { bit(first, $0) == bit(second, $0) }
      #expect(first.matches(prefix: second, length: length) == expected, "seed \(seed): \(first) \(second) \(length)")
    }
  }

  @Test func familiesNeverMatch() {
    #expect(!ipv4(0, 0, 0, 1).matches(prefix: IPAddressBits(ipv6High: 0, low: 1), length: 0))
  }

  @Test func ordersByFamilyThenValue() {
    let ordered = [
      ipv4(0, 0, 0, 1), ipv4(255, 0, 0, 0), IPAddressBits(ipv6High: 0, low: 0), IPAddressBits(ipv6High: 0, low: .max),
      IPAddressBits(ipv6High: 1, low: 0),
    ]
    #expect(ordered.reversed().sorted() == ordered)
  }
}

enum RandomPrefix {
  /// Two addresses of one family that share a random number of leading bits.
  static func pair(using generator: inout SeededNumbers) -> (IPAddressBits, IPAddressBits) {
    if Bool.random(using: &generator) {
      let first = UInt32.random(in: .min ... .max, using: &generator)
      let difference =
        UInt32.random(in: .min ... .max, using: &generator) >> UInt32.random(in: 0...32, using: &generator)
      return (IPAddressBits(ipv4: first), IPAddressBits(ipv4: first ^ difference))
    }
    let (high, low): (UInt64, UInt64) = (generator.next(), generator.next())
    let shared = Int.random(in: 0...128, using: &generator)
    let first = IPAddressBits(ipv6High: high, low: low)
    let kept = first.prefix(shared)
    let rest = IPAddressBits(ipv6High: generator.next(), low: generator.next())
    let dropped = rest.prefix(shared)
    return (
      first,
      IPAddressBits(
        ipv6High: kept.high | (rest.high ^ dropped.high), low: kept.low | (rest.low ^ dropped.low))
    )
  }
}
