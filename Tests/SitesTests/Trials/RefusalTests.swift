// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// A refused connection names who refused it. Routers, gateways and hosts are the kernel's.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)))
struct RefusalTests {
  /// A cable with a server's end that forwards packets.
  private func router() throws -> LabCable {
    let cable = try LabCable()
    try cable.server.sysctl("ipv4/ip_forward", 1)
    try cable.server.sysctl("ipv6/conf/all/forwarding", 1)
    return cable
  }

  /// RFC 1812, 5.2.7.1, and RFC 4443, 3.1: what a router sends for its routes of these types.
  @Test(
    "a router that refuses is named",
    arguments: [
      (LabRouteKind.prohibit, "prohibited", "prohibited"), (.unreachable, "host unreachable", "no route"),
    ])
  func aRouterThatRefusesIsNamed(_ kind: LabRouteKind, _ words4: String, _ words6: String) async throws {
    let cable = try router()
    try cable.server.addRoute("198.51.100.0/24", kind: kind)
    try cable.server.addRoute("2001:db8:99::/64", kind: kind)
    let sites = try LabSites(cable.client)
    for (host, router, words) in [
      ("198.51.100.1", "10.0.0.2", words4), ("[2001:db8:99::1]", "2001:db8::2", words6),
    ] {
      let verdict = try await sites.check("http://\(host)/")
      #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
      #expect(verdict.error?.code == .cannotConnect && verdict.error?.errno != nil, "\(verdict)")
      let said = try #require(verdict.error?.message)
      #expect(said == "\(router) says: \(words)")
      #expect(verdict.interface?.name == "v0" && verdict.address != nil)
    }
  }

  /// The kernel asks for the neighbour three times, a second apart (arp(7)).
  @Test("a gateway that does not answer is named, and so is a silent host", arguments: [true, false])
  func aSilentGatewayOrHostIsNamed(isGateway: Bool) async throws {
    let cable = try LabCable()
    try cable.client.addRoute("198.51.100.0/24", via: "10.0.0.9", dev: "v0")
    try cable.client.addRoute("2001:db8:99::/64", via: "2001:db8::9", dev: "v0", family: .v6)
    let sites = try LabSites(cable.client)
    let hosts = isGateway ? ["198.51.100.1", "[2001:db8:99::1]"] : ["10.0.0.77", "[2001:db8::77]"]
    for (host, gateway) in zip(hosts, ["10.0.0.9", "2001:db8::9"]) {
      let verdict = try await sites.check("http://\(host)/")
      #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
      let expected = isGateway ? "the gateway \(gateway) does not answer" : "the host does not answer on the link"
      #expect(verdict.error?.message == expected, "\(verdict)")
    }
  }

  @Test("a host that refuses by itself does so in the system's words")
  func aHostThatRefusesIsToldInTheSystemsWords() async throws {
    let cable = try LabCable()
    let sites = try LabSites(cable.client)
    for host in ["192.0.2.80", "[2001:db8:80::80]"] {
      let verdict = try await sites.check("http://\(host)/")
      #expect(verdict.error?.message == "connection refused", "\(verdict)")
    }
  }

  @Test(
    "offline says which address has no path, and why", .enabled(if: NetworkLab.hasIPRoute2, "ip is needed"))
  func offlineNamesTheAddressWithoutAPath() async throws {
    let cable = try LabCable()
    try cable.server.down("far")
    // The kernel announces it a little later.
    try await eventually("the carrier's loss is noticed") {
      try cable.client.ip("link show v0").output.contains("NO-CARRIER")
    }
    let sites = try LabSites(cable.client, names: ["site.example": ["192.0.2.80"]])
    for host in ["192.0.2.80", "site.example"] {
      let verdict = try await sites.check("http://\(host)/")
      #expect(verdict.kind == .offline && verdict.error?.code == .noPath, "\(verdict)")
      #expect(verdict.error?.message.contains("no carrier") == true, "\(verdict)")
      #expect(verdict.address == IPAddress("192.0.2.80") && verdict.interface?.name == "v0", "\(verdict)")
    }
    // The reason is the path's, not the resolver's.
    let unknown = try await sites.check("http://nowhere.example/")
    #expect(unknown.kind == .offline && unknown.error?.code == .noPath, "\(unknown)")
    #expect(unknown.error?.message.contains("no carrier") == true, "\(unknown)")
  }
}
#endif
