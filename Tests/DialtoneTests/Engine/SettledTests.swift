// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

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

  @Test func returnsIfThereIsNoEngine() async {
    let waiters = ScarceWaiters()
    let network = waiters.network()
    let monitor = waiters.withoutMore { network.monitor() }
    await monitor.engine.settled()
    #expect(monitor.current.isUndetermined(.outOfDescriptors))
  }
}
