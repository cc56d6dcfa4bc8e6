// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct GatePlacesTests {
  /// "A single waiter goes on at once", also if others have waited before it.
  @Test func aSingleWaiterGoesOnAtOnceEachTime() async throws {
    let network = scriptedNetwork()
    var policy = PathGate.Policy()
    policy.spread = .seconds(3_600)
    let gate = PathGate(policy: policy, environment: network.environment)
    let monitor = try gate.monitor(of: .internet)
    _ = try await monitor.waitUntilKnown()
    let passed = Counter()
    for round in 1...3 {
      let waiting = Task {
        _ = try await gate.waitForPath()
        passed.add()
      }
      defer { waiting.cancel() }
      try await eventually("it waits") { gate.waiterCount == 1 }
      network.set(.wifi)
      try await eventually("it goes on, \(round)") { passed.value == round }
      network.set(.unreachable(.noCarrier))
      try await eventually("the path is lost") { !monitor.current.isReachable }
    }
  }
}
