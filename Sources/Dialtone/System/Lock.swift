// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Synchronization

/// A `Mutex` that works in a child of fork(2), and that the thread sanitizer can see.
///
/// On Linux the standard library's lock gives the kernel a thread's number that it remembers. In a forked child that is
/// the number of the parent's thread, and as soon as two threads contend, the process ends (Swift 6.3). It also waits
/// inside the library, which is not instrumented, so the sanitizer reports races where there are none.
///
/// So threads contend for a word of our own, as in "Futexes Are Tricky" (Ulrich Drepper, 2011). The `Mutex` only holds
/// the value: threads never contend for it.
package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let word = LockWord()

  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Runs `body` while no other thread holds the lock.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    if !word.take() { word.waitAndTake() }
    defer { word.release() }
    return try mutex.withLock(body)
  }

  /// Runs `body` if no other thread holds the lock; otherwise returns `nil`. For a forked child, in which the thread
  /// that holds the lock may not exist.
  borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    if !word.take() { return nil }
    defer { word.release() }
    return try mutex.withLock(body)
  }
}

extension Lock where Value: Sendable {
  /// Puts another value in place. Returns the former one, so that it is released outside the lock.
  package borrowing func exchange(_ new: Value) -> Value {
    withLock { value in
      defer { value = new }
      return value
    }
  }
}

/// The word that threads contend for.
private struct LockWord: ~Copyable, Sendable {
  private static let free: UInt32 = 0
  private static let held: UInt32 = 1
  private static let heldAndAwaited: UInt32 = 2
  /// How often a thread looks at the word before it sleeps: most locks are held for less time than that takes.
  private static let spinLimit = 64

  private let word = Atomic<UInt32>(free)

  borrowing func take() -> Bool {
    word.compareExchange(expected: Self.free, desired: Self.held, ordering: .acquiring).exchanged
  }

  /// Not part of each place that takes a lock, since hardly any thread comes here.
  @inline(never)
  borrowing func waitAndTake() {
    for _ in 0..<Self.spinLimit where word.load(ordering: .relaxed) == Self.free {
      if take() { return }
    }
    while word.exchange(Self.heldAndAwaited, ordering: .acquiring) != Self.free {
      // An atomic never moves: this is its address, and the kernel reads nothing else. It sleeps only while the word
      // has this value.
      unsafe withUnsafePointer(to: word) { unsafe csystem_futex_wait($0, Self.heldAndAwaited) }
    }
  }

  borrowing func release() {
    if word.exchange(Self.free, ordering: .releasing) != Self.heldAndAwaited { return }
    // As above. By now another thread may hold the lock, or have freed it: the kernel uses the address only as a name.
    unsafe withUnsafePointer(to: word) { unsafe csystem_futex_wake($0) }
  }
}
