// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Alternative names of interfaces, which udev gives to most cards. Everything that finds an interface by its name also
/// finds it by these.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .enabled(if: NetworkLab.hasIPRoute2, "needs ip of iproute2"), .timeLimit(.minutes(5)))
struct AlternativeNameTests {
  private static let long = "enx" + String(repeating: "0123", count: 31)

  private func property(_ verb: String, _ name: String, _ lab: NetworkLab) throws {
    let result = try lab.ip("link property \(verb) dev v0 altname \(name)")
    try #require(result.status == 0, "\(result.error)")
  }

  @Test("a target over an alternative name follows that name as it comes and goes", arguments: ["uplink", long])
  func aTargetFollowsAnAlternativeName(name: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let bound = try await monitors.record { $0.interface = name }
    let none = try lab.unreachable(.noInterface)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(bound, none)
    try property("add", name, lab)
    // The kernel finds it, too.
    #expect(try lab.ip("-oneline link show dev \(name)").output.contains(" v0@"))
    try await monitors.expect(bound, none, v0)
    try property("del", name, lab)
    #expect(try lab.ip("-oneline link show dev \(name)").status != 0)
    try await monitors.expect(bound, none, v0, none)
  }

  @Test("a real socket that is bound to the name goes the same way")
  func aRealSocketGoesTheSameWay() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 5)
    try property("add", "uplink", lab)
    var connection = LabConnection(to: "198.41.0.4")
    connection.interface = "uplink"
    let found = try lab.connect(connection)
    #expect(found.isSent && found.gateway == "10.0.0.2", "\(found)")
    let monitors = try LabMonitors(lab)
    let bound = try await monitors.record(.address("198.41.0.4")) { $0.interface = "uplink" }
    try await monitors.expect(bound, lab.reachable("v0", via: found.gateway))
  }

  @Test("the zone of an address may be an alternative name")
  func aZoneMayBeAnAlternativeName() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try property("add", "uplink", lab)
    try lab.addAddress("fe80::1/64", "v0")
    let monitors = try LabMonitors(lab)
    let neighbour = try await monitors.record(.address("fe80::2%uplink"))
    let v0 = try lab.reachable("v0", flags: .isDirect)
    try await neighbour.wait("over v0") { $0 ≈ v0 }
    try property("del", "uplink", lab)
    let none = try lab.unreachable(.noInterface)
    try await neighbour.wait("no interface") { $0 ≈ none }
  }

  @Test("the kernel is asked for the names of one link alone")
  func theNamesOfOneLinkAreAskedFor() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try property("add", "uplink", lab)
    try property("add", Self.long, lab)
    let index = try lab.interface("v0").index
    let names = try lab.run { [alternativeNames(ofInterface: index), alternativeNames(ofInterface: 1)] }
    #expect(names == [["uplink", Self.long], []])
    #expect(try lab.run { alternativeNames(ofInterface: 4_711) } == [])
  }

  @Test("a path over an alternative name leads over that interface and costs what it costs")
  func aPathMayNameAnAlternativeName() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try property("add", Self.long, lab)
    let monitors = try LabMonitors.forPaths(lab)
    let path = try await monitors.recordPath {
      $0.interface = Self.long
      $0.meteredInterfaces = [Self.long]
    }
    try await monitors.expect(path, "satisfied 4: v0 4")
    #expect(path.last?.isExpensive == true)
  }
}
#endif
