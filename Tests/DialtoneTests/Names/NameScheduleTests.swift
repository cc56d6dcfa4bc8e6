// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// When a table of names looks each up, by a clock that stands still until a test moves it.
struct NameScheduleTests {
  private final class User {}

  /// Notes the lookups that begin. None ends by itself.
  private final class Lookups {
    private let pool = NameLookupPool(threads: 0)
    var begun: [String] = []

    func begin(_ question: NameQuestion, _ serial: UInt64) -> NameLookupPool.Ticket {
      begun.append("\(question.name) \(serial)")
      return pool.submit(question, by: { _, _ in .failed }, answer: { _ in })
    }
  }

  private static let second: Int64 = 1_000_000_000
  private static let addresses = NameLookupResult.addresses([ip("192.0.2.1")])
  private let lookups = Lookups()
  private let user = User()

  private func makeTable() -> NameTable<User> { NameTable { [lookups] in lookups.begin($0, $1) } }

  private func question(_ name: String) -> NameQuestion { NameQuestion(name: name, family: nil) }

  @Test func eachNameIsLookedUpOnceWhoeverAsks() {
    var table = makeTable()
    #expect(table.isEmpty && table.deadline == nil)
    let name = table.attach(user, to: question("a"), now: 0)
    table.startLookups(now: 0)
    let same = table.attach(User(), to: question("a"), now: 0)
    _ = table.attach(user, to: question("b"), now: 0)
    table.startLookups(now: 0)
    table.startLookups(now: 9 * Self.second)
    #expect(lookups.begun == ["a 1", "b 2"])
    #expect(name === same && name.users.objects.count == 2 && table[question("a")] === name && !table.isEmpty)
  }

  @Test func anAnswerIsUsedForFiveMinutesAndThenAskedForAgain() {
    var table = makeTable()
    let name = table.attach(user, to: question("a"), now: 0)
    table.startLookups(now: 0)
    let changed = table.finish(question("a"), serial: 1, Self.addresses, now: 5)
    #expect(changed === name)
    #expect(table.deadline == Self.second, "its first answer could have been overdue")
    let overdue = table.passDeadlines(now: Self.second)
    #expect(overdue.isEmpty && table.deadline == 300 * Self.second + 5)
    for now in [300 * Self.second + 4, 300 * Self.second + 5] {
      _ = table.passDeadlines(now: now)
      table.startLookups(now: now)
      #expect(lookups.begun.count == (now == 300 * Self.second + 4 ? 1 : 2))
    }
    let again = table.finish(question("a"), serial: 2, Self.addresses, now: 301 * Self.second)
    #expect(again == nil, "it is the same")
  }

  @Test func whatChangesDuringALookupHasItDoneOnceMoreASecondLater() {
    var table = makeTable()
    let name = table.attach(user, to: question("a"), now: 7)
    table.startLookups(now: 7)
    table.markStale(name)
    table.startLookups(now: 2 * Self.second)
    #expect(lookups.begun == ["a 1"])
    _ = table.finish(question("a"), serial: 1, Self.addresses, now: 3 * Self.second)
    table.startLookups(now: 3 * Self.second)
    #expect(lookups.begun == ["a 1", "a 2"])
    // The second began just now: the third waits.
    table.markAllStale()
    _ = table.finish(question("a"), serial: 2, Self.addresses, now: 3 * Self.second + 9)
    for now in [3 * Self.second + 9, 4 * Self.second - 1] {
      _ = table.passDeadlines(now: now)
      table.startLookups(now: now)
      #expect(lookups.begun.count == 2 && table.deadline == 4 * Self.second)
    }
    _ = table.passDeadlines(now: 4 * Self.second)
    table.startLookups(now: 4 * Self.second)
    #expect(lookups.begun == ["a 1", "a 2", "a 3"])
  }

  @Test func aNameMayBeLookedUpAgainAfterExactlyASecond() {
    var table = makeTable()
    let name = table.attach(user, to: question("a"), now: 0)
    table.startLookups(now: 0)
    _ = table.finish(question("a"), serial: 1, .failed, now: 1)
    table.markStale(name)
    table.startLookups(now: Self.second)
    #expect(lookups.begun == ["a 1", "a 2"])
  }

  @Test func onlyTheAnswerToTheLastLookupCounts() {
    var table = makeTable()
    let name = table.attach(user, to: question("a"), now: 0)
    table.startLookups(now: 0)
    let late = table.finish(question("a"), serial: 0, .noAddress, now: 1)
    let early = table.finish(question("a"), serial: 2, .noAddress, now: 1)
    let other = table.finish(question("b"), serial: 1, .noAddress, now: 1)
    #expect(late == nil && early == nil && other == nil && name.outcome == .pending)
    let right = table.finish(question("a"), serial: 1, .noAddress, now: 1)
    #expect(right === name && name.outcome == .noAddress)
  }

  @Test func aFirstAnswerIsOverdueAfterASecondAndOnce() {
    var table = makeTable()
    let name = table.attach(user, to: question("a"), now: 5)
    table.startLookups(now: 5)
    #expect(table.deadline == Self.second + 5)
    let early = table.passDeadlines(now: Self.second + 4)
    let due = table.passDeadlines(now: Self.second + 5)
    let later = table.passDeadlines(now: .max)
    #expect(early.isEmpty && due.count == 1 && due.first === name && later.isEmpty)
    #expect(table.deadline == nil && name.outcome == .overdue)
  }

  @Test func theLastUserTakesTheNameAlong() {
    var table = makeTable()
    let other = User()
    let name = table.attach(user, to: question("a"), now: 0)
    _ = table.attach(other, to: question("a"), now: 0)
    table.startLookups(now: 0)
    table.detach(user, from: name)
    #expect(!table.isEmpty && name.users.objects.count == 1 && name.users.objects.first === other && name.lookup != nil)
    table.detach(other, from: name)
    #expect(table.isEmpty && name.lookup == nil && table[question("a")] == nil)
    // Asked for anew, it is another name: nothing of the old one delays it.
    _ = table.attach(user, to: question("a"), now: 1)
    table.startLookups(now: 1)
    #expect(lookups.begun == ["a 1", "a 2"])
  }

  // MARK: Timers of names that are gone

  private func attach(
    _ count: Int, _ prefix: String, to table: inout NameTable<User>, now: Int64
  ) -> [NameRecord<User>] {
    (0..<count).map { table.attach(user, to: question("\(prefix)\($0)"), now: now) }
  }

  /// Two for each name: its next lookup, and the deadline of its first. More than 64 are removed.
  @Test func upTo64TimersAreLeft() {
    var table = makeTable()
    for round in 1...2 {
      let names = attach(33, "a", to: &table, now: 0)
      for name in names.dropLast() { table.detach(user, from: name) }
      #expect(table.deadline == Self.second, "round \(round)")
      if let last = names.last { table.detach(user, from: last) }
      #expect(table.deadline == nil, "round \(round)")
    }
  }

  @Test func timersAreLeftUntilTheyAreTheMajority() {
    var table = makeTable()
    let gone = attach(33, "a", to: &table, now: 0)
    let kept = attach(99, "b", to: &table, now: 5)
    for name in gone { table.detach(user, from: name) }
    #expect(table.deadline == Self.second, "66 of 132")
    table.detach(user, from: kept[0])
    #expect(table.deadline == Self.second + 5)
  }
}
