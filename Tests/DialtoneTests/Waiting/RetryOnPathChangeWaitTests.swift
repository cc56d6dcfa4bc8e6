// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// How long a run waits for the path, and where the work runs.
@Suite(.timeLimit(.minutes(5)))
struct RetryOnPathChangeWaitTests {
  @Test func saysThatThePathWasLostWhenItDoesNotComeInTimeAndNotBefore() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let ended = Counter()
    let hasFailed = Counter()
    let working = Task {
      defer { ended.add() }
      try await monitor.retryOnPathChange(policy: .changed { $0.maximumWait = .seconds(3_600) }) {
        hasFailed.add()
        network.set(.unreachable())
        throw WorkFailed(run: hasFailed.value)
      }
    }
    try await eventually("it has failed") { hasFailed.value == 1 }
    // Less than an hour has passed, whenever the wait began.
    for _ in 0..<59 {
      network.clock.advance(by: .seconds(60))
      try await network.settle()
    }
    #expect(ended.value == 0)
    let ticking = network.clock.ticking(by: .seconds(60))
    let error = await #expect(throws: ReachabilityError(.pathLost, "")) { try await working.value }
    ticking.cancel()
    #expect(error?.underlyingError as? WorkFailed == WorkFailed(run: 1))
    #expect(
      error?.message
        == "there was no path to internet (unreachable: no route to the destination), and the work failed: "
        + "WorkFailed(run: 1)")
    #expect(hasFailed.value == 1)
  }

  @Test func allWaitsTogetherHaveOneLimit() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let runs = Counter()
    let ended = Counter()
    let policy = RetryPolicy.changed {
      $0.maximumWait = .seconds(100)
      $0.maximumAttempts = .max
    }
    let working = Task {
      defer { ended.add() }
      try await monitor.retryOnPathChange(policy: policy) {
        network.set(.unreachable())
        try await eventually("lost") { !monitor.current.isReachable }
        throw WorkFailed(run: runs.add())
      }
    }
    // Each wait takes at most ten seconds, so none reaches the limit by itself.
    for round in 1...1_000 where ended.value == 0 {
      try await eventually("run \(round)") { runs.value == round || ended.value == 1 }
      for _ in 0..<10 {
        network.clock.advance(by: .seconds(1))
        try await network.settle()
      }
      network.set(.wifi)
    }
    #expect(ended.value == 1)
    let error = await #expect(throws: ReachabilityError(.pathLost, "")) { try await working.value }
    #expect(error?.underlyingError as? WorkFailed == WorkFailed(run: runs.value))
    #expect(runs.value >= 10)
    working.cancel()
  }

  @Test func theTimeThatTheWorkTakesDoesNotCount() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    var runs = 0
    try await monitor.retryOnPathChange(policy: .changed { $0.maximumWait = .seconds(10) }) {
      runs += 1
      network.clock.advance(by: .seconds(3_600))
      if runs == 1 {
        network.set(.cellular)
        throw WorkFailed()
      }
    }
    #expect(runs == 2)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func withAZeroTimeoutItDoesNotWait(limit: Duration) async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    await #expect(throws: ReachabilityError(.pathLost, "")) {
      try await monitor.retryOnPathChange(policy: .changed { $0.maximumWait = limit }) {
        network.set(.unreachable())
        throw WorkFailed()
      }
    }
  }

  @Test(arguments: [1, 3])
  func theErrorOfTheLastAttemptSaysThatThePathWasLost(attempts: Int) async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    var runs = 0
    let error = await #expect(throws: ReachabilityError(.pathLost, "")) {
      try await monitor.retryOnPathChange(policy: .changed { $0.maximumAttempts = attempts }) {
        runs += 1
        // Each run has another path, and the last has none.
        network.set(runs < attempts ? .numbered(100 + runs) : .unreachable(.noCarrier))
        throw WorkFailed(run: runs)
      }
    }
    #expect(error?.underlyingError as? WorkFailed == WorkFailed(run: attempts))
  }

  @Test func workWithAnErrorOfItsOwnHasThatThrown() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let policy = RetryPolicy.changed { $0.maximumWait = .zero }
    do throws(WorkFailed) {
      try await monitor.retryOnPathChange(policy: policy) { () async throws(WorkFailed) in
        network.set(.unreachable())
        throw WorkFailed(run: 1)
      }
    } catch {
      #expect(error == WorkFailed(run: 1))
    }
  }

  @Test func anErrorThatThePolicyDoesNotRetryIsThrownAsItIs() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    await #expect(throws: WorkFailed(run: 1)) {
      try await monitor.retryOnPathChange(policy: .changed { $0.shouldRetry = { _ in false } }) {
        network.set(.unreachable())
        throw WorkFailed(run: 1)
      }
    }
  }

  @Test(arguments: [nil, Duration.seconds(Int64.max)])
  func withoutALimitItWaitsForAsLongAsItTakes(limit: Duration?) async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let runs = Counter()
    let working = Task {
      try await monitor.retryOnPathChange(policy: .changed { $0.maximumWait = limit }) {
        if runs.add() == 1 {
          network.set(.unreachable())
          throw WorkFailed()
        }
      }
    }
    try await eventually("it has failed") { runs.value == 1 && !monitor.current.isReachable }
    network.clock.advance(by: .seconds(1_000_000))
    try await network.settle()
    #expect(runs.value == 1)
    network.set(.wifi)
    try await working.value
  }

  // MARK: Isolation and types

  /// A type that is neither `Sendable` nor copyable.
  private struct Receipt: ~Copyable {
    let number: Int
  }

  private final class Mutable {
    var runs = 0
  }

  @Test func neitherTheWorkNorItsResultNeedBeSendable() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let mutable = Mutable()
    let receipt = try await monitor.retryOnPathChange {
      mutable.runs += 1
      if mutable.runs == 1 {
        network.set(.cellular)
        throw WorkFailed()
      }
      return Receipt(number: mutable.runs)
    }
    #expect(receipt.number == 2)
  }

  private actor Uploader {
    let monitor: ReachabilityMonitor
    let network: ScriptedNetwork
    private var runs = 0

    init(_ monitor: ReachabilityMonitor, _ network: ScriptedNetwork) {
      self.monitor = monitor
      self.network = network
    }

    /// How often the work ran. Each run was on this actor, before and after it was suspended.
    func upload() async throws -> Int {
      let mutable = Mutable()
      try await monitor.retryOnPathChange {
        assertIsolated()
        runs += 1
        mutable.runs += 1
        await Task.yield()
        assertIsolated()
        if runs == 1 {
          network.set(.cellular)
          throw WorkFailed()
        }
      }
      assertIsolated()
      return runs
    }
  }

  @Test func theWorkRunsInTheCallersIsolation() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    #expect(try await Uploader(monitor, network).upload() == 2)
  }

  @Test @MainActor func theWorkRunsOnTheMainActorIfItIsCalledThere() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    var runs = 0
    try await monitor.retryOnPathChange {
      MainActor.assertIsolated()
      runs += 1
      if runs == 1 {
        network.set(.cellular)
        throw WorkFailed()
      }
    }
    #expect(runs == 2)
  }

  // MARK: Targets and texts

  @Test func aTargetHasAMonitorOfItsOwnForAsLongAsItTakes() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    var runs = 0
    try await ReachabilityMonitor(.address(ip("192.0.2.1")), environment: network.environment).retryOnPathChange {
      runs += 1
      if runs == 2 { return }
      // By then the first state is known, whatever it is.
      try await network.settle()
      network.set(.cellular)
      throw WorkFailed()
    }
    #expect(runs == 2)
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  @Test(arguments: ["192.0.2.1", "https://name.example/x", "name.example"])
  func aTextIsAHost(text: String) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.1")]), forName: "name.example")
    let control = network.monitor(try .host(text))
    _ = try await control.waitUntilKnown()
    var runs = 0
    try await ReachabilityMonitor(try .host(text), environment: network.environment).retryOnPathChange {
      runs += 1
      if runs == 2 { return }
      try await network.settle()
      network.set(.cellular)
      throw WorkFailed()
    }
    #expect(runs == 2)
  }

  @Test(arguments: ["", "no host", "http://"])
  func aTextThatIsNoHostIsRefusedBeforeTheWorkRuns(text: String) async throws {
    var runs = 0
    await #expect(throws: ReachabilityError.self) {
      let monitor = ReachabilityMonitor(try .host(text), environment: scriptedNetwork().environment)
      await monitor.retryOnPathChange { runs += 1 }
    }
    #expect(runs == 0)
  }
}
