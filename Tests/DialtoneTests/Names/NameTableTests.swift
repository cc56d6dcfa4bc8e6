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
}
