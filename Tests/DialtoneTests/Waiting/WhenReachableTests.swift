// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WhenReachableTests {
  @Test func runsOnceAsSoonAsItIsReachable() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let fired = Counter()
    let token = monitor.whenReachable { fired.add() }
    _ = try await monitor.waitUntilKnown()
    try await network.settle()
    #expect(fired.value == 0)
    network.set(.wifi)
    try await eventually("it has run") { fired.value == 1 }
    for path in [ScriptedPath.unreachable(), .wired, .denied, .wifi] {
      network.set(path)
      try await network.settle()
    }
    #expect(fired.value == 1)
    token.cancel()
  }

  @Test func runsAtOnceIfItIsReachableAlready() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let fired = Counter()
    let token = monitor.whenReachable { fired.add() }
    try await eventually("it has run") { fired.value == 1 }
    token.cancel()
  }

  @Test func waitsForAnInterfaceThatCounts() async throws {
    let network = scriptedNetwork()
    network.set(.cellular)
    let monitor = network.monitor()
    let log = Log<String>()
    let tokens = [
      monitor.whenReachable { log.append("any") },
      monitor.whenReachable(over: .nonCellular) { log.append("nonCellular") },
      monitor.whenReachable(over: .only(.wired)) { log.append("wired") },
    ]
    try await eventually("any") { log.all == ["any"] }
    network.set(.wifi)
    try await eventually("nonCellular") { log.all == ["any", "nonCellular"] }
    network.set(.wired)
    try await eventually("wired") { log.all == ["any", "nonCellular", "wired"] }
    withExtendedLifetime(tokens) {}
  }

  @Test func anyNumberCanWaitOnOneMonitor() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let fired = Counter()
    let tokens = (0..<200).map { _ in monitor.whenReachable { fired.add() } }
    network.set(.wifi)
    try await eventually("all have run") { fired.value == 200 }
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: [true, false])
  func endedBeforeItHasBegunItNeverRuns(byRelease: Bool) async throws {
    final class Captured: Sendable {}
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let fired = Counter()
    weak var captured: Captured?
    do {
      let object = Captured()
      captured = object
      let token = monitor.whenReachable { withExtendedLifetime(object) { _ = fired.add() } }
      if !byRelease { token.cancel() }
      withExtendedLifetime(token) {}
    }
    try await eventually("the action is released") { captured == nil }
    network.set(.wifi)
    try await monitor.waitUntilReachable()
    try await network.settle()
    #expect(fired.value == 0)
  }

  @Test func endedAtTheSameTimeItRunsOnceOrNeverAndSaysNothingAfterwards() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    for round in 0..<200 {
      let fired = Counter()
      network.set(.unreachable())
      try await eventually("unreachable") { monitor.current.status == .unreachable }
      let token = monitor.whenReachable { fired.add() }
      network.set(.numbered(round + 1))
      if round.isMultiple(of: 2) { await Task.yield() }
      token.cancel()
      #expect(fired.value <= 1)
    }
  }

  @Test func anActionThatHasBegunOutlivesItsToken() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let hasBegun = Counter()
    let hasEnded = Counter()
    let mayEnd = Box(false)
    var token: ReachabilityObservation? = network.monitor().whenReachable {
      hasBegun.add()
      while !mayEnd.value { await Task.yield() }
      if !Task.isCancelled { hasEnded.add() }
    }
    try await eventually("it has begun") { hasBegun.value == 1 }
    token?.cancel()
    token = nil
    mayEnd.value = true
    try await eventually("it has ended") { hasEnded.value == 1 }
  }

  @Test func neverRunsOnTheCallersThread() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let fired = Latch()
    let outcome = Box<Bool?>(nil)
    let held = Box<ReachabilityObservation?>(nil)
    // The caller blocks its thread until the action has run, so the action must run on another.
    DispatchQueue(label: "dialtone-tests.caller").async {
      held.value = monitor.whenReachable { fired.open() }
      fired.wait()
      outcome.value = fired.isOpen
    }
    try await eventually("the caller comes back") { outcome.value != nil }
    #expect(outcome.value == true)
    held.value = nil
  }
}
