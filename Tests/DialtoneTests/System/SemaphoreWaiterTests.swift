// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

@Suite(.timeLimit(.minutes(5)))
struct SemaphoreWaiterTests {
  /// As after a suspension of the system, for the length of which Dispatch's time stood still.
  @Test func aDeadlineIsAPointInTimeAndNoDelay() async throws {
    let now = Box<Int64>(0)
    let looks = Counter()
    let time = TimeSource(passes: true) {
      looks.add()
      return now.value
    }
    let waiter = SemaphoreWaiter(time, slice: .milliseconds(1))
    waiter.setDeadline(3_600_000_000_000)
    // Setting it has woken a thread, which learns of the deadline by that.
    #expect(waiter.wait())
    let hasReturned = Counter()
    #expect(
      Thread.start(named: "waiter") {
        _ = waiter.wait()
        hasReturned.add()
      })
    let before = looks.value
    try await eventually("the thread has slept, and looked at the clock again") { looks.value > before + 2 }
    now.value = 7_200_000_000_000
    try await eventually("the deadline is noticed") { hasReturned.value == 1 }
  }
}
