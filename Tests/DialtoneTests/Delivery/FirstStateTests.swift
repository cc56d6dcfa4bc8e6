// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import TestSupport
import Testing

@testable import Dialtone

/// A thread that waits for a first state until a deadline.
struct FirstStateTests {
  /// Has a state from the second question on, and never wakes anybody: as if the state came at the deadline.
  private final class LateSource: StateSource {
    private let asked = Counter()

    func next(after last: Told<Int>?, _ interest: StateInterest) -> Told<Int>? {
      asked.add()
      return asked.value == 1 ? nil : Told(state: 7, subjectNumber: 0)
    }

    func add(_ receiver: Subscription<Int>) {}
    func remove(_ receiver: Subscription<Int>) {}
  }

  /// Has a state for the first question alone, which is that of another thread.
  private final class BriefSource: StateSource {
    let states = Lock<[Int?]>([nil, 7])

    func next(after last: Told<Int>?, _ interest: StateInterest) -> Told<Int>? {
      states.withLock { $0.isEmpty ? nil : $0.removeFirst() }.map { Told(state: $0, subjectNumber: 0) }
    }

    func add(_ receiver: Subscription<Int>) {}
    func remove(_ receiver: Subscription<Int>) {}
  }

  @Test func aStateThatComesAtTheDeadlineIsReturned() {
    let subscription = Subscription<Int>(LateSource(), [])
    #expect(subscription.first(by: .now())?.state == 7)
  }

  @Test func aStateThatAnotherThreadWasWokenForIsReturned() async throws {
    let source = BriefSource()
    let subscription = Subscription<Int>(source, [])
    let found = Box<Int?>(nil)
    let hasEnded = Latch()
    let isStarted = Thread.start(named: "waiting") {
      found.value = subscription.first(by: .distantFuture)?.state
      hasEnded.open()
    }
    try #require(isStarted)
    // Wakes it as soon as it has looked by itself, and found nothing.
    try await eventually("it has looked") { source.states.withLock { $0.count < 2 } }
    _ = subscription.wake()
    hasEnded.wait()
    #expect(found.value == 7)
  }
}
