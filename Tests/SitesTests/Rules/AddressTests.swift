// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

struct AddressTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.1.1", "100.64.0.1",
    "100.127.255.255", "0.1.2.3", "::1", "::", "fe80::1%eth0", "fc00::1", "fdff::1", "fec0::1", "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
  ])
  func isPrivate(_ text: String) throws { #expect(try #require(IPAddress(text)).isPrivate) }

  @Test(arguments: [
    "192.0.2.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.0", "11.0.0.1", "2001:db8::1", "fe00::1",
    "::ffff:192.0.2.1", "64:ff9b::c000:201",
  ])
  func isPublic(_ text: String) throws { #expect(try !#require(IPAddress(text)).isPrivate) }

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
