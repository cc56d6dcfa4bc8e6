// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// The manual clock as a user's test uses it.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct ManualClockTests {
  @Test func standsStillByItself() async throws {
    let network = ScriptedNetwork()
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    let ended = Counter()
    let waiting = Task {
      defer { ended.add() }
      return try await monitor.waitUntilReachable(timeout: .nanoseconds(1))
    }
    for _ in 0..<10 { try await network.settle() }
    #expect(ended.value == 0)
    let ticking = network.clock.ticking(by: .nanoseconds(1))
    await #expect(throws: ReachabilityError.self) { try await waiting.value }
    ticking.cancel()
  }

  @Test func twoNetworksCanShareAClock() async throws {
    let clock = ManualClock()
    let networks = [ScriptedNetwork(clock: clock), ScriptedNetwork(clock: clock)]
    for network in networks {
      #expect(network.clock === clock)
      network.set(.wifi)
    }
    var configuration = ReachabilityConfiguration()
    configuration.settling = .seconds(5)
    let monitors = networks.map {
      ReachabilityMonitor(.internet, configuration: configuration, environment: $0.environment)
    }
    let logs = monitors.map { _ in Log<Reachability>() }
    let tokens = zip(monitors, logs).map { monitor, log in monitor.observe { log.append($0) } }
    for log in logs { try await log.wait("the first state") { $0.isReachable } }
    for network in networks { network.set(.wired) }
    for monitor in monitors { try await eventually("the change") { monitor.current.interface?.name == "eth0" } }
    #expect(logs.allSatisfy { $0.count == 1 })
    clock.advance(by: .seconds(5))
    for log in logs { try await log.wait("the change is delivered") { $0.interface?.name == "eth0" } }
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: Duration.endless)
  func takesAnyDuration(duration: Duration) async throws {
    let network = ScriptedNetwork()
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    for _ in 0..<3 { network.clock.advance(by: duration) }
    network.clock.advance(by: .zero)
    _ = try await monitor.waitUntilKnown()
    network.set(.wifi)
    try await monitor.waitUntilReachable()
  }

  @Test(arguments: Duration.negative)
  func neverGoesBack(duration: Duration) async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor { $0.settling = .seconds(5) }
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    network.set(.wired)
    try await eventually("the change") { monitor.current.isVia("eth0") }
    network.clock.advance(by: .seconds(4))
    network.clock.advance(by: duration)
    network.clock.advance(by: .seconds(1))
    try await log.wait("the change is delivered") { $0.isVia("eth0") }
    token.cancel()
  }
}
