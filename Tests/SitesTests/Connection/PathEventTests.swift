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

/// Paths that change just before a check uses them.
@Suite(.timeLimit(.minutes(5)))
struct PathEventTests {
  /// A link flaps while the event loop is busy.
  @Test func severalPathEventsAtOnceMakeOneConnection() async throws {
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

  /// The system does not say whether there is a path: only the socket can find that the interface does not exist.
  @Test(arguments: ["", "nothing0", "a-name-that-is-too-long"])
  func noOtherInterfaceReplacesOneThatCannotExist(_ name: String) async throws {
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

  /// The name server does not answer, with a network and without one. The result must not depend on which is quicker.
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
      // The reason is the path's, not the resolver's.
      if kind == .offline { #expect(verdict.error?.message.contains("no carrier") == true, "\(verdict)") }
    }
  }
}
#endif
