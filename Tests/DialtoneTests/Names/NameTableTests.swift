// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

@Suite(.timeLimit(.minutes(5)))
struct NameTableTests {
  private final class User {}

  /// A name that waits for its turn when its last user leaves is not looked up any more.
  @Test func aNameWithoutUsersIsNotLookedUp() async throws {
    let (pool, latch, lookedUp) = (NameLookupPool(threads: 1), Latch(), Log<String>())
    var table = NameTable<User> { question, _ in
      pool.submit(
        question,
        by: { name, _ in
          lookedUp.append(name)
          latch.wait()
          return .failed
        }, answer: { _ in })
    }
    let (one, other) = (User(), User())
    func ask(_ name: String, _ user: User) -> NameRecord<User> {
      let record = table.attach(user, to: NameQuestion(name: name, family: nil), now: 0)
      table.startLookups(now: 0)
      return record
    }
    _ = ask("first", one)
    try await eventually("the only thread is busy") { lookedUp.count == 1 }
    let left = ask("left", one)
    let shared = ask("shared", one)
    _ = ask("shared", other)
    _ = ask("last", one)
    table.detach(one, from: left)
    table.detach(one, from: shared)
    latch.open()
    try await eventually("the others are looked up") { lookedUp.all.last == "last" }
    #expect(lookedUp.all == ["first", "shared", "last"])
  }

  /// Addresses of before a lookup that failed are told on, but were not found now: a check would go where a name led
  /// once, while programs have no address.
  @Test func aLookupThatFailedHasFoundNoAddresses() throws {
    let (pool, latch) = (NameLookupPool(threads: 1), Latch())
    defer { latch.open() }
    var table = NameTable<User> { question, _ in
      pool.submit(
        question,
        by: { _, _ in
          latch.wait()
          return .failed
        }, answer: { _ in })
    }
    let question = NameQuestion(name: "a", family: nil)
    let address = IPAddress(ipv4: 0xC000_0201)
    let name = table.attach(User(), to: question, now: 0)
    let second: Int64 = 1_000_000_000
    // The life of an answer, and the pause after a failure.
    for (time, result, found) in [
      (0, .addresses([address]), [address]), (300, .failed, nil), (302, .addresses([address]), [address]),
    ] as [(Int64, NameLookupResult, [IPAddress]?)] {
      _ = table.passDeadlines(now: time * second)
      table.startLookups(now: time * second)
      try #require(name.lookup != nil, "\(time)")
      _ = table.finish(question, serial: name.serial, result, now: time * second)
      #expect(name.addresses == [address])
      #expect(table.recentAddresses(of: question, now: time * second + 1) == found, "\(time)")
    }
  }
}
