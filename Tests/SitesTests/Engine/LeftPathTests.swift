// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LeftPathTests {
  /// Whether there is a way to an IPv4 address through a translator, only a lookup tells (RFC 7050). This one hangs.
  @Test func aCheckThatEndsLeavesThePathsThatItWaitsFor() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    network.set(.unreachable(), for: IPAddress(ipv4: 0xC000_0201))
    network.set(.hanging, forName: "ipv4only.arpa")
    let environment = SiteEnvironment(reachability: network.environment)
    let verdict = try await check("http://192.0.2.1/", in: environment) { $0.timeout = .milliseconds(200) }
    #expect(verdict.error?.code == .timedOut, "\(verdict)")
    // The event loops go on for a second.
    try await eventually("nobody watches the path") { network.environment.provider.runningEngine == nil }
  }
}
#endif
