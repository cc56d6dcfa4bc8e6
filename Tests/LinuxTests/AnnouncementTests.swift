// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

/// What the tables take in of the kernel's announcements, what those touch, and which questions need no query: on
/// messages made by hand.
struct AnnouncementTests {
  typealias Fields = BuiltMessages.LinkFields

  private let tables = KernelTables()

  /// The types of messages stand in bytes 4 and 5 of the header (`struct nlmsghdr`, linux/netlink.h).
  private func bytes(_ fields: Fields, _ type: NetlinkMessageType = .newLink) -> [UInt8] {
    var bytes = BuiltMessages.linkBytes(fields)
    bytes[4] = UInt8(truncatingIfNeeded: type.rawValue)
    return bytes
  }

  private func addressBytes(
    _ text: String, on link: UInt32 = 3, _ type: NetlinkMessageType = .newAddress, isMalformed: Bool = false
  ) throws -> [UInt8] {
    let bits = try address(text).bits
    return BuiltMessages.bytes(type) { builder in
      builder.appendAddressHeader(family: bits.family, prefixLength: 24, index: link)
      builder.append(AddressMessage.Attribute.address, address: bits)
      // The flags are 32 bits.
      if isMalformed { builder.append(AddressMessage.Attribute.flags, UInt8(0)) }
    }
  }

  /// Takes in an announcement. Returns whether it was understood, and what it touches.
  private func apply(_ bytes: [UInt8]) throws -> (isUnderstood: Bool, change: NetworkChange) {
    var change = NetworkChange()
    let isUnderstood = try BuiltMessages.decode(bytes) { message, span in tables.apply(message, span, &change) }
    return (isUnderstood, change)
  }

  /// In words: what is touched.
  private func touched(_ bytes: [UInt8]) throws -> String {
    let (isUnderstood, change) = try apply(bytes)
    if !isUnderstood { return change.isEmpty ? "lost" : "lost, and more" }
    var words: [String] = []
    if change.touchesEverything { words.append("everything") }
    if change.touchesUnreachable { words.append("unreachable") }
    words += change.prefixes.map { "\(IPAddress($0.address))/\($0.length)" }
    return words.isEmpty ? "nothing" : words.joined(separator: " ")
  }

  // MARK: Announcements

  @Test func linksAreTakenIn() throws {
    #expect(try touched(bytes(Fields(flags: 0x1002, state: .down))) == "unreachable")
    #expect(try touched(bytes(Fields(flags: 0x1002, state: .down))) == "nothing")
    #expect(try touched(bytes(Fields())) == "everything")
    #expect(tables.links[3]?.isOperating == true)
    // A message about a bridge's port, and one about a wireless event, say nothing of the link (rtnetlink(7)).
    #expect(try touched(bytes(Fields(flags: 0x1002, family: .bridge))) == "nothing")
    #expect(try touched(bytes(Fields(flags: 0x1002, family: .bridge), .deleteLink)) == "nothing")
    #expect(try touched(bytes(Fields(name: nil, flags: 0x1002))) == "nothing")
    #expect(tables.links[3]?.isOperating == true)
    #expect(try touched(bytes(Fields(index: 4), .deleteLink)) == "nothing")
    #expect(try touched(bytes(Fields(), .deleteLink)) == "everything")
    #expect(tables.links[3] == nil)
    #expect(try touched(bytes(Fields(), .deleteLink)) == "nothing")
    #expect(try touched(bytes(Fields(flags: 0x1002, state: .down))) == "unreachable")
    #expect(try touched(bytes(Fields(flags: 0x1002, state: .down), .deleteLink)) == "unreachable")
  }

  /// Only Ethernet devices may be Wi-Fi to nl80211; DEVTYPE and the driver say nothing of this one.
  @Test(arguments: [
    (DeviceType.infiniband, InterfaceKind.wired), (.ppp, .tunnel), (.none, .tunnel), (.rawIP, .cellular),
  ])
  func hardwareThatIsNoEthernetIsNotWiFi(type: DeviceType, kind: InterfaceKind) throws {
    _ = try apply(bytes(Fields(name: "no-such-link", deviceType: type)))
    #expect(tables.links[3]?.ownKind == kind && tables.links[3]?.radio == nil)
  }

  @Test func addressesAreTakenIn() throws {
    func isOurs(_ text: String) throws -> Bool { tables.addresses.isOurs(try address(text), on: nil) }
    #expect(try touched(addressBytes("10.0.0.1")) == "everything")
    #expect(try isOurs("10.0.0.1"))
    // Even if it is the same: routes may have come with it.
    #expect(try touched(addressBytes("10.0.0.1")) == "everything")
    #expect(try touched(addressBytes("10.0.0.1", .deleteAddress)) == "everything")
    #expect(try !isOurs("10.0.0.1"))
    #expect(try touched(addressBytes("10.0.0.1", isMalformed: true)) == "lost")
    #expect(try !isOurs("10.0.0.1"))
  }

  @Test("what cannot be read is as good as lost", arguments: [NetlinkMessageType.newLink, .deleteLink])
  func whatCannotBeReadIsLost(type: NetlinkMessageType) throws {
    _ = try apply(bytes(Fields()))
    let malformed = BuiltMessages.bytes(type) { builder in
      builder.appendLinkHeader(index: 3)
      // The operational state is one byte.
      builder.append(LinkMessage.Attribute.operationalState, UInt32(6))
    }
    #expect(try touched(malformed) == "lost")
    #expect(tables.links[3] != nil)
  }

  @Test(
    "a route touches what its prefix covers; one that is not understood, everything",
    arguments: [NetlinkMessageType.newRoute, .deleteRoute])
  func aRouteTouchesItsPrefix(type: NetlinkMessageType) throws {
    func route(_ family: KernelAddressFamily, _ prefix: String?, _ length: UInt8) throws -> [UInt8] {
      let bits = try prefix.map { try address($0).bits }
      return BuiltMessages.bytes(type) { builder in
        builder.appendRouteHeader(family: family, destinationLength: length, type: .unicast)
        if let bits { builder.append(RouteMessage.Attribute.destination, address: bits) }
      }
    }
    #expect(try touched(route(.ipv4, "203.0.113.0", 24)) == "203.0.113.0/24")
    #expect(try touched(route(.ipv6, "2001:db8::", 32)) == "2001:db8::/32")
    #expect(try touched(route(.ipv4, nil, 0)) == "0.0.0.0/0")
    #expect(try touched(route(.ipv6, nil, 0)) == "::/0")
    // An address of the other family, and a family that has no addresses here (AF_MPLS, bits/socket.h).
    #expect(try touched(route(.ipv6, "203.0.113.0", 24)) == "everything")
    #expect(try touched(route(KernelAddressFamily(rawValue: 28), nil, 20)) == "everything")
  }

  @Test(
    "rules, next hops and settings touch everything; neighbours are for others, and unknown messages are nothing",
    arguments: [
      (.newRule, "everything"), (.deleteRule, "everything"), (.newNexthop, "everything"),
      (.deleteNexthop, "everything"), (.newNetconf, "everything"), (.deleteNetconf, "everything"),
      (.newNeighbour, "nothing"), (.deleteNeighbour, "nothing"), (NetlinkMessageType(rawValue: 300), "nothing"),
    ] as [(NetlinkMessageType, String)])
  func othersTouchWhatTheyMay(type: NetlinkMessageType, expected: String) throws {
    #expect(try touched(BuiltMessages.bytes(type) { $0.appendRuleHeader(family: .ipv4) }) == expected)
  }

  @Test("a change makes the searches in the tables void")
  func aChangeMakesSearchesVoid() throws {
    _ = try apply(bytes(Fields(flags: 0x1003, state: .down)))
    func reason() -> Reachability.Reason? { tables.decision.withoutRoute().reason }
    #expect(reason() == .noCarrier && tables.decision.searches.count == 1)
    #expect(reason() == .noCarrier && tables.decision.searches.count == 1)
    _ = try apply(bytes(Fields(flags: 0x1002, state: .down)))
    #expect(reason() == .linkDown && tables.decision.searches.count == 2)
    // An address makes the link more than one that carries packets without one.
    _ = try apply(bytes(Fields(index: 4, name: "l1")))
    #expect(reason() == .noRoute)
    _ = try apply(addressBytes("10.0.0.1"))
    #expect(reason() == .linkDown && tables.decision.searches.count == 4)
  }

  // MARK: Questions

  /// What becomes of a query, in words.
  private func prepared(_ query: RouteQuery) -> String {
    switch tables.prepare(query) {
    case .answer(let state):
      return "\(state.status.identifier) \(state.reason?.identifier ?? "") \(state.destination?.description ?? "")"
    case .ask(let target, let destination):
      let source = destination.source.map { " from \(IPAddress($0))" } ?? ""
      let output = destination.output.map { " over \($0)" } ?? ""
      #expect(target.bits == destination.address)
      return "ask \(target)\(source)\(output)"
    }
  }

  @Test(
    "what a query may become, with eth0 (3) and eth1 (4)",
    arguments: [
      ("198.51.100.7", nil, nil, "ask 198.51.100.7"), ("198.51.100.7", nil, "eth0", "ask 198.51.100.7 over 3"),
      ("198.51.100.7", nil, "eth7", "unreachable no-interface 198.51.100.7"),
      ("198.51.100.7", "10.0.0.1", nil, "ask 198.51.100.7 from 10.0.0.1"),
      ("198.51.100.7", "10.0.0.1", "eth1", "ask 198.51.100.7 from 10.0.0.1 over 4"),
      ("198.51.100.7", "10.0.0.9", nil, "ask 198.51.100.7 from 10.0.0.9"),
      ("198.51.100.7", "2001:db8::1", nil, "unreachable no-address 198.51.100.7"),
      ("2001:db8::9", "10.0.0.1", nil, "unreachable no-address 2001:db8::9"),
      ("2001:db8::9", "2001:db8::1", nil, "ask 2001:db8::9 from 2001:db8::1"),
      ("2001:db8::9", nil, nil, "ask 2001:db8::9"),
      // An IPv6 address of link-local scope means nothing without a link; IPv4's are on any.
      ("fe80::9", nil, nil, "unreachable no-interface fe80::9"), ("fe80::9", nil, "eth1", "ask fe80::9 over 4"),
      ("fe80::9%eth0", nil, nil, "ask fe80::9%eth0 over 3"), ("fe80::9%4", nil, nil, "ask fe80::9%4 over 4"),
      ("fe80::9%eth0", nil, "eth0", "ask fe80::9%eth0 over 3"),
      ("fe80::9%eth0", nil, "eth1", "unreachable no-interface fe80::9%eth0"),
      ("fe80::9%eth7", nil, nil, "unreachable no-interface fe80::9%eth7"),
      ("169.254.7.7", nil, nil, "ask 169.254.7.7"),
      // The source has to be on that link.
      ("fe80::9%eth1", "fe80::1", nil, "ask fe80::9%eth1 from fe80::1 over 4"),
      ("fe80::9%eth0", "fe80::1", nil, "unreachable no-address fe80::9%eth0"),
    ] as [(String, String?, String?, String)])
  func aQueryIsAskedOrAnswered(target: String, source: String?, interface: String?, expected: String) throws {
    for (index, name) in [(3, "eth0"), (4, "eth1")] as [(UInt32, String)] {
      _ = try apply(bytes(Fields(index: index, name: name)))
    }
    _ = try apply(addressBytes("10.0.0.1", on: 3))
    _ = try apply(addressBytes("2001:db8::1", on: 3))
    _ = try apply(addressBytes("fe80::1", on: 4))
    let query = RouteQuery(
      .address(try address(target)), source: try source.map { try address($0) },
      interface: interface.map { LinkName($0) })
    #expect(prepared(query) == expected)
  }

  @Test func aQueryKeepsItsMarkProtocolAndPort() throws {
    let query = RouteQuery(.address(try address("198.51.100.7")), mark: 7, transport: .udp, port: 53)
    guard case .ask(_, let destination) = tables.prepare(query) else {
      Issue.record("it is not asked")
      return
    }
    #expect(destination.mark == 7 && destination.transport == .udp && destination.port == 53)
  }

  @Test func theLocalNetworkIsAnsweredByTheTables() throws {
    for (index, name) in [(3, "eth0"), (4, "eth1")] as [(UInt32, String)] {
      _ = try apply(bytes(Fields(index: index, name: name)))
    }
    _ = try apply(addressBytes("10.0.0.1", on: 4))
    #expect(prepared(RouteQuery(.localNetwork(nil, nil))) == "reachable  ")
    #expect(prepared(RouteQuery(.localNetwork(nil, .ipv6))) == "unreachable no-address ")
    #expect(prepared(RouteQuery(.localNetwork(.cellular, nil))) == "unreachable no-interface ")
    #expect(prepared(RouteQuery(.localNetwork(nil, nil), interface: LinkName("eth0"))) == "unreachable no-address ")
    #expect(prepared(RouteQuery(.localNetwork(nil, nil), interface: LinkName("eth7"))) == "unreachable no-interface ")
  }
}
#endif
