// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// What is told of addresses, rules, routes and neighbours at their edges, in real networks.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
  .timeLimit(.minutes(5)))
struct WitnessEdgesTests {
  private static let far = "198.51.100.7"
  private static let far6 = "2001:db8:9::1"

  /// v0 with both families and a default route of each, and lo.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.up("lo")
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try ip(lab, "-6 route add default via 2001:db8:a::2 dev v0")
    try await lab.waitForCarriers()
    return lab
  }

  private func ip(_ lab: NetworkLab, _ words: String...) throws {
    for words in words {
      let result = try lab.ip(words)
      try #require(result.status == 0, "ip \(words): \(result.error)")
    }
  }

  private func evidence(
    _ lab: NetworkLab, _ target: String, _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws -> KernelEvidence {
    var configuration = ReachabilityConfiguration()
    change(&configuration)
    let target = ReachabilityTarget.address(try address(target))
    let found = try lab.run { [configuration] in
      try Reachability.kernelFindings(for: target, configuration: configuration)
    }
    return try #require(found.last?.evidence)
  }

  // MARK: Addresses

  @Test func anAddressIsToldWithItsLifetimes() async throws {
    let lab = try await makeLab()
    try lab.addAddress("2001:db8:a::7/80", "v0", valid: 3_000, preferred: 0)
    let addresses = try evidence(lab, Self.far6).addresses
    #expect(addresses.map(\.address.description).sorted() == ["2001:db8:a::1", "2001:db8:a::7"])
    let old = try #require(addresses.first { $0.prefixLength == 80 })
    #expect(old.isDeprecated && !old.isTentative && !old.isDuplicate && old.isUsable)
    #expect((2_000...3_000).contains(old.validFor ?? 0))
    let usual = try #require(addresses.first { $0.prefixLength == 64 })
    #expect(!usual.isDeprecated && usual.validFor == nil)
    // Of the other family, and without that of lo.
    #expect(try evidence(lab, Self.far).addresses.map(\.address.description) == ["10.0.0.1"])
  }

  /// RFC 4862, 5.4: on a link that never had a carrier, nobody can be asked.
  @Test func anAddressStaysTentativeWithoutACarrier() async throws {
    let lab = try await makeLab()
    try lab.addVeth("t0", "t1")
    try lab.up("t0")
    try lab.addAddress("2001:db8:a::7/80", "t0", flags: [])
    let new = try #require(try evidence(lab, Self.far6).addresses.first { $0.prefixLength == 80 })
    #expect(new.isTentative && !new.isDuplicate && !new.isUsable)
  }

  // MARK: Routes

  @Test func aRouteThatEndsIsToldWithItsTime() async throws {
    let lab = try await makeLab()
    try ip(lab, "-6 route add 2001:db8:9::/48 via 2001:db8:a::3 dev v0 metric 7 expires 4000")
    let route = try #require(try evidence(lab, Self.far6).route)
    #expect(route.prefixLength == 48 && route.metric == 7 && route.destination == IPAddress("2001:db8:9::"))
    #expect((3_000...4_000).contains(route.expiresIn ?? 0))
    #expect(route.hops == [KernelEvidence.HopFacts(gateway: IPAddress("2001:db8:a::3"), link: "v0")])
    #expect(try evidence(lab, Self.far).route?.expiresIn == nil)
  }

  @Test("an own address has the route of the table local", arguments: ["10.0.0.1", "2001:db8:a::1"])
  func anOwnAddressHasALocalRoute(own: String) async throws {
    let lab = try await makeLab()
    // IPv6's comes from a thread of the kernel (addrconf_dad_work).
    try await eventually("the kernel has the route") { try lab.ip("route get \(own)").output.hasPrefix("local ") }
    let evidence = try evidence(lab, own)
    #expect(evidence.route?.type == .local && evidence.route?.table == 255)
    #expect(evidence.rule?.priority == 0 && evidence.rule?.text == "from all lookup local")
    #expect(evidence.neighbour == nil && evidence.isLoopbackUp)
  }

  @Test("a route that no rule leads to is told as unused", arguments: [IPAddress.Family.ipv4, .ipv6])
  func aRouteThatNoRuleLeadsToIsUnused(family: IPAddress.Family) async throws {
    let lab = try await makeLab()
    let (option, target) = family == .ipv4 ? ("", Self.far) : ("-6 ", Self.far6)
    #expect(try evidence(lab, target).unusedRoute == nil)
    // IPv6 looks into the table main until there is a rule of somebody's (fib6_has_custom_rules, fib6_rules.c).
    try ip(lab, "\(option)rule add pref 50 lookup 77", "\(option)rule del lookup main")
    let evidence = try evidence(lab, target)
    #expect(evidence.route == nil && evidence.rule == nil && evidence.isTrailComplete)
    #expect(evidence.unusedRoute?.prefixLength == 0 && evidence.unusedRoute?.hops.first?.link == "v0")
    // For one interface nothing else is looked for.
    #expect(try self.evidence(lab, target) { $0.interface = "v0" }.unusedRoute == nil)
  }

  // MARK: Rules

  /// fib4_rule_action and fib6_rule_action of Linux: each kind of rule has its error.
  @Test(
    "a rule that refuses is proven by the kernel's own error",
    arguments: [
      ("prohibit", .ipv4), ("unreachable", .ipv4), ("blackhole", .ipv4), ("prohibit", .ipv6), ("unreachable", .ipv6),
      ("blackhole", .ipv6),
    ] as [(String, IPAddress.Family)])
  func aRuleThatRefusesIsProven(action: String, family: IPAddress.Family) async throws {
    let lab = try await makeLab()
    let (option, target) = family == .ipv4 ? ("", Self.far) : ("-6 ", Self.far6)
    try ip(lab, "\(option)rule add pref 50 \(action)")
    let evidence = try evidence(lab, target)
    #expect(evidence.rule == KernelEvidence.RuleFacts(priority: 50, text: "from all \(action)", refuses: true))
    #expect(evidence.isTrailComplete && evidence.route == nil && !evidence.state.isReachable)
  }

  // MARK: Neighbours

  @Test func aNeighbourIsToldWithItsState() async throws {
    let lab = try await makeLab()
    try ip(
      lab, "neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent",
      "neigh replace 10.0.0.9 lladdr 02:00:00:00:00:09 dev v0 nud stale")
    let router = try #require(try evidence(lab, Self.far).neighbour)
    #expect(router.address == IPAddress("10.0.0.2") && router.isGateway && router.link == "v0" && router.isResolved)
    #expect(router.state == .permanent)
    let host = try #require(try evidence(lab, "10.0.0.9").neighbour)
    #expect(host.address == IPAddress("10.0.0.9") && !host.isGateway && host.state == .stale && host.isResolved)
    let unknown = try #require(try evidence(lab, "10.0.0.77").neighbour)
    #expect(unknown.state == nil && unknown.isResolved)
    // ip-neighbour(8), noarp: nobody is asked for.
    try ip(lab, "neigh replace 10.0.0.9 lladdr 02:00:00:00:00:09 dev v0 nud noarp")
    #expect(try evidence(lab, "10.0.0.9").neighbour?.isResolved == false)
    // Packets that do not leave go to nobody.
    try ip(lab, "rule add pref 50 prohibit")
    #expect(try evidence(lab, Self.far).neighbour == nil)
  }

  // MARK: Links

  @Test func theLinkIsTheOneThatPacketsLeaveByOrWould() async throws {
    let lab = try await makeLab()
    try lab.makeW()
    try await lab.waitForCarriers()
    #expect(try evidence(lab, Self.far).link?.name == "v0")
    #expect(try evidence(lab, "10.1.0.9").link?.name == "w0")
    #expect(try evidence(lab, Self.far) { $0.interface = "w0" }.link?.name == "w0")
    #expect(try evidence(lab, Self.far) { $0.interface = "missing" }.link == nil)
    // Without a route, a link that has an address.
    try lab.deleteRoute("default")
    #expect(try evidence(lab, Self.far).link?.name == "v0")
    try lab.deleteAddress("10.0.0.1/24", "v0")
    #expect(try evidence(lab, Self.far).link?.name == "w0")
    let links = try evidence(lab, Self.far).links
    #expect(Set(links.map(\.name)).isSuperset(of: ["v0", "v1", "w0", "w1"]) && !links.contains { $0.name == "lo" })
    #expect(links.filter { $0.name == "v0" }.allSatisfy { $0.isUp && $0.isOperating && $0.mtu == 1_500 })
  }
}
#endif
