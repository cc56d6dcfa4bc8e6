// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Makes threads wait until it is opened. It never closes again.
///
/// For code on threads that may block (the engine's, a queue's, a lookup's), not for tasks. It opens by itself when it
/// is released, and after five minutes, so that a test that fails does not hang.
package final class Latch: Sendable {
  private let group = DispatchGroup()
  private let opened = Atomic<Bool>(false)
  private let waiters = Atomic<Int>(0)

  package init() { group.enter() }

  deinit { open() }

  package var isOpen: Bool { opened.load(ordering: .acquiring) }

  /// The number of threads that have waited so far.
  package var count: Int { waiters.load(ordering: .acquiring) }

  package func open() {
    if !opened.exchange(true, ordering: .acquiringAndReleasing) { group.leave() }
  }

  package func wait() {
    waiters.add(1, ordering: .acquiringAndReleasing)
    // As long as a test may take: another test may hold up the one that opens it.
    _ = group.wait(timeout: .now() + .seconds(300))
  }
}
