// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// `wait`: until all targets, or any, are reachable, or no longer are.
struct WaitSession: Session {
  /// What a target has to become.
  enum Goal: Equatable, Sendable {
    case reachable(notOverCellular: Bool = false, acceptingOnDemand: Bool = false, routable: Bool = false)
    case unreachable

    func isMet(by state: Reachability) -> Bool {
      switch self {
      case .reachable(let notOverCellular, let acceptingOnDemand, let routable):
        let requirement: ReachabilityMonitor.InterfaceRequirement = notOverCellular ? .nonCellular : .any
        if routable, state.isReachable, state.source?.isLinkLocal == true { return false }
        return (acceptingOnDemand ? requirement.acceptingConnectionOnDemand : requirement).isMet(by: state)
      case .unreachable: return !state.isReachable
      }
    }

    var words: String {
      switch self {
      case .reachable(let notOverCellular, let acceptingOnDemand, let routable):
        "to be reachable" + (routable ? " from a routable address" : "")
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
  /// The questions to name servers, whose positions follow those of the targets.
  private var answered: Tally
  private var questions: [Reachability]
  private(set) var ending: ExitStatus?

  /// Each of the questions has to be answered, whether one of the targets suffices or not.
  init(targetCount: Int, questionCount: Int = 0, goal: Goal, anySuffices: Bool) {
    states = Array(repeating: .unknown, count: targetCount)
    met = Tally(count: targetCount)
    answered = Tally(count: questionCount)
    questions = Array(repeating: .unknown, count: questionCount)
    self.goal = goal
    self.anySuffices = anySuffices
  }

  mutating func receive(_ state: Reachability, of target: Int, at now: Duration) -> [Report] {
    if ending != nil { return [] }
    if target < states.count {
      states[target] = state
      met[target] = state.holds(goal.isMet)
    } else {
      questions[target - states.count] = state
      answered[target - states.count] = state.holds { $0.isReachable }
    }
    if whole == .holds {
      ending = .holds
      return report { !anySuffices || met[$0] == .holds }
    }
    // The system will not tell later what it refuses to tell now.
    if state.isDenied { return timeOut() }
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

  private var whole: TruthValue { .all([anySuffices ? met.any : met.all, answered.all]) }

  var waiting: Waiting? {
    if ending != nil { return nil }
    let open = (anySuffices ? met.any : met.all) == .holds ? [] : met.open
    return Waiting(targets: open + answered.open.map { $0 + states.count }, goal: goal.words)
  }

  func obstacle(of target: Int) -> Reachability? {
    if target >= states.count {
      let question = target - states.count
      return answered[question] != .holds && questions[question].isKnown ? questions[question] : nil
    }
    return met[target] != .holds && states[target].isKnown ? states[target] : nil
  }

  var toldGoal: String? { goal.words }
}
