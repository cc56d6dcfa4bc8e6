// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// A queue with two lookups at a time, overdue after 10 ns, and at most five threads.
struct NameLookupQueueTests {
  private let pool = NameLookupPool(threads: 1)
  private var queue = NameLookupQueue(limit: 2, bound: 5, overdueAfter: 10)

  /// Asks for a name. Returns whether to start a thread, or the supervisor.
  private mutating func ask(_ name: String, at now: Int64 = 0) -> NameLookupQueue.Demand {
    queue.add(NameLookupPool.Ticket(pool, .init(name: name, family: nil), { _, _ in .failed }, { _ in }), now: now)
  }

  /// A thread begins with the next lookup.
  @discardableResult
  private mutating func begin(at now: Int64 = 0) -> NameLookupPool.Ticket? { queue.next(after: nil, now: now).0 }

  @Test mutating func aThreadIsStartedForEachUpToTheLimit() {
    let demands = [ask("a"), ask("b")]
    #expect(demands.allSatisfy { $0 == .init(workers: 1) })
    #expect(ask("c") == .init(supervisor: true))
    // One supervisor is enough.
    #expect(ask("d") == .init())
    #expect(queue.threads == 2)
  }

  @Test mutating func whatIsOverdueDoesNotCount() {
    for name in ["a", "b", "c"] { _ = ask(name) }
    begin(at: 0)
    begin(at: 4)
    #expect(queue.relieve(now: 3) == (0, 7))
    // One of the two is overdue.
    #expect(queue.relieve(now: 10) == (1, nil))
    #expect(begin(at: 10)?.question.name == "c")
    // A later lookup need not wait either: both are overdue.
    #expect(ask("d", at: 14) == .init(workers: 1))
    begin(at: 14)
    // The supervisor has ended, and is needed once more.
    #expect(ask("e", at: 15) == .init(supervisor: true))
  }

  @Test mutating func thereAreNeverMoreThreadsThanTheBound() {
    for name in ["a", "b", "c", "d", "e", "f", "g"] { _ = ask(name) }
    begin(at: 0)
    begin(at: 0)
    #expect(queue.relieve(now: 10) == (2, 10))
    begin(at: 10)
    begin(at: 10)
    // This is the last thread allowed. From now on, lookups wait for a thread that comes back.
    #expect(queue.relieve(now: 20) == (1, nil))
    begin(at: 20)
    #expect(ask("h", at: 100) == .init())
    #expect(queue.threads == 5)
  }

  @Test mutating func aThreadThatComesBackLateEndsIfOthersHaveTakenItsPlace() throws {
    for name in ["a", "b", "c", "d", "e"] { _ = ask(name) }
    let late = try #require(begin(at: 0))
    begin(at: 0)
    #expect(queue.relieve(now: 10) == (2, 10))
    begin(at: 10)
    begin(at: 10)
    // "e" still waits. Only the supervisor would care for it, and that is there already.
    let (next, demand) = queue.next(after: late, now: 11)
    #expect(next == nil && demand == .init())
    #expect(queue.threads == 3)
  }

  @Test mutating func aNameThatHungWaitsBehindAllOthersUntilItIsQuick() throws {
    for name in ["slow", "b"] { _ = ask(name) }
    let slow = try #require(begin(at: 0))
    begin(at: 5)
    #expect(queue.next(after: slow, now: 12).0 == nil)
    for name in ["slow", "c", "d"] { _ = ask(name, at: 12) }
    let first = try #require(begin(at: 12))
    #expect(first.question.name == "c")
    let second = try #require(queue.next(after: first, now: 13).0)
    #expect(second.question.name == "d")
    let third = try #require(queue.next(after: second, now: 14).0)
    #expect(third.question.name == "slow")
    // This time it was quick.
    #expect(queue.next(after: third, now: 15).0 == nil)
    for name in ["slow", "e"] { _ = ask(name, at: 16) }
    #expect(begin(at: 16)?.question.name == "slow")
  }

  @Test mutating func oneNameHasOneLookupAtATime() throws {
    _ = ask("a")
    let first = try #require(begin())
    #expect(ask("a") == .init())
    #expect(begin() == nil)
    #expect(queue.next(after: first, now: 1).0?.question.name == "a")
  }
}
