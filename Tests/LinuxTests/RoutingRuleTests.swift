// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 12 to 15 of Scenarios.md: rules of policy routing.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct RoutingRuleTests {
  @Test("12: a rule says unreachable; local addresses stay reachable")
  func unreachableRule() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let own = try await monitors.record(.address("10.0.0.1"))
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try lab.addRule(priority: 100, .unreachable)
    try await monitors.expect(internet, v0, lab.unreachable(.noRoute))
    try lab.deleteRule(priority: 100)
    try await monitors.expect(internet, v0, lab.unreachable(.noRoute), v0)
    try await monitors.expect(own, lab.reachable("lo", .loopback, flags: .isLocalAddress))
  }

  @Test("12: rules that prohibit or swallow have their own reasons")
  func otherRefusingRules() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try lab.addRule(priority: 100, .prohibit)
    try await monitors.expect(internet, v0, lab.unreachable(.prohibited))
    try lab.addRule(priority: 90, .blackhole)
    try await monitors.expect(internet, v0, lab.unreachable(.prohibited), lab.unreachable(.blackhole))
  }

  @Test("13: a default behind an fwmark rule exists only for targets with the mark")
  func markedDefault() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deleteRoute("default")
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0", table: 201)
    let monitors = try LabMonitors(lab)
    let plain = try await monitors.record()
    let marked = try await monitors.record { $0.mark = 0x201 }
    let other = try await monitors.record { $0.mark = 0x202 }
    try lab.addRule(priority: 100, .lookup(201), mark: 0x201)
    try await monitors.expect(marked, lab.unreachable(.noRoute), lab.reachable("v0", via: "10.0.0.2"))
    try await monitors.expect(plain, lab.unreachable(.noRoute))
    try await monitors.expect(other, lab.unreachable(.noRoute))
  }

  @Test(
    "14: a tunnel as wg-quick sets it up; its own packets, by their mark, go below it",
    .enabled(if: NetworkLab.canMakeTun, "needs /dev/net/tun"))
  func tunnelWithMark() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let plain = try await monitors.record()
    let marked = try await monitors.record { $0.mark = 51820 }
    let neighbour = try await monitors.record(.address("10.0.0.9"))
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.up("tun0")
    try lab.addRoute("default", dev: "tun0", table: 51820)
    try lab.addRule(priority: 100, .lookup(51820), mark: 51820, inverted: true)
    try lab.addRule(priority: 90, .lookup(LabTable.main), suppressPrefixLength: 0)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await plain.wait("over the tunnel") { $0.isVia("tun0") }
    // Neither by a gateway nor direct: the other end of the tunnel.
    try await monitors.expect(plain, v0, lab.reachable("tun0", .tunnel, flags: .transientConnection))
    try await monitors.expect(marked, v0)
    // A route in main that is more specific than a default is not suppressed. While the rules were added one after
    // another, it led into the tunnel, too.
    #expect(neighbour.last ≈ (try lab.reachable("v0", flags: .isDirect)))
    try lab.deleteRule(priority: 100)
    try await plain.wait("over the link again") { $0.isVia("v0") }
  }

  @Test("15: a rule for the caller's uid")
  func ruleForOurUser() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    // Tests run as uid 0, if necessary in a user namespace of their own.
    try lab.addRule(priority: 100, .unreachable, uids: 0...0)
    try await monitors.expect(internet, v0, lab.unreachable(.noRoute))
    try lab.deleteRule(priority: 100)
    try await monitors.expect(internet, v0, lab.unreachable(.noRoute), v0)
  }

  @Test("15: a rule for another's uid", .enabled(if: NetworkLab.canSwitchUser, "needs another user"))
  func ruleForAnotherUser() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.addRule(priority: 100, .unreachable, uids: 1...65534)
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"))
  }

  @Test(
    "a rule passes over the routes by a group of links", .enabled(if: NetworkLab.hasIPRoute2, "needs ip of iproute2"))
  func groupsOfLinks() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    // Detection of duplicate addresses and the like would have everything asked again.
    try await lab.waitForCarriers()
    func ip(_ arguments: String) throws { #expect(try lab.ip(arguments).status == 0, "\(arguments)") }
    try ip("rule add pref 100 lookup main suppress_ifgroup 5")
    try ip("rule del pref 32766")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let none = try lab.unreachable(.noRoute)
    try ip("link set v0 group 5")
    #expect(try lab.connect(LabConnection(to: "192.0.2.1")).error != 0)
    try await monitors.expect(internet, v0, none)
    try ip("link set v0 group 0")
    try await monitors.expect(internet, v0, none, v0)
  }

  @Test("13: a mark in a query needs no privilege")
  func markNeedsNoPrivilege() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addRule(priority: 100, .unreachable, mark: 7)
    let monitors = try LabMonitors(lab)
    let marked = try await monitors.record { $0.mark = 7 }
    try await monitors.expect(marked, lab.unreachable(.noRoute))
  }
}
#endif
