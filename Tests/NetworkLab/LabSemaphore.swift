// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A semaphore for threads that the thread sanitizer understands.
///
/// `@unchecked Sendable`: the pointer never changes, and sem_post and sem_wait may be called by any thread. `@safe`:
/// the pointer is valid from init to deinit.
@safe final class LabSemaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    unsafe semaphore = .allocate(capacity: 1)
    // It is not shared with other processes. This fails only for a count that is too large.
    unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    // A thread that waits or signals holds a reference, so no thread does now.
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func signal() {
    unsafe sem_post(semaphore)  // Initialised in init, alive until deinit.
  }

  func wait() {
    while unsafe sem_wait(semaphore) != 0 {}  // Fails only when a signal handler interrupts it.
  }
}
#endif
