// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// `Reachability.reasons` in real networks: the first fault names the link, the rule or the route.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)), .fewAtATime)
struct ReasonsTests {
  private func steps(
    _ lab: NetworkLab, _ target: ReachabilityTarget = .internet,
    _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws -> [DiagnosisStep] {
    var configuration = ReachabilityConfiguration()
    configuration.family = .ipv4
    change(&configuration)
    return try lab.run { [configuration] in try Reachability.reasons(for: target, configuration: configuration) }
  }

  private func fault(_ steps: [DiagnosisStep]) throws -> DiagnosisStep {
    try #require(steps.first { $0.outcome == .fault }, "\(steps)")
  }

  private func expect(
    _ lab: NetworkLab, _ kind: DiagnosisStep.Kind, _ cause: DiagnosisCause, names text: String,
    _ change: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws {
    let found = try fault(try steps(lab, .internet, change))
    #expect(found.kind == kind && found.cause == cause, "\(found)")
    #expect(found.text.contains(text), "\(found)")
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
    let steps = try steps(lab)
    #expect(!steps.contains { $0.outcome == .fault }, "\(steps)")
    let route = try #require(steps.first { $0.kind == .route })
    #expect(route.text.contains("default via 10.0.0.2 dev v0") && route.text.contains("table main"), "\(route)")
    let rule = try #require(steps.first { $0.kind == .rule })
    #expect(rule.text == "32766: from all lookup main")
    #expect(steps.first { $0.kind == .source }?.text == "10.0.0.1")
  }

  /// What `ip route show table local` lists, whether or not the kernel keeps it and main as one.
  @Test func namesTheLocalTable() async throws {
    let lab = try await network()
    for round: UInt32 in 0..<2 {
      for address in ["127.0.0.1", "10.0.0.1"] {
        let steps = try steps(lab, .address(try #require(IPAddress(address))))
        let route = try #require(steps.first { $0.kind == .route })
        #expect(route.outcome == .ok && route.text.contains("table local"), "\(route)")
        #expect(steps.first { $0.kind == .rule }?.text == "0: from all lookup local")
      }
      // A rule of one's own has the kernel part them.
      try lab.addRule(priority: 100 + round, .prohibit)
    }
  }

  @Test func namesTheLink() async throws {
    let lab = try await network()
    try lab.down("v1")
    try await lab.waitUntilOperating("v0", false)
    try expect(lab, .link, .noCarrier, names: "v0")
    try lab.down("v0")
    try expect(lab, .link, .linkDown, names: "v0")
    try expect(lab, .link, .noInterface, names: "nosuch0") { $0.interface = "nosuch0" }
  }

  @Test func namesTheAddressThatIsMissing() async throws {
    let lab = try await network()
    try lab.deleteAddress("10.0.0.1/24", "v0")
    try expect(lab, .address, .noAddress, names: "v0")
    try lab.addAddress("169.254.7.7/16", "v0")
    try expect(lab, .address, .noAddress, names: "169.254.7.7")
  }

  @Test func namesTheRuleThatRefuses() async throws {
    let lab = try await network()
    try lab.addRule(priority: 100, .prohibit)
    try expect(lab, .rule, .ruleRefuses, names: "100: from all prohibit")
    try lab.deleteRule(priority: 100)
    try lab.addRule(priority: 200, .unreachable, mark: 7)
    try expect(lab, .rule, .ruleRefuses, names: "200: from all fwmark 0x7") { $0.mark = 7 }
    #expect(try steps(lab).allSatisfy { $0.outcome != .fault })
  }

  @Test(arguments: [LabRouteKind.unreachable, .prohibit, .blackhole])
  func namesTheRouteThatRefuses(kind: LabRouteKind) async throws {
    let lab = try await network()
    try lab.deleteRoute("default")
    try expect(lab, .route, .noRoute, names: "no route")
    try lab.addRoute("default", kind: kind)
    try expect(lab, .route, .routeRefuses, names: "\(kind) default")
  }

  @Test func findsNoNameByItself() throws {
    let lab = try NetworkLab()
    let steps = try steps(lab, try .host("example.com"))
    #expect(steps.map(\.kind) == [.name] && steps[0].outcome == .skipped)
  }
}
#endif
