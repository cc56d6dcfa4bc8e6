// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that many threads read without waiting, while one at a time writes it.
///
/// Invariant: of the two copies, the one that the lowest bit of `sequence` names is whole. The writer moves readers to
/// the other copy before it touches one. So a reader never waits for a writer, even one that is interrupted half-way.
/// It reads again only if the writer moved on meanwhile. The kernel's linux/seqlock.h calls this a latch. Every word is
/// atomic, so there is no data race. A copy torn by the writer is recognised and thrown away.
@safe package struct SequenceLock<Value: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
  private static var wordCount: Int { (MemoryLayout<Value>.size + 7) / 8 }

  private let sequence = Atomic<UInt>(0)
  // Safe to share: allocated in init, freed in deinit, never changed in between, and what it points to is atomic.
  private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

  package init(_ value: Value) {
    unsafe words = .allocate(capacity: 2 * Self.wordCount)
    for position in 0..<2 * Self.wordCount {
      unsafe (words + position).initialize(to: Atomic(0))
    }
    write(value, to: 0)
    write(value, to: 1)
  }

  deinit {
    unsafe words.deinitialize(count: 2 * Self.wordCount)
    unsafe words.deallocate()
  }

  /// Returns the value as it was last stored. Lock-free; for any thread.
  ///
  /// - Parameter template: Any value: what the read begins with. All its bytes are replaced.
  /// - Returns: The value.
  package func load(over template: Value) -> Value {
    // Not by withUnsafeTemporaryAllocation: where this is not specialised, Swift 6.3 takes its closure to have thrown.
    var value = template
    while true {
      let before = sequence.load(ordering: .acquiring)
      read(copy: Int(before & 1), into: &value)
      atomicMemoryFence(ordering: .acquiring)
      // A value is made only of words that were stored together.
      if sequence.load(ordering: .relaxed) == before { return value }
    }
  }

  private func read(copy: Int, into value: inout Value) {
    // In bounds: each copy has wordCount words, and the value at most eight times as many bytes. Its type is of plain
    // bits, so any bytes may stand there until it is used.
    unsafe withUnsafeMutableBytes(of: &value) { bytes in
      let start = unsafe words + copy * Self.wordCount
      for position in 0..<Self.wordCount {
        let word = unsafe start[position].load(ordering: .relaxed)
        unsafe Self.put(word, at: position, of: bytes)
      }
    }
  }

  private static func put(_ word: UInt64, at position: Int, of bytes: UnsafeMutableRawBufferPointer) {
    let offset = 8 * position
    if offset + 8 <= bytes.count { return unsafe bytes.storeBytes(of: word, toByteOffset: offset, as: UInt64.self) }
    unsafe withUnsafeBytes(of: word) {
      unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
        .copyMemory(from: .init(rebasing: $0[..<(bytes.count - offset)]))
    }
  }

  /// Replaces the value. One thread at a time may call it: the caller holds a lock for that.
  package func store(_ value: Value) {
    let before = sequence.load(ordering: .relaxed)
    for step: UInt in 0...1 {
      // Readers go to the other copy. They see the sequence change before they can see a word of this copy change.
      sequence.store(before &+ step &+ 1, ordering: .releasing)
      atomicMemoryFence(ordering: .releasing)
      write(value, to: Int((before &+ step) & 1))
    }
  }

  private func write(_ value: Value, to copy: Int) {
    // In bounds: each copy has wordCount words, and the value at most eight times as many bytes.
    unsafe withUnsafeBytes(of: value) { bytes in
      let start = unsafe words + copy * Self.wordCount
      for position in 0..<Self.wordCount {
        unsafe start[position].store(Self.word(of: bytes, at: position), ordering: .relaxed)
      }
    }
  }

  private static func word(of bytes: UnsafeRawBufferPointer, at position: Int) -> UInt64 {
    let offset = 8 * position
    if offset + 8 <= bytes.count { return unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    var word: UInt64 = 0
    unsafe withUnsafeMutableBytes(of: &word) { unsafe $0.copyMemory(from: .init(rebasing: bytes[offset...])) }
    return word
  }
}
