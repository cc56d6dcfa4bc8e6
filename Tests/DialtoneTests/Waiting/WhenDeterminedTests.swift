// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// Runs an action once, when the state is determined, as KSReachability's `onInitializationComplete` did.
@Suite(.timeLimit(.minutes(5)))
struct WhenDeterminedTests {
  @Test func runsOnceAsSoonAsItIsDeterminedWithThatState() async throws {
    let slow = SlowNetwork()
    slow.set(.numbered(1))
    let monitor = slow.monitor()
    let log = Log<Reachability>()
    let token = monitor.whenDetermined { log.append($0) }
    #expect(monitor.current.reason == nil && !monitor.current.isDetermined)
    #expect(log.count == 0)
    slow.open()
    try await log.wait("it has run") { $0.number == 1 }
    let control = Log<Reachability>()
    let controlling = monitor.observe { control.append($0) }
    for path in [ScriptedPath.unreachable(), .denied, .numbered(2)] {
      let before = monitor.current
      slow.set(path)
      try await eventually("it is decided") { monitor.current != before }
      try await eventually("it is told") { control.last.map { $0 ≈ monitor.current } ?? false }
    }
    controlling.cancel()
    #expect(log.all.map(\.number) == [1])
    token.cancel()
  }

  @Test(arguments: [ScriptedPath.wifi, .unreachable(), .requiresConnection(.dormant, over: interface("wlan0"))])
  func askedAfterwardsItRunsAtOnceAndOnce(path: ScriptedPath) async throws {
    let network = scriptedNetwork()
    network.set(path)
    let monitor = network.monitor()
    let known = try await monitor.waitUntilDetermined()
    let log = Log<Reachability>()
    let tokens = (0..<3).map { _ in monitor.whenDetermined { log.append($0) } }
    try await eventually("each has run") { log.count == 3 }
    network.set(.wired)
    try await network.settle()
    #expect(log.all ≈ [known, known, known])
    withExtendedLifetime(tokens) {}
  }

  /// A name that cannot be looked up for now is looked up again.
  @Test func aReasonWhyItIsNotKnownIsNotTold() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.failing, forName: "name.example")
    let monitor = network.monitor(try .host("name.example"))
    try await eventually("there is a reason") { monitor.current.isUndetermined(.nameNotResolved) }
    #expect(!monitor.current.isDetermined && !monitor.current.isDenied)
    let log = Log<Reachability>()
    let token = monitor.whenDetermined { log.append($0) }
    async let determined = monitor.waitUntilDetermined()
    try await network.settle()
    #expect(log.count == 0)
    network.set(.unreachable(.noCarrier))
    try await log.wait("it has run") { $0.isUnreachable(.noCarrier) }
    #expect(try await determined.isUnreachable(.noCarrier))
    #expect(log.count == 1)
    token.cancel()
  }

  @Test func aSystemThatDeniesEndsTheWaitAndNotTheRegistration() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let token = monitor.whenDetermined { log.append($0) }
    let error = await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilDetermined() }
    #expect(error?.code == .denied)
    #expect(error?.message == "internet: undetermined: the system denies access to the network's state")
    #expect(monitor.current.isDenied && !monitor.current.isDetermined)
    #expect(log.count == 0)
    network.set(.wifi)
    try await log.wait("it has run") { $0.isVia("wlan0") }
    #expect(try await monitor.waitUntilDetermined().isReachable)
    token.cancel()
  }

  @Test func aNameIsWaitedFor() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let log = Log<Reachability>()
    // The test does not keep the monitor.
    let token = network.monitor(try .host("slow.example")).whenDetermined { log.append($0) }
    try await network.settle()
    #expect(log.count == 0)
    network.set(.addresses([ip("192.0.2.7")]), forName: "slow.example")
    try await log.wait("it has run") { $0.destination == ip("192.0.2.7") }
    try await eventually("monitoring has ended") { network.environment.provider.runningEngine == nil }
    token.cancel()
  }

  @Test(arguments: [true, false])
  func endedBeforeItHasBegunItNeverRuns(byRelease: Bool) async throws {
    final class Captured: Sendable {}
    let slow = SlowNetwork()
    slow.set(.wifi)
    let monitor = slow.monitor()
    let fired = Counter()
    weak var captured: Captured?
    do {
      let object = Captured()
      captured = object
      let token = monitor.whenDetermined { _ in withExtendedLifetime(object) { _ = fired.add() } }
      if !byRelease { token.cancel() }
      withExtendedLifetime(token) {}
    }
    try await eventually("the action is released") { captured == nil }
    slow.open()
    let others = Counter()
    let other = monitor.whenDetermined { _ in others.add() }
    try await eventually("another has run") { others.value == 1 }
    #expect(fired.value == 0)
    other.cancel()
  }

  @Test func endedAtTheSameTimeItRunsOnceOrNever() async throws {
    let network = scriptedNetwork()
    for round in 0..<200 {
      let fired = Counter()
      let monitor = network.monitor()
      let token = monitor.whenDetermined { _ in fired.add() }
      if round.isMultiple(of: 2) { _ = try await monitor.waitUntilKnown() }
      token.cancel()
      #expect(fired.value <= 1)
    }
  }

  @Test func neverRunsOnTheCallersThread() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    try await monitor.waitUntilDetermined()
    let fired = Latch()
    let outcome = Box<Bool?>(nil)
    let held = Box<ReachabilityObservation?>(nil)
    // The caller blocks its thread until the action has run, so the action must run on another.
    DispatchQueue(label: "dialtone-tests.caller").async {
      held.value = monitor.whenDetermined { _ in fired.open() }
      fired.wait()
      outcome.value = fired.isOpen
    }
    try await eventually("the caller comes back") { outcome.value != nil }
    #expect(outcome.value == true)
    held.value = nil
  }

  @Test func anotherTargetOrAPauseDoesNotRunItASecondTime() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    network.set(.numbered(2), for: ip("192.0.2.1"))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let token = monitor.whenDetermined { log.append($0) }
    try await log.wait("it has run") { $0.number == 1 }
    monitor.target = .address(ip("192.0.2.1"))
    #expect(try await monitor.waitUntilDetermined().number == 2)
    monitor.pause()
    let late = monitor.whenDetermined { log.append($0) }
    monitor.resume()
    try await log.wait("the one who asked in the pause is told") { $0.number == 2 }
    #expect(log.all.map(\.number) == [1, 2])
    withExtendedLifetime((token, late)) {}
  }

  /// Works for every kind of monitor.
  private func firstDetermined<Monitor: StateMonitor>(_ monitor: Monitor) async throws -> (Monitor.State, Int)
  where Monitor.State: DeterminableState {
    let log = Log<Monitor.State>()
    let token = monitor.whenDetermined { log.append($0) }
    let state = try await monitor.waitUntilDetermined()
    try await eventually("it has run") { log.count == 1 }
    token.cancel()
    #expect(state.isDetermined)
    return (state, log.count)
  }

  @Test func pathsAreDeterminedTheSameWay() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let monitor = PathMonitor(environment: network.environment)
    await #expect(throws: ReachabilityError(.denied, "")) { try await monitor.waitUntilDetermined() }
    #expect(monitor.current.isDenied && !monitor.current.isDetermined)
    network.set(.unreachable())
    try await eventually("it is known") { monitor.current.isDetermined }
    async let first = firstDetermined(monitor)
    let (path, count) = try await first
    #expect(path.status == .unsatisfied)
    #expect(count == 1)
    #expect(try await firstDetermined(network.monitor()).0.status == .unreachable)
  }

  // MARK: Waiting

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func withAZeroTimeoutItReadsOnlyThePresentState(timeout: Duration) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.failing, forName: "name.example")
    let monitor = network.monitor(try .host("name.example"))
    try await eventually("there is a reason") { monitor.current.isUndetermined(.nameNotResolved) }
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilDetermined(timeout: timeout) }
    network.set(.denied)
    try await eventually("denied") { monitor.current.isDenied }
    await #expect(throws: ReachabilityError(.denied, "")) { try await monitor.waitUntilDetermined(timeout: timeout) }
    network.set(.unreachable())
    try await eventually("it is known") { monitor.current.isDetermined }
    #expect(try await monitor.waitUntilDetermined(timeout: timeout).status == .unreachable)
  }

  @Test func theErrorNamesTheTargetAndTheTime() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "name.example")
    let monitor = network.monitor(try .host("name.example"))
    let ticking = network.clock.ticking()
    let error = await #expect(throws: ReachabilityError.self) {
      // This is less than the time after which a lookup that hangs is a reason.
      try await monitor.waitUntilDetermined(timeout: .seconds(5))
    }
    ticking.cancel()
    #expect(error?.code == .timedOut)
    // On a busy machine the clock ticks on before the message is made: then it also has the reason that came meanwhile.
    #expect(error?.message.hasPrefix("name.example was not determined within 5.0 seconds") == true)
  }

  @Test func isCancelledWithItsTask() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = network.monitor(try .host("slow.example"))
    let hasBegun = Counter()
    let waiting = Task {
      hasBegun.add()
      return try await monitor.waitUntilDetermined()
    }
    try await eventually("it has begun") { hasBegun.value == 1 }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
