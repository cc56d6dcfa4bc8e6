// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 7: a status read never blocks, and a lookup that hangs does not delay a target without a name. Each test has
/// a process of its own, because names share the process's eight threads.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct Promise7HangingResolverTests {
  /// How many threads look names up.
  private static var threads: Int { ProcessCensus.threads(named: "dialtone-names") }

  private static func hangingHosts(_ lab: NameLab, _ count: Int) throws -> [ReachabilityMonitor] {
    try (0..<count).map { number in
      lab.hang("host\(number).example")
      return try lab.monitor("host\(number).example")
    }
  }

  @Test func addressesAreToldAtOnceWhile64NamesHang() async {
    await #expect(processExitsWith: .success) {
      let lab = NameLab()
      lab.set(.numbered(1))
      let hosts = try Promise7HangingResolverTests.hangingHosts(lab, 64)
      let logs = hosts.map { _ in Log<Reachability>() }
      let tokens = zip(hosts, logs).map { host, log in host.observe { log.append($0) } }
      try await eventually("the pool is full") { Promise7HangingResolverTests.threads == 8 }

      let address = ReachabilityMonitor(.address(ip("2001:db8::1")), environment: lab.environment)
      let told = Log<Reachability>()
      let token = address.observe { told.append($0) }
      for number in 2...50 {
        lab.set(.numbered(number))
        try await told.wait("state \(number)") { $0.number == number }
        // No read waits, whatever hangs.
        for host in hosts { _ = host.current }
        #expect(Promise7HangingResolverTests.threads <= 8)
      }
      #expect(logs.allSatisfy { $0.count == 0 })
      // A lookup that takes too long is reported as such.
      lab.advance(by: .seconds(2))
      for log in logs { try await log.wait("overdue") { $0.isUndetermined(.nameNotResolved) } }
      #expect(Promise7HangingResolverTests.threads <= 8)
      withExtendedLifetime((tokens, token)) {}
    }
  }

  @Test func readingNeverBlocks() async {
    await #expect(processExitsWith: .success) {
      let lab = NameLab()
      let hosts = try Promise7HangingResolverTests.hangingHosts(lab, 64)
      try await eventually("the pool is full") { Promise7HangingResolverTests.threads == 8 }
      let clock = ContinuousClock()
      // The best of several attempts counts, because the machine may be busy. A lock would slow down each of them.
      let best =
        (0..<20).map { _ in
          clock.measure {
            for _ in 0..<1_000 {
              for host in hosts { _ = host.current }
            }
          }
        }.min() ?? .zero
      #expect(best < (isSanitized ? .seconds(5) : .milliseconds(500)), "64,000 reads took \(best)")
      withExtendedLifetime(hosts) {}
    }
  }

  @Test func everythingIsReleasedWithin100MillisecondsWhile64NamesHang() async {
    await #expect(processExitsWith: .success) {
      // The best of three attempts counts, each on a network of its own, because the machine may be busy.
      var best = Duration.seconds(60)
      for _ in 0..<3 {
        let lab = NameLab()
        lab.set(.wifi)
        var hosts = try Promise7HangingResolverTests.hangingHosts(lab, 64)
        var tokens = hosts.map { $0.observe { _ in } }
        try await eventually("the pool is full") { Promise7HangingResolverTests.threads == 8 }
        try await lab.settle()
        // A thread has its name only once it runs.
        try await eventually("both threads run") { ProcessCensus.threads(named: "dialtone") == 2 }
        let start = ContinuousClock.now
        tokens = []
        hosts = []
        try await eventually("no thread of the engine is left") { ProcessCensus.threads(named: "dialtone") == 0 }
        best = min(best, start.duration(to: .now))
        #expect(lab.environment.provider.runningEngine == nil)
        #expect(Promise7HangingResolverTests.threads <= 8)
        withExtendedLifetime((hosts, tokens)) {}
        // Lets the lookups return: then the threads end, too, without lookups that are not needed any more.
        for number in 0..<64 { lab.answer("host\(number).example", .noAddress) }
        try await eventually("the pool is empty") {
          Promise7HangingResolverTests.threads == 0
        }
      }
      #expect(best < .milliseconds(100), "released after \(best)")
    }
  }

  @Test func aHangingNameThatIsNotNeededIsNotLookedUpAgain() async {
    await #expect(processExitsWith: .success) {
      let lab = NameLab()
      lab.network.set(.wifi)
      lab.hang("hangs.example")
      lab.answer("answers.example", .addresses([ip("192.0.2.7")]))
      // Each host is released while its lookup hangs. A thread for each would use up the pool.
      for _ in 0..<20 {
        let monitor = try lab.monitor("hangs.example")
        try await lab.settle()
        withExtendedLifetime(monitor) {}
      }
      #expect(lab.running("hangs.example") <= 1)
      let other = try lab.monitor("answers.example")
      try await eventually("another name is answered") { other.current.isReachable }
    }
  }

  @Test func blockingSourcesAndHandlersDoNotBlockReaders() async {
    await #expect(processExitsWith: .success) {
      let slow = SlowNetwork()
      let monitors = (0..<100).map { slow.monitor(.address(IPAddress(ipv4: 0x0A00_0000 + UInt32($0)))) }
      for monitor in monitors { #expect(monitor.current.status == .undetermined) }
      slow.open()
      for monitor in monitors { _ = try await monitor.waitUntilKnown() }
    }
  }
}
#endif
