// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// What becomes of work that is retried if its task is cancelled.
@Suite(.timeLimit(.minutes(5)))
struct RetryOnPathChangeCancellationTests {
  @Test func cancelledWhileTheWorkRunsItThrowsTheWorksErrorAndRunsNoMore() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let runs = Counter()
    let asked = Counter()
    let working = Task {
      try await monitor.retryOnPathChange(policy: .changed { $0.shouldRetry = { _ in asked.add() > 0 } }) {
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
    let (_, monitor) = try await ScriptedNetwork.onWiFi()
    let working = Task {
      while !Task.isCancelled { await Task.yield() }
      return await monitor.retryOnPathChange { Task.isCancelled }
    }
    working.cancel()
    #expect(await working.value)
  }

  /// A policy that counts how often it was asked. When it was asked, the task had not been cancelled.
  private static func counting(_ asked: Counter) -> RetryPolicy {
    RetryPolicy.changed {
      $0.shouldRetry = { _ in
        asked.add()
        return true
      }
    }
  }

  @Test func cancelledWhileItWaitsItThrowsACancellationError() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let runs = Counter()
    let asked = Counter()
    let working = Task {
      try await monitor.retryOnPathChange(policy: Self.counting(asked)) {
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
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = network.monitor(try .host("slow.example"))
    let asked = Counter()
    let working = Task {
      try await monitor.retryOnPathChange(policy: Self.counting(asked)) { throw WorkFailed() }
    }
    try await eventually("it was asked") { asked.value == 1 }
    try await network.settle()
    #expect(monitor.current.reason == nil)
    working.cancel()
    await #expect(throws: CancellationError.self) { try await working.value }
  }

  @Test func cancelledWhileItWaitsATypedErrorIsTheWorksOwn() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let asked = Counter()
    let working = Task { () -> WorkFailed? in
      do throws(WorkFailed) {
        try await monitor.retryOnPathChange(policy: Self.counting(asked)) { () async throws(WorkFailed) in
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

  /// The actor is busy: the path has come back, but the task that waited for it has not run yet.
  @Test func cancelledAfterThePathCameBackItRunsNoMore() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
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
    // The actor can run this only once the task waits.
    let isBusy = Counter()
    let latch = Latch()
    let other = Task {
      await actor.run { _ in
        isBusy.add()
        latch.wait()
      }
    }
    try await eventually("the actor is busy") { isBusy.value == 1 }
    // This receiver is told after the task, which began to wait earlier.
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
}

extension ThreadedActor {
  /// Does the work on the actor.
  fileprivate func work(
    _ monitor: ReachabilityMonitor, retrying policy: RetryPolicy, _ work: @Sendable () async throws -> Void
  ) async throws {
    try await monitor.retryOnPathChange(policy: policy, work)
  }
}
