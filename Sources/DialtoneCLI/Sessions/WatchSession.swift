// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// `watch`: the first known state of each target, then each change, for ever or up to a number of lines.
struct WatchSession: Session {
  private var last: [(state: Reachability, since: Duration)?]
  private let countLimit: Int?
  private var count = 0
  private(set) var ending: ExitStatus?

  init(targetCount: Int, countLimit: Int?) {
    last = Array(repeating: nil, count: targetCount)
    self.countLimit = countLimit
  }

  mutating func receive(_ state: Reachability, of target: Int, at now: Duration) -> [Report] {
    // If states in between were skipped, the newest may be the one that was printed last.
    if ending != nil || last[target]?.state == state { return [] }
    let former = last[target].map { Report.Former(state: $0.state, lasted: now - $0.since) }
    last[target] = (state, now)
    count += 1
    // A target without a state leaves nothing open, because a number of lines was asked for.
    if count == countLimit { ending = status(whereNothingCame: .holds) }
    return [Report(target: target, state: state, former: former)]
  }

  mutating func timeOut() -> [Report] {
    ending = ending ?? status(whereNothingCame: .unknown)
    return []
  }

  private func status(whereNothingCame value: TruthValue) -> ExitStatus {
    TruthValue.all(last.map { $0?.state.holds { _ in true } ?? value }).exitStatus
  }

  var waiting: Waiting? {
    let unknown = last.indices.filter { last[$0] == nil }
    return unknown.isEmpty ? nil : Waiting(targets: unknown, goal: "to become known")
  }
}
