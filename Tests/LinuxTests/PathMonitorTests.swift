// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Paths of real links, addresses, routes and rules: what is listed, in which order, and what changes it.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PathMonitorTests {
  /// v0 and w0 with addresses of both families, and a default route of each with those metrics.
  private func make(_ family: LabFamily, v0: UInt32, w0: UInt32) throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    for (number, name, metric) in [(0, "v", v0), (1, "w", w0)] {
      try lab.addVeth("\(name)0", "\(name)1")
      try lab.up("\(name)0", "\(name)1")
      try lab.addAddress("10.\(number).0.1/24", "\(name)0")
      try lab.addAddress("2001:db8:\(number)::1/64", "\(name)0")
      let gateway = family == .v4 ? "10.\(number).0.2" : "2001:db8:\(number)::2"
      try lab.addRoute("default", via: gateway, dev: "\(name)0", metric: metric, family: family)
    }
    return lab
  }

  @Test("the lower metric comes first", arguments: LabFamily.allCases)
  func theLowerMetricComesFirst(family: LabFamily) async throws {
    let lab = try make(family, v0: 600, w0: 100)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    let digit = family == .v4 ? "4" : "6"
    try await monitors.expect(path, "satisfied \(digit): w0 \(digit), v0 \(digit)")
    let last = try #require(path.last)
    #expect(
      last.gateways.map(\.description)
        == (family == .v4 ? ["10.1.0.2", "10.0.0.2"] : ["2001:db8:1::2", "2001:db8::2"]))
    #expect(last.interfaces.map(\.identity) == [try lab.interface("w0"), try lab.interface("v0")])
    #expect(
      last.interfaces.map(\.addresses).map { $0.map(\.description) }
        == [["10.1.0.1", "2001:db8:1::1"], ["10.0.0.1", "2001:db8::1"]])
    #expect(try #require(last.timestamp).durationSince1970 > .seconds(1_700_000_000))
  }

  @Test("the order follows the routes, one delivery for each change", arguments: LabFamily.allCases)
  func theOrderFollowsTheRoutes(family: LabFamily) async throws {
    let lab = try make(family, v0: 100, w0: 600)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    let digit = family == .v4 ? "4" : "6"
    let (both, one) = ("satisfied \(digit): v0 \(digit), w0 \(digit)", "satisfied \(digit): w0 \(digit), v0")
    try lab.deleteRoute("default", dev: "v0", metric: 100, family: family)
    try await monitors.expect(path, both, one)
    let gateway = family == .v4 ? "10.0.0.2" : "2001:db8::2"
    try lab.addRoute("default", via: gateway, dev: "v0", metric: 700, family: family)
    let other = "satisfied \(digit): w0 \(digit), v0 \(digit)"
    try await monitors.expect(path, both, one, other)
    try lab.deleteRoute("default", dev: "w0", metric: 600, family: family)
    try lab.deleteRoute("default", dev: "v0", metric: 700, family: family)
    try await path.wait("neither") { $0.status == .unsatisfied }
    #expect(path.last?.outline == "no-route: v0, w0")
  }

  @Test("a link that is switched off leaves the path, and comes back")
  func aLinkThatIsSwitchedOffLeavesThePath() async throws {
    let lab = try make(.v4, v0: 100, w0: 600)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try lab.down("v0")
    try await monitors.expect(path, "satisfied 4: v0 4, w0 4", "satisfied 4: w0 4")
    try lab.deleteLink("w0")
    try await path.wait("neither") { $0.interfaces.isEmpty }
    #expect(path.last?.status == .unsatisfied)
  }

  @Test("carrier lost: unbound packets go on into the dead link, and only bound ones leave by the other")
  func boundPacketsAvoidALinkWithoutCarrier() async throws {
    let lab = try make(.v4, v0: 100, w0: 600)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    let over = try await monitors.recordPath { $0.interface = "w0" }
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try await monitors.expect(path, "satisfied 4: v0 4, w0 4", "no-carrier: w0 4")
    #expect(path.last?.preferredInterface == nil)
    #expect(path.last?.gateways == [])
    try await monitors.expect(over, "satisfied 4: w0 4")
    try lab.up("v1")
    try await lab.waitUntilOperating("v0", true)
    try await monitors.expect(path, "satisfied 4: v0 4, w0 4", "no-carrier: w0 4", "satisfied 4: v0 4, w0 4")
  }

  @Test("an address that goes takes its interface along, and comes back with it")
  func anAddressThatGoesTakesItsInterfaceAlong() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    try lab.addAddress("10.0.0.7/24", "v0")
    try await path.wait("a second address") { $0.interfaces.first?.addresses.count == 2 }
    try lab.deleteAddress("10.0.0.7/24", "v0")
    try lab.deleteAddress("10.0.0.1/24", "v0")
    try await path.wait("no address") { $0.interfaces.isEmpty }
    try lab.addAddress("10.0.0.1/24", "v0")
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await path.wait("back") { $0.outline == "satisfied 4: v0 4" }
  }

  @Test("only IPv6, by a link-local router")
  func ipv6AloneSatisfies() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("fe80::1/64", "v0")
    try lab.addRoute("default", via: "fe80::2", dev: "v0", family: .v6)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    // No answer can reach a link-local address from afar, so the link is taken to be not set up.
    try await monitors.expect(path, "no-address: ")
    try lab.addAddress("2001:db8::1/64", "v0")
    try await monitors.expect(path, "no-address: ", "satisfied 6: v0 6")
    #expect(path.last?.gateways == [try address("fe80::2")])
    // The kernel finds routes by an address before it announces that. Of another address nothing is delivered.
    try await eventually("it has both addresses") {
      path.monitor.current.interfaces.first?.addresses.map(\.description) == ["2001:db8::1", "fe80::1"]
    }
    #expect(path.last?.supportsIPv4 == false)
  }

  @Test("a temporary address rotates: no delivery, and the present one can be read")
  func temporaryAddressRotates() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.sysctl("ipv6/conf/default/use_tempaddr", 2)
    try lab.sysctl("ipv6/conf/default/accept_dad", 0)
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let managing: LabAddressFlags = [.noDAD, .managesTemporary]
    try lab.addAddress("2001:db8::1/64", "v0", flags: managing, valid: 5000, preferred: 4000)
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath()
    let current = { path.monitor.current.interfaces.first?.temporaryAddresses ?? [] }
    // It is tentative until the kernel's worker has looked at it (addrconf_dad_work), whatever accept_dad is.
    try await eventually("there is a temporary address") { current().count == 1 }
    let first = current()
    try lab.address(.change, "2001:db8::1/64", "v0", flags: .noDAD, valid: 5000, preferred: 4000)
    try await eventually(within: .patience, "the temporary address is gone") { current().isEmpty }
    try lab.address(.change, "2001:db8::1/64", "v0", flags: managing, valid: 5000, preferred: 4000)
    try await eventually(within: .patience, "there is a new one") { !current().isEmpty }
    #expect(current() != first)
    try await monitors.expect(path, "satisfied 6: v0 6")
  }

  @Test("if announcements were lost and the tables are read anew, nothing is delivered twice")
  func tablesReadAnewDeliverNothingTwice() async throws {
    let lab = try make(.v4, v0: 100, w0: 600)
    // Added in an order other than that of a dump.
    for number in [9, 3, 7] {
      try lab.addAddress("2001:db8::\(number)/64", "v0")
      try lab.addAddress("10.0.0.\(number)/24", "v0")
    }
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    try lab.addAddress("10.0.0.5/24", "v0")
    let path = try await monitors.recordPath()
    try lab.addAddress("10.0.0.4/24", "v0")
    try lab.deleteAddress("2001:db8::3/64", "v0")
    try lab.addAddress("2001:db8::3/64", "v0")
    try await path.wait("all addresses") { $0.interfaces.first?.addresses.count == 10 }
    let count = path.paths.count
    for _ in 0..<5 {
      probe.rereadTables(1)
      try await monitors.settle()
    }
    #expect(path.paths.count == count)
  }
}
#endif
