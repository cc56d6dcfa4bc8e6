// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// `watch`: the first known state of each target, then each change, for ever or up to a number of lines.
struct WatchSession<State: Equatable & Sendable>: Session {
  private var last: [(state: State, since: Duration)?]
  private let countLimit: Int?
  private let goal: String
  private let isKnown: @Sendable (State) -> Bool
  private var count = 0
  private(set) var ending: ExitStatus?

  /// `goal` is what a target is waited for at first. A state that is not `isKnown` leaves the end undetermined.
  init(targetCount: Int, countLimit: Int?, goal: String, isKnown: @escaping @Sendable (State) -> Bool) {
    last = Array(repeating: nil, count: targetCount)
    self.countLimit = countLimit
    self.goal = goal
    self.isKnown = isKnown
  }

  mutating func receive(_ state: State, of target: Int, at now: Duration) -> [StateReport<State>] {
    // If states in between were skipped, the newest may be the one that was printed last.
    if ending != nil || last[target]?.state == state { return [] }
    let former = last[target].map { StateReport<State>.Former(state: $0.state, lasted: now - $0.since) }
    last[target] = (state, now)
    count += 1
    // A target without a state leaves nothing open, because a number of lines was asked for.
    if count == countLimit { ending = status(whereNothingCame: .holds) }
    return [StateReport(target: target, state: state, former: former)]
  }

  mutating func timeOut() -> [StateReport<State>] {
    ending = ending ?? status(whereNothingCame: .unknown)
    return []
  }

  private func status(whereNothingCame value: TruthValue) -> ExitStatus {
    TruthValue.all(last.map { $0.map { isKnown($0.state) ? .holds : .unknown } ?? value }).exitStatus
  }

  var waiting: Waiting? {
    let unknown = last.indices.filter { last[$0] == nil }
    return unknown.isEmpty ? nil : Waiting(targets: unknown, goal: goal)
  }
}
