// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// `wait`: until all targets or sites, or any, are as its goal says.
struct WaitSession<State: DeterminableState>: Session {
  /// What a target has to become.
  struct Goal: Sendable {
    /// Such as "to be reachable".
    let words: String
    /// The state of a target of which nothing is known; `nil` if it has no line.
    let unknown: State?
    let isMet: @Sendable (State) -> Bool
  }

  private let goal: Goal
  private let anySuffices: Bool
  private let targetCount: Int
  /// Those of the targets, then those of the questions to name servers.
  private var states: [State?]
  private var met: Tally
  private var answered: Tally
  private(set) var ending: ExitStatus?

  /// Each of the questions has to be answered, whether one of the targets suffices or not.
  init(targetCount: Int, questionCount: Int = 0, goal: Goal, anySuffices: Bool) {
    self.targetCount = targetCount
    states = Array(repeating: goal.unknown, count: targetCount + questionCount)
    met = Tally(count: targetCount)
    answered = Tally(count: questionCount)
    self.goal = goal
    self.anySuffices = anySuffices
  }

  mutating func receive(_ state: State, of target: Int, at now: Duration) -> [StateReport<State>] {
    if ending != nil { return [] }
    states[target] = state
    let isMet = state.isDetermined ? TruthValue(goal.isMet(state)) : .unknown
    if target < targetCount { met[target] = isMet } else { answered[target - targetCount] = isMet }
    if whole == .holds {
      ending = .holds
      return report { !anySuffices || met[$0] == .holds }
    }
    // The system will not tell later what it refuses to tell now.
    return state.isDenied ? timeOut() : []
  }

  /// Prints how far it has come. A question without an answer so far has none.
  mutating func timeOut() -> [StateReport<State>] {
    if ending != nil { return [] }
    for question in answered.unknown { answered[question] = .fails }
    ending = whole.exitStatus
    return report { _ in true }
  }

  private func report(where isWanted: (Int) -> Bool) -> [StateReport<State>] {
    (0..<targetCount).filter(isWanted).compactMap { target in
      states[target].map { StateReport(target: target, state: $0) }
    }
  }

  private var targets: TruthValue { anySuffices ? met.any : met.all }

  private var whole: TruthValue { .all([targets, answered.all]) }

  var waiting: Waiting? {
    if ending != nil { return nil }
    let open = targets == .holds ? [] : met.open
    return Waiting(targets: open + answered.open.map { $0 + targetCount }, goal: goal.words)
  }

  func unmetState(of target: Int) -> State? {
    let holds = target < targetCount ? met[target] : answered[target - targetCount]
    return holds == .holds || states[target] == goal.unknown ? nil : states[target]
  }

  var tellsReasons: Bool { true }
}

extension WaitSession<Reachability>.Goal {
  static func reachable(
    notOverCellular: Bool = false, acceptingOnDemand: Bool = false, routable: Bool = false
  ) -> Self {
    let words =
      "to be reachable" + (routable ? " from a routable address" : "")
      + (acceptingOnDemand ? " or come up on demand" : "") + (notOverCellular ? ", not over cellular" : "")
    let interfaces: ReachabilityMonitor.InterfaceRequirement = notOverCellular ? .nonCellular : .any
    let requirement = acceptingOnDemand ? interfaces.acceptingConnectionOnDemand : interfaces
    return Self(words: words, unknown: .unknown) { state in
      if routable, state.isReachable, state.source?.isLinkLocal == true { return false }
      return requirement.isMet(by: state)
    }
  }

  static var unreachable: Self { Self(words: "to be unreachable", unknown: .unknown) { !$0.isReachable } }
}

extension WaitSession<SiteVerdict>.Goal {
  static var available: Self { Self(words: "to be available", unknown: nil) { $0.isAvailable } }

  static var unavailable: Self { Self(words: "to be unavailable", unknown: nil) { !$0.isAvailable } }
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
