// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// Answers are in doubt after announcements were lost. `OverrunTests` has the kernel lose some.
@Suite(.timeLimit(.minutes(5)))
struct DoubtTests {
  @Test(.timeLimit(.minutes(1))) func doubtWithoutEndHoldsNothingBackForGood() async throws {
    let doubtful = DoubtfulNetwork()
    doubtful.network.set(.wifi)
    let monitor = ReachabilityMonitor(.internet, environment: doubtful.environment)
    await monitor.engine.settled()
    #expect(monitor.current.isVia("wlan0"))
    doubtful.isInDoubt.value = true
    doubtful.network.set(.wired)
    // Not `settled()`, which waits for a decision: without one it would never return.
    try await eventually(within: .seconds(50), "it is decided in the end") {
      // Each turn polls once.
      monitor.engine.wake()
      return monitor.current.isVia("eth0")
    }
    // It was held back as long as there was a prospect.
    #expect(doubtful.polls.value > EngineState.roundLimit)
  }
}
