// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// A queue with two lookups at a time, overdue after 10 ns, and at most five threads: threads that do not start, names
/// that hang, tickets that are withdrawn.
struct NameLookupLimitTests {
  private typealias Demand = NameLookupQueue.Demand
  private let pool = NameLookupPool(threads: 1)
  private var queue = NameLookupQueue(limit: 2, bound: 5, overdueAfter: 10)

  private func ticket(_ name: String) -> NameLookupPool.Ticket {
    NameLookupPool.Ticket(pool, .init(name: name, family: nil), { _, _ in .failed }, { _ in })
  }

  @discardableResult
  private mutating func ask(_ name: String, at now: Int64 = 0) -> Demand { queue.add(ticket(name), now: now) }

  @discardableResult
  private mutating func begin(at now: Int64 = 0) -> NameLookupPool.Ticket? { queue.next(after: nil, now: now).0 }

  /// A lookup that began at `start` and took 12 ns, with nothing behind it.
  private mutating func hang(_ name: String, at start: Int64) {
    ask(name, at: start)
    let ticket = begin(at: start)
    let (next, demand) = queue.next(after: ticket, now: start + 12)
    #expect(next == nil && demand == Demand() && queue.threads == 0)
  }

  @Test mutating func aThreadThatDidNotStartDoesNotCount() {
    let demands = [ask("a"), ask("b")]
    #expect(demands == [Demand(workers: 1), Demand(workers: 1)] && queue.threads == 2)
    queue.threadFailed()
    #expect(queue.threads == 1)
    #expect(ask("c") == Demand(workers: 1))
    #expect(queue.threads == 2)
  }

  @Test mutating func aSupervisorThatDidNotStartIsAskedForAgain() {
    for name in ["a", "b"] { ask(name) }
    let demands = [ask("c"), ask("d")]
    #expect(demands == [Demand(supervisor: true), Demand()])
    queue.supervisorFailed()
    #expect(ask("e") == Demand(supervisor: true))
  }

  @Test mutating func theSupervisorEndsIfNothingWaits() {
    for name in ["a", "b", "c"] { ask(name) }
    let first = begin(at: 0)
    begin(at: 0)
    #expect(queue.next(after: first, now: 1).0?.question.name == "c")
    #expect(queue.relieve(now: 2) == (0, nil))
    // Another one is needed for the next that waits.
    #expect(ask("d", at: 3) == Demand(supervisor: true))
    // The lookup that began first is overdue first.
    #expect(queue.relieve(now: 4) == (0, 6))
  }

  @Test mutating func aThreadWithNothingToDoEnds() {
    ask("a")
    let ticket = begin()
    let (next, demand) = queue.next(after: ticket, now: 1)
    #expect(next == nil && demand == Demand() && queue.threads == 0)
    #expect(ask("b", at: 2) == Demand(workers: 1))
    #expect(queue.threads == 1)
  }

  /// Two hang, two others have taken their places, and one of the first comes back.
  private mutating func crowd() -> NameLookupPool.Ticket? {
    for name in ["a", "b"] { ask(name) }
    let late = begin(at: 0)
    begin(at: 0)
    for name in ["c", "d"] { #expect(ask(name, at: 10) == Demand(workers: 1)) }
    begin(at: 10)
    begin(at: 10)
    return late
  }

  @Test mutating func whoComesBackLateCallsNobodyIfNothingWaits() {
    let late = crowd()
    let (next, demand) = queue.next(after: late, now: 11)
    #expect(next == nil && demand == Demand() && queue.threads == 3)
    #expect(ask("e", at: 12) == Demand(supervisor: true))
  }

  @Test mutating func whoComesBackLateCallsTheSupervisorIfSomethingWaits() {
    let late = crowd()
    #expect(ask("e", at: 11) == Demand(supervisor: true))
    queue.supervisorFailed()
    let (next, demand) = queue.next(after: late, now: 12)
    #expect(next == nil && demand == Demand(supervisor: true) && queue.threads == 3)
  }

  @Test mutating func aNameThatHangsNowWaitsBehindOthers() {
    ask("a")
    let hanging = begin(at: 0)
    #expect(ask("a", at: 10) == Demand(), "the thread that looks it up will do so once more")
    #expect(ask("b", at: 10) == Demand(workers: 1))
    #expect(queue.next(after: hanging, now: 11).0?.question.name == "b")
    #expect(begin(at: 11)?.question.name == "a")
  }

  /// One nanosecond before it is overdue, it does not hang.
  @Test mutating func aNameThatIsSlowButNotOverdueKeepsItsPlace() {
    ask("a")
    let slow = begin(at: 0)
    ask("a", at: 9)
    ask("b", at: 9)
    #expect(queue.next(after: slow, now: 9).0?.question.name == "a")
  }

  @Test mutating func withdrawnTicketsAreNotLookedUp() {
    let (first, second) = (ticket("a"), ticket("b"))
    for ticket in [first, second] { _ = queue.add(ticket, now: 0) }
    queue.remove(first)
    #expect(begin() === second)
    // Nor are those of names that hang.
    var other = NameLookupLimitTests()
    other.hang("slow", at: 0)
    let slow = other.ticket("slow")
    let demand = other.queue.add(slow, now: 20)
    other.queue.remove(slow)
    let next = other.begin(at: 20)
    #expect(demand == Demand(workers: 1) && next == nil && other.queue.threads == 0)
  }

  /// As many names are known to hang as can do so at a time, five; then the oldest is forgotten.
  @Test mutating func theNamesThatHungLastAreKnown() {
    for number in 0..<6 { hang("slow\(number)", at: Int64(20 * number)) }
    for name in ["slow1", "a"] { ask(name, at: 200) }
    #expect(begin(at: 200)?.question.name == "a")
    var other = NameLookupLimitTests()
    for number in 0..<6 { other.hang("slow\(number)", at: Int64(20 * number)) }
    for name in ["slow0", "a"] { other.ask(name, at: 200) }
    let next = other.begin(at: 200)
    #expect(next?.question.name == "slow0")
  }

  /// A name that hung twice is known once, and takes the place of no other.
  @Test mutating func aNameThatHungTwiceIsKnownOnce() {
    for number in 0..<5 { hang("slow\(number)", at: Int64(20 * number)) }
    hang("slow4", at: 100)
    for name in ["slow0", "a"] { ask(name, at: 200) }
    #expect(begin(at: 200)?.question.name == "a")
  }
}
