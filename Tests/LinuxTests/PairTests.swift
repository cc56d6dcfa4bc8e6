// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Targets with a local address.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PairTests {
  private func pair(_ remote: String, _ local: String) throws -> ReachabilityTarget {
    .address(try address(remote), from: try address(local))
  }

  @Test func localAddressIsOurs() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    let monitors = try LabMonitors(lab)
    let four = try await monitors.record(pair("192.0.2.1", "10.0.0.1"))
    let six = try await monitors.record(pair("2001:db8:1::1", "2001:db8::1"))
    let mapped = try await monitors.record(pair("::ffff:192.0.2.1", "::ffff:10.0.0.1"))
    try await monitors.expect(four, lab.reachable("v0", via: "10.0.0.2"))
    try await monitors.expect(six, lab.reachable("v0", via: "2001:db8::2"))
    try await monitors.expect(mapped, lab.reachable("v0", via: "10.0.0.2"))
    #expect(four.last?.source == IPAddress("10.0.0.1"))
  }

  @Test("the unspecified address is the Internet, from there")
  func theUnspecifiedRemoteAddressIsTheInternet() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    let monitors = try LabMonitors(lab)
    let four = try await monitors.record(pair("0.0.0.0", "10.0.0.1"))
    let six = try await monitors.record(pair("::", "2001:db8::1"))
    let foreign = try await monitors.record(pair("0.0.0.0", "10.0.0.9"))
    let mixed = try await monitors.record(pair("::", "10.0.0.1"))
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(four, v0)
    try await monitors.expect(six, lab.reachable("v0", via: "2001:db8::2"))
    try await monitors.expect(foreign, lab.unreachable(.noAddress))
    try await monitors.expect(mixed, lab.unreachable(.noAddress))
    #expect(four.last?.source == IPAddress("10.0.0.1"))
    #expect(six.last?.source == IPAddress("2001:db8::1"))
    try lab.deleteRoute("default")
    try await monitors.expect(four, v0, lab.unreachable(.noRoute))
  }

  @Test func oneOfTwoPeersOfALocalAddressIsDeleted() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("10.0.0.1/32", "v0", peer: "10.0.0.2/32")
    try lab.addAddress("10.0.0.1/32", "v0", peer: "10.0.0.3/32")
    let monitors = try LabMonitors(lab)
    let second = try await monitors.record(pair("10.0.0.3", "10.0.0.1"))
    try await second.wait("reachable") { $0.isVia("v0") }
    #expect(try lab.ip("address del 10.0.0.1 peer 10.0.0.2/32 dev v0").status == 0)
    try await monitors.settle()
    // The address is still there, with the other peer.
    #expect(second.last?.isVia("v0") == true)
  }

  // MARK: What makes a source this machine's

  /// Expects what bind(2) and connect(2) of a socket find.
  private func agree(
    _ monitors: LabMonitors, _ recording: Recording, _ remote: String, _ local: String?, error: CInt,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    var connection = LabConnection(to: remote)
    connection.source = local
    connection.isSilent = true
    try await monitors.settle()
    #expect(try monitors.lab.socket(connection).error == error, sourceLocation: sourceLocation)
    #expect(recording.last?.isReachable == (error == 0), sourceLocation: sourceLocation)
  }

  @Test func anAddressWhosePeerHasChangedIsDeleted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    try lab.addAddress("2001:db8:7::1/128", "v0")
    let monitors = try LabMonitors(lab)
    let (remote, local) = ("2001:db8:1::1", "2001:db8:7::1")
    let recording = try await monitors.record(pair(remote, local))
    #expect(try lab.ip("address change \(local) peer 2001:db8:8::1/128 dev v0").status == 0)
    try await agree(monitors, recording, remote, local, error: 0)
    #expect(try lab.ip("address del \(local) peer 2001:db8:8::1/128 dev v0").status == 0)
    try await agree(monitors, recording, remote, local, error: EADDRNOTAVAIL)
  }

  @Test func anAddressThatIsKeptWhileItsLinkIsOffIsNone() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    try lab.sysctl("ipv6/conf/w0/keep_addr_on_down", 1)
    try lab.addAddress("2001:db8:7::1/64", "w0")
    // Duplicate address detection, which sends nothing and waits for nothing.
    try lab.sysctl("ipv6/conf/w0/dad_transmits", 0)
    try lab.addAddress("2001:db8:7::2/64", "w0", flags: [])
    let monitors = try LabMonitors(lab)
    let remote = "2001:db8:1::1"
    let without = try await monitors.record(pair(remote, "2001:db8:7::1"))
    let with = try await monitors.record(pair(remote, "2001:db8:7::2"))
    try await with.wait("reachable") { $0.isReachable }
    try lab.down("w0")
    // Without duplicate address detection it stays usable.
    try await agree(monitors, without, remote, "2001:db8:7::1", error: 0)
    try await agree(monitors, with, remote, "2001:db8:7::2", error: EADDRNOTAVAIL)
    try lab.up("w0")
    try await with.wait("reachable") { $0.isReachable }
    try await agree(monitors, with, remote, "2001:db8:7::2", error: 0)
  }

  @Test func aLocalRouteMakesSources() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let bound = try await monitors.record(pair("198.51.100.1", "10.9.9.1"))
    try await agree(monitors, bound, "198.51.100.1", "10.9.9.1", error: EADDRNOTAVAIL)
    #expect(try lab.ip("route add local 10.9.9.0/24 dev lo").status == 0)
    try await agree(monitors, bound, "198.51.100.1", "10.9.9.1", error: 0)
    #expect(try lab.ip("route add 203.0.113.0/24 via 10.0.0.2 src 10.9.9.1").status == 0)
    let chosen = try await monitors.record(.address(try address("203.0.113.1")))
    try await agree(monitors, chosen, "203.0.113.1", nil, error: 0)
    #expect(try lab.ip("route del local 10.9.9.0/24 dev lo").status == 0)
    try await agree(monitors, bound, "198.51.100.1", "10.9.9.1", error: EADDRNOTAVAIL)
    try await agree(monitors, chosen, "203.0.113.1", nil, error: ENETUNREACH)
  }

  @Test(
    "a local address that is not ours, or cannot be the source, is no address",
    arguments: [
      ("192.0.2.1", "10.0.0.9"), ("2001:db8:1::1", "2001:db8::9"), ("192.0.2.1", "2001:db8::1"),
      ("2001:db8:1::1", "10.0.0.1"),
    ])
  func aForeignLocalAddressIsNoAddress(remote: String, local: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    let monitors = try LabMonitors(lab)
    let recording = try await monitors.record(pair(remote, local))
    try await monitors.expect(recording, lab.unreachable(.noAddress))
  }

  @Test("a loopback address reaches nothing but this machine")
  func aLoopbackSourceReachesOnlyThisMachine() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let away = try await monitors.record(pair("192.0.2.1", "127.0.0.1"))
    let here = try await monitors.record(pair("127.0.0.2", "127.0.0.1"))
    try await monitors.expect(away, lab.unreachable(.noAddress))
    try await monitors.expect(here, lab.reachable("lo", .loopback, flags: .isLocalAddress))
  }

  @Test func localAddressComesAndGoes() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let recording = try await monitors.record(pair("192.0.2.1", "10.0.0.7"))
    let without = try lab.unreachable(.noAddress)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try lab.addAddress("10.0.0.7/24", "v0")
    try await monitors.expect(recording, without, v0)
    try lab.deleteAddress("10.0.0.7/24", "v0")
    try await monitors.expect(recording, without, v0, without)
  }

  @Test("the local address decides the way if a rule says so")
  func aRuleBySourceDecidesTheWay() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 77)
    let monitors = try LabMonitors(lab)
    let fromV = try await monitors.record(pair("192.0.2.1", "10.0.0.1"))
    let fromW = try await monitors.record(pair("192.0.2.1", "10.1.0.1"))
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try lab.addRule(priority: 100, .lookup(77), from: "10.1.0.1/32")
    try await monitors.expect(fromV, v0)
    try await monitors.expect(fromW, v0, lab.reachable("w0", via: "10.1.0.2"))
  }

  @Test("a pair of link-local addresses is reached over its zone, and over no other")
  func aLinkLocalPairIsReachedOverItsZone() async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("fe80::1/64", "v0")
    let monitors = try LabMonitors(lab)
    let ours = try await monitors.record(pair("fe80::9%v0", "fe80::1"))
    let others = try await monitors.record(pair("fe80::9%v1", "fe80::1"))
    try await monitors.expect(ours, lab.reachable("v0", flags: .isDirect))
    try await monitors.expect(others, lab.unreachable(.noAddress))
  }
}
#endif
