// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CTestSupport
import DialtoneSites
import Glibc
import NIOConcurrencyHelpers
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Many checks leave nothing behind. Each test has a process of its own, servers included.
@Suite(.serialized, .timeLimit(.minutes(10)), .threadsApart)
struct LoadTests {
  /// Checks the site `count` times, 256 at a time.
  private static func check(_ url: SiteURL, times count: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<256 {
        group.addTask {
          for _ in stride(from: worker, to: count, by: 256) {
            let verdict = try await SitesTests.check(url) { $0.timeout = .seconds(120) }
            #expect(verdict.kind == .available, "\(verdict)")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Rounds of this many checks, or of DIALTONE_CHECKS of the environment. A loss of `bytes` bytes a check would show.
  private static func rounds(_ transport: Transport, checks: Int, bytes: Int) async throws {
    // Each connect throws an error inside, which is caught.
    ctestsupport_keep_no_backtraces()
    let server = try await SiteServer(.answer(204), transport, recording: false)
    let url = try server.url(transport)
    // The environment does not change, and the text is copied.
    let wanted = unsafe getenv("DIALTONE_CHECKS").flatMap { unsafe Int(String(cString: $0)) }
    let count = wanted ?? (isSanitized ? checks / 10 : checks)
    let limits = Leftovers.Limits(threads: 0, heap: bytes * count, residentMemory: 1 << 20)
    let left = try await Leftovers(within: limits) {
      try await check(url, times: count)
      try await eventually("all connections are closed") { server.openCount == 0 }
    }
    #expect(server.connectionCount == left.rounds * count)
    #expect(left.isWithin(limits), "\(left)")
  }

  @Test func thousandsOfChecksLeaveNothing() async {
    await #expect(processExitsWith: .success) { try await LoadTests.rounds(.plain, checks: 400, bytes: 32) }
  }

  @Test func checksOverTLSLeaveNothing() async {
    await #expect(processExitsWith: .success) { try await LoadTests.rounds(.secure, checks: 400, bytes: 96) }
  }

  /// The number of checks at a time is limited for all callers together. The rest waits.
  @Test func checksAtATimeAreBounded() async {
    await #expect(processExitsWith: .success) {
      // The requests that are not answered yet: their checks cannot have ended.
      let asked = NIOLockedValueBox((now: 0, most: 0))
      let server = try await SiteServer(
        SiteBehaviour { request in
          asked.withLockedValue { asked in
            asked.now += 1
            asked.most = max(asked.most, asked.now)
          }
          return [
            .pause(.milliseconds(20)), .perform { asked.withLockedValue { $0.now -= 1 } }, .answer(204, to: request),
            .close,
          ]
        }, .plain, recording: false)
      let url = try server.url(.plain)
      let environment = SiteEnvironment(maximumChecks: 16)
      try await withThrowingTaskGroup(of: SiteVerdict.self) { group in
        for _ in 0..<500 {
          group.addTask { try await SitesTests.check(url, in: environment) { $0.timeout = .seconds(60) } }
        }
        for try await verdict in group { #expect(verdict.kind == .available, "\(verdict)") }
      }
      #expect(asked.withLockedValue { $0.most } <= 16)
      #expect(asked.withLockedValue { $0.most } > 1)
      #expect(server.connectionCount == 500)
    }
  }

  /// Servers that send without end, all at once. Each costs at most 1 MiB, including the server's own memory.
  @Test func hostileServersCostLittleMemory() async {
    await #expect(processExitsWith: .success) {
      ctestsupport_keep_no_backtraces()
      let sites = HostileSite.beforeBody + HostileSite.inBody
      func round() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for site in sites {
            group.addTask {
              let server = try await SiteServer(site.behaviour, .plain)
              let verdict = try await SitesTests.check(server.url(.plain)) {
                $0.expectation = .body(containing: "the text that never comes")
                $0.timeout = .seconds(1)
              }
              #expect(verdict.kind != .available, "\(verdict)")
              try await eventually(within: .seconds(30), "the connections are closed") { server.openCount == 0 }
              try await server.stopListening()
            }
          }
          try await group.waitForAll()
        }
      }
      // That of the round that does not count.
      var peak: Int?
      let left = try await Leftovers(within: Leftovers.Limits()) {
        try await round()
        peak = peak ?? LoadTests.peakMemory
      }
      #expect(left.descriptors <= 0, "\(left)")
      let growth = LoadTests.peakMemory - (try #require(peak))
      #expect(growth < sites.count << 20 || isSanitized, "\(growth) bytes")
    }
  }

  /// The peak of resident memory, in bytes.
  private static var peakMemory: Int {
    var usage = rusage()
    // getrusage(2) writes one structure. It cannot fail for the own process.
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss << 10
  }
}
#endif
