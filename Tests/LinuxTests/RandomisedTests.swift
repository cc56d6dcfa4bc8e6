// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// After any sequence of operations, every target's state and the path finally agree with what a real socket finds.
///
/// Each run plays another one; `DIALTONE_SEED` plays one again, and `DIALTONE_OPERATIONS` chooses its length.
// One sequence after another: each keeps a thread of the pool busy, and the pool has few.
@Suite(
  .serialized,
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2 as the judge"))
struct RandomisedTests {
  private static let seeds = [environment("DIALTONE_SEED") ?? UInt64.random(in: 1...UInt64.max)]
  /// As many on any machine, so that a seed always plays the same.
  private static let operations = environment("DIALTONE_OPERATIONS").map(Int.init) ?? 500

  @Test(.timeLimit(.minutes(30)), arguments: seeds)
  func stateIsWhatASocketFinds(seed: UInt64) async throws {
    try await play(RandomOperations(NetworkLab(), seed: seed), Self.operations)
  }

  @Test(
    "connections are made as well, uplinks are checked, and gateways fall silent and answer again",
    .timeLimit(.minutes(30)), arguments: seeds)
  func stateIsWhatASocketFindsAmongTraffic(seed: UInt64) async throws {
    try await play(RandomOperations(NetworkLab(), seed: seed, hasTraffic: true), Self.operations / 2)
  }

  private func play(_ operations: RandomOperations, _ count: Int) async throws {
    var world = operations
    let (lab, seed) = (world.lab, world.seed)
    let monitors = try LabMonitors(lab)
    try world.begin()
    let watched = try Self.targets.map { ($0, try $0.monitor(of: monitors)) }
    let path = monitors.pathMonitor()
    let named = Self.links.map { name in (name, monitors.pathMonitor { $0.interface = name }) }
    var done = 0
    while done < count {
      let batch = world.perform(Int.random(in: 1...5, using: &world.generator))
      done += batch.count
      try await monitors.settle()
      try await check(watched, path, named, lab, "seed \(seed), operation \(done), after \(batch)")
    }
    // If the kernel took only a few operations, nothing was tested.
    #expect(world.accepted * 4 > done, "only \(world.accepted) of \(done) operations were accepted")
  }

  private func check(
    _ watched: [(JudgedTarget, ReachabilityMonitor)], _ path: PathMonitor, _ named: [(String, PathMonitor)],
    _ lab: NetworkLab, _ context: String
  ) async throws {
    var differences: [String] = []
    do {
      // Changes of carriers are announced some time after their cause, and IPv6 addresses take time. The limit is below
      // the half minute in which the kernel collects expired routes: it ignores them earlier, and announces their end
      // only then.
      try await eventually(within: .seconds(20), "all targets agree") {
        let judge = try SocketJudge(lab, watched.map(\.0))
        differences = watched.enumerated().compactMap { position, pair in
          let state = pair.1.current
          let verdict = judge.verdicts[position]
          return verdict.agrees(with: state)
            ? nil : "\(pair.0): \(state) (\(state.flags)), but: \(verdict) (\(judge.words[position]))"
        }
        differences += judge.differences(of: path.current, watched.map(\.0), Self.internet)
        for (name, path) in named {
          differences += judge.differences(of: path.current, over: name, watched.map(\.0), Self.internet)
        }
        return differences.isEmpty
      }
    } catch {
      let network = try ["-d address", "rule", "-6 rule", "route show table all", "-6 route show table all"].map {
        try lab.ip($0).output
      }
      Issue.record("\(context): \(differences.joined(separator: "; "))\n\(network.joined(separator: "\n"))")
      throw error
    }
  }

  private static let targets: [JudgedTarget] =
    [
      JudgedTarget(address: "198.41.0.4"), JudgedTarget(address: "2001:503:ba3e::2:30"),
      JudgedTarget(address: "198.51.100.7"), JudgedTarget(address: "10.0.0.2"), JudgedTarget(address: "10.0.0.1"),
      JudgedTarget(address: "10.2.0.77"), JudgedTarget(address: "203.0.113.5", mark: 7),
      JudgedTarget(address: "198.51.100.7", interface: "n1"), JudgedTarget(address: "2001:db8::2"),
      JudgedTarget(address: "2001:db8:1::9"), JudgedTarget(address: "2001:db8:ffff::1"),
      JudgedTarget(address: "2001:db8:ffff::1", mark: 7), JudgedTarget(address: "2001:db8:ffff::1", interface: "n2"),
      JudgedTarget(address: "127.0.0.1"), JudgedTarget(address: "::1"), JudgedTarget(address: "2001:db8:0::1"),
      // By protocol and port:
      JudgedTarget(address: "198.51.100.7", port: 443),
      JudgedTarget(address: "198.51.100.7", port: 53, transport: .udp),
      JudgedTarget(address: "2001:db8:ffff::1", port: 443),
      JudgedTarget(address: "2001:db8:ffff::1", port: 53, transport: .udp),
      // TCP refuses multicast:
      JudgedTarget(address: "224.0.0.251", transport: .udp),
      // From an address, also over a link:
      JudgedTarget(address: "198.51.100.7", source: "10.0.0.1"),
      JudgedTarget(address: "2001:db8:ffff::1", source: "2001:db8:1::1"),
      JudgedTarget(address: "198.51.100.7", interface: "n0", source: "10.1.0.1"),
      // Beside the same without an address:
      JudgedTarget(address: "198.51.100.7", interface: "n0"),
      JudgedTarget(address: "198.51.100.7", source: "10.1.0.1"),
      JudgedTarget(address: "2001:db8:ffff::1", interface: "n1", source: "2001:db8:2::1"),
      // Over a link by another of its names:
      JudgedTarget(address: "198.51.100.7", interface: RandomOperations.alternativeNames[0]),
      JudgedTarget(address: "2001:db8:ffff::1", interface: RandomOperations.alternativeNames[1]),
    ] + internet.flatMap { address in links.map { JudgedTarget(address: address, interface: $0) } }

  private static let links = ["n0", "n1", "n2"]

  /// The addresses that a path asks about.
  private static let internet = ["198.41.0.4", "2001:503:ba3e::2:30"]

  private static func environment(_ name: String) -> UInt64? {
    unsafe getenv(name).flatMap { unsafe UInt64(String(cString: $0)) }
  }
}
#endif
