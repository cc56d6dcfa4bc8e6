// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// `wait`: until all targets, or any, are reachable, or no longer are.
struct WaitSession: Session {
  /// What a target shall come to.
  enum Goal: Equatable, Sendable {
    case reachable
    case reachableNotOverCellular
    case unreachable

    func isMet(by state: Reachability) -> Bool {
      switch self {
      case .reachable: state.isReachable
      case .reachableNotOverCellular: ReachabilityMonitor.InterfaceRequirement.nonCellular.isMet(by: state)
      case .unreachable: !state.isReachable
      }
    }

    var words: String {
      switch self {
      case .reachable: "to be reachable"
      case .reachableNotOverCellular: "to be reachable, not over cellular"
      case .unreachable: "to be unreachable"
      }
    }
  }

  private let goal: Goal
  private let anySuffices: Bool
  private var states: [Reachability]
  private(set) var ending: ExitStatus?

  init(targetCount: Int, goal: Goal, anySuffices: Bool) {
    states = Array(repeating: .unknown, count: targetCount)
    self.goal = goal
    self.anySuffices = anySuffices
  }

  mutating func receive(_ state: Reachability, of target: Int, at now: Duration) -> [Report] {
    if ending != nil { return [] }
    states[target] = state
    if verdict == .holds {
      ending = .holds
      return report { !anySuffices || verdict(of: $0) == .holds }
    }
    // The system will not tell later what it refuses to tell now.
    if state.reason == .denied { return timeOut() }
    return []
  }

  /// Prints how far it has come.
  mutating func timeOut() -> [Report] {
    if ending != nil { return [] }
    ending = verdict.exitStatus
    return report { _ in true }
  }

  private func report(where isWanted: (Reachability) -> Bool) -> [Report] {
    states.indices.filter { isWanted(states[$0]) }.map { Report(target: $0, state: states[$0]) }
  }

  private var verdict: Verdict {
    let verdicts = states.map(verdict(of:))
    return anySuffices ? .any(verdicts) : .all(verdicts)
  }

  private func verdict(of state: Reachability) -> Verdict { state.verdict(goal.isMet) }

  var waiting: Waiting? {
    if ending != nil { return nil }
    return Waiting(targets: states.indices.filter { verdict(of: states[$0]) != .holds }, goal: goal.words)
  }
}
