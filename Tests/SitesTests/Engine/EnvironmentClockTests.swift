// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import TestSupport
import Testing

/// The time of a verdict is that of the environment.
@Suite(.timeLimit(.minutes(5)))
struct EnvironmentClockTests {
  private static let moment = UTCTimestamp(durationSince1970: .seconds(1_000_000_000))

  /// A scripted network on which it is always the same time of day. Checks are real.
  private func environment(_ network: ScriptedNetwork) -> SiteEnvironment {
    let provider = network.environment.provider
    let now = provider.time.now
    let time = TimeSource(passes: false, realtime: { 1_000_000_000_000_000_000 }, now: now)
    let reachability = ReachabilityEnvironment(
      EngineProvider(
        time: time, lookup: provider.lookup, names: provider.names, makeWaiter: provider.makeWaiter,
        makeSource: provider.makeSource))
    return SiteEnvironment(reachability: reachability)
  }

  @Test func aCheckHasTheTimeOfItsEnvironment() async throws {
    let network = ScriptedNetwork()
    network.set(.unreachable())
    let verdict = try await SiteCheck("http://192.0.2.1/", environment: environment(network)).run()
    #expect(verdict.kind == .offline && verdict.timestamp == Self.moment, "\(verdict)")
  }

  @Test func aMonitorHasTheTimeOfItsEnvironment() async throws {
    let network = ScriptedNetwork()
    network.set(.unreachable())
    let monitor = try SiteMonitor("http://192.0.2.1/", environment: environment(network))
    #expect(try await monitor.waitUntilDetermined().timestamp == Self.moment)
  }
}
