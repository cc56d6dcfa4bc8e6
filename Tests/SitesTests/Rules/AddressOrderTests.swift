// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

struct AddressOrderTests {
  /// The examples of two families in RFC 6724, 10.2: destination and source of each. The one that comes first is in
  /// front.
  @Test(arguments: [
    (("2001:db8::1", "2001:db8::2"), ("198.51.100.121", "169.254.13.78")),
    (("198.51.100.121", "198.51.100.117"), ("2001:db8:1::1", "fe80::1")),
    (("2001:db8::1", "2001:db8::2"), ("10.1.2.3", "10.1.2.4")),
    // 10.6 and 2.1: an IPv4 address comes before a unique-local one, and before an address that only a unique-local
    // source reaches.
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

  @Test func lateAddressesTakeTurnsWithTheLastOneTried() {
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
