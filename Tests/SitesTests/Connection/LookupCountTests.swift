// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import NIOConcurrencyHelpers
import SiteLab
import TestSupport
import Testing

/// How often names are looked up.
@Suite(.timeLimit(.minutes(5)))
struct LookupCountTests {
  @Test func aMonitorThatBeginsLooksItsNameUpOnce() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let url = try server.url(.plain, host: "site.example")
    // On a busy machine the check may begin so late that the addresses are old. One round that is quick is enough.
    var fewest = Int.max
    for _ in 0..<10 where fewest > 1 {
      let count = NIOLockedValueBox(0)
      let environment = SiteEnvironment(
        reachability: ReachabilityEnvironment(
          EngineProvider(
            lookup: { _, family in
              count.withLockedValue { $0 += 1 }
              return family == .ipv6 ? .noAddress : .addresses([IPAddress(ipv4: 0x7F00_0001)])
            })))
      let monitor = try SiteMonitor(url, environment: environment)
      try await monitor.waitUntilAvailable(timeout: .patience)
      fewest = min(fewest, count.withLockedValue { $0 })
    }
    #expect(fewest == 1)
  }
}
#endif
