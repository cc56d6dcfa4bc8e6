// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 1 to 8 of Scenarios.md: routes that go without a route message.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct SilentRouteLossTests {
  @Test("1: the link is switched off")
  func linkDown() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.down("v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.unreachable(.linkDown, "v0"))
  }

  @Test("2: the address is deleted, and the default route with it")
  func addressDeleted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.deleteAddress("10.0.0.1/24", "v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.unreachable(.noRoute))
  }

  @Test("2: the address is deleted while there is a second default: exactly one change", arguments: 0..<10)
  func addressDeletedWithSecondDefault(round: Int) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.deleteAddress("10.0.0.1/24", "v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.reachable("w0", via: "10.1.0.2"))
  }

  @Test("3: the link is deleted")
  func linkDeleted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let before = try lab.reachable("v0", via: "10.0.0.2")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.deleteLink("v0")
    try await monitors.expect(internet, before, lab.unreachable(.noRoute))
  }

  @Test("4: the nexthop object of the default is deleted")
  func nexthopDeleted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deleteRoute("default")
    try lab.addNexthop(1, via: "10.0.0.2", dev: "v0")
    try lab.addRoute("default", nexthop: 1)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.deleteNexthop(1)
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.unreachable(.noRoute))
  }

  @Test("5: the default's message names nothing but a nexthop object")
  func nexthopWithoutCompatibility() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv4/nexthop_compat_mode", 0)
    try lab.makeB()
    try lab.makeW()
    try lab.deleteRoute("default")
    try lab.addNexthop(1, via: "10.0.0.2", dev: "v0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.addRoute("default", nexthop: 1)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(internet, lab.unreachable(.noRoute), v0)
    // Replacing the object moves the path; only a nexthop event announces it.
    try lab.nexthop(.replace, 1, via: "10.1.0.2", dev: "w0")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    try await monitors.expect(internet, lab.unreachable(.noRoute), v0, w0)
    try lab.deleteNexthop(1)
    try await monitors.expect(internet, lab.unreachable(.noRoute), v0, w0, lab.unreachable(.noRoute))
  }

  @Test("5: a group of nexthop objects is taken apart: the first usable member counts")
  func nexthopGroupWithoutCompatibility() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv4/nexthop_compat_mode", 0)
    try lab.makeB()
    try lab.makeW()
    try lab.deleteRoute("default")
    try lab.addNexthop(1, via: "10.0.0.2", dev: "v0")
    try lab.addNexthop(2, via: "10.1.0.2", dev: "w0")
    try lab.nexthop(.add, 3, group: [1, 2])
    try lab.addRoute("default", nexthop: 3)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.deleteNexthop(1)
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.reachable("w0", via: "10.1.0.2"))
  }

  @Test("6: carrier lost, with and without ignore_routes_with_linkdown", arguments: [0, 1])
  func carrierLost(ignoringRoutes: Int) async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv4/conf/all/ignore_routes_with_linkdown", ignoringRoutes)
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let lost = try lab.unreachable(.noCarrier, "v0")
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, v0, lost)
    try lab.up("v1")
    try await lab.waitUntilOperating("v0", true)
    try await monitors.expect(internet, v0, lost, v0)
  }

  @Test("6: the setting flipped while there is no carrier changes nothing")
  func settingFlippedWithoutCarrier() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    for value in [1, 0, 1] {
      try lab.sysctl("ipv4/conf/all/ignore_routes_with_linkdown", value)
      try await monitors.expect(internet, lab.unreachable(.noCarrier, "v0"))
    }
  }

  @Test("6b: carrier lost under a nexthop object: object and route are gone for good")
  func carrierLostWithNexthop() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deleteRoute("default")
    try lab.addNexthop(1, via: "10.0.0.2", dev: "v0")
    try lab.addRoute("default", nexthop: 1)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let lost = try lab.unreachable(.noCarrier, "v0")
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, v0, lost)
    try lab.up("v1")
    try await lab.waitUntilOperating("v0", true)
    try await monitors.expect(internet, v0, lost, lab.unreachable(.noRoute))
  }

  @Test("7: of two IPv6 defaults of one metric, one is deleted", arguments: [true, false])
  func oneOfTwoDefaultsDeleted(isTheFirst: Bool) async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0", metric: 1024)
    try lab.route(.append, "default", via: "2001:db8::3", dev: "v0", metric: 1024)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    // The kernel chooses which of the two it names first, for each destination.
    let isThree = try internet.last?.gateway == address("2001:db8::3")
    let (first, second) = isThree ? ("2001:db8::3", "2001:db8::2") : ("2001:db8::2", "2001:db8::3")
    let before = try lab.reachable("v0", via: first)
    try lab.deleteRoute("default", via: isTheFirst ? first : second, dev: "v0", metric: 1024)
    if isTheFirst {
      try await monitors.expect(internet, before, lab.reachable("v0", via: second))
    } else {
      try await monitors.expect(internet, before)
    }
  }

  @Test("8: the default is replaced by one over another link, then deleted")
  func defaultReplacedThenDeleted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    try lab.route(.replace, "default", via: "10.1.0.2", dev: "w0")
    try await monitors.expect(internet, v0, w0)
    try lab.deleteRoute("default")
    try await monitors.expect(internet, v0, w0, lab.unreachable(.noRoute))
  }
}
#endif
