// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// Every parameter that is a duration takes any duration.
@Suite(.timeLimit(.minutes(5)))
struct DurationTests {
  private static let limited: [(Duration, nanoseconds: Int64)] = [
    (.zero, 0), (.nanoseconds(1), 1), (.nanoseconds(-1), -1), (Duration(attoseconds: 1_999_999_999), 1),
    (Duration(attoseconds: -1_999_999_999), -1), (.milliseconds(2_500), 2_500_000_000),
    (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.min), .min),
    (.nanoseconds(Int64.max) + .nanoseconds(1), .max), (.nanoseconds(Int64.min) - .nanoseconds(1), .min),
    (.seconds(Int64.max), .max), (.seconds(Int64.min), .min), (.seconds(Int64.max) * 2, .max),
    (.seconds(Int64.min) * 2, .min), (Duration(attoseconds: .max), .max), (Duration(attoseconds: .min), .min),
  ]

  @Test(arguments: limited)
  func isLimitedInNanoseconds(duration: Duration, nanoseconds: Int64) {
    #expect(duration.nanosecondsClamped == nanoseconds)
    #expect(duration.secondsClamped == nanoseconds / 1_000_000_000)
  }

  @Test(arguments: [
    (Int64.max, Int64.max), (.max, .min), (.min, .min), (.min, -1), (4, .max / 2), (-4, .max / 2), (0, .min), (3, -4),
  ])
  func sumsAndProductsAreTheNearestThatFit(a: Int64, b: Int64) {
    func nearest(_ value: Int128) -> Int64 { Int64(clamping: value) }
    #expect(a.addingClamped(b) == nearest(Int128(a) + Int128(b)))
    #expect(a.multipliedClamped(by: b) == nearest(Int128(a) * Int128(b)))
  }

  @Test(arguments: Duration.endless)
  func aWaitThatNeverEndsEndsWithTheState(timeout: Duration) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let path = PathMonitor(environment: network.environment)
    #expect(try await monitor.waitUntilKnown(timeout: timeout).isUnreachable(.noRoute))
    #expect(try await path.waitUntilKnown(timeout: timeout).status == .unsatisfied)
    async let state = monitor.waitUntilReachable(timeout: timeout)
    async let way = path.waitUntilSatisfied(timeout: timeout)
    try await network.settle()
    network.set(.wifi)
    #expect(try await state.isVia("wlan0"))
    #expect(try await way.status == .satisfied)
  }

  /// The clock stops at the end of its numbers, and then even the longest waits are over. Their error says how long
  /// they were.
  @Test(arguments: Duration.endless)
  func aWaitThatNeverEndsEndsWithTheClock(timeout: Duration) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let isOver = Counter()
    let waiting = Task {
      defer { isOver.add() }
      return try await monitor.waitUntilReachable(timeout: timeout)
    }
    try await eventually("it is over") {
      network.clock.advance(by: timeout)
      return isOver.value == 1
    }
    let error = await #expect(throws: ReachabilityError.self) { try await waiting.value }
    #expect(error?.code == .timedOut)
    #expect(error?.message.hasPrefix("internet was not reachable within \(timeout)") == true)
  }

  @Test(arguments: Duration.negative)
  func aNegativeWaitAsksForThePresentState(timeout: Duration) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilReachable(timeout: timeout) }
    network.set(.wifi)
    try await eventually("it is there") { monitor.current.isReachable }
    try await monitor.waitUntilReachable(timeout: timeout)
  }

  @Test(arguments: Duration.endless)
  func aGateWaitsForAnyTime(timeout: Duration) async throws {
    let network = scriptedNetwork()
    var policy = PathGate.Policy()
    policy.spread = timeout
    let gate = PathGate(policy: policy, environment: network.environment)
    async let state = gate.waitForPath(timeout: timeout)
    try await eventually("it waits") { gate.waiterCount == 1 }
    network.set(.wifi)
    #expect(try await state.isVia("wlan0"))
  }

  /// On the system's clock, some time passes before what is left is known.
  @Test(arguments: Duration.negative)
  func aGateHasNoTimeBelowZero(timeout: Duration) async throws {
    var configuration = ReachabilityConfiguration()
    configuration.interface = ""  // none has this name
    let gate = PathGate(configuration: configuration)
    let error = await #expect(throws: PathGate.Unavailable.self) { try await gate.waitForPath(timeout: timeout) }
    #expect(error?.cause == .timedOut && error?.reason == .noInterface)
  }

  /// A monitor with this settling that has told its first state, on a network that has just changed, and a path monitor
  /// with the same settling.
  private static func changing(
    settling: Duration
  ) async throws -> (ScriptedNetwork, ReachabilityMonitor, Log<Reachability>, ReachabilityObservation) {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor { $0.settling = settling }
    var configuration = PathConfiguration()
    configuration.settling = settling
    let path = PathMonitor(configuration: configuration, environment: network.environment)
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    #expect(try await path.waitUntilKnown().status == .satisfied)
    network.set(.wired)
    return (network, monitor, log, token)
  }

  @Test(arguments: Duration.endless)
  func settlingThatNeverEndsHoldsEveryChangeBack(settling: Duration) async throws {
    let (network, monitor, log, token) = try await Self.changing(settling: settling)
    try await eventually("current has it") { monitor.current.isVia("eth0") }
    network.clock.advance(by: .seconds(86_400 * 365))
    try await network.settle()
    #expect(log.count == 1)
    token.cancel()
  }

  @Test(arguments: Duration.negative)
  func negativeSettlingIsNone(settling: Duration) async throws {
    let (_, _, log, token) = try await Self.changing(settling: settling)
    try await log.wait("the change") { $0.isVia("eth0") }
    token.cancel()
  }

  @Test(arguments: Duration.endless + Duration.negative)
  func workIsRunAgainHoweverLongItMayWait(limit: Duration) async throws {
    struct Failure: Error {}
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    var policy = RetryPolicy()
    policy.maximumWait = limit
    var runs = 0
    do {
      try await monitor.retryOnPathChange(policy: policy) {
        runs += 1
        if runs > 1 { return }
        network.set(.wired)
        network.clock.advance(by: .seconds(1))
        throw Failure()
      }
      #expect(runs == 2)
    } catch is Failure {
      #expect(limit < .zero, "there was time to wait")
    }
  }
}
