// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Dispatch

/// Holds threads until a test lets them go.
final class Latch: Sendable {
  private let group = DispatchGroup()
  private let waiters = Lock(0)
  private let isOpen = Lock(false)

  init() { group.enter() }

  deinit { open() }

  /// How many have waited so far.
  var count: Int { waiters.withLock { $0 } }

  /// Waits on a thread that may block.
  func wait() {
    waiters.withLock { $0 += 1 }
    group.wait()
  }

  func open() {
    let wasOpen = isOpen.withLock { isOpen in
      defer { isOpen = true }
      return isOpen
    }
    if !wasOpen { group.leave() }
  }
}
