// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// How long the path is waited for, what cancellation does, and where the work runs.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct WithReachabilityWaitTests {
  private static func onWiFi() async throws -> (network: ScriptedNetwork, monitor: ReachabilityMonitor) {
    let network = ScriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    return (network, monitor)
  }

  private static func policy(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
    var policy = RetryPolicy.default
    change(&policy)
    return policy
  }

  @Test func saysThatThePathWasLostWhenItDoesNotComeInTimeAndNotBefore() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let ended = Counter()
    let hasFailed = Counter()
    let working = Task {
      defer { ended.add() }
      try await withReachability(of: monitor, retrying: Self.policy { $0.waitLimit = .seconds(3_600) }) {
        hasFailed.add()
        network.set(.unreachable())
        throw WorkFailed(run: hasFailed.value)
      }
    }
    try await eventually("it has failed") { hasFailed.value == 1 }
    // Whenever it began to wait, less than an hour has passed.
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
        == "the path to internet was lost (unreachable: no route to the destination), and the work failed: "
        + "WorkFailed(run: 1)")
    #expect(hasFailed.value == 1)
  }

  @Test func allWaitsTogetherHaveOneLimit() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let runs = Counter()
    let ended = Counter()
    let policy = Self.policy {
      $0.waitLimit = .seconds(100)
      $0.tries = .max
    }
    let working = Task {
      defer { ended.add() }
      try await withReachability(of: monitor, retrying: policy) {
        network.set(.unreachable())
        try await eventually("lost") { !monitor.current.isReachable }
        throw WorkFailed(run: runs.add())
      }
    }
    // Each wait takes ten seconds at most, so none reaches the limit by itself.
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
    let (network, monitor) = try await Self.onWiFi()
    var runs = 0
    try await withReachability(of: monitor, retrying: Self.policy { $0.waitLimit = .seconds(10) }) {
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
  func withoutTimeItDoesNotWait(limit: Duration) async throws {
    let (network, monitor) = try await Self.onWiFi()
    await #expect(throws: ReachabilityError(.pathLost, "")) {
      try await withReachability(of: monitor, retrying: Self.policy { $0.waitLimit = limit }) {
        network.set(.unreachable())
        throw WorkFailed()
      }
    }
  }

  @Test(arguments: [1, 3])
  func theErrorOfTheLastTrySaysThatThePathWasLost(tries: Int) async throws {
    let (network, monitor) = try await Self.onWiFi()
    var runs = 0
    let error = await #expect(throws: ReachabilityError(.pathLost, "")) {
      try await withReachability(of: monitor, retrying: Self.policy { $0.tries = tries }) {
        runs += 1
        // Another path each time, and none at last.
        network.set(runs < tries ? .numbered(100 + runs) : .unreachable(.noCarrier))
        throw WorkFailed(run: runs)
      }
    }
    #expect(error?.underlyingError as? WorkFailed == WorkFailed(run: tries))
  }

  @Test func workWithAnErrorOfItsOwnHasThatThrown() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let policy = Self.policy { $0.waitLimit = .zero }
    do throws(WorkFailed) {
      try await withReachability(of: monitor, retrying: policy) { () async throws(WorkFailed) in
        network.set(.unreachable())
        throw WorkFailed(run: 1)
      }
    } catch {
      #expect(error == WorkFailed(run: 1))
    }
  }

  @Test func anErrorThatThePolicyDoesNotRetryIsThrownAsItIs() async throws {
    let (network, monitor) = try await Self.onWiFi()
    await #expect(throws: WorkFailed(run: 1)) {
      try await withReachability(of: monitor, retrying: Self.policy { $0.shouldRetry = { _ in false } }) {
        network.set(.unreachable())
        throw WorkFailed(run: 1)
      }
    }
  }

  @Test(arguments: [nil, Duration.seconds(Int64.max)])
  func withoutALimitItWaitsForAsLongAsItTakes(limit: Duration?) async throws {
    let (network, monitor) = try await Self.onWiFi()
    let runs = Counter()
    let working = Task {
      try await withReachability(of: monitor, retrying: Self.policy { $0.waitLimit = limit }) {
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

  // MARK: Cancellation

  @Test func cancelledWhileTheWorkRunsItThrowsTheWorksErrorAndRunsNoMore() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let runs = Counter()
    let asked = Counter()
    let working = Task {
      try await withReachability(of: monitor, retrying: Self.policy { $0.shouldRetry = { _ in asked.add() > 0 } }) {
        runs.add()
        while !Task.isCancelled { await Task.yield() }
        network.set(.cellular)
        throw WorkFailed()
      }
    }
    try await eventually("it runs") { runs.value == 1 }
    working.cancel()
    await #expect(throws: WorkFailed()) { try await working.value }
    #expect(runs.value == 1)
    #expect(asked.value == 0)
  }

  @Test func cancelledBeforehandTheWorkRunsAndSees() async throws {
    let (_, monitor) = try await Self.onWiFi()
    let working = Task {
      while !Task.isCancelled { await Task.yield() }
      return await withReachability(of: monitor) { Task.isCancelled }
    }
    working.cancel()
    #expect(await working.value)
  }

  /// A policy that counts how often it was asked: by then there was no cancellation.
  private static func counting(_ asked: Counter) -> RetryPolicy {
    policy {
      $0.shouldRetry = { _ in
        asked.add()
        return true
      }
    }
  }

  @Test func cancelledWhileItWaitsItThrowsACancellationError() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let runs = Counter()
    let asked = Counter()
    let working = Task {
      try await withReachability(of: monitor, retrying: Self.counting(asked)) {
        runs.add()
        network.set(.unreachable())
        throw WorkFailed()
      }
    }
    try await eventually("it was asked") { asked.value == 1 }
    working.cancel()
    await #expect(throws: CancellationError.self) { try await working.value }
    #expect(runs.value == 1)
  }

  @Test func cancelledWhileNothingIsKnownItThrowsACancellationError() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = network.monitor(try .host("slow.example"))
    let asked = Counter()
    let working = Task {
      try await withReachability(of: monitor, retrying: Self.counting(asked)) { throw WorkFailed() }
    }
    try await eventually("it was asked") { asked.value == 1 }
    try await network.settle()
    #expect(monitor.current.reason == nil)
    working.cancel()
    await #expect(throws: CancellationError.self) { try await working.value }
  }

  @Test func cancelledWhileItWaitsATypedErrorIsTheWorksOwn() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let asked = Counter()
    let working = Task { () -> WorkFailed? in
      do throws(WorkFailed) {
        try await withReachability(of: monitor, retrying: Self.counting(asked)) { () async throws(WorkFailed) in
          network.set(.unreachable())
          throw WorkFailed(run: 1)
        }
        return nil
      } catch {
        return error
      }
    }
    try await eventually("it was asked") { asked.value == 1 }
    working.cancel()
    #expect(await working.value == WorkFailed(run: 1))
  }

  /// The actor is busy: the path has come back, and the task that waited for it has not had its turn.
  @Test func cancelledAfterThePathCameBackItRunsNoMore() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let actor = ThreadedActor()
    let runs = Counter()
    let asked = Counter()
    let working = Task {
      try await actor.work(monitor, retrying: Self.counting(asked)) {
        runs.add()
        network.set(.unreachable())
        try await eventually("lost") { !monitor.current.isReachable }
        throw WorkFailed()
      }
    }
    try await eventually("it was asked") { asked.value == 1 }
    // What the actor does next it does once the task waits.
    let isBusy = Counter()
    let latch = Latch()
    let other = Task {
      await actor.run { _ in
        isBusy.add()
        latch.wait()
      }
    }
    try await eventually("the actor is busy") { isBusy.value == 1 }
    // Told after the task, which began to wait before.
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("lost") { !$0.isReachable }
    network.set(.wifi)
    try await log.wait("back") { $0.isReachable }
    working.cancel()
    latch.open()
    await #expect(throws: CancellationError.self) { try await working.value }
    #expect(runs.value == 1)
    await other.value
    token.cancel()
  }

  // MARK: Isolation and types

  /// Neither `Sendable` nor copyable.
  private struct Receipt: ~Copyable {
    let number: Int
  }

  private final class Mutable {
    var runs = 0
  }

  @Test func neitherTheWorkNorItsResultNeedBeSendable() async throws {
    let (network, monitor) = try await Self.onWiFi()
    let mutable = Mutable()
    let receipt = try await withReachability(of: monitor) {
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

    /// How often the work ran; each time it was on this actor, before and after it was suspended.
    func upload() async throws -> Int {
      let mutable = Mutable()
      try await withReachability(of: monitor) {
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
    let (network, monitor) = try await Self.onWiFi()
    #expect(try await Uploader(monitor, network).upload() == 2)
  }

  @Test @MainActor func theWorkRunsOnTheMainActorWhereItIsCalledThere() async throws {
    let (network, monitor) = try await Self.onWiFi()
    var runs = 0
    try await withReachability(of: monitor) {
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
    let network = ScriptedNetwork()
    network.set(.wifi)
    var runs = 0
    try await withReachability(of: .address(ip("192.0.2.1")), environment: network.environment) {
      runs += 1
      if runs == 2 { return }
      // Whatever is known first, by then it is.
      try await network.settle()
      network.set(.cellular)
      throw WorkFailed()
    }
    #expect(runs == 2)
    try await eventually("the engine has ended") { network.environment.slot.runningEngine == nil }
  }

  @Test(arguments: ["192.0.2.1", "https://name.example/x", "name.example"])
  func aTextIsAHost(text: String) async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.1")]), forName: "name.example")
    let control = network.monitor(try .host(text))
    _ = try await control.waitUntilKnown()
    var runs = 0
    try await withReachability(of: text, retrying: .default, environment: network.environment) {
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
      try await withReachability(of: text, environment: ScriptedNetwork().environment) { runs += 1 }
    }
    #expect(runs == 0)
  }
}

extension ThreadedActor {
  /// Does the work on the actor.
  fileprivate func work(
    _ monitor: ReachabilityMonitor, retrying policy: RetryPolicy, _ work: @Sendable () async throws -> Void
  ) async throws {
    try await withReachability(of: monitor, retrying: policy, work)
  }
}
