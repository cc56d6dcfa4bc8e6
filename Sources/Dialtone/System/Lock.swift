// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Synchronization

/// A `Mutex` that works in a child of fork(2), and that the thread sanitizer can see.
///
/// On Linux the standard library's lock asks the kernel with a thread's number that it remembers. In a forked child
/// that is the number of the parent's thread, and as soon as two threads contend, the process ends (Swift 6.3). And it
/// waits inside the library, which is not instrumented: the sanitizer takes what it orders for a race. So threads
/// contend for a word of our own, as in "Futexes Are Tricky" (Ulrich Drepper, 2011), and the `Mutex` only holds the
/// value: whoever comes to it has it for itself.
package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
  private static var free: UInt32 { 0 }
  private static var held: UInt32 { 1 }
  private static var heldAndAwaited: UInt32 { 2 }
  /// So often the word is looked at before the thread sleeps: most locks are held for less time than that takes.
  private static var spinLimit: Int { 64 }

  private let mutex: Mutex<Value>
  private let word = Atomic<UInt32>(0)

  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Does `body` while no other thread does.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    if !take() { waitAndTake() }
    defer { release() }
    return try mutex.withLock(body)
  }

  /// Does `body` if no other thread holds the lock; else answers `nil`. For a forked child, in which the thread that
  /// holds it may not exist.
  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    if !take() { return nil }
    defer { release() }
    return try mutex.withLock(body)
  }

  private borrowing func take() -> Bool {
    word.compareExchange(expected: Self.free, desired: Self.held, ordering: .acquiring).exchanged
  }

  private borrowing func waitAndTake() {
    for _ in 0..<Self.spinLimit where word.load(ordering: .relaxed) == Self.free {
      if take() { return }
    }
    while word.exchange(Self.heldAndAwaited, ordering: .acquiring) != Self.free {
      #if os(Linux)  // futex(2)
      // An atomic never moves: this is where it is, and the kernel reads nothing else. It sleeps only while the word is
      // this number.
      unsafe withUnsafePointer(to: word) { unsafe csystem_futex_wait($0, Self.heldAndAwaited) }
      #else
      sched_yield()
      #endif
    }
  }

  private borrowing func release() {
    if word.exchange(Self.free, ordering: .releasing) != Self.heldAndAwaited { return }
    #if os(Linux)  // futex(2)
    // As above. Another thread may have the lock, or have freed it, by now: the kernel takes the address for a name
    // alone.
    unsafe withUnsafePointer(to: word) { unsafe csystem_futex_wake($0) }
    #endif
  }
}
