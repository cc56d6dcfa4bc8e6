// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import DialtoneCLI

struct TallyTests {
  /// The expected value is the verdict computed anew from all targets.
  @Test(arguments: [0, 1, 2, 5])
  func isTheSameAsToLookAtEachOfThem(count: Int) {
    var numbers = SeededNumbers(seed: 42)
    var tally = Tally(count: count)
    var verdicts = [Verdict](repeating: .unknown, count: count)
    for _ in 0..<200 {
      #expect(tally.all == .all(verdicts) && tally.any == .any(verdicts))
      #expect(tally.open == verdicts.indices.filter { verdicts[$0] != .holds })
      #expect(tally.unknownCount == verdicts.count { $0 == .unknown })
      guard let position = verdicts.indices.randomElement(using: &numbers) else { return }
      let verdict = [Verdict.holds, .fails, .unknown].randomElement(using: &numbers) ?? .unknown
      verdicts[position] = verdict
      tally[position] = verdict
    }
  }
}
