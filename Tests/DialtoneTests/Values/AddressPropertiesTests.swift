// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

@testable import Dialtone

/// What kind of address one is, by the registries of special-purpose addresses (RFC 6890) and RFC 4291.
struct AddressPropertiesTests {
  @Test(arguments: [
    ("127.0.0.0", true), ("127.0.0.1", true), ("127.255.255.255", true), ("126.255.255.255", false),
    ("128.0.0.0", false), ("254.0.0.1", false), ("0.0.0.0", false), ("::1", true), ("::", false), ("::2", false),
    ("0:0:0:1::1", false), ("::ffff:127.0.0.1", false), ("::7f00:1", false),
  ])
  func knowsLoopback(text: String, expected: Bool) { #expect(ip(text).isLoopback == expected) }

  @Test(arguments: [
    ("224.0.0.0", true), ("239.255.255.255", true), ("223.255.255.255", false), ("240.0.0.0", false),
    ("255.255.255.255", false), ("ff00::", true), ("ff02::1", true), ("ffff:ffff::", true), ("feff::", false),
    ("7f80::", false), ("fe00::1", false), ("::e000:1", false), ("::ff", false),
  ])
  func knowsMulticast(text: String, expected: Bool) { #expect(ip(text).isMulticast == expected) }

  @Test(arguments: [
    ("169.254.0.0", true), ("169.254.255.255", true), ("169.253.255.255", false), ("169.255.0.0", false),
    ("fe80::1", false), ("::169.254.0.1", false), ("224.0.0.1", false),
  ])
  func knowsTheLinkLocalNetworkOfIPv4(text: String, expected: Bool) {
    #expect(ip(text).isIPv4LinkLocal == expected)
    #expect(ReachabilityTarget.address(ip(text)).isLocalNetwork == expected)
  }

  @Test(arguments: [
    ("192.0.2.1", true), ("10.0.0.1", true), ("169.254.1.1", true), ("0.0.0.1", true), ("126.255.255.255", true),
    ("128.0.0.0", true), ("254.0.0.1", true), ("0.0.0.0", false), ("127.0.0.0", false), ("127.0.0.1", false),
    ("127.255.255.255", false), ("2001:db8::1", true), ("fc00::1", true), ("fdff::1", true), ("::2", true),
    ("1::", true), ("0:0:0:1::", true), ("0:0:0:1::1", true), ("fec0::1", true), ("fe7f::1", true), ("::", false),
    ("::1", false), ("fe80::", false), ("fe80::1", false), ("febf:ffff::1", false), ("ff00::1", false),
    ("ff02::1", false), ("ff0e::1", false), ("ffff::", false),
  ])
  func knowsWhatAnotherNetworkCanAnswer(text: String, expected: Bool) {
    #expect(ip(text).isUsableSource == expected)
  }

  @Test(arguments: [
    ("::ffff:192.0.2.1", "192.0.2.1"), ("::ffff:0.0.0.0", "0.0.0.0"), ("::192.0.2.1", "::192.0.2.1"),
    ("::1:ffff:192.0.2.1", "::1:ffff:192.0.2.1"), ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"),
    ("fe80::1%eth0", "fe80::1%eth0"),
  ])
  func unpacksAnIPv4MappedAddress(text: String, expected: String) { #expect(ip(text).unmapped == ip(expected)) }

  // MARK: As the system's calls take it (ip(7), ipv6(7))

  @Test func anIPv4AddressIsASocketAddress() throws {
    let address = try #require(ip("192.0.2.1").ipv4SocketAddress(port: 443))
    #expect(address.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: address.sin_port) == 443)
    #expect(UInt32(bigEndian: address.sin_addr.s_addr) == 0xC000_0201)
    #expect(ip("192.0.2.1").ipv6SocketAddress(port: 443) == nil && ip("::1").ipv4SocketAddress(port: 443) == nil)
  }

  @Test(arguments: [
    ("2001:db8:1:2:3:4:5:6", UInt32(0)), ("fe80::1", 0), ("fe80::1%7", 7), ("fe80::1%4294967295", .max),
    ("fe80::1%no-such-link", 0),
  ])
  func anIPv6AddressIsASocketAddress(text: String, scope: UInt32) throws {
    let address = try #require(ip(text).ipv6SocketAddress(port: 443))
    #expect(address.sin6_family == sa_family_t(AF_INET6) && UInt16(bigEndian: address.sin6_port) == 443)
    #expect(address.sin6_scope_id == scope && address.sin6_flowinfo == 0)
    var expected = in6_addr()
    let plain = text.prefix { $0 != "%" }
    try #require(unsafe inet_pton(AF_INET6, String(plain), &expected) == 1)
    let bytes = unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe Array($0) }
    let wanted = unsafe withUnsafeBytes(of: expected) { unsafe Array($0) }
    #expect(bytes == wanted)
  }
}
