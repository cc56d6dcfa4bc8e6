// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// `watch --site`: the first verdict on each site, then each change, for ever or up to a number of lines.
struct SiteWatchSession: Session {
  private var last: [(verdict: SiteVerdict, since: Duration)?]
  private let countLimit: Int?
  private var count = 0
  private(set) var ending: ExitStatus?

  init(siteCount: Int, countLimit: Int?) {
    last = Array(repeating: nil, count: siteCount)
    self.countLimit = countLimit
  }

  mutating func receive(_ verdict: SiteVerdict, of site: Int, at now: Duration) -> [StateReport<SiteVerdict>] {
    // If verdicts in between were skipped, the newest may be the one that was printed last.
    if ending != nil || last[site]?.verdict == verdict { return [] }
    let former = last[site].map {
      StateReport<SiteVerdict>.Former(state: $0.verdict, lasted: now - $0.since)
    }
    last[site] = (verdict, now)
    count += 1
    if count == countLimit { ending = .holds }
    return [StateReport(target: site, state: verdict, former: former)]
  }

  mutating func timeOut() -> [StateReport<SiteVerdict>] {
    ending = ending ?? (last.contains { $0 == nil } ? .undetermined : .holds)
    return []
  }

  var waiting: Waiting? {
    let unknown = last.indices.filter { last[$0] == nil }
    return unknown.isEmpty ? nil : Waiting(targets: unknown, goal: "to answer")
  }
}
