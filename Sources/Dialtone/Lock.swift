// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Synchronization

/// A `Mutex` that the thread sanitizer can see.
///
/// The standard library's lock waits inside the library, which is not instrumented: where threads contend, the sanitizer takes
/// what the lock orders for a race (swift 6.3, Linux). The two hooks tell it; in other builds they do nothing.
package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>

  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Does `body` while no other thread does.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { value throws(Failure) in
      // Only the address is used, as the lock's name.
      unsafe withUnsafePointer(to: &value) { unsafe cnetlink_lock_acquired($0) }
      defer { unsafe withUnsafePointer(to: &value) { unsafe cnetlink_lock_releases($0) } }
      return try body(&value)
    }
  }
}
