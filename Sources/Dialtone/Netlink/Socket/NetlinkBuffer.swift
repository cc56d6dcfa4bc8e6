// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
// Invariant: `memory` is valid from init to deinit and has one owner, this value, which cannot be copied. Pointers to
// it and spans of it never outlive the call that makes them.

/// Memory into which datagrams are received, again and again. Pages that were never written take no memory.
@safe package struct NetlinkBuffer: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer

  package init(byteCount: Int) {
    // Big enough for malloc to map it lazily; aligned for the structures that netlink puts at multiples of four.
    unsafe memory = .allocate(byteCount: byteCount, alignment: 16)
  }

  deinit {
    // SAFETY: allocated in init, and freed only here.
    unsafe memory.deallocate()
  }

  package var byteCount: Int { unsafe memory.count }

  /// Lends bytes that a receive has filled.
  package func withBytes<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount)
    // SAFETY: the memory lives as long as self, which is borrowed here; the precondition keeps the range inside it.
    // Bytes that the kernel has not written have no meaning, but any byte is a valid value.
    return try unsafe body(UnsafeRawBufferPointer(rebasing: memory[range]).bytes)
  }

  /// Lends the memory itself, for a system call to write to.
  func withUnsafeMemory<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
    // SAFETY: the memory lives as long as self, which is borrowed here.
    unsafe body(memory)
  }
}

// SAFETY: the memory has a single owner that cannot be copied, so nobody else uses it.
extension NetlinkBuffer: @unchecked Sendable {}
#endif
