// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// The walk through rules, on rules made by hand; ip-rule(8) says how the kernel walks.
struct RuleWalkTests {
  private let target = IPAddressBits(ipv4: 0xCB00_710A)  // 203.0.113.10

  private func rule(
    _ priority: UInt32, _ action: RuleAction, table: UInt32 = 254, flags: RuleFlags = [],
    _ change: (inout NetlinkRequestBuilder) -> Void = { _ in }
  ) throws -> RuleMessage {
    let bytes = BuiltMessages.bytes(.newRule) { builder in
      builder.appendRuleHeader(family: .ipv4, action: action, flags: flags)
      builder.append(RuleMessage.Attribute.priority, priority)
      builder.append(RuleMessage.Attribute.table, table)
      change(&builder)
    }
    return try BuiltMessages.decode(bytes) { RuleMessage($0, in: $1) }
  }

  private func route(table: UInt32 = 254, type: RouteType = .unicast, length: UInt8 = 0) throws -> RouteMessage {
    let bytes = BuiltMessages.bytes(.newRoute) { builder in
      builder.appendRouteHeader(family: .ipv4, destinationLength: length, type: type)
      builder.append(RouteMessage.Attribute.table, table)
      if length > 0 { builder.append(RouteMessage.Attribute.destination, address: target.prefix(Int(length))) }
    }
    return try BuiltMessages.decode(bytes) { RouteMessage($0, in: $1) }
  }

  private func words(_ rules: [RuleMessage], _ packet: RuleWalk.Packet, _ routes: [RouteMessage]) -> String {
    let end = RuleWalk(rules, packet).end { table in
      routes.first { $0.table == table }.map(RuleWalk.Lookup.route) ?? .none
    }
    switch end {
    case .refusal(let rule): return "rule \(rule.priority)"
    case .route(let route, let rule): return "route \(route.table) by \(rule.priority)"
    case .nothing: return "nothing"
    case .unknown: return "unknown"
    }
  }

  @Test func asksRulesInTheOrderOfTheirPriorities() throws {
    let rules = [try rule(32_766, .toTable), try rule(100, .prohibit)]
    #expect(words(rules, RuleWalk.Packet(destination: target), [try route()]) == "rule 100")
    #expect(words([rules[0]], RuleWalk.Packet(destination: target), [try route()]) == "route 254 by 32766")
    #expect(words([rules[0]], RuleWalk.Packet(destination: target), []) == "nothing")
  }

  /// fib_nl_newrule of Linux puts a rule behind those of its priority; the first one counts.
  @Test func rulesOfOnePriorityStayInTheKernelsOrder() throws {
    let rules = [try rule(100, .prohibit), try rule(100, .toTable), try rule(100, .toTable, table: 201)]
    let routes = [try route(), try route(table: 201)]
    #expect(words(rules, RuleWalk.Packet(destination: target), routes) == "rule 100")
    #expect(words(Array(rules[1...]), RuleWalk.Packet(destination: target), routes) == "route 254 by 100")
    #expect(words(rules[1...].reversed(), RuleWalk.Packet(destination: target), routes) == "route 201 by 100")
  }

  /// fib_rule_lookup of Linux: only a rule that leads to a table can have found a route of it.
  @Test func theRuleOfARouteLeadsToItsTable() throws {
    let rules = [
      try rule(10, .noOperation), try rule(20, .toTable, table: 201),
      try rule(30, .toTable) { $0.append(RuleMessage.Attribute.mark, UInt32(7)) }, try rule(32_766, .toTable),
    ]
    let walk = RuleWalk(rules, RuleWalk.Packet(destination: target))
    #expect(walk.rule(of: try route(), in: 254)?.priority == 32_766)
    #expect(walk.rule(of: try route(table: 201), in: 201)?.priority == 20)
    #expect(walk.rule(of: try route(table: 202), in: 202) == nil)
    let marked = RuleWalk(rules, RuleWalk.Packet(destination: target, mark: 7))
    #expect(marked.rule(of: try route(), in: 254)?.priority == 30)
  }

  @Test func goesOnBehindAThrowRouteAndAShortPrefix() throws {
    let rules = [
      try rule(100, .toTable, table: 201),
      try rule(200, .toTable) { $0.append(RuleMessage.Attribute.suppressPrefixLength, UInt32(0)) },
      try rule(300, .unreachable),
    ]
    #expect(
      words(rules, RuleWalk.Packet(destination: target), [try route(table: 201, type: .throw), try route()])
        == "rule 300")
    #expect(words(rules, RuleWalk.Packet(destination: target), [try route(length: 24)]) == "route 254 by 200")
  }

  @Test func jumpsWhereARuleSaysSo() throws {
    let rules = [
      try rule(100, .goto) { $0.append(RuleMessage.Attribute.goto, UInt32(300)) }, try rule(200, .prohibit),
      try rule(300, .noOperation), try rule(400, .toTable),
    ]
    #expect(words(rules, RuleWalk.Packet(destination: target), [try route()]) == "route 254 by 400")
  }

  @Test func looksAtWhatTheRuleNames() throws {
    typealias Attribute = RuleMessage.Attribute
    let packet = RuleWalk.Packet(destination: target, mark: 7, userID: 1_000, destinationPort: 443)
    let matching: [(inout NetlinkRequestBuilder) -> Void] = [
      { $0.append(Attribute.mark, UInt32(7)) },
      { $0.append(Attribute.ipProtocol, UInt8(6)) },
      { $0.append(Attribute.userIDRange, bytes: [232, 3, 0, 0, 232, 3, 0, 0]) },
      { $0.append(Attribute.destinationPorts, bytes: [187, 1, 187, 1]) },
      { $0.append(Attribute.inputInterfaceName, string: "lo") },
    ]
    let others: [(inout NetlinkRequestBuilder) -> Void] = [
      { $0.append(Attribute.mark, UInt32(8)) },
      { $0.append(Attribute.ipProtocol, UInt8(17)) },
      { $0.append(Attribute.userIDRange, bytes: [0, 0, 0, 0, 0, 0, 0, 0]) },
      { $0.append(Attribute.destinationPorts, bytes: [80, 0, 81, 0]) },
      { $0.append(Attribute.inputInterfaceName, string: "eth0") },
      { $0.append(Attribute.outputInterfaceName, string: "eth0") },
      { $0.append(Attribute.tunnelID, bytes: [0, 0, 0, 0, 0, 0, 0, 5]) },
      { $0.append(Attribute.dscp, UInt8(46)) },
      { $0.append(Attribute.flowLabel, bytes: [0, 1, 0, 0]) },
    ]
    for change in matching {
      #expect(words([try rule(1, .prohibit, change)], packet, []) == "rule 1")
      #expect(words([try rule(1, .prohibit, flags: .invert, change)], packet, []) == "nothing")
    }
    for change in others {
      #expect(words([try rule(1, .prohibit, change)], packet, []) == "nothing")
      #expect(words([try rule(1, .prohibit, flags: .invert, change)], packet, []) == "rule 1")
    }
    let masked = try [UInt16(0xFFFF), 0xFFF0].map { mask in
      try rule(1, .toTable) { $0.append(Attribute.destinationPortMask, mask) }
    }
    let suppressing = try rule(1, .toTable) { $0.append(Attribute.suppressInterfaceGroup, UInt32(7)) }
    let route = try route()
    let found = (masked + [suppressing]).map { words([$0], packet, [route]) }
    #expect(found == ["route 254 by 1", "unknown", "unknown"])
  }

  @Test func prefersTheLongestPrefix() throws {
    var search = RouteSearch(target)
    for length in [0, 24, 8] as [UInt8] { search.add(try route(length: length)) }
    #expect(search.best?.destinationLength == 24)
  }
}
