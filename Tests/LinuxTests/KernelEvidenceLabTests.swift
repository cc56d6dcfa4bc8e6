// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// What is told of links, rules and routes in real networks.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct KernelEvidenceLabTests {
  private func evidence(
    _ lab: NetworkLab, _ target: ReachabilityTarget = .internet,
    _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws -> KernelEvidence {
    var configuration = ReachabilityConfiguration()
    configuration.family = .ipv4
    change(&configuration)
    let found = try lab.run { [configuration] in
      try Reachability.kernelFindings(for: target, configuration: configuration)
    }
    return try #require(found.last?.evidence)
  }

  private func network() async throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.up("lo")
    try await lab.waitForCarriers()
    return lab
  }

  /// A veth says that it has 10,000 Mbit/s and full duplex (veth_get_link_ksettings).
  @Test func tellsWhatTheLinkIs() async throws {
    let lab = try await network()
    try lab.setMTU("v0", 1_400)
    let evidence = try evidence(lab)
    let link = try #require(evidence.link)
    #expect(link.name == "v0" && link.infoKind == "veth" && link.mtu == 1_400 && link.isUp && link.isOperating)
    #expect(link.speed == 10_000 && link.isFullDuplex == true && link.bridge == nil)
    try lab.addBridge("br0")
    try lab.setMaster("v0", "br0")
    #expect(try self.evidence(lab).links.first { $0.name == "v0" }?.bridge == "br0")
  }

  @Test func tellsTheAddressesWithTheirNetworks() async throws {
    let lab = try await network()
    let addresses = try evidence(lab).addresses
    #expect(addresses.map(\.address.description) == ["10.0.0.1"] && addresses[0].prefixLength == 24)
    #expect(addresses[0].validFor == nil && !addresses[0].isTentative && !addresses[0].isDuplicate)
  }

  /// The route as it was added, and not the way that comes of it.
  @Test func tellsTheRouteAndItsHops() async throws {
    let lab = try await network()
    try lab.addRoute("198.41.0.0/24", via: "10.0.0.3", dev: "v0", metric: 7)
    let route = try #require(try evidence(lab).route)
    #expect(route.prefixLength == 24 && route.metric == 7 && route.nexthopID == nil && route.expiresIn == nil)
    #expect(route.hops == [KernelEvidence.HopFacts(gateway: IPAddress("10.0.0.3"), link: "v0")])
    try lab.deleteRoute("198.41.0.0/24", via: "10.0.0.3", dev: "v0", metric: 7)
    try lab.addNexthop(70, via: "10.0.0.4", dev: "v0")
    try lab.addRoute("198.41.0.0/24", nexthop: 70)
    let object = try #require(try evidence(lab).route)
    #expect(object.nexthopID == 70)
    #expect(object.hops == [KernelEvidence.HopFacts(gateway: IPAddress("10.0.0.4"), link: "v0")])
  }

  /// A route of another interface than the one that was asked for is none.
  @Test func aRouteOfAnotherInterfaceIsNotTold() async throws {
    let lab = try await network()
    try lab.makeW()
    try await lab.waitForCarriers()
    #expect(try evidence(lab) { $0.interface = "w0" }.route == nil)
    #expect(try evidence(lab) { $0.interface = "v0" }.route?.hops.first?.link == "v0")
  }

  /// A rule may be about a protocol (ip-rule(8), ipproto).
  @Test(.enabled(if: NetworkLab.hasIPRoute2, "ip is needed")) func theProtocolChoosesTheRule() async throws {
    let lab = try await network()
    for (priority, number) in [(100, "tcp"), (200, "udp")] {
      let made = try lab.ip("rule add priority \(priority) ipproto \(number) to 198.41.0.4 lookup main")
      try #require(made.error.isEmpty, "\(made.error)")
    }
    let target = ReachabilityTarget.address(try #require(IPAddress("198.41.0.4")))
    #expect(try evidence(lab, target) { $0.transport = .tcp }.rule?.priority == 100)
    #expect(try evidence(lab, target) { $0.transport = .udp }.rule?.priority == 200)
  }

  /// With too many tables it is not known which rule decides.
  @Test func nothingIsSaidOfTooManyTables() async throws {
    let lab = try await network()
    try lab.deleteRoute("default")
    for table: UInt32 in 100..<112 {
      try lab.addRoute("192.0.2.0/24", via: "10.0.0.2", dev: "v0", table: table)
      try lab.addRule(priority: table, .lookup(table))
    }
    #expect(try evidence(lab).isTrailComplete)
    for table: UInt32 in 112..<120 { try lab.addRule(priority: table, .lookup(table)) }
    #expect(try !evidence(lab).isTrailComplete)
  }

  private static let ways: [(ReachabilityConfiguration.Transport, UInt16)] = [(.tcp, 443), (.udp, 443), (.tcp, 85)]
  private static let packets: [(mark: UInt32, interface: String?)] = [
    (0, nil), (1, nil), (2, nil), (3, nil), (0, "v0"), (1, "w0"),
  ]

  /// Which of many rules decides, the kernel says by the table of the route: each rule leads to a table of its own.
  @Test(
    .enabled(if: NetworkLab.hasIPRoute2, "ip is needed"), arguments: 1...12 as ClosedRange<UInt64>,
    [IPAddress.Family.ipv4, .ipv6])
  func theRuleIsTheOneThatTheKernelWentBy(seed: UInt64, family: IPAddress.Family) async throws {
    var numbers = SeededNumbers(seed: seed)
    let lab = try await network()
    try lab.makeW(metric: 900)
    try await lab.waitForCarriers()
    try addTables(lab, family, &numbers)
    let (option, text) = family == .ipv4 ? ("", "203.0.113.9") : ("-6 ", "2001:db8:9::9")
    let rules = try lab.ip("\(option)rule show").output
    let target = try #require(IPAddress(text))
    for (mark, interface) in Self.packets {
      for (transport, port) in Self.ways {
        let found = try evidence(lab, .address(target, port: port)) {
          $0.mark = mark
          $0.interface = interface
          $0.transport = transport
          $0.family = family
        }
        let words =
          "\(text) ipproto \(transport == .tcp ? "tcp" : "udp") dport \(port)" + (mark == 0 ? "" : " mark \(mark)")
          + (interface.map { " oif \($0)" } ?? "")
        var asked = try lab.ip("\(option)route get fibmatch \(words)")
        // connect(2) asks again with the source that it has chosen: IPv4's always (ip_route_connect), IPv6's if it was
        // refused (ip6_dst_lookup_tail).
        let source =
          family == .ipv4
          ? try lab.ip("route get \(words)").output.firstMatch(of: /src (\S+)/).map { String($0.1) }
          : asked.error.isEmpty ? nil : found.state.source?.description
        if let source { asked = try lab.ip("\(option)route get fibmatch \(words) from \(source)") }
        // What the kernel answers if no rule leads anywhere is no rule's doing.
        guard let expected = Self.priority(asked) else { continue }
        let rule = found.rule
        #expect(rule?.priority == expected, "mark \(mark), \(interface ?? "any"), \(transport) \(port)\n\(rules)")
      }
    }
  }

  /// The rule that an answer of `ip route get` shows; `nil` if it shows none.
  private static func priority(_ answer: LabOutput) -> UInt32? {
    if answer.error.contains("Permission denied") { return 104 }
    if answer.error.contains("Invalid argument") { return 108 }
    if let table = answer.output.firstMatch(of: /table (\d+)/) { return UInt32(table.1) }
    return answer.error.isEmpty && answer.output.contains(" dev ") ? 32_766 : nil
  }

  /// Adds tables with and without a route for the target, and for each a rule that is about some packets.
  private func addTables(_ lab: NetworkLab, _ family: IPAddress.Family, _ numbers: inout SeededNumbers) throws {
    let isIPv6 = family == .ipv6
    if isIPv6 {
      try lab.addAddress("2001:db8:a::1/64", "v0")
      try lab.addAddress("2001:db8:b::1/64", "w0")
      try lab.addRoute("default", via: "2001:db8:a::2", dev: "v0")
    }
    let destinations =
      isIPv6 ? ["default", "2001:db8:9::/48", "2001:db8:7::/48"] : ["default", "203.0.113.0/24", "192.0.2.0/24"]
    let hops = isIPv6 ? [("v0", "2001:db8:a::2"), ("w0", "2001:db8:b::2")] : [("v0", "10.0.0.2"), ("w0", "10.1.0.2")]
    for table: UInt32 in 100..<112 {
      let destination = destinations.randomElement(using: &numbers) ?? "default"
      for (dev, gateway) in hops where Bool.random(using: &numbers) {
        try lab.addRoute(destination, via: gateway, dev: dev, metric: dev == "v0" ? 1 : 2, table: table)
      }
    }
    let own =
      isIPv6
      ? ["from 2001:db8:a::/64", "to 2001:db8:9::/64", "to 2001:db8:7::/48"]
      : ["from 10.0.0.0/8", "from 203.0.113.0/24", "to 203.0.113.0/25", "to 198.51.100.0/24"]
    let selectors =
      own + [
        "fwmark 1", "fwmark 2/3", "fwmark 0/2", "oif v0", "oif w0", "uidrange 0-0", "uidrange 1-9", "ipproto tcp",
        "ipproto udp", "dport 443", "dport 80-90", "sport 7", "iif lo", "iif v0", "tos 0x10",
      ]
    // After the routes, since the kernel applies the rules when it checks a gateway.
    for table: UInt32 in 100..<112 {
      let chosen = selectors.shuffled(using: &numbers).prefix(Int.random(in: 1...2, using: &numbers))
      // A word that stands twice is an error of ip(8).
      let words = Dictionary(chosen.map { ($0.prefix { $0 != " " }, $0) }, uniquingKeysWith: { first, _ in first })
      let action =
        switch table {
        case 104: "prohibit"
        case 108: "blackhole"
        default: "lookup \(table)" + (table % 4 == 3 ? " suppress_prefixlength 0" : "")
        }
      let text =
        "\(Bool.random(using: &numbers) ? "not " : "")\(words.values.sorted().joined(separator: " ")) \(action)"
      let made = try lab.ip("\(isIPv6 ? "-6 " : "")rule add priority \(table) \(text)")
      try #require(made.error.isEmpty, "\(text): \(made.error)")
    }
  }
}
#endif
