// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// The policy table of RFC 6724, 2.1, as far as it tells two families apart, and beginnings and ends of prefixes.
struct PolicyTableTests {
  private func route(_ address: String, _ source: String?) throws -> Route {
    let source = try source.map { try #require(IPAddress($0)) }
    return Route(address: try #require(IPAddress(address)), interface: nil, source: source)
  }

  /// Whether an IPv6 route comes before an IPv4 one from 198.51.100.117.
  private func comesFirst(_ address: String, from source: String?) throws -> Bool {
    let six = try route(address, source)
    let four = try route("198.51.100.121", "198.51.100.117")
    let orders = [AddressOrder.preferred([six, four]), AddressOrder.preferred([four, six])]
    #expect(orders[0].map(\.address) == orders[1].map(\.address), "whatever the resolver's order")
    return orders[0].first?.address == six.address
  }

  /// By precedence: IPv4 has 35.
  @Test(arguments: [
    ("2001:db8::1", true), ("2a00::1", true), ("4000::1", true), ("::1:0:0:1", true), ("2003::1", true),
    ("2001:1::1", true), ("3fff::1", true), ("3ffd::1", true), ("fb00::1", true), ("fe00::1", true),
    // ::/96, Teredo, 6to4, 6bone, site-local, unique-local: the first and the last half of each.
    ("::2", false), ("::8000:1", false), ("2001::1", false), ("2001:0:8000::1", false), ("2001:0:ffff::1", false),
    ("2002::1", false), ("2002:8000::1", false), ("3ffe::1", false), ("3ffe:8000::1", false), ("fec0::1", false),
    ("fee0::1", false), ("feff::1", false), ("fc00::1", false), ("fd00::1", false), ("fdff::1", false),
  ])
  func anIPv6AddressComesFirstByItsPrecedence(_ address: String, _ comesFirst: Bool) throws {
    // From itself: neither scope nor label decides.
    #expect(try self.comesFirst(address, from: address) == comesFirst)
    // A source that is not known rules nothing out.
    #expect(try self.comesFirst(address, from: nil) == comesFirst)
  }

  /// Rule 5: a source of another label counts against the address.
  @Test(arguments: [
    ("2001:db8::2", true), ("2a00::1", true), ("::2", false), ("2001::1", false), ("2002::1", false),
    ("3ffe::1", false), ("fd00::1", false), ("fec0::1", false), ("fe80::1", false), ("::1", false),
  ])
  func aSourceOfAnotherKindCountsAgainstIt(_ source: String, _ comesFirst: Bool) throws {
    #expect(try self.comesFirst("2001:db8::1", from: source) == comesFirst)
  }

  /// Rule 2 (scopes), and of the loopback address rule 5 before its precedence of 50.
  @Test func linkLocalAddressesHaveAScopeOfTheirOwn() throws {
    #expect(try comesFirst("fe80::1", from: "fe80::2"))
    #expect(try !comesFirst("fe80::1", from: "2001:db8::1"))
    #expect(try comesFirst("::1", from: "::1"))
    #expect(try !comesFirst("::1", from: "fe80::1"))
    #expect(try !comesFirst("fec0::1", from: "fd00::1"))
  }

  /// RFC 6724, 3.2: 169.254/16 and 127/8 are link-local. A source of another scope counts against IPv4, too.
  @Test(arguments: [
    ("198.51.100.121", "198.51.100.117", false), ("198.51.100.121", "10.0.0.1", false),
    ("198.51.100.121", "169.254.1.1", true), ("198.51.100.121", "127.0.0.1", true),
    ("169.254.1.2", "169.254.1.1", false), ("169.254.1.2", "10.0.0.1", true), ("127.0.0.2", "127.0.0.1", false),
    ("127.0.0.1", "169.254.1.1", false), ("127.0.0.1", "10.0.0.1", true),
  ])
  func aSourceOfAnotherScopeCountsAgainstIPv4(_ address: String, _ source: String, _ isSixFirst: Bool) throws {
    // Of a unique-local address alone, IPv4 would come first.
    let routes = [try route(address, source), try route("fd00::1", "fd00::2")]
    #expect((AddressOrder.preferred(routes).first?.address == routes[1].address) == isSixFirst)
  }

  @Test func oneFamilyStaysAsItIs() throws {
    let four = try ["192.0.2.3", "192.0.2.1", "192.0.2.2"].map { try route($0, nil) }
    let six = try ["2001:db8::3", "fd00::1"].map { try route($0, nil) }
    #expect(AddressOrder.preferred(four) == four && AddressOrder.preferred(six) == six)
    #expect(AddressOrder.preferred([]) == [])
    #expect(AddressOrder.preferred(four + six) == [six[0], four[0], six[1], four[1], four[2]])
    // An IPv4 address in an IPv6 one is IPv4's.
    let mapped = try route("::ffff:192.0.2.9", nil)
    #expect(AddressOrder.preferred([mapped, six[0]]) == [six[0], mapped])
    #expect(AddressOrder.preferred([mapped, four[0]]) == [mapped, four[0]])
  }

  /// RFC 6052, 2.1: only 64:ff9b::/96 has an IPv4 address in its last bits; the registries list nothing else of it.
  @Test(arguments: [
    ("64:ff9b::a00:1", false), ("64:ff9b::1:a00:1", true), ("64:ff9b::8000:0:a00:1", true),
    ("64:ff9b:0:1::a00:1", true),
    ("64:ff9c::a00:1", true), ("64:ff9b::808:808", true), ("64:ff9b::e000:1", false), ("64:ff9b::", false),
  ])
  func onlyTheWellKnownPrefixHasAnAddressInside(_ address: String, _ isPublic: Bool) throws {
    #expect(try #require(IPAddress(address)).isPublic == isPublic)
  }
}
