// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 1: nothing is delivered before it is known. Undetermined is known if it has a reason. A later fall to
/// undetermined is delivered.
@Suite(.timeLimit(.minutes(5)))
struct Promise1KnownFirstTests {
  @Test(arguments: Receiver.allCases)
  func deliversNothingBeforeItIsKnown(receiver: Receiver) async throws {
    let slow = SlowNetwork()
    slow.set(.wifi)
    let monitor = slow.monitor()
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    // If another receiver has a state by now, this one would have got it, too.
    let other = ReachabilityMonitor(.internet, environment: slow.network.environment)
    _ = try await other.waitUntilKnown()
    #expect(log.all.isEmpty)
    #expect(monitor.current.status == .undetermined)
    #expect(monitor.current.reason == nil)
    slow.open()
    try await log.wait("the first state") { $0.isVia("wlan0") }
    #expect(log.count == 1)
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func deliversUndeterminedWithItsReason(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    try await log.wait("the first state") { $0.isUndetermined(.denied) }
    #expect(log.count == 1)
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func deliversThatAResolverFailsForNow(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.failing, forName: "failing.example")
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor(try .host("failing.example"))) { log.append($0) }
    try await log.wait("the first state") { $0.isUndetermined(.nameNotResolved) }
    #expect(log.count == 1)
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func deliversALaterFallToUndetermined(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    try await log.wait("reachable") { $0.isReachable }
    network.set(.denied)
    try await log.wait("undetermined") { $0.isUndetermined(.denied) }
    #expect(log.count == 2)
    reception.cancel()
  }

  @Test func waitsThroughWhatIsNotKnown() async throws {
    let slow = SlowNetwork()
    slow.set(.wifi)
    let monitor = slow.monitor()
    async let known = monitor.waitUntilKnown()
    async let reachable = monitor.waitUntilReachable()
    let fired = Log<Int>()
    let token = monitor.whenReachable { fired.append(1) }
    #expect(fired.count == 0)
    slow.open()
    #expect(try await known.isVia("wlan0"))
    #expect(try await reachable.isVia("wlan0"))
    try await eventually("the action has run") { fired.count == 1 }
    withExtendedLifetime(token) {}
  }

  @Test func undeterminedEndsAWaitForKnownAndNoOther() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    let monitor = network.monitor()
    let fired = Log<Int>()
    let token = monitor.whenReachable { fired.append(1) }
    #expect(try await monitor.waitUntilKnown().isUndetermined(.denied))
    try await network.settle()
    #expect(fired.count == 0)
    async let reachable = monitor.waitUntilReachable()
    network.set(.wired)
    #expect(try await reachable.isVia("eth0"))
    try await eventually("the action has run") { fired.count == 1 }
    withExtendedLifetime(token) {}
  }
}
