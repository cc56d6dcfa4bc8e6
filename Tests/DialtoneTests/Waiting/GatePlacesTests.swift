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

  /// "Those that have waited go on evenly spread", also those that came before anything was known, as at the start of a
  /// program.
  @Test func whoCameBeforeAnythingWasKnownHasAPlace() async throws {
    let network = scriptedNetwork()
    var policy = PathGate.Policy()
    policy.spread = .seconds(8)
    let gate = PathGate(policy: policy, environment: network.environment)
    let monitor = try gate.monitor(of: .internet)
    monitor.pause()
    let passed = Box<[ManualClock.Instant]>([])
    let waiting = Task {
      try await withThrowingDiscardingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            try await gate.waitForPath()
            passed.update { $0.append(network.clock.now) }
          }
        }
      }
    }
    defer { waiting.cancel() }
    try await eventually("they wait") { gate.waiterCount == 4 }
    #expect(!monitor.current.isKnown)
    monitor.resume()
    // Each of them gets one of these states.
    var states = monitor.updates.makeAsyncIterator()
    for round in 0..<20 {
      let reason = round.isMultiple(of: 2) ? Reachability.Reason.noCarrier : .noAddress
      network.set(.unreachable(reason))
      while await states.next()?.reason != reason {}
    }
    let start = network.clock.now
    network.set(.wifi)
    try await eventually("all pass") {
      network.clock.advance(by: .seconds(1))
      return passed.value.count == 4
    }
    #expect(try #require(passed.value.max()) >= start.advanced(by: .seconds(6)), "the last quarter of the time is last")
  }
}
