// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Names with lookups that hang, and sites that answer.
@Suite(.timeLimit(.minutes(5)))
struct HangingNameTests {
  private let latch = Latch()
  private let environment: SiteEnvironment
  /// Here a lookup that hangs holds its thread for ever.
  private let narrow: SiteEnvironment

  init() {
    // Eight threads serve all other monitors.
    let reachability = EngineProvider(
      lookup: { [latch] name, family in
        if name.hasPrefix("dead") {
          latch.wait()
          return .failed
        }
        return .addresses([IPAddress(ipv4: 0x7F00_0001)])
      }, names: NameLookupPool(threads: 8))
    environment = SiteEnvironment(reachability: ReachabilityEnvironment(reachability))
    narrow = SiteEnvironment(
      reachability: ReachabilityEnvironment(reachability), names: NameLookupPool(threads: 32))
  }

  /// Begins checks of names that hang, and waits until `count` lookups of each family hang.
  private func hang(_ count: Int, in environment: SiteEnvironment, beside body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask { _ = try await check(try SiteURL("http://dead\(number).example/"), in: environment) }
      }
      // One for each family.
      try await eventually(within: .seconds(30), "the lookups hang") { latch.count == 2 * count }
      try await body()
      latch.open()
      group.cancelAll()
      // Cancelled or failed: the lookup that hung longest is no longer needed.
      while let result = await group.nextResult() { _ = result }
    }
  }

  @Test func aDozenDeadNamesHoldNoOtherCheckUp() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let url = try server.url(.plain, host: "well.example")
    try await hang(12, in: environment) {
      let verdict = try await check(url, in: environment) { $0.timeout = .seconds(20) }
      #expect(verdict.kind == .available, "\(verdict)")
    }
  }

  /// These are more than are looked up at a time.
  @Test func fiveDozenDeadNamesHoldNoOtherCheckUpForLong() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let url = try server.url(.plain, host: "well.example")
    try await hang(60, in: environment) {
      let verdict = try await check(url, in: environment) { $0.timeout = .seconds(15) }
      #expect(verdict.kind == .available, "\(verdict)")
    }
  }

  @Test func theWaitForAThreadIsNotTheChecksTime() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let url = try server.url(.plain, host: "well.example")
    try await hang(16, in: narrow) {
      let start = ContinuousClock.now
      async let verdict = check(url, in: narrow)
      // The queue stands still for this long. However late the check begins to wait, this is not part of its time.
      let pause = Duration.milliseconds(500)
      try await Task.sleep(for: pause)
      latch.open()
      let total = try #require(await verdict.timings.total)
      #expect(try await verdict.kind == .available)
      #expect(total + pause <= start.duration(to: .now), "\(total)")
    }
  }

  /// The wait for a thread has a limit of its own.
  @Test func theWaitForAThreadHasALimit() async throws {
    try await hang(16, in: narrow) {
      let verdict = try await check("http://well.example/", in: narrow) { $0.timeout = .milliseconds(200) }
      #expect(verdict.kind == .failed && verdict.stage == .name && verdict.error?.code == .timedOut, "\(verdict)")
      #expect(verdict.error?.message.contains("was not looked up") == true, "\(verdict)")
    }
  }
}
#endif
