// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Dialtone

@Suite(.timeLimit(.minutes(5)))
struct SequenceLockTests {
  /// Every word of a value is the same number, so a torn copy shows. The size is odd: the last word is only partly
  /// filled.
  private struct Pattern: BitwiseCopyable, Sendable {
    var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    var tail: UInt32

    init(_ number: UInt64) {
      words = (number, number, number, number, number, number, number, number)
      tail = UInt32(truncatingIfNeeded: number)
    }

    var isWhole: Bool {
      let first = words.0
      return words.1 == first && words.2 == first && words.3 == first && words.4 == first && words.5 == first
        && words.6 == first && words.7 == first && tail == UInt32(truncatingIfNeeded: first)
    }
  }

  /// Holds the lock, which cannot be copied.
  private final class Shared<Value: BitwiseCopyable & Sendable>: Sendable {
    private let lock: SequenceLock<Value>
    private let first: Value

    init(_ value: Value) {
      lock = SequenceLock(value)
      first = value
    }

    func load() -> Value { lock.load(over: first) }
    func store(_ value: Value) { lock.store(value) }
  }

  @Test func readsWhatWasStoredLast() {
    let lock = Shared(Pattern(1))
    #expect(lock.load().words.0 == 1)
    for number: UInt64 in 2...1_000 {
      lock.store(Pattern(number))
      let value = lock.load()
      #expect(value.words.0 == number && value.isWhole)
    }
  }

  @Test(arguments: [UInt8(0), 1, 127, 255])
  func holdsAValueSmallerThanAWord(value: UInt8) {
    let lock = Shared(UInt8(77))
    lock.store(value)
    #expect(lock.load() == value)
  }

  @Test func holdsAWholeReachability() {
    var state = Reachability(
      status: .requiresConnection, flags: [.reachable, .connectionRequired, .isWWAN],
      interface: interface("0123456789abcde", 4_000_000_000, .cellular), source: ip("fe80::1%eth0"),
      gateway: ip("2001:db8::1"), destination: ip("192.0.2.1"), reason: .dormant, realtime: .max)
    let lock = Shared(Reachability.unknown)
    #expect(lock.load() == .unknown)
    lock.store(state)
    let copy = lock.load()
    #expect(copy == state)
    #expect(copy.source == state.source && copy.destination == state.destination && copy.realtime == state.realtime)
    state.interface = nil
    state.reason = nil
    lock.store(state)
    #expect(lock.load() == state)
  }

  @Test func neverGivesATornValue() async {
    let lock = Shared(Pattern(0))
    let isDone = Atomic<Bool>(false)
    let torn = Counter()
    let backwards = Counter()
    let reads = Counter()
    // Threads of their own: readers that spin must not take the pool's threads from other tests.
    let ended = Counter()
    for _ in 0..<4 {
      let started = Thread.start(named: "reader") {
        var last: UInt64 = 0
        var count = 0
        while !isDone.load(ordering: .acquiring) || count == 0 {
          let value = lock.load()
          if !value.isWhole { torn.add() }
          if value.words.0 < last { backwards.add() }
          last = value.words.0
          count += 1
        }
        reads.add(count)
        ended.add()
      }
      #expect(started)
    }
    // A sanitizer makes each store cost a hundred times as much.
    let count: UInt64 = isSanitized ? 5_000 : 60_000
    for number in 1...count { lock.store(Pattern(number)) }
    isDone.store(true, ordering: .releasing)
    while ended.value < 4 { await Task.yield() }
    #expect(torn.value == 0)
    #expect(backwards.value == 0)
    #expect(reads.value >= 4)
    #expect(lock.load().words.0 == count)
  }
}
