// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 9 to 11 of Scenarios.md: several defaults, and routes that refuse.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct RoutingPolicyTests {
  @Test("9: the link of the better default is switched off: exactly one change", arguments: 0..<10)
  func betterDefaultLinkDown(round: Int) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.down("v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.reachable("w0", via: "10.1.0.2"))
  }

  @Test("9b: carrier of the better default lost: the kernel goes on sending into it, unless told otherwise")
  func betterDefaultCarrierLost() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let lost = try lab.unreachable(.noCarrier, "v0")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, v0, lost)
    // Only a netconf event announces the change of the setting.
    try lab.sysctl("ipv4/conf/all/ignore_routes_with_linkdown", 1)
    try await monitors.expect(internet, v0, lost, w0)
    try lab.sysctl("ipv4/conf/all/ignore_routes_with_linkdown", 0)
    try await monitors.expect(internet, v0, lost, w0, lost)
  }

  @Test("9b: with ignore_routes_with_linkdown it is one change, to the other default; and one back")
  func betterDefaultCarrierLostAndIgnored() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv4/conf/all/ignore_routes_with_linkdown", 1)
    try lab.makeB()
    try lab.makeW(metric: 600)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, v0, w0)
    // The carrier returns on a link that the target does not use: only a link event announces it.
    try lab.up("v1")
    try await lab.waitUntilOperating("v0", true)
    try await monitors.expect(internet, v0, w0, v0)
  }

  /// B and W as one default of two hops.
  private func makeMultipath(_ lab: NetworkLab) throws {
    try lab.makeB()
    try lab.makeW()
    try lab.route(
      .replace, "default", hops: [LabHop(via: "10.0.0.2", dev: "v0"), LabHop(via: "10.1.0.2", dev: "w0")])
  }

  @Test("10: one hop's link is switched off")
  func multipathLinkDown() async throws {
    let lab = try NetworkLab()
    try makeMultipath(lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try lab.down("v0")
    try await monitors.expect(internet, lab.reachable("v0", via: "10.0.0.2"), lab.reachable("w0", via: "10.1.0.2"))
  }

  @Test("10: hops lose their carrier: reachable while any is usable")
  func multipathCarrierLost() async throws {
    let lab = try NetworkLab()
    try makeMultipath(lab)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    // A query with an interface still lists all hops.
    let overFirst = try await monitors.record { $0.interface = "v0" }
    let overSecond = try await monitors.record { $0.interface = "w0" }
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    let firstLost = try lab.unreachable(.noCarrier, "v0")
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(internet, v0, w0)
    try await monitors.expect(overFirst, v0, firstLost)
    try await monitors.expect(overSecond, w0)
    try lab.down("w1")
    try await lab.waitUntilOperating("w0", false)
    try await monitors.expect(internet, v0, w0, firstLost)
    try await monitors.expect(overSecond, w0, lab.unreachable(.noCarrier, "w0"))
  }

  @Test(
    "11: a default that refuses, for its reason",
    arguments: [
      (LabRouteKind.unreachable, Reachability.Reason.unreachableRoute), (.prohibit, .prohibited),
      (.blackhole, .blackhole), (.throw, .noRoute),
    ], [LabFamily.v4, .v6])
  func refusingDefault(kindAndReason: (LabRouteKind, Reachability.Reason), family: LabFamily) async throws {
    let lab = try NetworkLab()
    let (kind, reason) = kindAndReason
    let target = try ReachabilityTarget.address(family == .v4 ? "192.0.2.1" : "2001:db8::1")
    try lab.addRoute("default", kind: kind, family: family)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let address = try await monitors.record(target)
    try await monitors.expect(internet, lab.unreachable(reason))
    try await monitors.expect(address, lab.unreachable(reason))
    try lab.deleteRoute("default", kind: kind, family: family)
    if reason == .noRoute {
      // It cannot be told from no route.
      try await monitors.expect(internet, lab.unreachable(.noRoute))
    } else {
      try await monitors.expect(internet, lab.unreachable(reason), lab.unreachable(.noRoute))
    }
  }

  @Test("11: a refusing default of a better metric wins; one of a worse metric shows when the good one goes")
  func refusingDefaultBesideAGoodOne() async throws {
    let lab = try NetworkLab()
    try lab.makeB(metric: 100)
    try lab.addRoute("default", metric: 4_278_198_272, kind: .unreachable)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let refused = try lab.unreachable(.unreachableRoute)
    try lab.addRoute("default", metric: 50, kind: .unreachable)
    try await monitors.expect(internet, v0, refused)
    try lab.deleteRoute("default", metric: 50)
    try await monitors.expect(internet, v0, refused, v0)
    try lab.down("v0")
    try await monitors.expect(internet, v0, refused, v0, refused)
  }
}
#endif
