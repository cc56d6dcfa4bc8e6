// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// An engine whose waiter is lost, as if somebody had closed its descriptors: another engine takes over what is
/// watched.
@Suite(.timeLimit(.minutes(5)))
struct WaiterLossTests {
  private let waiters = ScarceWaiters()
  private let network: ScriptedNetwork

  init() {
    network = waiters.network()
    network.set(.numbered(1))
  }

  @Test(arguments: Receiver.exact)
  func allThatIsWatchedGoesOn(receiver: Receiver) async throws {
    let monitor = network.monitor()
    let path = PathMonitor(environment: network.environment)
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    try await path.waitUntilSatisfied()
    waiters.lose()
    network.set(.numbered(2))
    try await log.wait("a change after the loss") { $0.number == 2 }
    try await eventually("the path's change") { path.current.preferredInterface?.index == 2 }
    #expect(log.all.map(\.number) == [1, 2])
    try await eventually("the threads of the lost engine have ended") { waiters.count == 1 }
    reception.cancel()
  }

  /// Both threads, and the thread that wakes one, may find the same waiter lost, one after another.
  @Test func whoFindsTheLossLaterHarmsNothing() async throws {
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    let engine = try #require(network.environment.provider.runningEngine)
    let lost = try #require(engine.control.withLock { $0.waiter })
    waiters.lose()
    engine.replace(lost)
    await engine.settled()
    engine.replace(lost)
    network.set(.numbered(2))
    try await eventually("the change") { monitor.current.number == 2 }
  }

  @Test func aTimerIsKept() async throws {
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    network.set(.unreachable())
    try await eventually("lost") { !monitor.current.isReachable }
    let hasBegun = Counter()
    let waiting = Task {
      hasBegun.add()
      try await monitor.waitUntilReachable(timeout: .seconds(5))
    }
    try await eventually("it begins to wait") { hasBegun.value == 1 }
    waiters.lose()
    let ticking = network.clock.ticking()
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await waiting.value }
    ticking.cancel()
  }

  @Test func aStateThatWasHeldBackForSettlingIsTold() async throws {
    let monitor = network.monitor { $0.settling = .seconds(60) }
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    network.set(.numbered(2))
    try await eventually("it is held back") { monitor.current.number == 2 }
    #expect(log.count == 1)
    waiters.lose()
    try await log.wait("it is told, though no time passes") { $0.number == 2 }
    token.cancel()
  }

  @Test func withoutAnotherWaiterAllReadsDeniedUntilThereIsOne() async throws {
    let monitor = network.monitor()
    let path = PathMonitor(environment: network.environment)
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    try await path.waitUntilSatisfied()
    waiters.areOut = true
    waiters.lose()
    try await log.wait("denied") { $0.isUndetermined(.outOfDescriptors) }
    try await eventually("so is the path") { path.current.reason == .outOfDescriptors }
    waiters.areOut = false
    // Looking at the network is a reason to try again.
    network.set(.numbered(2))
    try await log.wait("known again") { $0.number == 2 }
    try await path.waitUntilSatisfied()
    #expect(log.count == 3)
    token.cancel()
  }

  /// The thread that stood in ends with each shortage, and another one begins with the next.
  @Test func aLaterShortageIsToldAndEndsAsTheFirstOne() async throws {
    let monitor = network.monitor()
    let engine = try #require(network.environment.provider.runningEngine)
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    for round in 1...3 {
      network.set(.numbered(2 * round))
      try await log.wait("known, \(round)") { $0.number == 2 * round }
      waiters.areOut = true
      waiters.lose()
      try await log.wait("denied, \(round)") { _ in log.all.count { $0.isUndetermined(.outOfDescriptors) } == round }
      waiters.areOut = false
      network.set(.numbered(2 * round + 1))
      try await log.wait("known again, \(round)") { $0.number == 2 * round + 1 }
      try await eventually("nothing stands in") { !engine.control.withLock { $0.standIn.hasThread } }
    }
    token.cancel()
  }
}
