// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// From the first call of a child of fork(2) on, whichever it is, its own engine watches, and calls the handlers from
/// before.
@Suite(
  .disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own, and survives no fork"),
  .timeLimit(.minutes(5)), .threadsApart)
struct ForkFirstCallTests {
  private static let calls: [@Sendable (ReachabilityMonitor) -> Void] = [
    {
      $0.pause()
      $0.resume()
    },
    { $0.resume() }, { $0.target = .address(ip("192.0.2.1")) }, { _ = $0.updates },
  ]

  @Test func theFirstCallIsFollowedByAllHandlers() async {
    await #expect(processExitsWith: .success) {
      for (number, call) in ForkFirstCallTests.calls.enumerated() {
        let network = scriptedNetwork()
        network.set(.wifi)
        let told = Log<Reachability>()
        let monitor = network.monitor()
        let token = monitor.observe { told.append($0) }
        try await told.wait("the first state") { $0.isReachable }
        // A child in which a thread of the parent held a lock could never take it.
        try await eventually("the engine rests") { ProcessCensus.areAsleep(threadsNamed: "dialtone") }
        let status = statusOfChild {
          network.set(.unreachable(.noCarrier))
          call(monitor)
          // Nothing else asks the monitor: its handler alone tells.
          while told.last?.reason != .noCarrier { usleep(1_000) }
          return 0
        }
        #expect(status == 0, "call \(number): the child ended with \(status)")
        token.cancel()
      }
    }
  }
}
#endif
