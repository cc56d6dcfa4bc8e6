// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import DialtoneTesting

/// A site whose checks the test answers one after another.
actor AskedSite {
  private var answers: [CheckedContinuation<SiteVerdict.Kind, Never>] = []
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// A check, which ends when it is answered.
  func check() async -> SiteVerdict.Kind {
    await withCheckedContinuation { answer in
      answers.append(answer)
      waiters.forEach { $0.resume() }
      waiters = []
    }
  }

  /// Whether a check waits for its answer.
  var isAsked: Bool { !answers.isEmpty }

  /// Answers the oldest check as soon as there is one.
  func answer(_ kind: SiteVerdict.Kind) async {
    while answers.isEmpty { await withCheckedContinuation { waiters.append($0) } }
    answers.removeFirst().resume(returning: kind)
  }

  /// Returns once a check has begun.
  func begun() async {
    while answers.isEmpty { await withCheckedContinuation { waiters.append($0) } }
  }
}

extension AskedSite {
  /// The environment for monitors of this site.
  nonisolated func environment(_ network: ScriptedNetwork) -> SiteEnvironment {
    SiteEnvironment(
      reachability: network.environment, random: { 0.5 },
      perform: { url, _ in SiteVerdict(url: url, kind: await self.check()) })
  }
}
