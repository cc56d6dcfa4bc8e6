// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// `NetworkEngine.settled()`: everything that the system announced before has been decided.
@Suite(.timeLimit(.minutes(5)))
struct SettledTests {
  @Test func whatWasSaidBeforeIsDecided() async throws {
    let network = scriptedNetwork()
    let monitors = (0..<20).map { network.monitor(.address(IPAddress(ipv4: 0xC000_0200 + UInt32($0)))) }
    for number in 1...200 {
      network.set(.numbered(number))
      await network.environment.provider.engine().settled()
      for monitor in monitors { #expect(monitor.current.number == number) }
    }
  }

  @Test func aMonitorMadeBeforeIsKnown() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    for _ in 0..<200 {
      let monitor = network.monitor()
      await monitor.engine.settled()
      #expect(monitor.current.isVia("wlan0"))
    }
  }

  @Test func returnsWhileTheClockStandsStillAndAHandlerBlocks() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let latch = Latch()
    let called = Counter()
    let token = monitor.observe { _ in
      called.add()
      latch.wait()
    }
    try await eventually("it blocks") { called.value == 1 }
    network.set(.wired)
    await monitor.engine.settled()
    #expect(monitor.current.isVia("eth0"))
    latch.open()
    token.cancel()
  }

  /// A turn stores one state after the other. The waiter holds `settle` up until the first is stored.
  @Test func aScriptedNetworkHasSettledOnceTheLastStateIsStored() async throws {
    let waiter = DetouredWaiter()
    let network = ScriptedNetwork(makeWaiter: { _ throws(SystemError) in waiter })
    let monitors = (0..<2_000).map { network.monitor(.address(IPAddress(ipv4: 0xC633_6400 + UInt32($0)))) }
    let (first, last) = (try #require(monitors.first), try #require(monitors.last))
    _ = try await last.waitUntilKnown()
    waiter.take { _ in }  // no turn begins before `settle`
    network.set(.numbered(1))
    waiter.take { base in
      base.wake()
      while first.current.number != 1 { sched_yield() }
    }
    try await network.settle()
    #expect(last.current.number == 1)
    waiter.take { $0.wake() }
  }

  @Test func returnsIfThereIsNoEngine() async {
    let waiters = ScarceWaiters()
    let network = waiters.network()
    let monitor = waiters.withoutMore { network.monitor() }
    await monitor.engine.settled()
    #expect(monitor.current.isUndetermined(.outOfDescriptors))
  }
}

/// Does what a test says in place of a wake-up.
private final class DetouredWaiter: EventWaiter {
  typealias Detour = @Sendable (SemaphoreWaiter) -> Void

  private let base = SemaphoreWaiter()
  private let detour = Lock<Detour>({ $0.wake() })

  func take(_ new: @escaping Detour) { detour.withLock { $0 = new } }

  func wait() -> Bool { base.wait() }
  func wake() -> Bool {
    detour.withLock { $0 }(base)
    return true
  }
  func setDeadline(_ deadline: Int64?) { base.setDeadline(deadline) }
  func abandon() {}
}
