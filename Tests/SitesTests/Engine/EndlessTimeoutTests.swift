// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import DialtoneTesting
import SiteLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct EndlessTimeoutTests {
  @Test(arguments: [
    Duration.seconds(Int64.max), .seconds(Int64.max) * 2, .nanoseconds(Int64.max), Duration(attoseconds: .max),
  ])
  func aCheckMayTakeAnyTime(_ timeout: Duration) async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let network = ScriptedNetwork()
    network.set(.wifi)
    let environment = SiteEnvironment(reachability: network.environment)
    let verdict = try await check(server.url(.plain), in: environment) { $0.timeout = timeout }
    #expect(verdict.kind == .available)
  }

  @Test(arguments: [Duration.seconds(Int64.min), .seconds(Int64.min) * 2, Duration(attoseconds: .min)])
  func aZeroTimeoutIsRefused(_ timeout: Duration) async throws {
    await #expect(throws: SiteError(.invalidConfiguration, "")) {
      try await check("http://192.0.2.1/", in: SiteEnvironment(reachability: ScriptedNetwork().environment)) {
        $0.timeout = timeout
      }
    }
  }
}
#endif
