// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// When paths are due, by how many queries they take and by what has changed.
struct PathTurnTests {
  private static let second: Int64 = 1_000_000_000
  private let source = CountedSource()

  /// A table that was asked at `now`, with its record.
  private func table(
    _ queryCount: Int, at now: Int64 = 0, _ status: NetworkPath.Status = .satisfied, in queries: inout QueryTable
  ) -> (table: PathTable, record: PathRecord) {
    var table = PathTable()
    let cell = StateCell(unknown: NetworkPath.unknown)
    let record = PathRecord(PathConfiguration(), cell, cell.epoch)
    table.add(record, &queries)
    source.path = PathAnswer(NetworkPath(status), queryCount: queryCount)
    table.ask(source, &queries, now: now)
    _ = table.takeAnswers()
    return (table, record)
  }

  private func change(_ mark: (inout NetworkChange) -> Void) -> NetworkChange {
    var change = NetworkChange()
    mark(&change)
    return change
  }

  @Test func upTo64QueriesAreAskedWithTheTargets() {
    for (count, isWithTargets) in [(1, true), (64, true), (65, false)] {
      var queries = QueryTable()
      var (table, _) = table(count, in: &queries)
      #expect(!table.isDueWithTargets, "nothing has changed")
      table.mark(change { $0.markEverything() }, isTouched: false)
      #expect(table.isDueWithTargets == isWithTargets && (table.deadline == nil) == isWithTargets)
    }
  }

  /// Ten times what a query takes (some 10 µs), and at most a second.
  @Test(arguments: [(65, 6_500_000), (1_000, 100_000_000), (10_000, second), (1_000_000, second)] as [(Int, Int64)])
  func manyQueriesHaveAPauseInProportion(count: Int, pause: Int64) {
    var queries = QueryTable()
    var (table, _) = table(count, at: 7, in: &queries)
    #expect(table.deadline == nil)
    table.mark(change { $0.markEverything() }, isTouched: false)
    #expect(table.deadline == 7 + pause)
    let early = table.turnOfMany(now: 7 + pause - 1, areTargetsTold: false)
    let due = table.turnOfMany(now: 7 + pause, areTargetsTold: false)
    #expect(early == .notDue && due == .due)
  }

  @Test func onlyWhatMayTouchAPathHasItAsked() {
    let prefix = IPPrefix(ip("192.0.2.0").bits, length: 24)
    let rows: [(change: NetworkChange, isTouched: Bool, ifSatisfied: Bool, otherwise: Bool)] = [
      (change { _ in }, false, false, false), (change { $0.markRoute(prefix) }, false, false, false),
      (change { $0.markRoute(prefix) }, true, true, true), (change { $0.markEverything() }, false, true, true),
      (change { $0.touchesNames = true }, false, true, true),
      (change { $0.touchesNameServers = true }, false, true, true),
      (change { $0.touchesUnreachable = true }, false, false, true),
    ]
    for row in rows {
      for status in [NetworkPath.Status.satisfied, .unsatisfied] {
        var queries = QueryTable()
        var (table, _) = table(1, status, in: &queries)
        table.mark(row.change, isTouched: row.isTouched)
        #expect(table.isStale == (status == .satisfied ? row.ifSatisfied : row.otherwise), "\(row)")
      }
    }
    // Without a path there is nothing to ask.
    var none = PathTable()
    none.mark(change { $0.markEverything() }, isTouched: true)
    #expect(!none.isStale)
  }

  @Test func oneAnswerServesAllThatAskTheSame() {
    var queries = QueryTable()
    var table = PathTable()
    var settling = PathConfiguration()
    settling.settling = .seconds(1)
    var other = PathConfiguration()
    other.prohibitedKinds = [.wifi]
    for configuration in [PathConfiguration(), settling, other] {
      let cell = StateCell(unknown: NetworkPath.unknown)
      table.add(PathRecord(configuration, cell, cell.epoch), &queries)
    }
    table.ask(source, &queries, now: 0)
    #expect(source.pathCount == 2)
    let answers = table.takeAnswers()
    #expect(answers.count == 3 && table.takeAnswers().isEmpty, "each is taken once")
  }

  @Test func whatWasInDoubtIsWithdrawnAndAskedAgain() {
    var queries = QueryTable()
    var (table, _) = table(1, in: &queries)
    table.mark(change { $0.markEverything() }, isTouched: false)
    table.ask(source, &queries, now: 0)
    table.withdrawAnswers()
    #expect(table.isStale && table.takeAnswers().isEmpty)
    var none = PathTable()
    none.withdrawAnswers()
    #expect(!none.isStale)
    // What is not known yet is no answer, and what was known stays.
    source.path = .pending
    table.ask(source, &queries, now: 0)
    #expect(!table.isStale && table.takeAnswers().isEmpty)
  }

  @Test func theLastPathTakesItsRoutesWithIt() {
    var queries = QueryTable()
    var (table, record) = table(1, in: &queries)
    let cell = StateCell(unknown: NetworkPath.unknown)
    let second = PathRecord(PathConfiguration(), cell, cell.epoch)
    table.add(second, &queries)
    #expect(queries.interest?.count == 2 && table.contains(record) && table.contains(second))
    #expect(table.remove(ObjectIdentifier(second), &queries) == nil, "no cell")
    #expect(table.remove(ObjectIdentifier(cell), &queries) === second)
    #expect(queries.interest?.count == 2 && !table.isEmpty && !table.contains(second))
    #expect(table.remove(ObjectIdentifier(record.publication.cell), &queries) === record)
    #expect(queries.interest == [] && table.isEmpty && !table.isStale)
  }
}
