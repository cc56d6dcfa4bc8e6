// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct MonitorDescriptionTests {
  @Test(arguments: [
    (
      ReachabilityTarget.internet, ScriptedPath.wifi,
      "ReachabilityMonitor(internet, reachable via Wi-Fi (wlan0), -R -------)"
    ),
    (
      .address(ip("192.0.2.1")), .unreachable(),
      "ReachabilityMonitor(192.0.2.1, unreachable: no route to the destination, -- -------)"
    ),
    (
      .address(ip("169.254.0.0")), .reachable(over: interface("wlan0")),
      "ReachabilityMonitor(169.254.0.0, local network, reachable via Wi-Fi (wlan0), -R ------d)"
    ),
    (
      .localNetwork, .denied,
      "ReachabilityMonitor(local-network, undetermined: the system denies access to the network's state, -- -------)"
    ),
  ])
  func namesTargetStateAndFlags(target: ReachabilityTarget, path: ScriptedPath, text: String) async throws {
    let network = scriptedNetwork()
    network.set(path)
    let monitor = network.monitor(target)
    _ = try await monitor.waitUntilKnown()
    #expect("\(monitor)" == text)
  }

  @Test func followsTheTarget() async throws {
    let network = scriptedNetwork()
    network.set(.cellular)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    #expect(monitor.connectivity == .cellular)
    monitor.target = .address(ip("169.254.0.0"))
    _ = try await monitor.waitUntilKnown()
    #expect(monitor.connectivity == .unreachable)
    #expect(
      monitor.description
        == "ReachabilityMonitor(169.254.0.0, local network, reachable via cellular (wwan0), WR t------)")
    monitor.pause()
    #expect(monitor.connectivity == nil)
    #expect(monitor.description == "ReachabilityMonitor(169.254.0.0, local network, undetermined, -- -------)")
  }

  /// The state of one target must not be read by the rule of another.
  @Test func targetAndStateBelongTogetherWhileTheTargetChanges() async throws {
    let network = scriptedNetwork()
    network.set(.cellular)
    let monitor = network.monitor()
    let local = ip("169.254.0.0")
    network.set(.reachable(over: interface("wlan0")), for: local)
    _ = try await monitor.waitUntilKnown()
    let ended = Counter()
    try await withThrowingTaskGroup { group in
      group.addTask {
        defer { ended.add() }
        // A busy machine makes fewer rounds.
        let start = ContinuousClock.now
        for round in 0..<300 where round < 20 || .now - start < .seconds(15) {
          monitor.target = .address(local)
          _ = try await monitor.waitUntilKnown(timeout: .seconds(30))
          monitor.target = .internet
          _ = try await monitor.waitUntilKnown(timeout: .seconds(30))
        }
      }
      while ended.value == 0 {
        // By the rule of the local network, the Internet's state would be unreachable.
        let wrong = (0..<20).count { _ in monitor.connectivity == .unreachable }
        #expect(wrong == 0)
        await Task.yield()
      }
      try await group.waitForAll()
    }
  }
}
