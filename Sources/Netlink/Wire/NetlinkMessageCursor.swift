// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Invariant: 0 <= offset <= count, and every range handed out lies inside the bytes it was read from. A message that
// does not fit ends the walk: nothing behind it can be trusted.

/// A walk over the messages of one datagram. Holds offsets only; the bytes are given to each step.
package struct NetlinkMessageCursor: Hashable, Sendable {
  private var offset = 0
  private let count: Int

  /// - Parameter count: how many bytes of the span belong to the datagram.
  @inline(__always)
  package init(count: Int) {
    self.count = max(0, count)
  }

  /// The next message, or `nil` after the last.
  ///
  /// - Throws: where the remaining bytes are no message; the walk is over then.
  @inline(__always)
  package mutating func next(in bytes: RawSpan) throws(NetlinkFormatError) -> NetlinkMessage? {
    let end = min(count, bytes.byteCount)
    let start = offset
    guard start < end else { return nil }
    // Set first, so that each way out below ends the walk.
    offset = count
    guard end - start >= NetlinkHeader.byteCount, let header = NetlinkHeader(in: bytes, at: start) else {
      throw .truncatedHeader
    }
    guard header.length >= UInt32(NetlinkHeader.byteCount) else { throw .lengthBelowHeader }
    guard UInt64(header.length) <= UInt64(end - start) else { throw .truncatedMessage }
    let length = Int(header.length)
    // NLMSG_ALIGN; the last message of a datagram may lack its padding.
    offset = min(start + (length + 3) & ~3, count)
    return NetlinkMessage(header: header, body: (start + NetlinkHeader.byteCount)..<(start + length))
  }
}
