// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// What an engine without a waiter keeps, until there is one.
@Suite(.timeLimit(.minutes(5)))
struct StandInTests {
  private let waiters = ScarceWaiters()
  private let network: ScriptedNetwork
  private let monitor: ReachabilityMonitor
  private let hour: Int64 = 3_600_000_000_000

  init() {
    network = waiters.network()
    waiters.areOut = true
    monitor = network.monitor()
  }

  private var now: Int64 { network.environment.provider.time.now() }
  private var timerCount: Int { monitor.engine.control.withLock { $0.standIn.timers.count } }

  private func post(_ count: Int) -> [DeliveryTimer] {
    let timers = (0..<count).map { _ in DeliveryTimer(at: now + hour, {}) }
    for timer in timers { monitor.engine.post(.schedule(timer)) }
    return timers
  }

  /// Its clock stands still: a waiting thread must be released by the system's.
  @Test func aDeadlineIsKeptByTheClockOfTheSystem() throws {
    let before = TimeSource.system.now()
    _ = post(1)
    let after = TimeSource.system.now()
    let next = try #require(monitor.engine.control.withLock { $0.standIn.timers.next })
    #expect(next >= before + hour && next <= after + hour)
  }

  /// Each costs little: cancelled ones are removed if there are more than 64 in all.
  @Test(arguments: [(64, 64), (65, 0)])
  func cancelledTimersAreRemovedIfThereAreMany(count: Int, left: Int) {
    for timer in post(count) { timer.cancel() }
    #expect(timerCount == count)
    monitor.engine.post(.forgetTimer)
    #expect(timerCount == left)
  }

  @Test func otherTimersStay() {
    for timer in post(70).prefix(10) { timer.cancel() }
    monitor.engine.post(.forgetTimer)
    #expect(timerCount == 60)
  }

  @Test func allThatIsWatchedIsNotedAndReadsAsDenied() {
    let other = network.monitor(.localNetwork)
    func watched() -> Int { monitor.engine.control.withLock { $0.standIn.watched.count } }
    #expect(watched() == 2)
    for monitor in [monitor, other] { #expect(monitor.current.isUndetermined(.outOfDescriptors)) }
    other.pause()
    #expect(watched() == 1 && !other.current.isKnown)
    other.resume()
    #expect(watched() == 2 && other.current.isUndetermined(.outOfDescriptors))
  }

  /// Everything that was noted goes over to the threads that there are now.
  @Test func anotherMonitorHasItTryAgain() async throws {
    let fired = Counter()
    monitor.engine.post(.schedule(DeliveryTimer(at: now + hour, { fired.add() })))
    waiters.areOut = false
    let other = network.monitor(.localNetwork)
    try await eventually("both are known") {
      monitor.current.isUnreachable(.noRoute) && other.current.isUnreachable(.noRoute)
    }
    #expect(timerCount == 0 && monitor.engine.control.withLock { $0.standIn.watched.isEmpty })
    network.clock.advance(by: .seconds(3_600))
    try await eventually("the timer fires") { fired.value == 1 }
  }
}
