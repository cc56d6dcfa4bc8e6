// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// `Reachability.kernelFindings` in real networks: the first fault names the link, the rule or the route.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct KernelFindingLabTests {
  private func steps(
    _ lab: NetworkLab, _ target: ReachabilityTarget = .internet,
    _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws -> [KernelFinding] {
    var configuration = ReachabilityConfiguration()
    configuration.family = .ipv4
    change(&configuration)
    return try lab.run { [configuration] in try Reachability.kernelFindings(for: target, configuration: configuration) }
  }

  private func expect(
    _ lab: NetworkLab, _ result: KernelFinding.Result, _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws {
    let found = try steps(lab, .internet, change)
    let fault = found.first { $0.isFault }
    #expect(fault?.result == result, "\(found.map(\.result))")
  }

  private func network() async throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.up("lo")
    try await lab.waitForCarriers()
    return lab
  }

  @Test func namesTheWayWhereThereIsOne() async throws {
    let lab = try await network()
    let found = try steps(lab).map(\.result)
    let (own, gateway) = (try #require(IPAddress("10.0.0.1")), try #require(IPAddress("10.0.0.2")))
    #expect(found.contains(.route(.leads(gateway: gateway, interface: "v0"))), "\(found)")
    #expect(found.contains(.rule(.passes(priority: 32_766))), "\(found)")
    #expect(found.contains(.source(.address(own))), "\(found)")
  }

  /// What `ip route show table local` lists, whether or not the kernel keeps it and main as one.
  @Test func namesTheLocalTable() async throws {
    let lab = try await network()
    for round: UInt32 in 0..<2 {
      for address in ["127.0.0.1", "10.0.0.1"] {
        let found = try steps(lab, .address(try #require(IPAddress(address))))
        #expect(found.last?.evidence?.route?.table == RouteTableName.local, "\(found)")
        #expect(found.contains { $0.result == .rule(.passes(priority: 0)) }, "\(found)")
      }
      // A rule of one's own has the kernel part them.
      try lab.addRule(priority: 100 + round, .prohibit)
    }
  }

  @Test func namesTheLink() async throws {
    let lab = try await network()
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try expect(lab, .link(.fails("v0", .noCarrier, isNamed: true)))
    try lab.down("v0")
    try expect(lab, .link(.fails("v0", .linkDown, isNamed: true)))
    try expect(lab, .link(.missing("nosuch0"))) { $0.interface = "nosuch0" }
  }

  @Test func namesTheAddressThatIsMissing() async throws {
    let lab = try await network()
    try lab.deleteAddress("10.0.0.1/24", "v0")
    try expect(lab, .address(.missing))
    try lab.addAddress("169.254.7.7/16", "v0")
    try expect(lab, .address(.linkLocal(try #require(IPAddress("169.254.7.7")))))
  }

  @Test func namesTheRuleThatRefuses() async throws {
    let lab = try await network()
    try lab.addRule(priority: 100, .prohibit)
    try expect(lab, .rule(.refuses(priority: 100, isProven: true)))
    try lab.deleteRule(priority: 100)
    try lab.addRule(priority: 200, .unreachable, mark: 7)
    try expect(lab, .rule(.refuses(priority: 200, isProven: true))) { $0.mark = 7 }
    let found = try steps(lab)
    #expect(found.allSatisfy { !$0.isFault })
  }

  @Test(arguments: [
    (LabRouteKind.unreachable, Reachability.Reason.unreachableRoute), (.prohibit, .prohibited),
    (.blackhole, .blackhole),
  ])
  func namesTheRouteThatRefuses(kind: LabRouteKind, reason: Reachability.Reason) async throws {
    let lab = try await network()
    try lab.deleteRoute("default")
    try expect(lab, .route(.missing))
    try lab.addRoute("default", kind: kind)
    try expect(lab, .route(.refuses(reason)))
  }

  /// The kernel says that there is no route, although the table main has one.
  @Test func namesTheRouteThatNoPacketTakes() async throws {
    let lab = try await network()
    #expect(try steps(lab).last?.evidence?.unusedRoute == nil)
    try lab.addRoute("198.41.0.0/24", kind: .throw)
    try expect(lab, .route(.missing))
    let thrown = try #require(try steps(lab).last?.evidence?.unusedRoute)
    #expect(thrown.type == .throw && thrown.prefixLength == 24)
    try lab.deleteRoute("198.41.0.0/24", kind: .throw)
    try lab.deleteRule(priority: 32_766)
    try expect(lab, .route(.missing))
    let unused = try #require(try steps(lab).last?.evidence?.unusedRoute)
    #expect(unused.type == .unicast && unused.prefixLength == 0 && unused.hops.first?.link == "v0")
  }

  @Test func findsNoNameByItself() throws {
    let lab = try NetworkLab()
    let found = try steps(lab, try .host("example.com"))
    #expect(found.isEmpty)
  }
}
#endif
