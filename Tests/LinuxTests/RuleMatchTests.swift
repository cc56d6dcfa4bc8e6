// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// What a rule matches, where the walk ends, which route a table has, and the words for a rule: on messages made by
/// hand, as ip-rule(8) and net/core/fib_rules.c of Linux have it.
struct RuleMatchTests {
  typealias Attribute = RuleMessage.Attribute
  typealias Build = @Sendable (inout NetlinkRequestBuilder) -> Void

  private static let four = IPAddressBits(ipv4: 0xCB00_710A)  // 203.0.113.10
  private static let six = IPAddressBits(ipv6High: 0x2001_0DB8_0007_0000, low: 9)  // 2001:db8:7::9

  /// A rule's message. `struct fib_rule_hdr` has the type of service behind the lengths of destination and source.
  private static func rule(
    _ action: RuleAction = .prohibit, family: KernelAddressFamily = .ipv4, to: UInt8 = 0, from: UInt8 = 0,
    tos: UInt8 = 0, flags: RuleFlags = [], with change: Build = { _ in }
  ) throws -> RuleMessage {
    let bytes = BuiltMessages.bytes(.newRule) { builder in
      builder.appendRuleHeader(family: family, destinationLength: to, sourceLength: from, action: action, flags: flags)
      builder.store(tos, at: 16 + 3)
      change(&builder)
    }
    return try BuiltMessages.decode(bytes) { RuleMessage($0, in: $1) }
  }

  private static func route(
    _ family: KernelAddressFamily = .ipv4, to destination: IPAddressBits? = nil, length: UInt8 = 0, from: UInt8 = 0,
    metric: UInt32? = nil, type: RouteType = .unicast
  ) throws -> RouteMessage {
    let bytes = BuiltMessages.bytes(.newRoute) { builder in
      builder.appendRouteHeader(
        family: family, destinationLength: length, sourceLength: from, table: 254, type: type)
      if let destination { builder.append(RouteMessage.Attribute.destination, address: destination) }
      if let metric { builder.append(RouteMessage.Attribute.priority, metric) }
    }
    return try BuiltMessages.decode(bytes) { RouteMessage($0, in: $1) }
  }

  private static func priority(_ priority: UInt32) -> Build { { $0.append(Attribute.priority, priority) } }

  private func end(_ rules: [RuleMessage], _ packet: RuleWalk.Packet, _ lookup: RuleWalk.Lookup = .none) -> String {
    switch RuleWalk(rules, packet).end({ _ in lookup }) {
    case .refusal: "refusal"
    case .route: "route"
    case .nothing: "nothing"
    case .unknown: "unknown"
    }
  }

  // MARK: What a rule matches

  struct Selector: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let rule: RuleMessage
    let packet: RuleWalk.Packet
    let isMatch: Bool
  }

  private static func selectors() throws -> [Selector] {
    var rows: [Selector] = []
    func add(_ text: String, _ isMatch: Bool, _ rule: RuleMessage, _ packet: RuleWalk.Packet) {
      rows.append(Selector(testDescription: text, rule: rule, packet: packet, isMatch: isMatch))
    }
    let plain = RuleWalk.Packet(destination: four)
    add("nothing is named", true, try rule(), plain)
    add("tos", false, try rule(tos: 0x10), plain)
    // A mask comes with the mark; a mark of 0 is not told.
    for (mark, mask, packet, isMatch) in [
      (7, nil, 7, true), (7, nil, 6, false), (7, nil, 0x17, false), (nil, 2, 0, true), (nil, 2, 2, false),
      (nil, 2, 5, true), (nil, 1, 0, true), (nil, 1, 1, false), (0x10, 0xF0, 0x1F, true), (0x10, 0xF0, 0x2F, false),
      (0x11, 0xF0, 0x10, true),
    ] as [(UInt32?, UInt32?, UInt32, Bool)] {
      let marked = try rule { builder in
        if let mark { builder.append(Attribute.mark, mark) }
        if let mask { builder.append(Attribute.markMask, mask) }
      }
      let words = "fwmark \(mark.map { "\($0)" } ?? "")/\(mask.map { "\($0)" } ?? ""), \(packet)"
      add(words, isMatch, marked, .init(destination: four, mark: packet))
    }
    let users = try rule { $0.append(Attribute.userIDRange, bytes: [232, 3, 0, 0, 234, 3, 0, 0]) }
    for (user, isMatch) in [(999, false), (1_000, true), (1_002, true), (1_003, false)] as [(UInt32, Bool)] {
      add("uidrange 1000-1002, \(user)", isMatch, users, .init(destination: four, userID: user))
    }
    let ports = try rule { $0.append(Attribute.destinationPorts, bytes: [80, 0, 82, 0]) }
    for (port, isMatch) in [(79, false), (80, true), (82, true), (83, false)] as [(UInt16, Bool)] {
      add("dport 80-82, \(port)", isMatch, ports, .init(destination: four, destinationPort: port))
    }
    add("sport", false, try rule { $0.append(Attribute.sourcePorts, bytes: [0, 0, 255, 255]) }, plain)
    let udp = try rule { $0.append(Attribute.ipProtocol, UInt8(17)) }
    add("udp, TCP by default", false, udp, plain)
    add("udp, udp", true, udp, .init(destination: four, ipProtocol: 17))
    let output = try rule { $0.append(Attribute.outputInterfaceName, string: "eth0") }
    for (name, isMatch) in [(nil, false), ("eth0", true), ("eth1", false)] as [(String?, Bool)] {
      add("oif eth0, \(name ?? "any")", isMatch, output, .init(destination: four, outputInterface: name))
    }
    return rows + (try prefixes())
  }

  private static func prefixes() throws -> [Selector] {
    var rows: [Selector] = []
    func add(_ text: String, _ isMatch: Bool, _ rule: RuleMessage, _ packet: RuleWalk.Packet) {
      rows.append(Selector(testDescription: text, rule: rule, packet: packet, isMatch: isMatch))
    }
    func to(_ bits: IPAddressBits) -> Build { { $0.append(Attribute.destination, address: bits) } }
    func from(_ bits: IPAddressBits) -> Build { { $0.append(Attribute.source, address: bits) } }
    let lowest = IPAddressBits(ipv4: 0xCB00_7100)
    add("to 203.0.113.0/24", true, try rule(to: 24, with: to(lowest)), .init(destination: four))
    add("to 203.0.113.0/29", false, try rule(to: 29, with: to(lowest)), .init(destination: four))
    add("to 203.0.113.0/28", true, try rule(to: 28, with: to(lowest)), .init(destination: four))
    // An address of zeros is not told.
    add("to 0/1, 203.0.113.10", false, try rule(to: 1), .init(destination: four))
    add("to 0/1, 1.1.1.1", true, try rule(to: 1), .init(destination: IPAddressBits(ipv4: 0x0101_0101)))
    add("to ::/3, 2001:db8:7::9", false, try rule(family: .ipv6, to: 3), .init(destination: six))
    add("to ::/2, 2001:db8:7::9", true, try rule(family: .ipv6, to: 2), .init(destination: six))
    add("to 0/32, 0.0.0.0", true, try rule(to: 32), .init(destination: IPAddressBits(ipv4: 0)))
    add("to 0/32, 0.0.0.1", false, try rule(to: 32), .init(destination: IPAddressBits(ipv4: 1)))
    add("to ::/128, ::", true, try rule(family: .ipv6, to: 128), .init(destination: IPAddressBits(ipv6High: 0, low: 0)))
    let (own, other) = (IPAddressBits(ipv4: 0x0A00_0001), IPAddressBits(ipv4: 0x0A01_0001))
    let network = try rule(from: 16, with: from(IPAddressBits(ipv4: 0x0A00_0000)))
    add("from 10.0.0.0/16, from it", true, network, .init(destination: four, source: own))
    add("from 10.0.0.0/16, from another", false, network, .init(destination: four, source: other))
    // Before a source is chosen, the kernel looks up with zeros.
    add("from 10.0.0.0/16, no source", false, network, .init(destination: four))
    add("from 0/4, no source", true, try rule(from: 4), .init(destination: four))
    add("from 0/1, from 203.0.113.10", false, try rule(from: 1), .init(destination: four, source: four))
    add("from 0/4, from 10.0.0.1", true, try rule(from: 4), .init(destination: four, source: own))
    add("from 0/5, from 10.0.0.1", false, try rule(from: 5), .init(destination: four, source: own))
    add("from ::/3, from 2001:db8:7::9", false, try rule(family: .ipv6, from: 3), .init(destination: six, source: six))
    add("from ::/3, no source", true, try rule(family: .ipv6, from: 3), .init(destination: six))
    return rows
  }

  @Test func whatARuleNamesHasToAgree() throws {
    for row in try Self.selectors() {
      #expect(end([row.rule], row.packet) == (row.isMatch ? "refusal" : "nothing"), "\(row.testDescription)")
    }
  }

  @Test func aRuleThatIsInvertedMatchesWhatItDoesNotName() throws {
    let inverted = try Self.rule(to: 24, flags: .invert) { $0.append(Attribute.destination, address: Self.four) }
    #expect(end([inverted], .init(destination: Self.four)) == "nothing")
    #expect(end([inverted], .init(destination: IPAddressBits(ipv4: 0x0101_0101))) == "refusal")
  }

  // MARK: Where the walk ends

  @Test(
    "each action, with a table that has no route, one that does, and one that is not known",
    arguments: [
      (.prohibit, ["refusal", "refusal", "refusal"]), (.blackhole, ["refusal", "refusal", "refusal"]),
      (.unreachable, ["refusal", "refusal", "refusal"]), (.noOperation, ["nothing", "nothing", "nothing"]),
      (.toTable, ["nothing", "route", "unknown"]), (.goto, ["unknown", "unknown", "unknown"]),
      (RuleAction(rawValue: 42), ["unknown", "unknown", "unknown"]),
    ] as [(RuleAction, [String])])
  func anActionEndsTheWalk(action: RuleAction, ends: [String]) throws {
    let rule = try Self.rule(action)
    let lookups: [RuleWalk.Lookup] = [.none, .route(try Self.route()), .unknown]
    #expect(lookups.map { end([rule], .init(destination: Self.four), $0) } == ends)
  }

  /// A rule for VRFs is about packets of a VRF; this packet is of none (net/core/fib_rules.c, l3mdev_fib_rule_match).
  @Test func aRuleForVRFsIsPassedOver() throws {
    let vrf = try Self.rule(.toTable) { builder in
      builder.append(Attribute.masterTable, UInt8(1))
      builder.append(Attribute.priority, UInt32(1_000))
    }
    let main = try Self.rule(.toTable, with: Self.priority(32_766))
    let route = try Self.route()
    #expect(end([vrf], .init(destination: Self.four), .route(route)) == "nothing")
    guard case .route(_, let rule) = RuleWalk([vrf, main], .init(destination: Self.four)).end({ _ in .route(route) })
    else {
      Issue.record("no route is found")
      return
    }
    #expect(rule.priority == 32_766)
    #expect(RuleWalk([vrf], .init(destination: Self.four)).rule(of: route, in: 0) == nil)
  }

  @Test func aJumpGoesToTheFirstRuleThatIsNotBeforeIt() throws {
    let jump = try Self.rule(.goto) { builder in
      builder.append(Attribute.goto, UInt32(20))
      builder.append(Attribute.priority, UInt32(10))
    }
    for (priority, expected) in [(19, "nothing"), (20, "refusal"), (21, "refusal")] as [(UInt32, String)] {
      #expect(end([jump, try Self.rule(with: Self.priority(priority))], .init(destination: Self.four)) == expected)
    }
  }

  @Test(
    "a route whose prefix is not longer than the rule says does not count",
    arguments: [(23, "route"), (24, "nothing"), (25, "nothing")] as [(UInt32, String)])
  func aShortPrefixDoesNotCount(limit: UInt32, expected: String) throws {
    let rule = try Self.rule(.toTable) { builder in
      builder.append(Attribute.suppressPrefixLength, limit)
      builder.append(Attribute.table, UInt32(254))
    }
    let route = try Self.route(to: Self.four, length: 24)
    #expect(end([rule], .init(destination: Self.four), .route(route)) == expected)
    let found = RuleWalk([rule], .init(destination: Self.four)).rule(of: route, in: 254)
    #expect((found != nil) == (expected == "route"))
  }

  @Test func aThrowRouteIsNone() throws {
    let rule = try Self.rule(.toTable)
    #expect(end([rule], .init(destination: Self.four), .route(try Self.route(type: .throw))) == "nothing")
    // Other types decide.
    #expect(end([rule], .init(destination: Self.four), .route(try Self.route(type: .prohibit))) == "route")
  }

  /// Only a rule that leads to a table, and matches the packet, can have found a route of it.
  @Test func theRuleOfARouteHasToMatch() throws {
    func isFound(_ rule: RuleMessage) throws -> Bool {
      RuleWalk([rule], .init(destination: Self.four)).rule(of: try Self.route(), in: 254) != nil
    }
    let table: Build = { $0.append(Attribute.table, UInt32(254)) }
    #expect(try isFound(Self.rule(.toTable, with: table)))
    #expect(try !isFound(Self.rule(with: table)))
    #expect(try !isFound(Self.rule(.toTable) { $0.append(Attribute.table, UInt32(253)) }))
    #expect(try !isFound(Self.rule(.toTable, tos: 4, with: table)))
    #expect(try !isFound(Self.rule(.toTable, flags: .invert, with: table)))
  }

  // MARK: The route of a table

  @Test(
    "the longest prefix counts, then the least metric, then the first; none counts as 0",
    arguments: [
      ([(24, nil), (25, nil)], 1), ([(25, nil), (24, nil)], 0), ([(24, 5), (24, 4)], 1), ([(24, 4), (24, 5)], 0),
      ([(24, 4), (24, 4)], 0), ([(24, nil), (24, 0)], 0), ([(24, 1), (24, nil)], 1), ([(24, nil), (24, 1)], 0),
      ([(25, 900), (24, 1)], 0), ([(24, 1), (25, 900)], 1),
    ] as [([(length: UInt8, metric: UInt32?)], Int)])
  func theBestRouteIsFound(routes: [(length: UInt8, metric: UInt32?)], best: Int) throws {
    var search = RouteSearch(Self.four)
    #expect(search.best == nil)
    var last: Int?
    for (position, route) in routes.enumerated() {
      let new = try Self.route(to: Self.four, length: route.length, metric: route.metric)
      if search.add(new) { last = position }
      if position == 0 { #expect(search.best == new) }
    }
    #expect(last == best)
    #expect(search.best?.destinationLength == routes[best].length && search.best?.priority == routes[best].metric)
  }

  @Test func aRouteOfAnotherFamilyOrForOneSourceOrElsewhereIsNone() throws {
    let others = [
      try Self.route(.ipv6), try Self.route(from: 24), try Self.route(to: IPAddressBits(ipv4: 0x0A00_0000), length: 8),
    ]
    for other in others {
      var search = RouteSearch(Self.four)
      let isAdded = search.add(other)
      #expect(!isAdded && search.best == nil)
    }
    var search = RouteSearch(Self.six)
    let isAdded = search.add(try Self.route(.ipv6))
    #expect(isAdded)
  }

  // MARK: Words

  /// As `ip rule show` of iproute2 prints them.
  @Test func aRuleIsWordedAsIPWordsIt() throws {
    let rows: [(String, RuleMessage)] = [
      ("from all prohibit", try Self.rule()), ("not from all prohibit", try Self.rule(flags: .invert)),
      ("from all tos 0x10 prohibit", try Self.rule(tos: 16)), ("from all blackhole", try Self.rule(.blackhole)),
      ("from all unreachable", try Self.rule(.unreachable)), ("from all nop", try Self.rule(.noOperation)),
      ("from all action 42", try Self.rule(RuleAction(rawValue: 42))), ("from all goto 0", try Self.rule(.goto)),
      ("from all goto 9", try Self.rule(.goto) { $0.append(Attribute.goto, UInt32(9)) }),
      ("from 0/4 prohibit", try Self.rule(from: 4)), ("from all to 0/1 prohibit", try Self.rule(to: 1)),
      (
        "from 203.0.113.10/32 to 203.0.113.10/24 prohibit",
        try Self.rule(to: 24, from: 32) {
          $0.append(Attribute.source, address: Self.four)
          $0.append(Attribute.destination, address: Self.four)
        }
      ),
      (
        "from 128.0.0.0/1 prohibit",
        try Self.rule(from: 1) { $0.append(Attribute.source, address: IPAddressBits(ipv4: 0x8000_0000)) }
      ),
      ("from all lookup main", try Self.rule(.toTable) { $0.append(Attribute.table, UInt32(254)) }),
      ("from all lookup local", try Self.rule(.toTable) { $0.append(Attribute.table, UInt32(255)) }),
      ("from all lookup default", try Self.rule(.toTable) { $0.append(Attribute.table, UInt32(253)) }),
      ("from all lookup 252", try Self.rule(.toTable) { $0.append(Attribute.table, UInt32(252)) }),
      (
        "from all lookup 1 suppress_prefixlength 0",
        try Self.rule(.toTable) {
          $0.append(Attribute.table, UInt32(1))
          $0.append(Attribute.suppressPrefixLength, UInt32(0))
        }
      ),
      ("from all lookup [l3mdev-table]", try Self.rule(.toTable) { $0.append(Attribute.masterTable, UInt8(1)) }),
      ("from all fwmark 0x1f prohibit", try Self.rule { $0.append(Attribute.mark, UInt32(31)) }),
      (
        "from all fwmark 0x10/0xf0 prohibit",
        try Self.rule {
          $0.append(Attribute.mark, UInt32(16))
          $0.append(Attribute.markMask, UInt32(240))
        }
      ),
      (
        "from all fwmark 0x10 prohibit",
        try Self.rule {
          $0.append(Attribute.mark, UInt32(16))
          $0.append(Attribute.markMask, UInt32.max)
        }
      ),
      ("from all fwmark 0/0x2 prohibit", try Self.rule { $0.append(Attribute.markMask, UInt32(2)) }),
      (
        "from all iif lo oif eth0 uidrange 1-2 ipproto 6 sport 53-60 dport 443 prohibit",
        try Self.rule {
          $0.append(Attribute.inputInterfaceName, string: "lo")
          $0.append(Attribute.outputInterfaceName, string: "eth0")
          $0.append(Attribute.userIDRange, bytes: [1, 0, 0, 0, 2, 0, 0, 0])
          $0.append(Attribute.ipProtocol, UInt8(6))
          $0.append(Attribute.sourcePorts, bytes: [53, 0, 60, 0])
          $0.append(Attribute.destinationPorts, bytes: [187, 1, 187, 1])
        }
      ),
    ]
    for (words, rule) in rows { #expect(rule.words == words) }
  }
}
