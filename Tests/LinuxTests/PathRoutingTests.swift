// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Paths through rules, nexthop objects, several hops, tunnels and bridges; with restrictions; and name servers.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PathRoutingTests {
  /// B, and W with a default of metric 600.
  private func makeBW() throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.makeW(metric: 600)
    return lab
  }

  // MARK: Policy

  @Test("a rule prohibits the path until it is deleted")
  func aProhibitingRuleBlocksThePath() async throws {
    let lab = try makeBW()
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    let (free, blocked) = ("satisfied 4: v0 4, w0 4", "prohibited: v0, w0")
    try lab.addRule(priority: 100, .prohibit)
    try await monitors.expect(path, free, blocked)
    try lab.deleteRule(priority: 100)
    try await monitors.expect(path, free, blocked, free)
  }

  @Test("a kill switch for IPv6: IPv6 is not supported, even if packets bound to a link get through")
  func aKillSwitchForIPv6LeavesIPv6Unsupported() async throws {
    let lab = try makeBW()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0", metric: 1024)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try lab.addRoute("default", metric: 10, kind: .unreachable, family: .v6)
    try await path.wait("without IPv6") { !$0.supportsIPv6 }
    #expect(path.last?.status == .satisfied)
    #expect(path.last?.supportsIPv4 == true)
    try lab.addRule(priority: 100, .blackhole)
    try await path.wait("without any") { $0.status == .unsatisfied }
    #expect(path.last?.uses(.wired) == false)
  }

  @Test("a default for a firewall mark is there only for a path with the mark")
  func aMarkedDefaultNeedsTheMark() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.deleteRoute("default")
    let monitors = try LabMonitors.forPaths(lab)
    let plain = try await monitors.recordPath()
    let marked = try await monitors.recordPath { $0.mark = 7 }
    try lab.addRule(priority: 100, .lookup(201), mark: 7)
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0", table: 201)
    try await monitors.expect(marked, "no-route: v0", "satisfied 4: v0 4")
    try await monitors.expect(plain, "no-route: v0")
  }

  @Test("through nexthop objects, whose deletion takes the route along unannounced", arguments: [0, 1])
  func aPathFollowsNexthopObjects(compatibility: Int) async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.deleteRoute("default")
    // For packets that are bound to a link, the kernel does not look beyond the route of another link's nexthop object.
    // So that route comes last.
    try lab.makeW(metric: 10)
    try lab.sysctl("ipv4/nexthop_compat_mode", compatibility)
    try lab.addNexthop(1, via: "10.0.0.2", dev: "v0")
    try lab.addRoute("default", metric: 50, nexthop: 1)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try await monitors.expect(path, "satisfied 4: w0 4, v0 4")
    #expect(path.last?.gateways.map(\.description) == ["10.1.0.2", "10.0.0.2"])
    try lab.deleteRoute("default", dev: "w0", metric: 10)
    try await monitors.expect(path, "satisfied 4: w0 4, v0 4", "satisfied 4: v0 4, w0")
    try lab.deleteNexthop(1)
    try await monitors.expect(path, "satisfied 4: w0 4, v0 4", "satisfied 4: v0 4, w0", "no-route: v0, w0")
  }

  @Test("one default of two hops: both lead on, the first usable one is preferred")
  func bothHopsOfADefaultLeadOn() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.deleteRoute("default")
    try lab.makeW()
    try lab.addRoute("default", hops: [LabHop(via: "10.1.0.2", dev: "w0"), LabHop(via: "10.0.0.2", dev: "v0")])
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try await monitors.expect(path, "satisfied 4: w0 4, v0 4")
    try lab.down("w1")
    try await lab.waitUntilOperating("w0", false)
    try await monitors.expect(path, "satisfied 4: w0 4, v0 4", "satisfied 4: v0 4")
  }

  @Test("a link of link-local addresses that IPv4 takes: IPv6 leads on over it if packets are bound to it")
  func aLinkThatOneFamilyTakesIsAskedForBoth() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("fe80::1/64", "v0")
    try lab.makeW()
    try lab.addAddress("2001:db8::1/64", "w0")
    try lab.addRoute("default", dev: "v0", family: .v4)
    try lab.addRoute("default", dev: "v0", family: .v6)
    // IPv6 passes over a route of another link, also one that refuses, for a packet that is bound to a link.
    try lab.addRule(priority: 100, .lookup(201), family: .v6)
    try lab.addRoute("default", table: 201, kind: .unreachable, family: .v6)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try await monitors.expect(path, "satisfied 4: v0 46, w0")
    var connection = LabConnection(to: "2001:503:ba3e::2:30")
    #expect(try lab.socket(connection).error == EHOSTUNREACH)
    connection.interface = "v0"
    #expect(try lab.socket(connection).error == 0)
    connection.interface = "w0"
    #expect(try lab.socket(connection).error == ENETUNREACH)
  }

  @Test("a link without an address that is asked for by name leads on from the address of another link")
  func aNamedLinkNeedsNoAddress() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeW(metric: 600)
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let monitors = try LabMonitors.forPaths(lab)
    let general = try await monitors.recordPath()
    let named = try await monitors.recordPath { $0.interface = "v0" }
    var connection = LabConnection(to: "198.41.0.4")
    connection.interface = "v0"
    try lab.addRoute("default", dev: "v0", metric: 700)
    #expect(try lab.socket(connection).source == "10.1.0.1")
    try await monitors.expect(named, "no-route: ", "satisfied 4: v0 4")
    try lab.deleteRoute("default", metric: 700)
    try await monitors.expect(named, "no-route: ", "satisfied 4: v0 4", "no-route: ")
    try await monitors.expect(general, "satisfied 4: w0 4")
  }

  // MARK: Links above links

  @Test(
    "a tunnel comes first if it has the default; its packets cost what those of the link below cost",
    .enabled(if: NetworkLab.canMakeTun, "needs /dev/net/tun"))
  func aTunnelWithTheDefaultComesFirst() async throws {
    let lab = try makeBW()
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath { $0.meteredInterfaces = ["v0"] }
    let others = try await monitors.recordPath { $0.prohibitedKinds = [.tunnel] }
    let tunnels = try await monitors.recordPath { $0.requiredKinds = [.tunnel] }
    let tun = try lab.addTun("tun0")
    defer { tun.close() }
    try lab.addAddress("10.8.0.2/24", "tun0")
    try lab.up("tun0")
    // As VPNs do: two routes that are more specific than the default, which stays.
    for prefix in ["0.0.0.0/1", "128.0.0.0/1"] { try lab.addRoute(prefix, dev: "tun0") }
    try await path.wait("through the tunnel") { $0.outline == "satisfied 4: tun0 4, v0 4, w0 4" }
    #expect(path.last?.interfaces.map(\.kind) == [.tunnel, .wired, .wired])
    #expect(path.last?.uses(.tunnel) == true)
    #expect(path.last?.isExpensive == true)
    try await tunnels.wait("the tunnel is there") { $0.outline == "satisfied 4: tun0 4" }
    try await monitors.expect(others, "satisfied 4: v0 4, w0 4")
    tun.close()
    try await path.wait("without the tunnel") { $0.outline == "satisfied 4: v0 4, w0 4" }
    try await tunnels.wait("the tunnel is gone") { $0.outline == "no-interface: " }
  }

  @Test("a bridge stands for its ports, and has their kind")
  func aBridgeStandsForItsPorts() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.addVeth("v0", "v1")
    try lab.addVeth("w0", "w1")
    try lab.addBridge("br0")
    try lab.up("v0", "v1", "w0", "w1", "br0")
    try lab.addAddress("10.0.0.1/24", "br0")
    // A port may have an address, but packets for it go to the bridge.
    try lab.addAddress("10.9.0.1/24", "v0")
    try lab.setMaster("v0", "br0")
    try await lab.waitForCarriers()
    try lab.addRoute("default", via: "10.0.0.2", dev: "br0")
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try await monitors.expect(path, "satisfied 4: br0 4")
    #expect(path.last?.preferredInterface?.kind == .wired)
    try lab.setMaster("v0", nil)
    try await path.wait("without a port") { $0.outline == "no-carrier: v0" }
    try lab.setMaster("w0", "br0")
    try await lab.waitUntilOperating("br0", true)
    try await path.wait("with another port") { $0.outline == "satisfied 4: br0 4, v0" }
  }

  // MARK: Restrictions

  @Test("an interface by name that appears later, is renamed and goes")
  func anInterfaceMayAppearBeRenamedAndGo() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath { $0.interface = "w0" }
    try await monitors.expect(path, "no-interface: ")
    try lab.makeW(metric: 600)
    try await path.wait("it is there") { $0.outline == "satisfied 4: w0 4" }
    try lab.down("w0")
    try await path.wait("off") { $0.outline == "link-down: " }
    try lab.rename("w0", to: "x0")
    try await path.wait("renamed") { $0.outline == "no-interface: " }
    try lab.rename("x0", to: "w0")
    try lab.up("w0")
    try lab.addRoute("default", via: "10.1.0.2", dev: "w0", metric: 600)
    try await path.wait("back") { $0.outline == "satisfied 4: w0 4" }
    try lab.deleteLink("w0")
    try await path.wait("gone") { $0.outline == "no-interface: " }
  }

  @Test("a required kind that is there, but leads nowhere; a prohibited one")
  func requiredAndProhibitedKindsChoose() async throws {
    let lab = try makeBW()
    let monitors = try LabMonitors.forPaths(lab)
    let wired = try await monitors.recordPath { $0.requiredKinds = [.wired] }
    let others = try await monitors.recordPath { $0.prohibitedKinds = [.wired] }
    try await monitors.expect(others, "no-interface: ")
    let (first, second) = ("satisfied 4: v0 4, w0 4", "satisfied 4: w0 4, v0")
    try lab.deleteRoute("default", dev: "v0")
    try await monitors.expect(wired, first, second)
    try lab.deleteRoute("default", dev: "w0", metric: 600)
    try await monitors.expect(wired, first, second, "no-route: v0, w0")
  }

  // MARK: Name servers

  @Test("DNS: by resolv.conf(5), and by the routes to its servers")
  func dnsFollowsResolvConfAndItsRoutes() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 10.7.0.53\n")
    let monitors = try LabMonitors(
      lab, source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: root.path) })
    let path = try await monitors.recordPath()
    #expect(path.last?.supportsDNS == true)
    // Only the route to the server changes.
    try lab.addRoute("10.7.0.0/16", kind: .unreachable)
    try await path.wait("no route to the server") { !$0.supportsDNS }
    #expect(path.last?.status == .satisfied)
    try lab.deleteRoute("10.7.0.0/16", kind: .unreachable)
    try await path.wait("a route again") { $0.supportsDNS }
    try lab.deleteRoute("default")
    try await path.wait("no route at all") { !$0.supportsDNS && $0.status == .unsatisfied }
    try root.write("etc/resolv.conf", "nameserver 10.0.0.53\n")
    try await path.wait("a server on the link") { $0.supportsDNS && $0.status == .unsatisfied }
    // A server on this machine asks others: it supports DNS if it can reach them.
    try root.write("etc/resolv.conf", "nameserver 127.0.0.53\n")
    try await path.wait("a server here") { !$0.supportsDNS }
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await path.wait("and a route") { $0.supportsDNS }
    try root.delete("etc/resolv.conf")
    try lab.deleteRoute("default")
    try await path.wait("nothing") { !$0.supportsDNS }
  }

  @Test(
    "DNS: a link-local server is reached over the link that its zone names, and over no other",
    arguments: [
      ("fe80::53%v0", true), ("fe80::53%w0", false), ("fe80::53", false),
    ])
  func aLinkLocalNameServerNeedsItsZone(server: String, isSupported: Bool) async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.addAddress("fe80::1/64", "v0")
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver \(server)\n")
    let monitors = try LabMonitors(
      lab, source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: root.path) })
    let path = try await monitors.recordPath()
    #expect(path.last?.status == .satisfied)
    #expect(path.last?.supportsDNS == isSupported)
  }

  // MARK: Refusals

  @Test("if netlink is refused the path is unknown, which is told once", arguments: [EPERM, EAFNOSUPPORT])
  func aDeniedPathIsToldOnce(code: CInt) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deny(.netlinkSockets(code))
    let clock = SteppedClock(isStill: true)
    let probe = NetworkProbe()
    let monitors = try clock.monitors(lab, source: probe.makeSource)
    let path = PathRecording(monitors.pathMonitor())
    try await monitors.expect(path, "denied: ")
    #expect(path.last?.status == .undetermined)
    clock.advance(by: .seconds(60), monitors.environment)
    try await eventually(within: .patience, "asked again") { probe.counts.polls > 0 }
    try await monitors.expect(path, "denied: ")
  }
}
#endif
