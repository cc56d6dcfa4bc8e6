// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trial 53 of Sites.md, and `offline`: a verdict for each uplink, and none without one.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)))
struct UplinkTests {
  @Test("53: two uplinks, one captive: a verdict for each")
  func oneOfTwoIsCaptive() async throws {
    let cable = try LabCable()
    let captive = try NetworkLab()
    try LabCable.connect(cable.client, "w0", to: captive, 1)
    let site = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let portal = try await SiteServer(
      .redirect(to: "http://login.example/"), at: "192.0.2.80", port: 80, in: captive)
    let sites = try LabSites(cable.client)
    for (name, kind) in [("v0", SiteVerdict.Kind.available), ("w0", .captivePortal), ("v0", .available)] {
      let verdict = try await sites.check("http://192.0.2.80/") {
        $0.expectation = .status(204)
        $0.interface = name
      }
      #expect(verdict.kind == kind, "\(verdict)")
      #expect(verdict.interface?.name == name)
      #expect(verdict.interface?.index == UInt32(try cable.client.index(of: name)))
    }
    #expect(site.requests.count == 2 && portal.requests.count == 1)
    // Without a choice the kernel's default of the smaller metric is used.
    #expect(try await sites.check("http://192.0.2.80/").interface?.name == "v0")
    // Both at the same time.
    async let first = sites.check("http://192.0.2.80/") { $0.interface = "v0" }
    async let second = sites.check("http://192.0.2.80/") { $0.interface = "w0" }
    #expect(try await [first.kind, second.kind] == [.available, .captivePortal])
  }

  @Test("53: an uplink that is down, or not there, is offline; the other is not asked")
  func oneOfTwoIsDown() async throws {
    let cable = try LabCable()
    let other = try NetworkLab()
    try LabCable.connect(cable.client, "w0", to: other, 1)
    let site = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client)
    try cable.client.down("w0")
    for name in ["w0", "nothing0", "a-name-that-is-too-long", ""] {
      let verdict = try await sites.check("http://192.0.2.80/") { $0.interface = name }
      #expect(verdict.kind == .offline, "\(verdict)")
      #expect(verdict.stage == nil && verdict.status == nil)
    }
    #expect(site.connectionCount == 0)
  }

  @Test(
    "an interface may be named by an alternative name, also by one that is longer than its own may be",
    .enabled(if: NetworkLab.hasIPRoute2, "ip is needed"), arguments: ["up", "the-uplink-of-the-second-floor"])
  func anInterfaceMayHaveAnAlternativeName(_ alternative: String) async throws {
    let cable = try LabCable()
    let other = try NetworkLab()
    try LabCable.connect(cable.client, "w0", to: other, 1)
    let added = try cable.client.ip("link property add dev w0 altname \(alternative)")
    try #require(added.status == 0, "\(added)")
    let site = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let second = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: other)
    let sites = try LabSites(cable.client)
    let verdict = try await sites.check("http://192.0.2.80/") { $0.interface = alternative }
    #expect(verdict.kind == .available && verdict.interface?.name == "w0", "\(verdict)")
    #expect(site.connectionCount == 0 && second.requests.count == 1)
    let interface = try #require(verdict.interface)
    #expect(try cable.client.run { systemAlternativeNames(of: interface) } == [alternative])
  }

  @Test("a monitor without a path names the interface that has failed, as the path does")
  func offlineNamesItsInterface() async throws {
    let cable = try LabCable()
    let sites = try LabSites(cable.client)
    let site = try await SiteServer(.answer(204), at: "10.0.0.2", port: 80, in: cable.server)
    let monitor = try sites.monitor("http://10.0.0.2/") { $0.check.interface = "v0" }
    let recording = VerdictRecording(monitor)
    try await recording.wait(for: .available)
    try cable.client.down("v0")
    try await recording.wait(for: .offline)
    let path = ReachabilityMonitor(
      .address(IPAddress(ipv4: 0x0A00_0002)), configuration: monitor.configuration.check.path,
      environment: sites.environment.provider.reachability)
    let state = try await path.waitUntilDetermined()
    try await eventually("the monitor has taken it in") { monitor.current.interface == state.interface }
    withExtendedLifetime(site) {}
  }

  @Test("no path: offline at once, and nothing is sent")
  func withoutAPathItIsOfflineAtOnce() async throws {
    let lab = try NetworkLab()
    let sites = try LabSites(lab, names: ["site.example": ["192.0.2.80", "2001:db8:80::80"]])
    for host in ["192.0.2.80", "[2001:db8:80::80]", "site.example", "nowhere.example"] {
      for transport in Transport.allCases {
        let verdict = try await sites.check("\(transport)://\(host)/")
        #expect(verdict.kind == .offline, "\(verdict)")
        #expect(verdict.stage == nil && verdict.timings.connect == nil)
        // A known outcome is told at once.
        #expect(try #require(verdict.timings.total) < .seconds(10))
      }
    }
  }

  @Test("a path, but not for the name's addresses: offline; a name without addresses: failed")
  func aPathForOtherAddressesIsOffline() async throws {
    let cable = try LabCable()
    try cable.client.addRoute("192.0.2.0/24", kind: .unreachable)
    try cable.client.addRoute("2001:db8:80::/64", kind: .unreachable)
    let sites = try LabSites(cable.client, names: ["site.example": ["192.0.2.80", "2001:db8:80::80"]])
    #expect(try await sites.check("http://site.example/").kind == .offline)
    let verdict = try await sites.check("http://nowhere.example/")
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.stage == .name)
    #expect(verdict.error?.code == .nameNotResolved)
    #expect(verdict.address == nil && verdict.timings.connect == nil)
  }

  /// A network between 10.0.0.1 and 10.0.0.2 only.
  private func localNetwork() throws -> LabCable {
    let cable = try LabCable()
    try cable.client.deleteRoute("default", dev: "v0", family: .v4)
    try cable.client.deleteRoute("default", dev: "v0", family: .v6)
    return cable
  }

  @Test(
    "no path but to a name server: a name that does not resolve is no sign of being offline",
    arguments: [NameLookupResult.noAddress, .failed], [["10.0.0.2"], ["192.0.2.53", "10.0.0.2"]])
  func aPathToTheNameServerIsNotOffline(_ result: NameLookupResult, _ servers: [String]) async throws {
    let cable = try localNetwork()
    let sites = try LabSites(cable.client, lookup: { _, _ in result }, nameServers: servers)
    let verdict = try await sites.check("http://nowhere.example/")
    #expect(verdict.kind == .failed && verdict.stage == .name, "\(verdict)")
    #expect(verdict.error?.code == .nameNotResolved, "\(verdict)")
  }

  @Test("a name is asked for over any family: its server's failure is no sign that the wanted one has no path")
  func theFamilyOfANameIsNotThatOfItsServer() async throws {
    let cable = try LabCable()
    try cable.client.deleteRoute("default", dev: "v0", family: .v6)
    let sites = try LabSites(cable.client, lookup: { _, _ in .failed }, nameServers: ["127.0.0.53"])
    let verdict = try await sites.check("http://nowhere.example/") { $0.family = .ipv6 }
    #expect(verdict.kind == .failed && verdict.error?.code == .nameNotResolved, "\(verdict)")
  }

  @Test("no path but to a name server that says nothing within the timeout: failed")
  func aSilentNameServerWithAPathFails() async throws {
    let latch = Latch()
    let cable = try localNetwork()
    let sites = try LabSites(
      cable.client,
      lookup: { _, _ in
        latch.wait()
        return .failed
      }, nameServers: ["10.0.0.2"])
    let verdict = try await sites.check("http://nowhere.example/") { $0.timeout = .seconds(2) }
    #expect(verdict.kind == .failed && verdict.stage == .name && verdict.error?.code == .timedOut, "\(verdict)")
  }

  @Test("no path, not to a name server either: offline", arguments: [NameLookupResult.noAddress, .failed])
  func withoutAPathToTheNameServerItIsOffline(_ result: NameLookupResult) async throws {
    let cable = try localNetwork()
    let sites = try LabSites(cable.client, lookup: { _, _ in result }, nameServers: ["192.0.2.53"])
    let verdict = try await sites.check("http://nowhere.example/")
    #expect(verdict.kind == .offline, "\(verdict)")
  }

  @Test(
    "a name server on this machine: its answer counts, its silence says nothing of the paths that it has",
    arguments: [(NameLookupResult.noAddress, SiteVerdict.Kind.failed), (.failed, .offline)])
  func aLocalNameServersSilenceDoesNotCount(_ result: NameLookupResult, _ kind: SiteVerdict.Kind) async throws {
    let cable = try localNetwork()
    let sites = try LabSites(cable.client, lookup: { _, _ in result }, nameServers: ["127.0.0.53"])
    let verdict = try await sites.check("http://nowhere.example/")
    #expect(verdict.kind == kind, "\(verdict)")
  }

  @Test("a monitor says the same as a check if only the name server has a path")
  func aMonitorAgreesWithACheck() async throws {
    let cable = try localNetwork()
    let sites = try LabSites(cable.client, lookup: { _, _ in .noAddress }, nameServers: ["10.0.0.2"])
    let monitor = try SiteMonitor("http://nowhere.example/", environment: sites.environment)
    let verdict = try await monitor.waitUntilKnown(timeout: .seconds(60))
    #expect(verdict.kind == .failed && verdict.stage == .name, "\(verdict)")
  }

  @Test(
    "rules by protocol and port: what decides is the check's own, TCP to the site's port",
    .enabled(if: NetworkLab.hasIPRoute2, "ip is needed"), arguments: [false, true])
  func rulesByProtocolAndPort(isMonitor: Bool) async throws {
    let cable = try LabCable()
    let site = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let other = try await SiteServer(.answer(204), at: "192.0.2.80", port: 8080, in: cable.server)
    let sites = try LabSites(cable.client, names: ["site.example": ["192.0.2.80"]])
    func verdict(_ url: String) async throws -> SiteVerdict {
      if !isMonitor { return try await sites.check(url) }
      return try await sites.monitor(url).waitUntilKnown(timeout: .seconds(60))
    }
    for rule in ["ipproto udp unreachable", "ipproto tcp dport 8080 prohibit", "ipproto tcp dport 443 unreachable"] {
      let added = try cable.client.ip("rule add \(rule)")
      try #require(added.status == 0, "\(added)")
    }
    for host in ["192.0.2.80", "site.example"] {
      #expect(try await verdict("http://\(host)/").kind == .available)
      // connect(2) fails with EACCES.
      let prohibited = try await verdict("http://\(host):8080/")
      #expect(prohibited.kind == .offline && prohibited.error?.code == .noPath, "\(prohibited)")
      #expect(prohibited.error?.message.contains("prohibits") == true, "\(prohibited)")
      #expect(try await verdict("https://\(host)/").kind == .offline)
    }
    #expect(site.requests.count == 2 && other.connectionCount == 0)
  }

  @Test("only one family has a path: the other is not tried")
  func aFamilyWithoutAPathIsNotTried() async throws {
    let cable = try LabCable()
    try cable.client.deleteAddress("2001:db8:0::1/64", "v0")
    let server = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client, names: ["site.example": ["2001:db8:80::80", "192.0.2.80"]])
    let verdict = try await sites.check("http://site.example/")
    #expect(verdict.kind == .available, "\(verdict)")
    #expect(verdict.address == IPAddress("192.0.2.80"))
    #expect(server.requests.count == 1)
  }
}
#endif
