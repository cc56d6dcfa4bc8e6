// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// IPv4's multicast addresses and 255.255.255.255: a packet with a source or an interface needs no route. A target's
/// state is what a real socket finds.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2 as the judge"),
  .timeLimit(.minutes(5)))
struct MulticastTests {
  private static let targets = ["224.0.0.251", "239.1.2.3", "255.255.255.255"]
  /// A source and an interface; an empty text is none.
  private static let ways = [("", ""), ("10.0.0.1", ""), ("10.1.0.1", ""), ("", "v0"), ("", "w0"), ("10.1.0.1", "w0")]

  private func state(
    _ lab: NetworkLab, _ connection: LabConnection, _ transport: ReachabilityConfiguration.Transport = .udp
  ) throws -> Reachability {
    let target = try address(connection.destination)
    let source = try connection.source.map { try address($0) }
    var configuration = ReachabilityConfiguration()
    configuration.interface = connection.interface
    configuration.transport = transport
    return try lab.run { [configuration] in
      Reachability.now(
        source.map { .address(target, from: $0) } ?? .address(target), configuration: configuration,
        environment: .ofItsOwn())
    }
  }

  private func connection(_ target: String, from source: String = "", over interface: String = "") -> LabConnection {
    var connection = LabConnection(to: target)
    connection.transport = .udp
    connection.source = source.isEmpty ? nil : source
    connection.interface = interface.isEmpty ? nil : interface
    return connection
  }

  @Test("TCP goes to nobody there: rules are met as by a datagram", arguments: targets, ["tcp", "udp"])
  func rulesAreMetByDatagrams(target: String, transport: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try #require(lab.ip("rule add pref 5 ipproto \(transport) blackhole").status == 0)
    try await lab.waitForCarriers()
    let isSent = try lab.connect(connection(target)).isSent
    #expect(isSent == (transport == "tcp"))
    for asked in [ReachabilityConfiguration.Transport.tcp, .udp] {
      #expect(try state(lab, connection(target), asked).isReachable == isSent)
    }
  }

  @Test("with a route or without one, by source and by interface", arguments: targets, [true, false])
  func aDatagramLeavesWithoutARoute(target: String, hasDefault: Bool) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    if !hasDefault { try lab.deleteRoute("default") }
    try await lab.waitForCarriers()
    for (source, interface) in Self.ways {
      let connection = connection(target, from: source, over: interface)
      let outcome = try lab.connect(connection)
      let state = try state(lab, connection)
      let words: Comment = "from \(source) over \(interface): \(state), but: \(outcome)"
      #expect(state.isReachable == outcome.isSent, words)
      #expect(state.interface?.name == outcome.link, words)
      #expect(state.source?.description == outcome.source, words)
      #expect(state.gateway == nil, words)
      #expect(state.isReachable == state.flags.contains(.isDirect), words)
      // connect(2) of TCP refuses these addresses, whatever the routes are: it is judged as a datagram is.
      #expect(try self.state(lab, connection, .tcp) ≈ state, words)
    }
  }

  @Test("a route whose source another link has: the datagram leaves by that link", arguments: targets)
  func aDatagramLeavesByTheLinkOfItsSource(target: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    for prefix in ["224.0.0.0/4", "255.255.255.255/32"] {
      try #require(lab.ip("route add \(prefix) dev v0 src 10.1.0.1").status == 0)
    }
    try await lab.waitForCarriers()
    let connection = connection(target)
    let outcome = try lab.connect(connection)
    let state = try state(lab, connection)
    #expect(outcome.isSent && outcome.link == "w0" && outcome.source == "10.1.0.1", "\(outcome)")
    #expect(state.isVia("w0") && state.source?.description == outcome.source, "\(state)")
    try lab.down("w1")
    try await lab.waitUntilOperating("w0", false)
    #expect(try self.state(lab, connection) ≈ lab.unreachable(.noCarrier, "w0"))
  }

  @Test("of several hops a hash chooses one, and the datagram leaves by the link of its source")
  func aHashChoosesTheSource() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    let hops = "nexthop via 10.0.0.2 dev v0 nexthop via 10.1.0.2 dev w0"
    try #require(lab.ip("route replace default \(hops)").status == 0)
    try await lab.waitForCarriers()
    var links: Set<String?> = []
    for number in 1...16 {
      let connection = connection("239.1.2.\(number)")
      let outcome = try lab.connect(connection)
      let state = try state(lab, connection)
      #expect(outcome.isSent && state.interface?.name == outcome.link, "\(state), but: \(outcome)")
      #expect(state.source?.description == outcome.source, "\(state), but: \(outcome)")
      links.insert(outcome.link)
    }
    // The kernel's hash has another key after each start of the system; one link for all has a chance of 2^-15.
    #expect(links == ["v0", "w0"])
  }

  @Test("a rule, a route or a link that stops it is seen", arguments: targets)
  func whatStopsADatagramIsSeen(target: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    // This one is met only by what has neither source nor interface.
    try lab.route(.replace, "default", kind: .prohibit)
    try await lab.waitForCarriers()
    let general = connection(target)
    #expect(try lab.connect(general).error != 0)
    #expect(try state(lab, general).status == .unreachable)
    try lab.down("w1")
    try await lab.waitUntilOperating("w0", false)
    for connection in [connection(target, from: "10.1.0.1"), connection(target, over: "w0")] {
      #expect(try state(lab, connection) ≈ lab.unreachable(.noCarrier, "w0"))
    }
  }

  /// No query shows it: only connect(2) of a datagram finds it, whatever the target's transport is, since that of TCP
  /// refuses such addresses (tcp_v6_connect, net/ipv6/tcp_ipv6.c).
  @Test("an IPv6 multicast route for one source is found", arguments: [ReachabilityConfiguration.Transport.tcp, .udp])
  func aRouteOfIPv6ForOneSource(transport: ReachabilityConfiguration.Transport) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try await lab.waitForCarriers()
    for link in ["v0", "v1"] { _ = try lab.ip("-6 route del multicast ff00::/8 dev \(link) table local") }
    let connection = connection("ff0e::7")
    #expect(try lab.connect(connection).error == ENETUNREACH)
    #expect(try state(lab, connection, transport).status == .unreachable)
    try #require(lab.ip("-6 route add multicast ff00::/8 from 2001:db8:a::/64 dev v0 table local").status == 0)
    let outcome = try lab.connect(connection)
    try #require(outcome.error == 0 && outcome.source == "2001:db8:a::1")
    let state = try state(lab, connection, transport)
    #expect(state.isVia("v0") && state.source?.description == outcome.source, "\(state)")
  }

  @Test("what goes to multicast addresses meets no rule by its source", arguments: ["224.0.0.251", "255.255.255.255"])
  func rulesBySourceDoNotMatter(target: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addRule(priority: 50, .prohibit, from: "10.0.0.1/32")
    try await lab.waitForCarriers()
    let connection = connection(target)
    #expect(try state(lab, connection).isVia("v0"))
    let outcome = try lab.connect(connection)
    #expect((outcome.error, outcome.source) == (0, "10.0.0.1"))
  }
}
#endif
