// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenario 47 of Scenarios.md: interfaces that are renamed, moved and replaced.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct IdentityTests {
  @Test("47: an interface is renamed while it is up: the same way, under its new name")
  func renamed() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let before = try lab.reachable("v0", via: "10.0.0.2")
    do {
      try lab.rename("v0", to: "uplink")
    } catch let error as LabError where error.code != 0 {
      // Before Linux 6.2 an interface that is up cannot be renamed.
      try lab.down("v0")
      try lab.rename("v0", to: "uplink")
      try lab.up("uplink")
      try lab.addRoute("default", via: "10.0.0.2", dev: "uplink")
      try await internet.wait("under its new name") { $0.isVia("uplink") }
      return
    }
    let after = try lab.reachable("uplink", via: "10.0.0.2")
    #expect(before.interface?.index == after.interface?.index)
    try await monitors.expect(internet, before, after)
    // From now on, a monitor of the new name sees this interface, and one of the old name does not.
    let new = try await monitors.record { $0.interface = "uplink" }
    let old = try await monitors.record { $0.interface = "v0" }
    try await monitors.expect(new, after)
    try await monitors.expect(old, lab.unreachable(.noInterface))
  }

  @Test("47: two interfaces exchange their names")
  func namesExchanged() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    let monitors = try LabMonitors(lab)
    let bound = try await monitors.record { $0.interface = "v0" }
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(bound, v0)
    try lab.down("v0", "w0")
    try lab.rename("v0", to: "x0")
    try lab.rename("w0", to: "v0")
    try lab.rename("x0", to: "w0")
    try lab.up("v0", "w0")
    try lab.addRoute("default", via: "10.1.0.2", dev: "v0")
    let after = try lab.reachable("v0", via: "10.1.0.2")
    #expect(after.interface?.index != v0.interface?.index)
    try await bound.wait("over the one that has the name now") { $0 ≈ after }
  }

  @Test("47: an interface is moved to another namespace, and back")
  func moved() async throws {
    let lab = try NetworkLab()
    let other = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let bound = try await monitors.record { $0.interface = "v0" }
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(internet, v0)
    try lab.move("v0", to: other)
    let gone = try lab.unreachable(.noRoute)
    try await internet.wait("gone") { $0 ≈ gone }
    try await bound.wait("gone") { $0.isUnreachable(.noInterface) }
    #expect(internet.changes.allSatisfy { !$0.isReachable })
    // Its peer is in this namespace. No link with the same index may be mistaken for it.
    try other.move("v0", to: lab)
    try lab.up("v0")
    try lab.addAddress("10.0.0.1/24", "v0")
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    let again = try lab.reachable("v0", via: "10.0.0.2")
    try await internet.wait("back") { $0 ≈ again }
    try await bound.wait("back") { $0 ≈ again }
  }

  @Test("47: an index is used again by another interface", .enabled(if: NetworkLab.hasIPRoute2, "needs the command ip"))
  func indexReused() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(internet, v0)
    let index = try lab.index(of: "v0")
    try lab.deleteLink("v0")
    let made = try lab.ip("link add name br0 index \(index) type bridge")
    #expect(made.status == 0, "\(made.error)")
    try lab.addAddress("10.0.0.1/24", "br0")
    try lab.up("br0")
    try lab.addRoute("default", via: "10.0.0.2", dev: "br0")
    // This index was a live wired link's before. Now it is a bridge's without a port.
    let bridge = try lab.unreachable(.noCarrier, "br0", .other)
    #expect(bridge.interface?.index == v0.interface?.index)
    try await internet.wait("the bridge") { $0 ≈ bridge }
    #expect(internet.changes.allSatisfy { !$0.isReachable })
    let listed = try lab.run { LinuxNetwork().interfaces().filter { $0.interface.index == UInt32(index) } }
    #expect(listed.map(\.interface.name) == ["br0"])
  }

  @Test("47: a name is used again by another interface")
  func nameReused() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let bound = try await monitors.record { $0.interface = "v0" }
    let before = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(bound, before)
    try lab.deleteLink("v0")
    try lab.addBridge("filler")
    try lab.makeB()
    let after = try lab.reachable("v0", via: "10.0.0.2")
    #expect(before.interface?.index != after.interface?.index)
    try await bound.wait("the new one") { $0 ≈ after }
  }
}
#endif
