// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Each flag that Linux sets, on a real network. The flags of radios are in ``RadioTests``, dormant links in
/// ``DormantTests``.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct FlagsTests {
  @Test(
    "a wired link has the flags of what it leads to",
    arguments: [
      ("198.41.0.4", "-R -------", "10.0.0.2"),  // through the gateway
      ("10.0.0.9", "-R ------d", nil),  // on the link
      ("10.0.0.1", "-R -----l-", nil),  // its own address
      ("127.0.0.1", "-R -----l-", nil),
      ("127.1.2.3", "-R -----l-", nil),
      ("::1", "-R -----l-", nil),
      ("2001:db8::9", "-R ------d", nil),
      ("2001:db8:1::1", "-R -------", "2001:db8::2"),
      ("::ffff:10.0.0.9", "-R ------d", nil),
      ("203.0.113.1", "---------", nil),  // prohibited
    ] as [(String, String, String?)])
  func aWiredLinkHasTheFlagsOfItsDestination(target: String, flags: String, gateway: String?) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    try lab.addRoute("203.0.113.0/24", kind: .prohibit)
    let monitors = try LabMonitors(lab)
    let recording = try await monitors.record(.address(target))
    let expected = flags == "---------" ? ReachabilityFlags().description : flags
    #expect(recording.last?.flags.description == expected)
    #expect(recording.last?.gateway == gateway.flatMap { IPAddress($0) })
    #expect(recording.last?.flags.contains(.reachable) == recording.last?.isReachable)
  }

  @Test(
    "a tunnel has the flags of what it leads to", .enabled(if: NetworkLab.canMakeTun, "needs /dev/net/tun"),
    arguments: ["198.41.0.4", "10.8.0.9"])
  func aTunnelHasTheFlagsOfItsDestination(target: String) async throws {
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.up("tun0")
    try lab.addRoute("default", dev: "tun0")
    let monitors = try LabMonitors(lab)
    let recording = try await monitors.record(.address(target))
    #expect(recording.last?.flags.description == "-R t------")
  }

  @Test("a route without a gateway on a wired link is direct, wherever it leads")
  func aRouteWithoutAGatewayIsDirect() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.route(.replace, "default", dev: "v0")
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try await monitors.expect(internet, lab.reachable("v0", flags: .isDirect))
  }

  @Test("an IPv4 route through an IPv6 gateway is reachable via that gateway")
  func anIPv4RouteMayHaveAnIPv6Gateway() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.route(.replace, "default", via: "fe80::9", dev: "v0", family: .v4)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    try await monitors.expect(internet, lab.reachable("v0", via: "fe80::9"))
  }

  @Test("a macvlan on a link that is off looks up, but its lower layer is down")
  func aMacvlanOnALinkThatIsOffIsDown() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addMacvlan("m0", on: "v0")
    try lab.up("m0")
    try lab.addAddress("10.2.0.1/24", "m0")
    try lab.addRoute("default", via: "10.2.0.2", dev: "m0")
    try await lab.waitUntilOperating("m0", true)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let m0 = try lab.reachable("m0", via: "10.2.0.2")
    try lab.down("v0")
    try await lab.waitUntilOperating("m0", false)
    // It depends on the kernel's version whether the macvlan is also switched off.
    try await internet.wait("lost") { !$0.isReachable }
    #expect(internet.states.first ≈ m0)
    #expect([.noCarrier, .linkDown].contains(internet.last?.reason))
    #expect(internet.last?.interface == m0.interface)
  }
}
#endif
