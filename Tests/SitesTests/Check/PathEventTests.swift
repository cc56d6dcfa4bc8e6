// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import DialtoneTesting
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Paths that change while a check is about to go them.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct PathEventTests {
  /// A flapping link, and a loop that is busy meanwhile.
  @Test func severalAtOnceMakeOneConnection() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let network = ScriptedNetwork()
    network.set(.wifi)
    let loop = SteppedLoop()
    let environment = SiteEnvironment(reachability: network.environment, group: loop.group)
    let url = try server.url(.plain)
    let verdict = Task { try await check(url, in: environment) { $0.timeout = .seconds(250) } }
    try await eventually("the check looks at its path") {
      if network.queryCount > 0 { return true }
      loop.step()
      return false
    }
    let monitor = ReachabilityMonitor(.address(IPAddress(ipv4: 0x7F00_0001)), environment: network.environment)
    for _ in 0..<5 {
      network.set(.cellular)
      try await monitor.waitUntilReachable(over: .only(.cellular), timeout: .patience)
      network.set(.wifi)
      try await monitor.waitUntilReachable(over: .nonCellular, timeout: .patience)
    }
    try await network.settle()
    loop.release()
    #expect(try await verdict.value.kind == .available)
    #expect(server.connectionCount == 1 && server.requests.count == 1)
  }

  /// The system does not say whether there is a path: only the socket can tell that there is no such interface.
  @Test(arguments: ["", "nothing0", "a-name-that-is-too-long"])
  func noOtherInterfaceStandsInForOneThatCannotBe(_ name: String) async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let network = ScriptedNetwork()
    network.set(.denied)
    let environment = SiteEnvironment(reachability: network.environment)
    let url = try server.url(.plain)
    #expect(try await check(url, in: environment).kind == .available)
    let verdict = try await check(url, in: environment) { $0.interface = name }
    #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
    #expect(server.connectionCount == 1)
  }

  /// A name server that does not answer, with a network and without one: not who is quicker decides.
  @Test(arguments: [(ScriptedPath.wifi, SiteVerdict.Kind.failed), (.unreachable(.noCarrier), .offline)])
  func aNameThatHangsIsOfflineWithoutAnyPath(_ path: ScriptedPath, _ kind: SiteVerdict.Kind) async throws {
    for _ in 0..<10 {
      let network = ScriptedNetwork()
      network.set(path)
      network.set(.hanging, forName: "site.example")
      let verdict = try await check("http://site.example/", in: SiteEnvironment(reachability: network.environment)) {
        $0.timeout = .milliseconds(100)
      }
      #expect(verdict.kind == kind && verdict.error?.code == (kind == .offline ? .noPath : .timedOut), "\(verdict)")
      // Not the resolver's reason.
      if kind == .offline { #expect(verdict.error?.message.contains("no carrier") == true, "\(verdict)") }
    }
  }
}
#endif
