// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// A pair and its remote address are asked about together. Where the answer about the remote address tells about the
/// pair, the kernel is not asked twice; the answers are those to each alone, which ConnectLookupTests compares with
/// what a socket finds.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct SharedAnswerTests {
  private static let far = "198.51.100.7"

  /// B and W, with a default route by B.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600)
    try await lab.waitForCarriers()
    return lab
  }

  /// How many destinations the kernel is asked about for a pair and its remote address, in either order.
  private func cost(_ lab: NetworkLab, _ remote: String, from source: String) throws -> [Int] {
    let remote = RouteQuery(.address(try address(remote)))
    let pair = RouteQuery(remote.destination, source: try address(source))
    return try lab.run {
      [[pair, remote], [remote, pair]].map { queries in
        let network = LinuxNetwork()
        #expect(network.queryCount == 0 && network.messageCount == 0)
        network.answer(queries) { _, _ in }
        return network.queryCount
      }
    }
  }

  @Test func aPairFromTheSourceThatTheKernelChoosesIsNotAskedAbout() async throws {
    let lab = try await makeLab()
    #expect(try cost(lab, Self.far, from: "10.0.0.1") == [1, 1])
    #expect(try cost(lab, Self.far, from: "10.1.0.1") == [2, 2])
    // A rule by source may lead the pair elsewhere.
    try lab.addRule(priority: 70, .lookup(LabTable.main), from: "10.9.0.0/16")
    // The remote address then takes two by itself.
    #expect(try cost(lab, Self.far, from: "10.0.0.1") == [3, 3])
    try lab.deleteRule(priority: 70)
    // Nothing leaves from anywhere.
    try lab.deleteRoute("default", via: "10.0.0.2", dev: "v0")
    try lab.deleteRoute("default", via: "10.1.0.2", dev: "w0", metric: 600)
    #expect(try cost(lab, Self.far, from: "10.0.0.1") == [1, 1])
    #expect(try cost(lab, Self.far, from: "10.1.0.1") == [1, 1])
  }

  @Test func queriesThatDifferInMoreAreAskedAbout() async throws {
    let lab = try await makeLab()
    let destination = RouteQuery.Destination.address(try address(Self.far))
    let source = try address("10.0.0.1")
    let remote = RouteQuery(destination, mark: 7, port: 443)
    for pair in [
      RouteQuery(destination, source: source, mark: 8, port: 443),
      RouteQuery(destination, source: source, mark: 7, port: 80),
      RouteQuery(destination, source: source, mark: 7, transport: .udp, port: 443),
      RouteQuery(destination, source: source, interface: LinkName("v0"), mark: 7, port: 443),
      RouteQuery(.address(try address("198.51.100.8")), source: source, mark: 7, port: 443),
    ] {
      let asked = try lab.run {
        let network = LinuxNetwork()
        network.answer([pair, remote]) { _, _ in }
        return network.queryCount
      }
      #expect(asked == 2, "\(pair)")
    }
  }

  /// What the lab is made to be: each in a lab of its own.
  enum Situation: CaseIterable {
    case usual, noRoute, unreachable, prohibited, blackhole, linkDown, noCarrier, noAddressOnLink, ruleBySource
    case ruleNotBySource, ruleByMark, preferredSource, severalHops, vpn, loopbackSource

    func make(_ lab: NetworkLab) throws {
      switch self {
      case .usual: break
      case .noRoute:
        try lab.deleteRoute("default", via: "10.0.0.2", dev: "v0")
        try lab.deleteRoute("default", via: "10.1.0.2", dev: "w0", metric: 600)
      case .unreachable: try lab.addRoute("198.51.100.0/24", kind: .unreachable)
      case .prohibited: try lab.addRoute("198.51.100.0/24", kind: .prohibit)
      case .blackhole: try lab.addRoute("198.51.100.0/24", kind: .blackhole)
      case .linkDown: try lab.down("v0")
      case .noCarrier: try lab.down("v1")
      case .noAddressOnLink:
        try lab.deleteAddress("10.1.0.1/24", "w0")
        try lab.deleteAddress("10.0.0.1/24", "v0")
        try lab.addRoute("default", dev: "v0")
        try lab.addAddress("10.3.0.1/32", "w0")
      case .ruleBySource:
        try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 77)
        try lab.addRule(priority: 100, .lookup(77), from: "10.0.0.1/32")
      case .ruleNotBySource:
        try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 77)
        try lab.addRule(priority: 100, .lookup(77), inverted: true, from: "10.0.0.0/24")
      case .ruleByMark:
        try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 77)
        try lab.addRule(priority: 100, .lookup(77), mark: 7)
      case .preferredSource: try lab.addAddress("10.0.0.9/24", "v0")
      case .severalHops:
        try lab.route(
          .replace, "default", hops: [LabHop(via: "10.0.0.2", dev: "v0"), LabHop(via: "10.1.0.2", dev: "w0")])
      case .loopbackSource:
        // The kernel takes 127.0.0.1, and refuses it, as it refuses what a blackhole swallows; another source passes.
        try lab.deleteAddress("10.0.0.1/24", "v0")
        try lab.addRoute("198.51.100.0/24", dev: "v0", scope: .host)
      case .vpn:
        try lab.addRoute("default", via: "10.1.0.2", dev: "w0", table: 51_820)
        try lab.addRule(priority: 101, .lookup(51_820), mark: 51_820, inverted: true)
        try lab.addRule(priority: 100, .lookup(LabTable.main), suppressPrefixLength: 0)
      }
    }
  }

  @Test("together as alone", arguments: Situation.allCases)
  func answersAreThoseToEachAlone(_ situation: Situation) async throws {
    let lab = try await makeLab()
    try situation.make(lab)
    let remotes = [
      Self.far, "10.0.0.2", "10.1.0.77", "10.0.0.1", "10.1.0.1", "10.0.0.255", "255.255.255.255", "224.0.0.251",
      "127.0.0.1", "169.254.7.7",
    ]
    let sources = ["10.0.0.1", "10.1.0.1", "10.0.0.9", "10.3.0.1", "127.0.0.1"]
    var queries: [RouteQuery] = []
    for remote in remotes {
      for (mark, interface) in [(0, nil), (7, nil), (51_820, nil), (0, "v0"), (0, "w0")] as [(UInt32, String?)] {
        let destination = RouteQuery.Destination.address(try address(remote))
        let link = interface.map { LinkName($0) }
        for transport in [.tcp, .udp] as [ReachabilityConfiguration.Transport] {
          queries.append(RouteQuery(destination, interface: link, mark: mark, transport: transport))
          for source in sources {
            let source = try address(source)
            queries.append(
              RouteQuery(destination, source: source, interface: link, mark: mark, transport: transport))
          }
        }
      }
    }
    // Carriers are announced some time after their cause, so both are asked until they agree.
    try await eventually("the answers are the same") { [queries] in
      let differences = try lab.run {
        let network = LinuxNetwork()
        var alone: [Reachability] = []
        for query in queries { network.answer([query]) { alone.append($1) } }
        var together = [Reachability?](repeating: nil, count: queries.count)
        network.answer(queries) { position, answer in
          precondition(together[position] == nil, "answered twice")
          together[position] = answer
        }
        return queries.indices.compactMap { position -> String? in
          together[position]?.isIdentical(to: alone[position]) ?? false
            ? nil : "\(queries[position]): \(alone[position]), \(String(describing: together[position]))"
        }
      }
      if !differences.isEmpty { print(situation, differences) }
      return differences.isEmpty
    }
  }
}
#endif
