// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// `wait --site`: until all sites, or any, are available, or no longer are.
struct SiteWaitSession: Session {
  /// What a site shall come to.
  enum Goal: Equatable, Sendable {
    case available
    case unavailable

    var words: String { self == .available ? "to be available" : "to be unavailable" }
  }

  private let goal: Goal
  private let anySuffices: Bool
  private var verdicts: [SiteVerdict?]
  private(set) var ending: ExitStatus?

  init(siteCount: Int, goal: Goal, anySuffices: Bool) {
    verdicts = Array(repeating: nil, count: siteCount)
    self.goal = goal
    self.anySuffices = anySuffices
  }

  mutating func receive(_ verdict: SiteVerdict, of site: Int, at now: Duration) -> [StateReport<SiteVerdict>] {
    if ending != nil { return [] }
    verdicts[site] = verdict
    guard whole == .holds else { return [] }
    ending = .holds
    return report { !anySuffices || isMet(by: $0) == .holds }
  }

  /// Prints how far it has come.
  mutating func timeOut() -> [StateReport<SiteVerdict>] {
    if ending != nil { return [] }
    ending = whole.exitStatus
    return report { _ in true }
  }

  /// A site of which nothing has come has no line.
  private func report(where isWanted: (SiteVerdict?) -> Bool) -> [StateReport<SiteVerdict>] {
    verdicts.enumerated().filter { isWanted($0.element) }.compactMap { position, verdict in
      verdict.map { StateReport(target: position, state: $0) }
    }
  }

  private var whole: Verdict {
    let all = verdicts.map(isMet(by:))
    return anySuffices ? .any(all) : .all(all)
  }

  private func isMet(by verdict: SiteVerdict?) -> Verdict {
    guard let verdict else { return .unknown }
    return Verdict(verdict.isAvailable == (goal == .available))
  }

  var waiting: Waiting? {
    if ending != nil { return nil }
    return Waiting(targets: verdicts.indices.filter { isMet(by: verdicts[$0]) != .holds }, goal: goal.words)
  }
}
