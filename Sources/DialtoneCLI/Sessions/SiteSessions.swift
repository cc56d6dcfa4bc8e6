// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// `check`: one line for each site, as it is done.
struct CheckSession: Session {
  private var available: Tally

  init(siteCount: Int) { available = Tally(count: siteCount) }

  mutating func receive(_ verdict: SiteVerdict, of site: Int, at now: Duration) -> [StateReport<SiteVerdict>] {
    available[site] = TruthValue(verdict.isAvailable)
    return [StateReport(target: site, state: verdict)]
  }

  /// Each check has its own deadline.
  mutating func timeOut() -> [StateReport<SiteVerdict>] { [] }

  var ending: ExitStatus? { available.unknownCount > 0 ? nil : available.all.exitStatus }

  var waiting: Waiting? { ending == nil ? Waiting(targets: available.unknown, goal: "to answer") : nil }
}

/// `wait --site`: until all sites, or any, are available, or no longer are.
struct SiteWaitSession: Session {
  /// What a site has to become.
  enum Goal: Equatable, Sendable {
    case available
    case unavailable

    var words: String { self == .available ? "to be available" : "to be unavailable" }
  }

  private let goal: Goal
  private let anySuffices: Bool
  private var verdicts: [SiteVerdict?]
  private var met: Tally
  private(set) var ending: ExitStatus?

  init(siteCount: Int, goal: Goal, anySuffices: Bool) {
    verdicts = Array(repeating: nil, count: siteCount)
    met = Tally(count: siteCount)
    self.goal = goal
    self.anySuffices = anySuffices
  }

  mutating func receive(_ verdict: SiteVerdict, of site: Int, at now: Duration) -> [StateReport<SiteVerdict>] {
    if ending != nil { return [] }
    verdicts[site] = verdict
    met[site] = TruthValue(verdict.isAvailable == (goal == .available))
    guard whole == .holds else { return [] }
    ending = .holds
    return report { !anySuffices || met[$0] == .holds }
  }

  /// Prints how far it has come.
  mutating func timeOut() -> [StateReport<SiteVerdict>] {
    if ending != nil { return [] }
    ending = whole.exitStatus
    return report { _ in true }
  }

  /// A site without a verdict has no line.
  private func report(where isWanted: (Int) -> Bool) -> [StateReport<SiteVerdict>] {
    verdicts.indices.filter(isWanted).compactMap { position in
      verdicts[position].map { StateReport(target: position, state: $0) }
    }
  }

  private var whole: TruthValue { anySuffices ? met.any : met.all }

  var waiting: Waiting? { ending == nil ? Waiting(targets: met.open, goal: goal.words) : nil }

  func unmetState(of site: Int) -> SiteVerdict? { met[site] != .holds ? verdicts[site] : nil }

  var tellsReasons: Bool { true }
}
