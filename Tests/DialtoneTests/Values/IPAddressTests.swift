// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

struct IPAddressTests {
  static let good: [(text: String, description: String, family: IPAddress.Family)] = [
    ("0.0.0.0", "0.0.0.0", .ipv4), ("255.255.255.255", "255.255.255.255", .ipv4), ("192.0.2.1", "192.0.2.1", .ipv4),
    ("127.0.0.1", "127.0.0.1", .ipv4), ("::", "::", .ipv6), ("::1", "::1", .ipv6), ("1::", "1::", .ipv6),
    ("2001:DB8::1", "2001:db8::1", .ipv6), ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1", .ipv6),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1", .ipv6), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1", .ipv6),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.1", .ipv6), ("::ffff:c000:201", "::ffff:192.0.2.1", .ipv6),
    ("64:ff9b::192.0.2.33", "64:ff9b::c000:221", .ipv6), ("fe80::1", "fe80::1", .ipv6),
    ("fe80::1%eth0", "fe80::1%eth0", .ipv6), ("fe80::1%2", "fe80::1%2", .ipv6), ("febf::1%a", "febf::1%a", .ipv6),
    ("ff02::1%wlan0", "ff02::1%wlan0", .ipv6), ("ff01::1%lo", "ff01::1%lo", .ipv6),
    ("ff12::1%eth0", "ff12::1%eth0", .ipv6), ("ff32::1%2", "ff32::1%2", .ipv6), ("fff1::1%lo", "fff1::1%lo", .ipv6),
    ("fe80::1%0123456789abcde", "fe80::1%0123456789abcde", .ipv6),
    ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .ipv6),
  ]

  @Test(arguments: good)
  func readsAndPrints(text: String, description: String, family: IPAddress.Family) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == description)
    #expect(address.family == family)
    #expect(IPAddress(address.description) == address)
    // Any kind of string is accepted, not only `String`.
    #expect(IPAddress(text[...]) == address)
  }

  @Test(arguments: [
    "", " ", ".", ":", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.-4", "01.2.3.4", "0x1.2.3.4", "127.1", "1.2.3.4 ",
    " 1.2.3.4", "1.2.3.4\0", "1.2.3.4/24", "1.2.3.4:80", "1.2.3.٤", "1,2,3,4", ":::", "1::2::3", "12345::", "g::",
    "::1::",
    "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "[::1]", "::1/64", "::1 ", "::1\0", "::ffff:256.0.0.1", "::ffff:1.2.3",
    "localhost",
  ])
  func refusesWhatIsNoAddress(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: [
    "fe80::1%", "fe80::1%0123456789abcdef", "fe80::1%a b", "fe80::1%a/b", "fe80::1%a%b", "fe80::1%\u{7F}", "fe80::1%\0",
    "%eth0", "192.0.2.1%eth0", "169.254.1.1%eth0", "2001:db8::1%eth0", "::1%lo", "::%eth0", "ff05::1%eth0",
    "ff15::1%eth0", "ff20::1%eth0",
    "::ffff:169.254.1.1%eth0", "fec0::1%eth0", "fe80::g%eth0",
  ])
  func refusesAZoneThatCannotBe(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func zoneIsKeptAsWrittenAndCounts() {
    #expect(ip("fe80::1%eth0").zone == "eth0")
    #expect(ip("fe80::1%2").zone == "2")
    #expect(ip("fe80::1").zone == nil)
    #expect(ip("fe80::1%eth0") != ip("fe80::1%eth1"))
    #expect(ip("fe80::1%eth0") != ip("fe80::1"))
    #expect(ip("fe80::1%ETH0") != ip("fe80::1%eth0"))
  }

  @Test(arguments: [
    ("0.0.0.0", true), ("::", true), ("::1", false), ("0.0.0.1", false), ("::ffff:0.0.0.0", false),
  ])
  func knowsTheUnspecifiedAddress(text: String, expected: Bool) {
    #expect(ip(text).isUnspecified == expected)
  }

  @Test(arguments: [
    ("169.254.0.0", true), ("169.254.255.255", true), ("169.253.255.255", false), ("169.255.0.0", false),
    ("224.0.0.1", true), ("224.0.1.1", false), ("fe80::", true), ("febf:ffff::", true), ("fec0::", false),
    ("fe7f::", false), ("ff02::1", true), ("ff01::1", true), ("ff05::1", false), ("2001:db8::1", false), ("::1", false),
  ])
  func knowsLinkLocalScope(text: String, expected: Bool) {
    #expect(ip(text).isLinkLocal == expected)
  }

  /// Flags in the upper four bits, the scope in the lower (RFC 4291, 2.7).
  @Test(arguments: 0...0xFF)
  func theScopeOfAGroupIsInItsLowerBits(flagsAndScope: Int) {
    let text = "ff" + (flagsAndScope < 0x10 ? "0" : "") + String(flagsAndScope, radix: 16) + "::1"
    #expect(ip(text).isLinkLocal == [1, 2].contains(flagsAndScope & 0xF), "\(text)")
    #expect((IPAddress(text + "%eth0") != nil) == ip(text).isLinkLocal, "\(text)")
  }

  @Test func isMadeFromANumber() {
    #expect(IPAddress(ipv4: 0x7F00_0001) == ip("127.0.0.1"))
    #expect(IPAddress(ipv4: 0).isUnspecified)
    #expect(IPAddress(ipv4: .max).description == "255.255.255.255")
  }

  @Test func equalTextsAreEqualAddresses() {
    #expect(ip("2001:DB8:0::1") == ip("2001:db8::0:1"))
    #expect(Set([ip("::1"), ip("0:0::1"), ip("0.0.0.1")]).count == 2)
    #expect(ip("::ffff:192.0.2.1") != ip("192.0.2.1"))
  }

  @Test func everyIPv4AddressThatIsPrintedIsReadBack() {
    let seed = UInt64.random(in: 0 ... .max)
    var numbers = SeededNumbers(seed: seed)
    for _ in 0..<2_000 {
      let address = IPAddress(ipv4: .random(in: 0 ... .max, using: &numbers))
      #expect(IPAddress(address.description) == address, "seed \(seed)")
      let groups = (0..<8).map { _ in String(UInt16.random(in: 0...3, using: &numbers), radix: 16) }
      let text = groups.joined(separator: ":")
      let six = IPAddress(text)
      #expect(six != nil && IPAddress(six?.description ?? "") == six, "\(text), seed \(seed)")
    }
  }
}
