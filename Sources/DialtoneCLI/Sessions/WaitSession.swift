// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// `wait`: until all targets, or any, are reachable, or no longer are.
struct WaitSession: Session {
  /// What a target has to become.
  enum Goal: Equatable, Sendable {
    case reachable(notOverCellular: Bool = false, acceptingOnDemand: Bool = false)
    case unreachable

    func isMet(by state: Reachability) -> Bool {
      switch self {
      case .reachable(let notOverCellular, let acceptingOnDemand):
        let requirement: ReachabilityMonitor.InterfaceRequirement = notOverCellular ? .nonCellular : .any
        return (acceptingOnDemand ? requirement.acceptingConnectionOnDemand : requirement).isMet(by: state)
      case .unreachable: return !state.isReachable
      }
    }

    var words: String {
      switch self {
      case .reachable(let notOverCellular, let acceptingOnDemand):
        "to be reachable"
          + (acceptingOnDemand ? " or come up on demand" : "")
          + (notOverCellular ? ", not over cellular" : "")
      case .unreachable: "to be unreachable"
      }
    }
  }

  private let goal: Goal
  private let anySuffices: Bool
  private var states: [Reachability]
  private var met: Tally
  private(set) var ending: ExitStatus?

  init(targetCount: Int, goal: Goal, anySuffices: Bool) {
    states = Array(repeating: .unknown, count: targetCount)
    met = Tally(count: targetCount)
    self.goal = goal
    self.anySuffices = anySuffices
  }

  mutating func receive(_ state: Reachability, of target: Int, at now: Duration) -> [Report] {
    if ending != nil { return [] }
    states[target] = state
    met[target] = state.holds(goal.isMet)
    if whole == .holds {
      ending = .holds
      return report { !anySuffices || met[$0] == .holds }
    }
    // The system will not tell later what it refuses to tell now.
    if state.reason == .denied { return timeOut() }
    return []
  }

  /// Prints how far it has come.
  mutating func timeOut() -> [Report] {
    if ending != nil { return [] }
    ending = whole.exitStatus
    return report { _ in true }
  }

  private func report(where isWanted: (Int) -> Bool) -> [Report] {
    states.indices.filter(isWanted).map { Report(target: $0, state: states[$0]) }
  }

  private var whole: TruthValue { anySuffices ? met.any : met.all }

  var waiting: Waiting? { ending == nil ? Waiting(targets: met.open, goal: goal.words) : nil }

  func obstacle(of target: Int) -> Reachability? {
    met[target] != .holds && states[target].isKnown ? states[target] : nil
  }

  var toldGoal: String? { goal.words }
}
