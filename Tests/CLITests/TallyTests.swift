// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import DialtoneCLI

struct WatchRecordTests {
  @Test func sumsUp() {
    var record = WatchRecord()
    #expect(record.words("reachable", at: .seconds(5)) == "not known yet")
    record.note(.holds, at: .seconds(10))
    #expect(record.words("reachable", at: .seconds(70)) == "reachable 100 % of 1 min; no outage")
    record.note(.fails, at: .seconds(110))
    #expect(record.words("reachable", at: .seconds(111)) == "reachable 99 % of 1 min 41 s; 1 outage of 1.0 s")
    // Another reason for the same outage, which then lasts 100 s.
    record.note(.fails, at: .seconds(150))
    record.note(.holds, at: .seconds(210))
    #expect(record.words("reachable", at: .seconds(210)) == "reachable 50 % of 3 min 20 s; 1 outage of 1 min 40 s")
    // What is not known is no time at all.
    record.note(.unknown, at: .seconds(210))
    record.note(.fails, at: .seconds(1000))
    record.note(.holds, at: .seconds(1001))
    let words = record.words("available", at: .seconds(100_000))
    #expect(words == "available 99.8 % of 1 d 3 h; 2 outages, the longest 1 min 40 s")
  }

  /// It is never rounded up to all of the time.
  @Test func anOutageIsNeverAllOfTheTime() {
    var record = WatchRecord()
    record.note(.holds, at: .zero)
    record.note(.fails, at: .seconds(1_000_000))
    record.note(.holds, at: .seconds(1_000_000) + .microseconds(1))
    #expect(
      record.words("reachable", at: .seconds(2_000_000)).hasPrefix("reachable 99.9 % of 23 d 3 h; 1 outage of <1 ms"))
  }
}

struct WatchSummaryTests {
  @Test(arguments: [(1, nil), (10, nil), (11, "… and 1 more"), (25, "… and 15 more")] as [(Int, String?)])
  func hasALineForEachOfTheFirst(count: Int, end: String?) {
    let summary = WatchSummary(names: (1...count).map { "host-\($0)" }, word: "reachable")
    summary.note(.holds, of: 0, at: .seconds(1))
    let lines = summary.lines(at: .seconds(4))
    #expect(lines.first == "host-1: reachable 100 % of 3.0 s; no outage")
    #expect(lines.dropFirst().prefix(9) == ((2...10).prefix(count - 1).map { "host-\($0): not known yet" })[...])
    #expect(lines.dropFirst(10) == [end].compactMap(\.self)[...])
  }
}

extension TruthValue {
  /// One that holds decides; otherwise an unknown one leaves it open.
  static func any(_ values: some Sequence<TruthValue>) -> TruthValue {
    values.contains(.holds) ? .holds : values.contains(.unknown) ? .unknown : .fails
  }
}

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
