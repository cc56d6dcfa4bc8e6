// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Testing

@testable import Dialtone

/// What a file that cannot be read says, and what wakes a waiter.
struct SystemRulesTests {
  /// read(2): EBADF is for a descriptor that is not open.
  @Test func whatCannotBeReadSaysWhy() throws {
    do throws(SystemFile.Failure) {
      _ = try SystemFile.bytes(of: -1, limit: 1)
      Issue.record("read")
    } catch {
      guard case .refused(let error) = error else { throw error }
      #expect(error.errno == EBADF && error.call == "read")
    }
  }

  /// A sleeping thread has to learn of an earlier deadline alone.
  @Test func onlyAnEarlierDeadlineWakes() {
    // Each look at the clock takes a nanosecond.
    let clock = Counter()
    let waiter = SemaphoreWaiter(TimeSource(passes: true) { Int64(clock.add()) })
    waiter.setDeadline(50)
    #expect(waiter.wait() && clock.value == 1, "the first is earlier than none")
    for deadline: Int64? in [60, 60, nil, nil] { waiter.setDeadline(deadline) }
    waiter.setDeadline(40)
    #expect(waiter.wait() && clock.value == 2, "so is the next")
    for deadline: Int64 in [40, 60, 60] { waiter.setDeadline(deadline) }
    #expect(waiter.wait() && clock.value >= 60, "it has come")
  }
}
#endif
