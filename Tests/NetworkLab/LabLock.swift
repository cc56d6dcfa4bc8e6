// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A value behind a lock.
///
/// Not `Synchronization.Mutex`: on Linux that waits by futex in a library that the thread sanitizer does not see into.
/// The sanitizer then reports false races wherever two threads met.
///
/// `@unchecked Sendable`: the value is touched only while the lock is held. `@safe`: the pointer is valid from init to
/// deinit.
@safe final class LabLock<Value: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  init(_ value: Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    // Default attributes cannot fail.
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    // A thread that holds the lock holds a reference, so no thread does now.
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)  // Initialised in init, alive until deinit.
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
#endif
