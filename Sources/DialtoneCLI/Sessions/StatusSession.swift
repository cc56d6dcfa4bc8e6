// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// `status`: one line for each target, in their order, as soon as it is known.
///
/// A name that cannot be looked up for now may still become known: it is waited for until the timeout. What the system
/// denies never will.
struct StatusSession: Session {
  private var states: [Reachability]
  private var printed = 0

  init(targetCount: Int) { states = Array(repeating: .unknown, count: targetCount) }

  mutating func receive(_ state: Reachability, of target: Int, at now: Duration) -> [Report] {
    // The exit status speaks of what was printed.
    if target < printed { return [] }
    states[target] = state
    var end = printed
    while end < states.count, states[end].isFinal { end += 1 }
    return report(upTo: end)
  }

  mutating func timeOut() -> [Report] { report(upTo: states.count) }

  private mutating func report(upTo end: Int) -> [Report] {
    defer { printed = end }
    return (printed..<end).map { Report(target: $0, state: states[$0]) }
  }

  var ending: ExitStatus? {
    printed < states.count ? nil : TruthValue.all(states.map { $0.holds { $0.isReachable } }).exitStatus
  }

  var waiting: Waiting? {
    let unknown = states.indices.filter { !states[$0].isFinal }
    return unknown.isEmpty ? nil : Waiting(targets: unknown, goal: "to become known")
  }

  func unmetState(of target: Int) -> Reachability? { states[target].isKnown ? states[target] : nil }
}

extension Reachability {
  /// Whether waiting longer cannot make more of it known.
  var isFinal: Bool { isDetermined || isDenied }

  func holds(_ condition: (Reachability) -> Bool) -> TruthValue {
    isDetermined ? TruthValue(condition(self)) : .unknown
  }
}
