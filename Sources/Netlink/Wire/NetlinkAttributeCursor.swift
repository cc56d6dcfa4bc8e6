// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Invariant: every payload handed out lies inside both the range the cursor was made with and the bytes it is given.
// A malformed attribute ends the walk and is remembered: a decoder that saw half a message must not believe it.

/// A walk over attributes. Holds offsets only; the bytes are given to each step.
package struct NetlinkAttributeCursor: Hashable, Sendable {
  private var offset: Int
  private let end: Int
  /// Whether the walk ended at an attribute that does not fit, or that claims fewer bytes than its own header.
  package private(set) var isMalformed = false

  @inline(__always)
  package init(_ range: Range<Int>) {
    self.offset = range.lowerBound
    self.end = range.upperBound
  }

  /// The next attribute, or `nil` after the last one or at a malformed one.
  @inline(__always)
  package mutating func next(in bytes: RawSpan) -> NetlinkAttribute? {
    let start = offset
    guard start < end else { return nil }
    offset = end
    guard start >= 0, end <= bytes.byteCount, end - start >= NetlinkAttribute.headerByteCount,
      let length = bytes.integer(at: start, as: UInt16.self).map(Int.init),
      let type: UInt16 = bytes.integer(at: start + 2),
      length >= NetlinkAttribute.headerByteCount, length <= end - start
    else {
      isMalformed = true
      return nil
    }
    // NLA_ALIGN; the last attribute may lack its padding.
    offset = min(start + (length + 3) & ~3, end)
    return NetlinkAttribute(
      typeAndFlags: type, payload: (start + NetlinkAttribute.headerByteCount)..<(start + length))
  }
}
