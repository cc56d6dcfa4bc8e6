// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// What connect(2) obeys and no query shows: each entry of "What cannot be known" that this kernel can play.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2 as the judge"),
  .timeLimit(.minutes(5)))
struct UnknowableTests {
  private static let target = "198.51.100.7"

  /// Expects that the target reads reachable although the connection fails with the errno, and that a connection
  /// without the property does not fail.
  private func expect(
    _ lab: NetworkLab, _ error: CInt, _ change: (inout LabConnection) -> Void = { _ in }
  ) async throws {
    try await lab.waitForCarriers()
    var connection = LabConnection(to: Self.target)
    change(&connection)
    // A firewall's answer may come a moment after the call.
    try await eventually("\(connection) fails with \(error)") { try lab.connect(connection).error == error }
    let target = try ReachabilityTarget.address(Self.target)
    let state = try lab.run { Reachability.now(target, environment: .ofItsOwn()) }
    #expect(state ≈ (try lab.reachable("v0", via: "10.0.0.2")))
  }

  @Test func rulesBySourcePortAreNotSeen() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    #expect(try lab.ip("rule add pref 50 ipproto tcp sport 1000-2000 prohibit").status == 0)
    try await expect(lab, EACCES) { $0.sourcePort = 1500 }
    try await expect(lab, 0)
  }

  @Test func rulesByTypeOfServiceAreNotSeen() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    #expect(try lab.ip("rule add pref 50 tos 0x10 prohibit").status == 0)
    try await expect(lab, EACCES) { $0.typeOfService = 0x10 }
    try await expect(lab, 0)
  }

  @Test(.enabled(if: NetworkLab.hasTransformations, "needs a kernel with xfrm"))
  func policiesOfTransformationAreNotSeen() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    #expect(
      try lab.ip("xfrm policy add src 0.0.0.0/0 dst 198.51.100.0/24 dir out action block").status == 0)
    try await expect(lab, EPERM)
  }

  @Test(.enabled(if: NetworkLab.hasFirewall, "needs nft, and a kernel with nftables"))
  func firewallsAreNotSeen() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.nft(
      "add table inet t", "add chain inet t o { type filter hook output priority 0; }",
      "add rule inet t o ip daddr 198.51.100.0/24 reject with icmp type admin-prohibited")
    try await expect(lab, EHOSTUNREACH)
  }

  @Test("an IPv4 socket that is bound to an interface without a route takes every address for a neighbour's")
  func neighboursThatTheKernelInvents() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try await lab.waitForCarriers()
    var connection = LabConnection(to: Self.target)
    connection.interface = "w0"
    #expect(try lab.connect(connection).isSent)
    let target = try ReachabilityTarget.address(Self.target)
    var configuration = ReachabilityConfiguration()
    configuration.interface = "w0"
    let state = try lab.run { [configuration] in
      Reachability.now(target, configuration: configuration, environment: .ofItsOwn())
    }
    #expect(state ≈ (try lab.unreachable(.noRoute)))
  }

  @Test("a source that cannot be answered counts as none: 0.0.0.0, or a link-local one for a distant target")
  func sourcesThatCannotBeAnsweredCountAsNone() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addRoute("default", dev: "v0")
    try lab.addRoute("default", via: "fe80::2", dev: "v0")
    try await eventually("the kernel's own link-local address is usable") {
      // Before that, the source is ::1.
      try lab.connect(LabConnection(to: "2001:db8:ffff::1")).source?.hasPrefix("fe80::") ?? false
    }
    for (text, isLinkLocal) in [("198.51.100.7", false), ("2001:db8:ffff::1", true)] {
      let outcome = try lab.connect(LabConnection(to: text))
      #expect(outcome.isSent)
      #expect(outcome.source?.hasPrefix("fe80::") == isLinkLocal)
      let target = try ReachabilityTarget.address(text)
      let state = try lab.run { Reachability.now(target, environment: .ofItsOwn()) }
      #expect(state ≈ (try lab.unreachable(.noAddress, "v0")))
    }
    // A neighbour can: each link has fe80::/64 (RFC 4291, 2.5.6).
    try lab.addRoute("2001:db8:1::/64", dev: "v0")
    #expect(try lab.connect(LabConnection(to: "2001:db8:1::1")).source?.hasPrefix("fe80::") == true)
    let neighbour = try ReachabilityTarget.address("2001:db8:1::1")
    let near = try lab.run { Reachability.now(neighbour, environment: .ofItsOwn()) }
    #expect(near.isReachable && near.source?.isLinkLocal == true && near.gateway == nil, "\(near)")
  }

  @Test("of several hops the first usable one is told, though the kernel spreads the flows")
  func hopsAreChosenByAHash() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.route(
      .replace, "default", hops: [LabHop(via: "10.0.0.2", dev: "v0"), LabHop(via: "10.1.0.2", dev: "w0")])
    try await lab.waitForCarriers()
    var links: Set<String> = []
    for number in 1...64 {
      let target = "198.51.100.\(number)"
      links.insert(try #require(try lab.connect(LabConnection(to: target)).link))
      let told = try ReachabilityTarget.address(target)
      let state = try lab.run { Reachability.now(told, environment: .ofItsOwn()) }
      #expect(state ≈ (try lab.reachable("v0", via: "10.0.0.2")))
    }
    #expect(links == ["v0", "w0"])
  }
}
#endif
