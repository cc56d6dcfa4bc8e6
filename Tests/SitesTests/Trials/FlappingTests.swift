// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CTestSupport
import Dialtone
import DialtoneSites
import DialtoneTesting
import NIOConcurrencyHelpers
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trial 59 of Sites.md: 1,000 monitored sites that come and go. Each test has a process of its own, and so its own
/// memory.
@Suite(.serialized, .timeLimit(.minutes(10)), .threadsApart)
struct FlappingTests {
  /// A thousand sites, the time, and a record of when each was asked.
  private final class World: Sendable {
    private struct State {
      var isUp: [Bool]
      var requests: [Int] = [0]
      var perSite: [Int]
    }

    static let step = Duration.milliseconds(250)
    static let count = 1_000
    let network = ScriptedNetwork()
    private let state = NIOLockedValueBox(
      State(isUp: Array(repeating: true, count: count), perSite: Array(repeating: 0, count: count)))
    private let numbers = NIOLockedValueBox((generator: SeededNumbers(seed: 59), count: 0))

    /// Answers each check at once, with the site's state at that time.
    func environment() -> SiteEnvironment {
      SiteEnvironment(
        reachability: network.environment,
        random: {
          self.numbers.withLockedValue { numbers in
            numbers.count += 1
            return Double.random(in: 0..<1, using: &numbers.generator)
          }
        },
        perform: { url, _ in
          let number = Int(url.text.dropFirst("http://192.0.2.1/".count)) ?? 0
          let isUp = self.state.withLockedValue { state in
            state.requests[state.requests.count - 1] += 1
            state.perSite[number] += 1
            return state.isUp[number]
          }
          return isUp
            ? SiteVerdict(url: url, kind: .available, status: 204)
            : SiteVerdict(url: url, kind: .failed, stage: .connect)
        })
    }

    /// Monitors of all sites that know the sites' states.
    func monitors() async throws -> [SiteMonitor] {
      network.set(.wifi)
      let environment = environment()
      var configuration = SiteMonitorConfiguration()
      configuration.interval = .seconds(60)
      let monitors = try (0..<Self.count).map { number in
        try SiteMonitor("http://192.0.2.1/\(number)", configuration: configuration, environment: environment)
      }
      try await settle(monitors, decisions: Self.count)
      try await pass(.seconds(5), monitors)
      try #require(monitors.allSatisfy { $0.current.isAvailable })
      return monitors
    }

    /// Lets time pass, and waits until everything due has been done.
    func pass(_ duration: Duration, _ monitors: [SiteMonitor]) async throws {
      for _ in 0..<Int(duration / Self.step) {
        state.withLockedValue { $0.requests.append(0) }
        network.clock.advance(by: Self.step)
        try await settle(monitors)
      }
    }

    /// Changes the path for all, and waits until each has read it.
    func set(_ path: ScriptedPath, _ monitors: [SiteMonitor]) async throws {
      let before = decisions
      network.set(path)
      try await settle(monitors, decisions: before + Self.count)
    }

    /// Waits until this many decisions have been made and no other follows: a monitor asks for a random number whenever
    /// it decides something. Checks that are due have begun once the engine has settled.
    private func settle(_ monitors: [SiteMonitor], decisions least: Int = 0) async throws {
      var last = -1
      try await eventually(within: .seconds(60), "all is quiet") {
        let before = decisions
        try await network.settle()
        defer { last = before }
        return before >= least && before == last && before == decisions && monitors.allSatisfy { !$0.isChecking }
      }
    }

    private var decisions: Int { numbers.withLockedValue { $0.count } }

    func set(_ isUp: (Int) -> Bool) { state.withLockedValue { $0.isUp = (0..<Self.count).map(isUp) } }

    /// The most requests within four steps. On a busy machine some of a step's requests are counted with the next.
    static func mostWithinASecond(_ requests: some Collection<Int>) -> Int {
      let requests = Array(requests)
      return requests.indices.map { requests[$0...].prefix(4).reduce(0, +) }.max() ?? 0
    }

    /// How many steps may count as four. A step ends when the engine has settled, perhaps before a slow thread has
    /// begun what is due in it. On a busy machine that is counted up to three steps later, under a sanitizer four.
    private static let countedSteps = isSanitized ? 8 : 7

    /// 16 at once and then 500 a second, within four steps and those counted with them.
    static let paced = 16 + 500 * countedSteps / 4

    /// A tenth of 60 s each way keeps them apart: 1,000 within 12 s, so 84 a second, begin to fail, and each of these
    /// asks again after 1, 3 and 7 s. So 336 come within a second, in proportion more in the steps counted with it, and
    /// a few more by chance.
    static let jittered = 336 * countedSteps / 4 + 30

    /// The number of requests in each step.
    var requests: [Int] { state.withLockedValue { $0.requests } }
    var requestsPerSite: [Int] { state.withLockedValue { $0.perSite } }
    var isUp: [Bool] { state.withLockedValue { $0.isUp } }
  }

  @Test("59: a thousand sites flap: jittered, no burst in step, flat memory, and each is right in the end")
  func aThousandSites() async {
    await #expect(processExitsWith: .success) {
      ctestsupport_keep_no_backtraces()
      let world = World()
      let monitors = try await world.monitors()

      // First all of them fail and come back together, again and again; then each by itself.
      for isUp in [true, false, true, false] {
        world.set { _ in isUp }
        try await world.pass(.seconds(40), monitors)
      }
      let limits = Leftovers.Limits(heap: 64 << 10, residentMemory: 1 << 20)
      let left = try await Leftovers(within: limits) {
        // After three steps it is back to normal.
        for step in 0..<3 {
          world.set { ($0 + step) % 3 != 0 }
          try await world.pass(.seconds(20), monitors)
        }
      }
      #expect(left.isWithin(limits), "\(left)")

      // After the longest interval, jitter included, each site has been asked since it last changed.
      try await world.pass(.seconds(70), monitors)
      for (number, monitor) in monitors.enumerated() {
        #expect(monitor.current.isAvailable == world.isUp[number], "\(number): \(monitor.current)")
      }

      // In step, all 1,000 requests would come within one step of 250 ms. The first checks are paced.
      let requests = world.requests
      let start = Int(Duration.seconds(5) / World.step)
      #expect(World.mostWithinASecond(requests.prefix(start)) <= World.paced, "\(requests)")
      // Afterwards only jitter keeps them apart.
      #expect(World.mostWithinASecond(requests.dropFirst(start)) <= World.jittered, "\(requests)")
      #expect(requests.reduce(0, +) > 3 * World.count)
      // No site is forgotten, and none is asked more than others: 1 s, 2 s, 4 s, … after each failure.
      let perSite = world.requestsPerSite
      #expect((perSite.min() ?? 0) >= 5 && (perSite.max() ?? 0) <= 60, "\(perSite.min() ?? 0) to \(perSite.max() ?? 0)")
    }
  }

  @Test("59: the path comes back for all: they are not all asked at once")
  func thePathComesBack() async {
    await #expect(processExitsWith: .success) {
      let world = World()
      let monitors = try await world.monitors()
      for _ in 0..<5 {
        try await world.set(.unreachable(.noCarrier), monitors)
        #expect(monitors.allSatisfy { $0.current.kind == .offline })
        let quiet = world.requests.count
        try await world.pass(.seconds(10), monitors)
        #expect(world.requests.dropFirst(quiet).allSatisfy { $0 == 0 })
        let start = world.requests.count
        try await world.set(.wifi, monitors)
        try await world.pass(.seconds(10), monitors)
        #expect(monitors.allSatisfy { $0.current.isAvailable })
        let requests = world.requests.dropFirst(start)
        #expect(requests.reduce(0, +) == World.count)
        #expect(World.mostWithinASecond(requests) <= World.paced, "\(requests.prefix(16))")
      }
    }
  }
}
#endif
