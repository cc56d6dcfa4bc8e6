// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

struct NAT64PrefixTests {
  /// RFC 6052, section 2.4, table 1, and the well-known prefix of table 2, with 192.0.2.33.
  static let table: [(prefix: String, length: Int, address: String)] = [
    ("2001:db8::", 32, "2001:db8:c000:221::"),
    ("2001:db8:100::", 40, "2001:db8:1c0:2:21::"),
    ("2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"),
    ("2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"),
    ("2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"),
    ("2001:db8:122:344::", 96, "2001:db8:122:344::192.0.2.33"),
    ("64:ff9b::", 96, "64:ff9b::192.0.2.33"),
  ]

  private static func prefix(_ text: String, _ length: Int) -> NAT64Prefix {
    let bits = ip(text).bits
    return NAT64Prefix(bits: bits, length: length)
  }

  @Test(arguments: table)
  func embedsAnIPv4AddressAsTheExamplesOfRFC6052(prefix: String, length: Int, address: String) {
    #expect(Self.prefix(prefix, length).embed(ip("192.0.2.33")) == ip(address))
  }

  @Test(arguments: table)
  func discoversThePrefixByRFC7050(prefix: String, length: Int, address: String) {
    let expected = Self.prefix(prefix, length)
    for known in ["192.0.0.170", "192.0.0.171"] {
      #expect(NAT64Prefix.prefixes(in: [expected.embed(ip(known))]) == [expected])
    }
  }

  @Test func everyLengthCarriesEveryBit() {
    let seed = UInt64.random(in: 0 ... .max)
    var numbers = SeededNumbers(seed: seed)
    for (prefix, length, _) in Self.table {
      let prefix = Self.prefix(prefix, length)
      var seen: Set<IPAddress> = []
      var values: Set<UInt32> = []
      for shift in 0..<32 { values.insert(1 << UInt32(shift)) }
      for _ in 0..<1_000 { values.insert(.random(in: 0 ... .max, using: &numbers)) }
      for value in values {
        let embedded = prefix.embed(IPAddress(ipv4: value))
        #expect(embedded.bits.prefix(length) == prefix.embed(IPAddress(ipv4: 0)).bits.prefix(length), "seed \(seed)")
        // Bits 64 to 71 stay zero, except in a prefix of 96 bits, which contains them.
        if length < 96 { #expect(embedded.bits.low >> 56 == 0, "seed \(seed)") }
        seen.insert(embedded)
      }
      #expect(seen.count == values.count, "seed \(seed)")
    }
  }

  @Test func givesEachPrefixOnceInOrder() {
    let first = Self.prefix("64:ff9b::", 96)
    let second = Self.prefix("2001:db8:122:344::", 64)
    let addresses = [first, second, first].flatMap { prefix in
      ["192.0.0.170", "192.0.0.171"].map { prefix.embed(ip($0)) }
    }
    #expect(NAT64Prefix.prefixes(in: addresses) == [first, second])
  }

  @Test(arguments: [
    "192.0.0.170", "192.0.0.171", "::", "::1", "64:ff9b::192.0.2.33", "64:ff9b::192.0.0.172", "2001:db8::1", "fe80::1",
    "2001:db8:c000:aa::1", "2001:db8:c000:ac::",
  ])
  func discoversNothingInOtherAddresses(address: String) {
    #expect(NAT64Prefix.prefixes(in: [ip(address)]).isEmpty)
  }

  @Test func asksForIPv6OfTheWellKnownName() {
    #expect(NAT64Prefix.discoveryName.name == "ipv4only.arpa")
    #expect(NAT64Prefix.discoveryName.family == .ipv6)
  }
}
