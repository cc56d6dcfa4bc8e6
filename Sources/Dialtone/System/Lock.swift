// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A `Mutex` that the thread sanitizer can see.
///
/// The standard library's lock waits inside the library, which is not instrumented: where threads contend, the sanitizer takes
/// what the lock orders for a race (Swift 6.3, Linux). An atomic that each holder reads first and writes last says the same
/// thing in terms that it knows, at the price of two plain moves.
package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let order = Atomic<UInt8>(0)

  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Does `body` while no other thread does.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { value throws(Failure) in
      _ = order.load(ordering: .acquiring)
      defer { order.store(0, ordering: .releasing) }
      return try body(&value)
    }
  }

  /// Does `body` if no other thread holds the lock; else answers `nil`. For a forked child, in which the thread that
  /// holds it may not exist.
  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    try mutex.withLockIfAvailable { value throws(Failure) in
      _ = order.load(ordering: .acquiring)
      defer { order.store(0, ordering: .releasing) }
      return try body(&value)
    }
  }
}
