// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneNIO
import NIOCore
import NIOPosix
import Synchronization

/// What came of one client in one round.
struct TrialResult: Sendable {
  let kind: ClientKind
  let follows: Bool
  /// From when a new connection would work to the next answered request; `nil` if there was none.
  let recovery: Duration?
  /// Requests without an answer.
  let lost: Int
  /// Connections that Dialtone has closed.
  let closed: Int
  /// Those of them whose twin was answered within the grace after the change; if they were stalled, within the policy's
  /// limit for that.
  let closedThatWorked: Int
}

/// One change, met by all clients at once.
struct TrialRound {
  let world: TrialWorld
  let change: TrialChange
  /// How long a request may take, and how long a round is waited for.
  let limit: Duration

  private struct Runner {
    let kind: ClientKind
    let follows: Bool
    let client: any TrialClient
    let log = Box()

    /// When requests were answered, and how many were lost.
    final class Box: Sendable {
      let answers = Mutex<[ContinuousClock.Instant]>([])
      let lost = Mutex(0)
    }

    /// Asks until it is cancelled.
    func run(within limit: Duration) async {
      while !Task.isCancelled {
        do {
          try await client.request(within: limit)
          log.answers.withLock { $0.append(.now) }
        } catch {
          // What ends with the round is not lost.
          if !Task.isCancelled { log.lost.withLock { $0 += 1 } }
        }
        do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
      }
    }
  }

  func play() async throws -> [TrialResult] {
    try change.prepare(world)
    var runners: [Runner] = []
    for kind in ClientKind.allCases {
      for follows in [false, true] {
        runners.append(Runner(kind: kind, follows: follows, client: try kind.make(world.lab, follows: follows)))
      }
    }
    if change.isWarm { for runner in runners { try await warm(runner) } }
    let twin = change.isWarm ? try await world.lab.connect() : nil
    try await twin?.echo("the twin is answered")

    try change.make(world)
    twin?.send()
    let running = runners.map { runner in
      Task(executorPreference: world.executor) { [limit] in await runner.run(within: limit) }
    }
    if let undo = change.undo {
      try await Task.sleep(for: TrialChange.outage)
      try undo(world)
    }
    let start = ContinuousClock.now
    let works = try await newConnectionWorks(from: start)
    let answer = try await wait(for: runners, from: works, start: start, twin)
    for task in running { task.cancel() }
    for task in running { await task.value }
    let policy = ConnectionPolicy()
    let results = runners.map { runner in
      let first = runner.log.answers.withLock { $0.first { $0 >= works } }
      let closed = runner.client.closed
      // What is stalled answers in the end: later than the policy allows.
      let wrongs = closed.filter { condition, _ in
        answer.map { $0 <= (condition == .stalled ? policy.stall : policy.grace) } ?? false
      }
      return TrialResult(
        kind: runner.kind, follows: runner.follows, recovery: first.map { $0 - works },
        lost: runner.log.lost.withLock { $0 }, closed: closed.values.reduce(0, +),
        closedThatWorked: wrongs.values.reduce(0, +))
    }
    for runner in runners { try await runner.client.stop() }
    try await twin?.close()
    try change.restore(world)
    return results
  }

  /// Has a client make its connection.
  private func warm(_ runner: Runner) async throws {
    let client = runner.client
    try await Task(executorPreference: world.executor) { try await client.request(within: .seconds(30)) }.value
  }

  /// Returns when the first of many new connections was begun that was established at once.
  private func newConnectionWorks(from start: ContinuousClock.Instant) async throws -> ContinuousClock.Instant {
    while ContinuousClock.now - start < .seconds(30) {
      let began = ContinuousClock.now
      do {
        let probe = try await world.lab.connect { $0.connectTimeout(.milliseconds(100)) }
        try await probe.close()
        return began
      } catch let error as NIOConnectionError {
        _ = error  // It does not work yet.
      } catch is ChannelError {
        // Nor does it if the time has passed.
      }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw TrialTimeout()
  }

  /// Returns once all have been answered and the grace has passed, or the limit. The result: how long after the change
  /// the twin was answered.
  private func wait(
    for runners: [Runner], from works: ContinuousClock.Instant, start: ContinuousClock.Instant,
    _ twin: LabConnectionEnd?
  ) async throws -> Duration? {
    var answer: Duration?
    while ContinuousClock.now - start < limit {
      if answer == nil, let twin, twin.received.withLock({ $0 }) > 1 { answer = ContinuousClock.now - start }
      let areAnswered = runners.allSatisfy { runner in
        runner.log.answers.withLock { $0.last.map { $0 >= works } ?? false }
      }
      if areAnswered, ContinuousClock.now - start > ConnectionPolicy().grace + .milliseconds(100) { break }
      try await Task.sleep(for: .milliseconds(2))
    }
    return answer
  }
}
#endif
