// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// `check`: one line for each site, as it is done.
struct CheckSession: Session {
  private var verdicts: [SiteVerdict?]

  init(siteCount: Int) { verdicts = Array(repeating: nil, count: siteCount) }

  mutating func receive(_ verdict: SiteVerdict, of site: Int, at now: Duration) -> [StateReport<SiteVerdict>] {
    verdicts[site] = verdict
    return [StateReport(target: site, state: verdict)]
  }

  /// Each check has its own end.
  mutating func timeOut() -> [StateReport<SiteVerdict>] { [] }

  var ending: ExitStatus? {
    if verdicts.contains(where: { $0 == nil }) { return nil }
    return verdicts.allSatisfy { $0?.isAvailable ?? false } ? .holds : .fails
  }

  var waiting: Waiting? {
    let unknown = verdicts.indices.filter { verdicts[$0] == nil }
    return unknown.isEmpty ? nil : Waiting(targets: unknown, goal: "to answer")
  }
}
