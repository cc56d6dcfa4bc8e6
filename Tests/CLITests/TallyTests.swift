// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import DialtoneCLI

struct TallyTests {
  /// The expected value is computed anew from all targets.
  @Test(arguments: [0, 1, 2, 5])
  func agreesWithTheValuesOfAllTargets(count: Int) {
    var numbers = SeededNumbers(seed: 42)
    var tally = Tally(count: count)
    var values = [TruthValue](repeating: .unknown, count: count)
    for _ in 0..<200 {
      #expect(tally.all == .all(values) && tally.any == .any(values))
      #expect(tally.open == values.indices.filter { values[$0] != .holds })
      #expect(tally.unknownCount == values.count { $0 == .unknown })
      guard let position = values.indices.randomElement(using: &numbers) else { return }
      let value = [TruthValue.holds, .fails, .unknown].randomElement(using: &numbers) ?? .unknown
      values[position] = value
      tally[position] = value
    }
  }
}
