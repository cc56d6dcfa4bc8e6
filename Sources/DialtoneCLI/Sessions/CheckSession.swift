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
