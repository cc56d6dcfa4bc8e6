// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Netlink
import TestSupport
import Testing

@testable import DialtoneSites

struct AddressTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.1.1", "100.64.0.1",
    "100.127.255.255", "0.1.2.3", "::1", "::", "fe80::1%eth0", "fc00::1", "fdff::1", "fec0::1", "::ffff:10.0.0.1",
    "64:ff9b::a00:1", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "64:ff9b::c000:201", "224.0.0.1", "239.1.2.3",
    "ff02::1", "ff0e::1",
  ])
  func isNotPublic(_ text: String) throws { #expect(try !#require(IPAddress(text)).isPublic) }

  @Test(arguments: [
    "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.0", "11.0.0.1", "2001:503:ba3e::2:30", "fe00::1",
    "198.41.0.4", "::ffff:198.41.0.4", "64:ff9b::c629:4",
  ])
  func isPublic(_ text: String) throws { #expect(try #require(IPAddress(text)).isPublic) }

  /// The ends of each block, what is beside them, and something in between.
  @Test func isPublicWhereTheRegistriesSayNothingElse() throws {
    var numbers = SeededNumbers(seed: 6_890)
    for block in try SpecialPurposeRegistry.blocks.get() {
      let most: UInt128 = block.isIPv6 ? .max : UInt128(UInt32.max)
      let probes = [
        block.first, block.last, block.first == 0 ? 0 : block.first - 1, block.last == most ? most : block.last + 1,
        UInt128.random(in: block.first...block.last, using: &numbers),
      ]
      for probe in probes {
        let address = IPAddress(
          block.isIPv6
            ? IPAddressBits(ipv6High: UInt64(probe >> 64), low: UInt64(truncatingIfNeeded: probe))
            : IPAddressBits(ipv4: UInt32(probe)))
        // What they stand for is looked at instead: above.
        if address.unmapped != address || probe >> 32 == 0x64_FF9B << 64 { continue }
        let isListed = try SpecialPurposeRegistry.isGloballyReachable(probe, isIPv6: block.isIPv6)
        // Neither has an entry there: RFC 5771 and RFC 3879.
        let isElsewhere = address.isMulticast || block.isIPv6 && probe >> 118 == 0x3FB
        #expect(address.isPublic == (isListed ?? !isElsewhere), "\(address)")
      }
    }
  }

  /// RFC 6724, 10.2, the examples of two families: destination and source of each, the one that comes first in front.
  @Test(arguments: [
    (("2001:db8::1", "2001:db8::2"), ("198.51.100.121", "169.254.13.78")),
    (("198.51.100.121", "198.51.100.117"), ("2001:db8:1::1", "fe80::1")),
    (("2001:db8::1", "2001:db8::2"), ("10.1.2.3", "10.1.2.4")),
    // 10.6 and 2.1: an IPv4 address comes before a unique-local one, and before one that only a unique-local source
    // leads to.
    (("198.51.100.121", "198.51.100.117"), ("fd11:1111:1111:1::1", "fd11:1111:1111:1::2")),
    (("198.51.100.121", "198.51.100.117"), ("2001:db8:1::1", "fd11:1111:1111:1::2")),
  ])
  func theFamilyThatRFC6724PrefersComesFirst(_ first: (String, String), _ second: (String, String)) throws {
    func route(_ texts: (String, String)) throws -> Route {
      Route(address: try #require(IPAddress(texts.0)), interface: nil, source: IPAddress(texts.1))
    }
    let routes = [try route(first), try route(second)]
    for order in [routes, routes.reversed()] {
      #expect(AddressOrder.preferred(order).map(\.address) == routes.map(\.address))
    }
  }

  @Test func whatComesLateTakesTurnsWithWhatWasTriedLast() {
    func order(_ text: String, after last: IPAddress.Family?) -> String {
      String(AddressOrder.interleaved(Array(text), after: last) { $0 == "6" ? .ipv6 : .ipv4 })
    }
    #expect(order("66644", after: .ipv6) == "46466" && order("66644", after: .ipv4) == "64646")
    #expect(order("66", after: .ipv6) == "66" && order("4466", after: nil) == "4646" && order("", after: .ipv4) == "")
  }

  @Test(arguments: [
    ("6644", "6464"), ("664", "646"), ("466", "466"), ("4466", "4646"), ("666", "666"), ("", ""), ("6444", "6444"),
  ])
  func familiesTakeTurns(_ order: String, _ expected: String) {
    let taken = AddressOrder.interleaved(Array(order.enumerated())) { $0.element == "6" ? .ipv6 : .ipv4 }
    #expect(String(taken.map(\.element)) == expected)
    for family in ["4", "6"] as [Character] {
      let positions = taken.filter { $0.element == family }.map(\.offset)
      #expect(positions == positions.sorted(), "the resolver's order within a family stays")
    }
  }
}
