// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import TestSupport
import Testing

@testable import Dialtone

/// A thread that waits for a first state until a deadline.
struct FirstStateTests {
  /// Has one state for each question, in order; the last one for all further ones.
  private final class ScriptedStore: StateStore {
    let states: Lock<[Reachability]>

    init(_ states: [Reachability]) { self.states = Lock(states) }

    func load() -> Snapshot<Reachability> {
      Snapshot(states.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
    }

    func store(_ snapshot: Snapshot<Reachability>) -> Snapshot<Reachability>? {
      preconditionFailure("nobody publishes here")
    }
  }

  private static let known = Reachability(status: .unreachable, reason: .noCarrier)

  /// It wakes nobody: as if the state came at the deadline.
  @Test func aStateThatComesAtTheDeadlineIsReturned() {
    let subscription = Subscription(StateCell(ScriptedStore([.unknown, Self.known])), [])
    #expect(subscription.first(by: .now())?.state ≈ Self.known)
  }

  @Test func aStateThatHasGoneAgainEndsNoWait() async throws {
    // The state is there for the second question, which is that of the other thread, and then from the fourth on.
    let store = ScriptedStore([.unknown, Self.known, .unknown, Self.known])
    let subscription = Subscription(StateCell(store), [])
    let found = Box<Reachability?>(nil)
    let hasEnded = Latch()
    let isStarted = Thread.start(named: "waiting") {
      found.value = subscription.first(by: .distantFuture)?.state
      hasEnded.open()
    }
    try #require(isStarted)
    // Wakes it as soon as it has looked by itself, and found nothing.
    for left in [3, 1] {
      try await eventually("it has looked") { store.states.withLock { $0.count == left } }
      subscription.wake(DeliveryQueue())
    }
    hasEnded.wait()
    #expect(found.value ≈ Self.known)
  }
}
