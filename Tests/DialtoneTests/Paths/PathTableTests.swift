// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// When paths are asked for, without an engine's threads.
struct PathTableTests {
  private static let second: Int64 = 1_000_000_000
  private let source = CountedSource()

  /// A path that takes hundreds of queries, as with hundreds of interfaces.
  private func largeTable(_ queries: inout QueryTable) -> PathTable {
    var table = PathTable()
    let cell = StateCell(unknown: NetworkPath.unknown)
    table.add(PathRecord(PathConfiguration(), cell, cell.epoch), &queries)
    source.path.queryCount = 500
    table.ask(source, &queries, now: 0)
    return table
  }

  private func touch(_ table: inout PathTable) {
    var change = NetworkChange()
    change.markEverything()
    table.mark(change, isTouched: false)
  }

  @Test func manyQueriesGiveWayToTargetsForOneTurn() {
    var queries = QueryTable()
    var table = largeTable(&queries)
    // Nothing has changed: they are asked no more, however long ago it was.
    let unchanged = table.turnOfMany(now: Self.second, areTargetsTold: false)
    #expect(unchanged == .notDue)
    touch(&table)
    #expect(!table.isDueWithTargets)
    let early = table.turnOfMany(now: 0, areTargetsTold: false)
    #expect(early == .notDue)
    let told = (0..<6).map { _ in table.turnOfMany(now: Self.second, areTargetsTold: true) }
    #expect(told == [.afterTargets, .due, .afterTargets, .due, .afterTargets, .due])
    let untold = table.turnOfMany(now: Self.second, areTargetsTold: false)
    #expect(untold == .due)
  }

  /// A change of their routes may have been missed before the source was told of them.
  @Test func newNameServersHaveThePathAskedOnceMore() {
    var queries = QueryTable()
    var table = PathTable()
    let cell = StateCell(unknown: NetworkPath.unknown)
    table.add(PathRecord(PathConfiguration(), cell, cell.epoch), &queries)
    table.ask(source, &queries, now: 0)
    #expect(!table.isStale)
    source.path.nameServers = [ip("192.0.2.53")]
    touch(&table)
    table.ask(source, &queries, now: 0)
    #expect(table.isStale)
    #expect(queries.interest?.contains(ip("192.0.2.53")) == true)
    table.ask(source, &queries, now: 0)
    #expect(!table.isStale)
    // Servers that are not asked any more need no routes.
    source.path.nameServers = []
    touch(&table)
    table.ask(source, &queries, now: 0)
    #expect(!table.isStale && queries.interest?.contains(ip("192.0.2.53")) == false)
  }
}
