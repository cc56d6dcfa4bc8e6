// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Targets over one interface only.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct InterfaceBindingTests {
  @Test("each monitor sees the way over its own interface")
  func eachMonitorSeesItsOwnInterface() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600)
    let monitors = try LabMonitors(lab)
    let over0 = try await monitors.record { $0.interface = "v0" }
    let over1 = try await monitors.record { $0.interface = "w0" }
    try lab.down("v0")
    try await monitors.expect(over0, lab.reachable("v0", via: "10.0.0.2"), lab.unreachable(.linkDown, "v0"))
    try await monitors.expect(over1, lab.reachable("w0", via: "10.1.0.2"))
  }

  @Test("no route over the interface, though another has one", arguments: [LabFamily.v4, .v6])
  func aRouteOverAnotherInterfaceDoesNotCount(family: LabFamily) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addAddress("2001:db8:1::1/64", "w0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    let monitors = try LabMonitors(lab)
    let over1 = try await monitors.record {
      $0.interface = "w0"
      $0.family = family == .v4 ? .ipv4 : .ipv6
    }
    try await monitors.expect(over1, lab.unreachable(.noRoute))
    let gateway = family == .v4 ? "10.1.0.2" : "2001:db8:1::2"
    try lab.addRoute("default", via: gateway, dev: "w0", metric: 2000)
    try await monitors.expect(over1, lab.unreachable(.noRoute), lab.reachable("w0", via: gateway))
  }

  @Test(
    "an interface that is not there, then is, then is not", arguments: ["x0", "a-name-that-is-too-long", ""])
  func anInterfaceMayAppearAndDisappear(name: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record { $0.interface = name }
    let local = try await monitors.record(.localNetwork) { $0.interface = name }
    let none = try lab.unreachable(.noInterface)
    try await monitors.expect(internet, none)
    try await monitors.expect(local, none)
    // Over an interface that does not exist, not even this machine is reached.
    try await monitors.expect(monitors.record(.address("127.0.0.1")) { $0.interface = name }, none)
    if name != "x0" { return }
    try lab.addVeth("x0", "x1")
    try lab.up("x0", "x1")
    try lab.addAddress("10.2.0.1/24", "x0")
    try lab.addRoute("default", via: "10.2.0.2", dev: "x0", metric: 700)
    let x0 = try lab.reachable("x0", via: "10.2.0.2")
    try await internet.wait("over x0") { $0 ≈ x0 }
    try lab.deleteLink("x0")
    try await internet.wait("gone") { $0 ≈ none }
    try await local.wait("gone") { $0 ≈ none }
  }

  @Test("over the loopback nothing but this machine is reached")
  func theLoopbackReachesOnlyThisMachine() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record { $0.interface = "lo" }
    let own = try await monitors.record(.address("127.0.0.1")) { $0.interface = "lo" }
    try await monitors.expect(internet, lab.unreachable(.noRoute))
    try await monitors.expect(own, lab.reachable("lo", .loopback, flags: .isLocalAddress))
  }

  @Test(
    "an address of this machine is reached whatever its link does", arguments: ["10.0.0.1", "2001:db8::1"])
  func anOwnAddressIsReachedWhateverItsLinkDoes(text: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    let monitors = try LabMonitors(lab)
    let own = try await monitors.record(.address(text))
    let local = try lab.reachable("lo", .loopback, flags: .isLocalAddress)
    // The kernel makes the route to an IPv6 address of this machine some time after the address.
    try await own.wait("ours") { $0 ≈ local }
    own.forget()
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(own, local)
    try lab.down("v0")
    if text == "10.0.0.1" {
      try await monitors.expect(own, local)
    } else {
      // The kernel removes IPv6 addresses with the link.
      try await own.wait("not ours any more") { !$0.isReachable }
    }
  }
}
#endif
