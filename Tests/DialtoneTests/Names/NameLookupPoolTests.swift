// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct NameLookupPoolTests {
  private static let found = NameLookupResult.addresses([ip("192.0.2.1")])

  @Test func answersWithWhatTheLookupSays() async throws {
    let pool = NameLookupPool(threads: 2)
    let log = Log<NameLookupResult>()
    let names: [(String, NameLookupResult)] = [("a", Self.found), ("b", .noAddress), ("c", .failed)]
    for (name, result) in names {
      _ = pool.submit(question(name), by: { _, _ in result }) { log.append($0) }
    }
    try await eventually("all are answered") { log.count == 3 }
    for (_, result) in names { #expect(log.all.contains(result)) }
  }

  @Test(arguments: [nil, IPAddress.Family.ipv4, .ipv6])
  func handsNameAndFamilyOn(family: IPAddress.Family?) async throws {
    let pool = NameLookupPool(threads: 1)
    let log = Log<String>()
    let lookup: NameLookup = { name, family in
      log.append("\(name) \(String(describing: family))")
      return .failed
    }
    _ = pool.submit(question("name.example", family), by: lookup) { _ in }
    try await eventually("it is looked up") { log.count == 1 }
    #expect(log.all == ["name.example \(String(describing: family))"])
  }

  @Test func usesNoMoreThreadsThanAllowed() async throws {
    let pool = NameLookupPool(threads: 3)
    let running = Counter()
    let most = Lock(0)
    let answered = Counter()
    let latch = Latch()
    let lookup: NameLookup = { _, _ in
      let now = running.add()
      most.withLock { $0 = max($0, now) }
      latch.wait()
      running.add(-1)
      return .failed
    }
    for number in 0..<50 { _ = pool.submit(question("host\(number)"), by: lookup) { _ in answered.add() } }
    try await eventually("the threads are all used") { running.value == 3 }
    latch.open()
    try await eventually("all are answered") { answered.value == 50 }
    #expect(most.withLock { $0 } == 3)
  }

  @Test func looksOneNameUpOnceAtATime() async throws {
    let pool = NameLookupPool(threads: 8)
    let running = Counter()
    let most = Lock(0)
    let answered = Counter()
    let latch = Latch()
    let lookup: NameLookup = { _, _ in
      let now = running.add()
      most.withLock { $0 = max($0, now) }
      latch.wait()
      running.add(-1)
      return .failed
    }
    for _ in 0..<20 { _ = pool.submit(question("same.example"), by: lookup) { _ in answered.add() } }
    let other = Counter()
    _ = pool.submit(question("other.example"), by: { _, _ in .noAddress }) { _ in other.add() }
    try await eventually("another name is not held up") { other.value == 1 }
    latch.open()
    try await eventually("all are answered") { answered.value == 20 }
    #expect(most.withLock { $0 } == 1)
  }

  @Test func aTicketCancelledBeforeItsTurnCostsNothing() async throws {
    let pool = NameLookupPool(threads: 1)
    let latch = Latch()
    let looked = Log<String>()
    let answers = Log<String>()
    func submit(_ name: String) -> NameLookupPool.Ticket {
      pool.submit(
        question(name),
        by: { name, _ in
          looked.append(name)
          if name == "first" { latch.wait() }
          return .failed
        }, answer: { _ in answers.append(name) })
    }
    _ = submit("first")
    try await eventually("the thread is busy") { looked.count == 1 }
    let second = submit("second")
    _ = submit("third")
    second.cancel()
    second.cancel()
    latch.open()
    try await eventually("the rest is answered") { answers.count == 2 }
    #expect(looked.all == ["first", "third"])
    #expect(answers.all == ["first", "third"])
  }

  @Test func aTicketCancelledWhileItHangsReleasesItsHandler() async throws {
    final class Asker: Sendable {}
    let pool = NameLookupPool(threads: 1)
    let latch = Latch()
    let hasBegun = Counter()
    let hasEnded = Counter()
    let answers = Counter()
    weak var asker: Asker?
    let ticket: NameLookupPool.Ticket
    do {
      let object = Asker()
      asker = object
      ticket = pool.submit(
        question("hangs"),
        by: { _, _ in
          hasBegun.add()
          latch.wait()
          hasEnded.add()
          return .failed
        }, answer: { [object] _ in withExtendedLifetime(object) { _ = answers.add() } })
    }
    try await eventually("it hangs") { hasBegun.value == 1 }
    ticket.cancel()
    #expect(asker == nil)
    latch.open()
    try await eventually("it comes back") { hasEnded.value == 1 }
    // The thread goes on with the next lookup. The result of the first is not delivered.
    _ = pool.submit(question("next"), by: { _, _ in .failed }) { _ in hasEnded.add() }
    try await eventually("the next is answered") { hasEnded.value == 2 }
    #expect(answers.value == 0)
  }

  #if os(Linux)
  @Test func threadsEndWhenThereIsNothingLeft() async {
    await #expect(processExitsWith: .success) {
      let answered = Counter()
      for number in 0..<100 {
        _ = NameLookupPool.shared.submit(question("host\(number)"), by: { _, _ in .failed }) { _ in answered.add() }
      }
      try await eventually("all are answered") { answered.value == 100 }
      try await eventually("the threads have ended") { ProcessCensus.threads(named: "dialtone-names") == 0 }
      // Afterwards threads start again.
      _ = NameLookupPool.shared.submit(question("again"), by: { _, _ in .failed }) { _ in answered.add() }
      try await eventually("it is answered") { answered.value == 101 }
    }
  }
  #endif
}

private func question(_ name: String, _ family: IPAddress.Family? = nil) -> NameQuestion {
  NameQuestion(name: name, family: family)
}
