// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneSites
import NIOConcurrencyHelpers
import SiteLab
import TestSupport
import Testing

/// Names with a trailing dot, to which no domain of resolv.conf's `search` may be added.
@Suite(.timeLimit(.minutes(5)))
struct AbsoluteNameTests {
  private let asked = NIOLockedValueBox<Set<String>>([])

  private func environment() -> SiteEnvironment {
    SiteEnvironment(
      reachability: ReachabilityEnvironment(
        EngineProvider(
          lookup: { [asked] name, _ in
            asked.withLockedValue { _ = $0.insert(name) }
            return .addresses([IPAddress(ipv4: 0x7F00_0001)])
          })))
  }

  /// The certificate is for site.example.
  @Test(arguments: Transport.allCases, ["site.example", "site.example."])
  func absoluteNamesAreLookedUpWithTheirDot(_ transport: Transport, _ host: String) async throws {
    let server = try await SiteServer(.answer(204), transport)
    let url = try server.url(transport, host: host)
    let verdict = try await check(url, in: environment())
    #expect(verdict.kind == .available, "\(verdict)")
    #expect(asked.withLockedValue { $0 } == [host])
    #expect(server.requests.first?.values(of: "Host") == ["\(host):\(server.port)"])
  }

  @Test func aMonitorFollowsThePathOfTheAbsoluteName() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let monitor = try SiteMonitor(server.url(.plain, host: "site.example."), environment: environment())
    try await monitor.waitUntilAvailable(timeout: .patience)
    #expect(asked.withLockedValue { $0 } == ["site.example."])
  }
}
#endif
