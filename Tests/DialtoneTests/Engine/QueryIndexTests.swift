// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

struct QueryIndexTests {
  private static func node(_ address: IPAddressBits, mark: UInt32 = 0) -> QueryNode {
    QueryNode(RouteQuery(.address(IPAddress(address)), mark: mark))
  }

  private static func found(_ index: QueryIndex, _ address: IPAddressBits, _ length: Int) -> [ObjectIdentifier] {
    var found: [ObjectIdentifier] = []
    index.forEach(in: .init(address, length: length)) { found.append(ObjectIdentifier($0)) }
    return found
  }

  @Test func findsTheAddressesInsideAPrefixOfTheirFamily() {
    var index = QueryIndex()
    let addresses = [
      "10.0.0.1", "10.0.0.2", "10.0.1.0", "192.0.2.1", "::", "2001:db8::1", "2001:db8:1::", "ffff::",
    ].map(ip)
    for address in addresses { index.add(Self.node(address.bits), at: address.bits) }
    #expect(index.count == 8)
    func names(_ prefix: String, _ length: Int) -> [String] {
      var names: [String] = []
      index.forEach(in: .init(ip(prefix).bits, length: length)) { names.append($0.query.address?.description ?? "") }
      return names
    }
    #expect(names("10.0.0.0", 24) == ["10.0.0.1", "10.0.0.2"])
    #expect(names("10.0.0.0", 8) == ["10.0.0.1", "10.0.0.2", "10.0.1.0"])
    #expect(names("0.0.0.0", 0) == ["10.0.0.1", "10.0.0.2", "10.0.1.0", "192.0.2.1"])
    #expect(names("::", 0) == ["::", "2001:db8::1", "2001:db8:1::", "ffff::"])
    #expect(names("2001:db8::", 48) == ["2001:db8::1"])
    #expect(names("192.0.2.1", 32) == ["192.0.2.1"])
    #expect(names("192.0.2.2", 32).isEmpty)
    // Bits behind the length do not count.
    #expect(names("10.0.0.255", 24) == ["10.0.0.1", "10.0.0.2"])
  }

  @Test func keepsManyNodesOfOneAddressApart() throws {
    var index = QueryIndex()
    let address = ip("192.0.2.1").bits
    // More nodes than fit into one chunk.
    let nodes = (0..<2_000).map { Self.node(address, mark: UInt32($0)) }
    for node in nodes { index.add(node, at: address) }
    #expect(Set(Self.found(index, address, 32)).count == 2_000)
    #expect(index.addresses == [ip("192.0.2.1")])
    let last = try #require(nodes.first)
    for node in nodes.dropFirst() { index.remove(node, at: address) }
    #expect(Self.found(index, address, 32) == [ObjectIdentifier(last)])
    #expect(index.count == 1)
  }

  @Test func removingWhatIsNotThereChangesNothing() {
    var index = QueryIndex()
    let address = ip("192.0.2.1").bits
    index.remove(Self.node(address), at: address)
    let node = Self.node(address)
    index.add(node, at: address)
    index.remove(Self.node(address), at: address)
    index.remove(Self.node(ip("192.0.2.0").bits), at: ip("192.0.2.0").bits)
    #expect(index.count == 1)
    #expect(Self.found(index, address, 0) == [ObjectIdentifier(node)])
  }

  @Test func agreesWithANaiveModelOnRandomPrefixes() {
    let seed = UInt64.random(in: 0 ... .max)
    var numbers = SeededNumbers(seed: seed)
    func address() -> IPAddressBits {
      // Only a few bits differ, so that prefixes match and addresses are equal.
      if Bool.random(using: &numbers) {
        return IPAddressBits(
          ipv4: UInt32.random(in: 0..<16, using: &numbers) << 28 | .random(in: 0..<300, using: &numbers))
      }
      return IPAddressBits(
        ipv6High: UInt64.random(in: 0..<8, using: &numbers) << 61, low: .random(in: 0..<300, using: &numbers))
    }
    var index = QueryIndex()
    var model: [(address: IPAddressBits, node: QueryNode)] = []
    for step in 0..<6_000 {
      switch Int.random(in: 0..<10, using: &numbers) {
      case 0..<5:
        let address = address()
        let node = Self.node(address, mark: UInt32(step))
        index.add(node, at: address)
        model.append((address, node))
      case 5..<7 where !model.isEmpty:
        let (address, node) = model.remove(at: .random(in: 0..<model.count, using: &numbers))
        index.remove(node, at: address)
      default:
        let prefix = address()
        let length = Int.random(in: 0...prefix.bitWidth, using: &numbers)
        let expected = model.filter { $0.address.matches(prefix: prefix, length: length) }
        let found = Self.found(index, prefix, length)
        #expect(found.count == expected.count, "seed \(seed)")
        #expect(Set(found) == Set(expected.map { ObjectIdentifier($0.node) }), "seed \(seed)")
      }
      #expect(index.count == model.count, "seed \(seed)")
    }
    #expect(index.addresses.map(\.bits) == Set(model.map(\.address)).sorted(), "seed \(seed)")
  }
}
