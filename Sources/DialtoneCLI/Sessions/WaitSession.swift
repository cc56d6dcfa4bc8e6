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

  /// Prints how far it has come. A question without an answer so far has none.
  mutating func timeOut() -> [Report] {
    if ending != nil { return [] }
    for question in questions.indices where answered[question] != .holds { answered[question] = .fails }
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

  func unmetState(of target: Int) -> Reachability? {
    if target >= states.count {
      let question = target - states.count
      return answered[question] != .holds && questions[question].isKnown ? questions[question] : nil
    }
    return met[target] != .holds && states[target].isKnown ? states[target] : nil
  }

  var tellsReasons: Bool { true }
}

/// When `wait --give-up-early` ends: once no link could bring the network, neither a wired one with a carrier nor a
/// radio that is on, for the time of grace. Pure.
///
/// Times are those of one monotonic clock.
struct EarlyEnd {
  /// How long there may be no such link.
  private let grace: Duration
  /// Since when there has been none; `nil` if there is one.
  private var since: Duration?

  init(grace: Duration) { self.grace = grace }

  /// When the wait is given up, if nothing changes until then; `nil` while a link could bring the network.
  var time: Duration? { since.map { $0 + grace } }

  /// Takes the interfaces as they are. Returns whether there was no such link for the whole time of grace.
  mutating func isReached(_ interfaces: [InterfaceStatus], at now: Duration) -> Bool {
    if interfaces.contains(where: Self.couldBringTheNetwork) {
      since = nil
      return false
    }
    let start = since ?? now
    since = start
    return now - start >= grace
  }

  /// Tunnels, dummies and `lo` do not bring the network by themselves.
  static func couldBringTheNetwork(_ status: InterfaceStatus) -> Bool {
    switch status.interface.kind {
    case .wired: status.isOperating || status.reason == .dormant
    case .wifi, .cellular: status.isUp && status.reason?.needsIntervention != true
    default: false
    }
  }

  /// Why none could: each link that could bring the network, and what it lacks.
  static func words(for interfaces: [InterfaceStatus]) -> String {
    let links = interfaces.filter { [.wired, .wifi, .cellular].contains($0.interface.kind) }
    if links.isEmpty { return "there is no wired, Wi-Fi or cellular interface" }
    return links.map { link in
      let reason = link.reason.map { TextReportFormatter.words(for: $0, takesAnyInterface: false) }
      return "\(TerminalText.visible(link.interface.description)): \(reason ?? "does not operate")"
    }.joined(separator: "; ")
  }
}
