// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 27 to 30 of Scenarios.md: links that do not matter, bridges, no link at all.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct NoiseTests {
  @Test("27: 500 veth pairs come and go: zero updates")
  func manyLinks() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.addVeths("n", count: 500)
    try await monitors.settle()
    try lab.deleteVeths()
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"))
    // It still hears announcements.
    try lab.down("v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.unreachable(.linkDown, "v0"))
  }

  @Test("27: 500 veth pairs do not change the reason of what is unreachable")
  func manyLinksWhileUnreachable() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.addVeths("n", count: 500)
    try await monitors.settle()
    try lab.deleteVeths()
    try await monitors.expect(internet, lab.unreachable(.noCarrier, "v0"))
  }

  /// A bridge with an address and a default route.
  private func makeBridge(_ lab: NetworkLab) throws {
    try lab.addBridge("br0")
    try lab.addAddress("10.0.0.1/24", "br0")
    try lab.up("br0")
    try lab.addRoute("default", via: "10.0.0.2", dev: "br0")
  }

  @Test("28: a bridge without a port looks as if it operated; it does not, until it has a live port")
  func bridgeWithoutPort() async throws {
    let lab = try NetworkLab()
    try makeBridge(lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let local = try await monitors.record(.localNetwork)
    // Without ports, the kind of the bridge is `other`.
    try await monitors.expect(internet, lab.unreachable(.noCarrier, "br0", .other))
    try await monitors.expect(local, lab.unreachable(.noInterface))
    try lab.addVeth("v0", "v1")
    try lab.setMaster("v0", "br0")
    try lab.up("v0", "v1")
    let reachable = try lab.reachable("br0", via: "10.0.0.2")
    try await internet.wait("over the bridge") { $0 ≈ reachable }
    try await local.wait("the bridge's network") { $0.isVia("br0") }
    #expect(local.last ≈ (try lab.reachable("br0", flags: .isDirect)))
  }

  @Test("28: a bridge whose only port is dead has no carrier")
  func bridgeWithDeadPort() async throws {
    let lab = try NetworkLab()
    try makeBridge(lab)
    try lab.addVeth("v0", "v1")
    try lab.setMaster("v0", "br0")
    try lab.up("v0", "v1")
    try await lab.waitUntilOperating("br0", true)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let local = try await monitors.record(.localNetwork)
    let reachable = try lab.reachable("br0", via: "10.0.0.2")
    let lost = try lab.unreachable(.noCarrier, "br0")
    try lab.down("v1")
    try await lab.waitUntilOperating("br0", false)
    try await monitors.expect(internet, reachable, lost)
    try await monitors.expect(local, lab.reachable("br0", flags: .isDirect), lab.unreachable(.noCarrier, "br0"))
    // Without its last port it is a bridge without one.
    try lab.setMaster("v0", nil)
    try await internet.wait("without ports") { $0.interface?.kind == .other }
    try await monitors.expect(internet, reachable, lost, lab.unreachable(.noCarrier, "br0", .other))
  }

  @Test("29: one of two ports is dead: no event")
  func bridgeWithOneLivePort() async throws {
    let lab = try NetworkLab()
    try makeBridge(lab)
    for (port, peer) in [("v0", "v1"), ("w0", "w1")] {
      try lab.addVeth(port, peer)
      try lab.setMaster(port, "br0")
      try lab.up(port, peer)
    }
    try await lab.waitUntilOperating("br0", true)
    try await lab.waitUntilOperating("w0", true)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let reachable = try lab.reachable("br0", via: "10.0.0.2")
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, reachable)
    try lab.down("w1")
    try await lab.waitUntilOperating("br0", false)
    try await monitors.expect(internet, reachable, lab.unreachable(.noCarrier, "br0"))
  }

  @Test("30: no interface at all but a loopback that is off: an answer at once")
  func nothing() async throws {
    let lab = try NetworkLab(loopbackUp: false)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let local = try await monitors.record(.localNetwork)
    let host = try await monitors.record(.host("192.0.2.1"))
    try await monitors.expect(internet, lab.unreachable(.noRoute))
    try await monitors.expect(local, lab.unreachable(.noInterface))
    try await monitors.expect(host, lab.unreachable(.noRoute))
  }

  @Test("30: a name without any path: unreachable for the path's reason, looked up or not")
  func nameWithoutPath() async throws {
    let lab = try NetworkLab()
    let monitors = try LabMonitors(lab, lookup: { _, _ in .failed })
    let host = try await monitors.record(.host("example.com"))
    try await monitors.expect(host, lab.unreachable(.noRoute))
  }
}
#endif
