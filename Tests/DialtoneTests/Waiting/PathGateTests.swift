// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PathGateTests {
  private let target = ReachabilityTarget.address(IPAddress(ipv4: 0xC000_0201), port: 443)

  private func gate(_ network: ScriptedNetwork, _ change: (inout PathGate.Policy) -> Void = { _ in }) -> PathGate {
    var policy = PathGate.Policy()
    change(&policy)
    return PathGate(policy: policy, environment: network.environment)
  }

  @Test func letsPassAtOnceIfThereIsAPath() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let gate = gate(network)
    #expect(try await gate.waitForPath(to: target, timeout: .seconds(1)).isReachable)
    #expect(try await gate.waitForPath(to: target, timeout: .zero).isReachable)
  }

  /// A new gate, whose monitor knows nothing yet.
  @Test func withoutTimeToWaitThePresentStateCounts() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    #expect(try await gate(network).waitForPath(to: target, timeout: .zero).isVia("wlan0"))
    network.set(.unreachable(.prohibited))
    for isFast in [false, true] {
      let gate = gate(network) { $0.failsFast = isFast }
      let error = await #expect(throws: PathGate.Unavailable.self) {
        try await gate.waitForPath(to: target, timeout: .zero)
      }
      #expect(error?.reason == .prohibited && error?.cause == (isFast ? .needsIntervention : .timedOut))
    }
  }

  @Test func waitsUntilThereIsAPath() async throws {
    let network = scriptedNetwork()
    let gate = gate(network)
    async let state = gate.waitForPath(to: target)
    try await eventually("it waits") { gate.waiterCount == 1 }
    network.set(.wired)
    #expect(try await state.interface?.name == "eth0")
    #expect(gate.waiterCount == 0)
  }

  @Test func saysWhatItWaitedForHowLongAndWhy() async throws {
    let network = scriptedNetwork()
    network.set(.unreachable(.noCarrier))
    let gate = gate(network)
    let waiting = Task { try await gate.waitForPath(to: target, timeout: .seconds(90)) }
    let ticking = network.clock.ticking(by: .seconds(1))
    defer { ticking.cancel() }
    let error = await #expect(throws: PathGate.Unavailable.self) { try await waiting.value }
    #expect(error?.cause == .timedOut && error?.target == target && error?.reason == .noCarrier)
    #expect(try #require(error).waited >= .seconds(90))
    #expect("\(try #require(error))".hasPrefix("no path to 192.0.2.1:443 within 90.0 seconds: "))
  }

  @Test(
    "what somebody has to change ends the wait at once, if that is asked for",
    arguments: [
      (Reachability.Reason.prohibited, true), (.linkDown, true), (.radioBlocked, true), (.blackhole, true),
      (.noCarrier, false), (.noRoute, false), (.noAddress, false),
    ])
  func failsFast(_ reason: Reachability.Reason, _ isFast: Bool) async throws {
    let network = scriptedNetwork()
    network.set(.unreachable(reason))
    let gate = gate(network) { $0.failsFast = true }
    let waiting = Task { try await gate.waitForPath(to: target) }
    if isFast {
      let error = await #expect(throws: PathGate.Unavailable.self) { try await waiting.value }
      #expect(error?.cause == .needsIntervention && error?.reason == reason)
    } else {
      try await eventually("it waits") { gate.waiterCount == 1 }
      network.set(.wifi)
      #expect(try await waiting.value.isReachable)
    }
  }

  @Test func letsPassIfTheSystemDoesNotSay() async throws {
    let network = scriptedNetwork()
    network.set(.denied)
    #expect(try await gate(network).waitForPath(to: target).reason == .denied)
  }

  @Test func endsWithItsTask() async throws {
    let network = scriptedNetwork()
    let gate = gate(network)
    let waiting = Task { try await gate.waitForPath(to: target) }
    try await eventually("it waits") { gate.waiterCount == 1 }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(gate.waiterCount == 0)
  }

  /// As every wait of the monitors does.
  @Test func aCancelledTaskDoesNotPassEvenIfThereIsAPath() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let gate = gate(network)
    _ = try await gate.waitForPath(to: target)
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await gate.waitForPath(to: target)
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
  }

  @Test func endsAllWaitsWhenItIsClosed() async throws {
    let network = scriptedNetwork()
    let gate = gate(network)
    let waiting = (0..<100).map { _ in Task { try await gate.waitForPath(to: target) } }
    try await eventually("they wait") { gate.waiterCount == 100 }
    gate.close()
    for task in waiting {
      let error = await #expect(throws: PathGate.Unavailable.self) { try await task.value }
      #expect(error?.cause == .closed)
    }
    await #expect(throws: PathGate.Unavailable.self) { try await gate.waitForPath(to: target) }
    #expect(gate.waiterCount == 0)
  }

  @Test func closingEndsThoseWhoseTurnIsStillToCome() async throws {
    let network = scriptedNetwork()
    let gate = gate(network) { $0.spread = .seconds(3_600) }
    // Who does not know yet that there is no path has not waited for one.
    let monitor = try gate.monitor(of: target)
    _ = try await monitor.waitUntilKnown()
    let waiting = (0..<4).map { _ in Task { try await gate.waitForPath(to: target) } }
    try await eventually("they wait") { gate.waiterCount == 4 }
    network.set(.wifi)
    try await eventually("the first has passed") { gate.waiterCount == 3 }
    gate.close()
    var causes: [PathGate.Unavailable.Cause] = []
    for task in waiting {
      do {
        _ = try await task.value
      } catch let error as PathGate.Unavailable {
        causes.append(error.cause)
      }
    }
    #expect(causes == [.closed, .closed, .closed])
  }

  @Test func tenThousandGoOnOneAfterTheOther() async throws {
    let network = scriptedNetwork()
    let spread = Duration.milliseconds(500)
    let gate = gate(network) { $0.spread = spread }
    let passed = Counter()
    let all = Task {
      try await withThrowingTaskGroup { group in
        for _ in 0..<10_000 {
          group.addTask {
            try await gate.waitForPath(to: target)
            passed.add()
          }
        }
        try await group.waitForAll()
      }
    }
    try await eventually("they wait") { gate.waiterCount == 10_000 }
    network.set(.wifi)
    // Each has a place of its own in the spread: the first tenth cannot be more than the first tenth of the time.
    for tenth in 1..<10 {
      network.clock.advance(by: spread / 10)
      try await network.settle()
      #expect(passed.value <= 1_000 * tenth + 1, "\(passed.value) in \(tenth) tenths")
    }
    // Who was late to begin its turn ends it later.
    try await eventually("all pass") {
      network.clock.advance(by: spread)
      return passed.value == 10_000
    }
    try await all.value
    #expect(gate.waiterCount == 0)
  }
}
