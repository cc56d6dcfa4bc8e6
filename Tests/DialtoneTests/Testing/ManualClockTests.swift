// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// The manual clock in a user's test.
@Suite(.timeLimit(.minutes(5)))
struct ManualClockTests {
  @Test func standsStillByItself() async throws {
    let network = scriptedNetwork()
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    let ended = Counter()
    let waiting = Task {
      defer { ended.add() }
      return try await monitor.waitUntilReachable(timeout: .nanoseconds(1))
    }
    for _ in 0..<10 { try await network.settle() }
    #expect(ended.value == 0)
    let ticking = network.clock.ticking(by: .nanoseconds(1))
    await #expect(throws: ReachabilityError.self) { try await waiting.value }
    ticking.cancel()
  }

  @Test func twoNetworksCanShareAClock() async throws {
    let clock = ManualClock()
    let networks = [scriptedNetwork(clock: clock), scriptedNetwork(clock: clock)]
    for network in networks {
      #expect(network.clock === clock)
      network.set(.wifi)
    }
    var configuration = ReachabilityConfiguration()
    configuration.settling = .seconds(5)
    let monitors = networks.map {
      ReachabilityMonitor(.internet, configuration: configuration, environment: $0.environment)
    }
    let logs = monitors.map { _ in Log<Reachability>() }
    let tokens = zip(monitors, logs).map { monitor, log in monitor.observe { log.append($0) } }
    for log in logs { try await log.wait("the first state") { $0.isReachable } }
    for network in networks { network.set(.wired) }
    for monitor in monitors { try await eventually("the change") { monitor.current.interface?.name == "eth0" } }
    #expect(logs.allSatisfy { $0.count == 1 })
    clock.advance(by: .seconds(5))
    for log in logs { try await log.wait("the change is delivered") { $0.interface?.name == "eth0" } }
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: Duration.endless)
  func takesAnyDuration(duration: Duration) async throws {
    let network = scriptedNetwork()
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    for _ in 0..<3 { network.clock.advance(by: duration) }
    network.clock.advance(by: .zero)
    _ = try await monitor.waitUntilKnown()
    network.set(.wifi)
    try await monitor.waitUntilReachable()
  }

  @Test(arguments: Duration.negative)
  func neverGoesBack(duration: Duration) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor { $0.settling = .seconds(5) }
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    network.set(.wired)
    try await eventually("the change") { monitor.current.isVia("eth0") }
    network.clock.advance(by: .seconds(4))
    network.clock.advance(by: duration)
    network.clock.advance(by: .seconds(1))
    try await log.wait("the change is delivered") { $0.isVia("eth0") }
    token.cancel()
  }
}

/// The manual clock as the code under test uses it: as a `Clock`.
@Suite(.timeLimit(.minutes(5)))
struct ManualClockSleepTests {
  /// A task that sleeps until `deadline`, or finds that it has passed.
  private static func asleep(
    _ clock: ManualClock, until deadline: ManualClock.Instant, then action: @escaping @Sendable () -> Void = {}
  ) -> Task<Void, any Error> {
    Task {
      try await clock.sleep(until: deadline)
      action()
    }
  }

  @Test func aSleepEndsWhenTheTimeHasCome() async throws {
    let clock = ManualClock()
    let woken = Counter()
    let sleeping = Self.asleep(clock, until: clock.now.advanced(by: .seconds(2))) { woken.add() }
    clock.advance(by: .seconds(1))
    for _ in 0..<100 { await Task.yield() }
    #expect(woken.value == 0)
    clock.advance(by: .seconds(1))
    try await sleeping.value
    #expect(woken.value == 1)
  }

  @Test func aSleepUntilATimeThatHasComeDoesNotSleep() async throws {
    let clock = ManualClock()
    let start = clock.now
    try await clock.sleep(until: start)
    clock.advance(by: .seconds(1))
    try await clock.sleep(until: start)
    try await clock.sleep(for: .seconds(-1))
  }

  @Test func cancellationEndsASleepAndTheOthersGoOn() async throws {
    let clock = ManualClock()
    let deadline = clock.now.advanced(by: .seconds(5))
    let sleepers = (0..<10).map { _ in Self.asleep(clock, until: deadline) }
    for sleeper in sleepers.prefix(5) { sleeper.cancel() }
    for sleeper in sleepers.prefix(5) {
      await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
    clock.advance(by: .seconds(5))
    for sleeper in sleepers.dropFirst(5) { try await sleeper.value }
  }

  @Test func aTaskThatIsCancelledAlreadyDoesNotSleep() async throws {
    let clock = ManualClock()
    let sleeping = Task {
      while !Task.isCancelled { await Task.yield() }
      try await clock.sleep(until: clock.now)
    }
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
  }

  /// Different threads cancel and wake sleeps at the same time, and each sleep ends once. A continuation that is
  /// resumed twice ends the process; one that is never resumed leaves the test hanging.
  @Test func everySleepEndsOnceWhetherCancelledOrWoken() async throws {
    let clock = ManualClock()
    for _ in 0..<500 {
      let deadline = clock.now.advanced(by: .nanoseconds(1))
      let sleepers = (0..<4).map { _ in Self.asleep(clock, until: deadline) }
      let cancelling = Task { for sleeper in sleepers { sleeper.cancel() } }
      clock.advance(by: .nanoseconds(1))
      for sleeper in sleepers { _ = await sleeper.result }
      await cancelling.value
    }
  }

  @Test func instantsAreOrderedAndTellHowFarTheyLieApart() {
    let clock = ManualClock()
    let start = clock.now
    clock.advance(by: .milliseconds(1))
    #expect(start < clock.now && start.duration(to: clock.now) == .milliseconds(1))
    #expect(clock.now.duration(to: start) == .milliseconds(-1))
    #expect(clock.minimumResolution == .nanoseconds(1))
    for duration in Duration.endless { #expect(start.advanced(by: duration) > start) }
  }

  #if os(Linux)
  @Test func keepsNothingOfNetworksThatHaveEnded() async {
    await #expect(processExitsWith: .success) {
      let clock = ManualClock()
      // 16 bytes of each would show.
      let limits = Leftovers.Limits(heap: 16_000)
      let left = try await Leftovers(within: limits) {
        for _ in 0..<1_000 { _ = ScriptedNetwork(clock: clock) }
      }
      #expect(left.isWithin(limits), "\(left)")
    }
  }
  #endif

  @Test func theCodeUnderTestAndItsMonitorsGoByOneTime() async throws {
    let clock = ManualClock()
    let network = scriptedNetwork(clock: clock)
    let monitor = ReachabilityMonitor(.internet, environment: network.environment)
    let start = clock.now
    let waiting = Task { try await monitor.waitUntilReachable(timeout: .seconds(10)) }
    let ticking = clock.ticking()
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await waiting.value }
    #expect(start.duration(to: clock.now) >= .seconds(10))
    ticking.cancel()
  }
}
