// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// What it means to be attached to a local network.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct LocalNetworkTests {
  @Test func needsNoRoute() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let local = try await monitors.record(.localNetwork)
    let v0 = try lab.reachable("v0", flags: .isDirect)
    try lab.deleteRoute("default")
    try await monitors.expect(local, v0)
    try lab.deleteAddress("10.0.0.1/24", "v0")
    // If no link has an address, the first that operates is named.
    try await local.wait("no address") { $0.isUnreachable(.noAddress) }
    #expect(local.count == 2)
  }

  @Test func countsLinkLocalAddresses() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let monitors = try LabMonitors(lab)
    let local = try await monitors.record(.localNetwork)
    #expect(local.last?.isUnreachable(.noAddress) == true)
    try lab.addAddress("169.254.7.1/16", "v0")
    let v0 = try lab.reachable("v0", flags: .isDirect)
    try await local.wait("169.254.7.1 counts") { $0 ≈ v0 }
    try lab.deleteAddress("169.254.7.1/16", "v0")
    try await local.wait("no address") { $0.isUnreachable(.noAddress) }
    try lab.addAddress("fe80::7/64", "v0")
    try await local.wait("fe80::7 counts") { $0 ≈ v0 }
    let four = try await monitors.record(.localNetwork) { $0.family = .ipv4 }
    let six = try await monitors.record(.localNetwork) { $0.family = .ipv6 }
    #expect(four.last?.isUnreachable(.noAddress) == true)
    try await monitors.expect(six, v0)
  }

  @Test func losesItsCarrier() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let local = try await monitors.record(.localNetwork)
    let v0 = try lab.reachable("v0", flags: .isDirect)
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(local, v0, lab.unreachable(.noCarrier, "v0"))
    try lab.down("v0")
    try await monitors.expect(local, v0, lab.unreachable(.noCarrier, "v0"), lab.unreachable(.linkDown, "v0"))
  }

  @Test("only the kind asked for counts", arguments: [InterfaceKind.wifi, .cellular, .tunnel])
  func onlyTheKindAskedForCounts(kind: InterfaceKind) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let other = try await monitors.record(.localNetwork(kind))
    let wired = try await monitors.record(.localNetwork(.wired))
    try await monitors.expect(other, lab.unreachable(.noInterface))
    #expect(wired.last?.isReachable == true)
  }

  @Test("a tunnel, a loopback or an ifb is no local network", .enabled(if: NetworkLab.canMakeTun, "needs /dev/net/tun"))
  func aTunnelIsNoLocalNetwork() async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.addIfb("ifb0")
    try lab.addAddress("10.9.0.2/24", "ifb0")
    try lab.up("tun0", "ifb0")
    let monitors = try LabMonitors(lab)
    let local = try await monitors.record(.localNetwork)
    try await monitors.expect(local, lab.unreachable(.noInterface))
  }

  @Test("a link with an address that others can answer is named before one with only a link-local address")
  func prefersARealAddress() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    try lab.makeB()
    // The other end is in this namespace, too, and has the lower index.
    #expect(try lab.index(of: "v1") < lab.index(of: "v0"))
    let monitors = try LabMonitors(lab)
    let local = try await monitors.record(.localNetwork)
    let v0 = try lab.reachable("v0", flags: .isDirect)
    try lab.addAddress("fe80::7/64", "v1")
    try await monitors.expect(local, v0)
  }
}
#endif
