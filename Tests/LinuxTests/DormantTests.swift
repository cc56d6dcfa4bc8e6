// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Links that wait to be let in, as by 802.1X (IF_OPER_DORMANT, RFC 2863).
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct DormantTests {
  private func dormant(_ lab: NetworkLab, _ name: String) throws -> Reachability {
    Reachability(
      status: .requiresConnection, flags: [.reachable, .connectionRequired, .connectionOnTraffic],
      interface: try lab.interface(name), reason: .dormant)
  }

  @Test(
    "a dormant link requires a connection, for both families, and comes back",
    arguments: [LabFamily.v4, .v6])
  func aDormantLinkRequiresAConnection(family: LabFamily) async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let gateway = family == .v4 ? "10.0.0.2" : "2001:db8::2"
    try lab.addAddress(family == .v4 ? "10.0.0.1/24" : "2001:db8::1/64", "v0")
    try lab.addRoute("default", via: gateway, dev: "v0")
    try await lab.waitUntilOperating("v0", true)
    let monitors = try LabMonitors(lab)
    // Of one family only: the other one has no route, and would be dormant for that reason alone.
    let internet = try await monitors.record { $0.family = family == .v4 ? .ipv4 : .ipv6 }
    let local = try await monitors.record(.localNetwork) { $0.interface = "v0" }
    let v0 = try lab.reachable("v0", via: gateway)
    let direct = try lab.reachable("v0", flags: .isDirect)
    let waiting = try dormant(lab, "v0")
    #expect(internet.states ≈ [v0])
    // The mode alone changes nothing on a link that is up, until the kernel looks at its carrier, which may be due.
    try lab.setDormant("v0")
    try await monitors.expect(internet, v0, waiting)
    try await monitors.expect(local, direct, waiting)
    #expect(waiting.flags.description == "-R -cC----")
    internet.forget()
    try lab.setDormant("v0", false)
    try await internet.wait("it comes back") { $0 ≈ v0 }
    // IPv6 flags the route of a dormant link as without a carrier, on a busy machine for a moment longer.
    let lost = try lab.unreachable(.noCarrier, "v0")
    let others = internet.states.filter { !($0 ≈ waiting) && !($0 ≈ v0) }
    #expect(others.allSatisfy { family == .v6 && $0 ≈ lost }, "\(internet.states)")
    try await monitors.expect(local, direct, waiting, direct)
  }

  @Test("without a route, a dormant link is named as the reason")
  func aDormantLinkWithoutARouteIsNamed() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("10.0.0.1/24", "v0")
    try await lab.waitUntilOperating("v0", true)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.setDormant("v0")
    try await monitors.expect(internet, lab.unreachable(.noRoute), dormant(lab, "v0"))
  }

  @Test("of two hops a live one counts, a dormant one says more than a dead one")
  func aLiveHopCountsBeforeADormantOne() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.route(
      .replace, "default", hops: [LabHop(via: "10.0.0.2", dev: "v0"), LabHop(via: "10.1.0.2", dev: "w0")])
    try await lab.waitUntilOperating("w0", true)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record { $0.family = .ipv4 }
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let lost = try lab.unreachable(.noCarrier, "v0")
    let waiting = try dormant(lab, "w0")
    try lab.setDormant("w0")
    try await monitors.expect(internet, v0)
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, v0, waiting)
    try lab.setDormant("w0", false)
    try await monitors.expect(internet, v0, waiting, lab.reachable("w0", via: "10.1.0.2"))
    #expect(!internet.states.contains(lost))
  }
}
#endif
