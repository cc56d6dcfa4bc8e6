// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Invariant: 0 <= offset <= count, and every range handed out lies inside the bytes it was read from. A message that
// does not fit ends the walk: nothing behind it can be trusted.

/// A walk over the messages of one datagram. Holds offsets only; the bytes are given to each step.
package struct NetlinkMessageCursor: Hashable, Sendable {
  private var offset = 0
  private let count: Int

  /// - Parameter count: how many bytes of the span belong to the datagram.
  package init(count: Int) {
    self.count = max(0, count)
  }

  /// The next message, or `nil` after the last.
  ///
  /// - Throws: if the remaining bytes are no message. The walk is over then.
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

// Invariant: every payload handed out lies inside both the range the cursor was made with and the bytes it is given.
// A malformed attribute ends the walk and is remembered: a decoder that saw half a message must not believe it.

/// A walk over attributes. Holds offsets only; the bytes are given to each step.
package struct NetlinkAttributeCursor: Hashable, Sendable {
  private var offset: Int
  private let end: Int
  /// Whether the walk ended at an attribute that does not fit, or that claims fewer bytes than its own header.
  package private(set) var isMalformed = false

  package init(_ range: Range<Int>) {
    self.offset = range.lowerBound
    self.end = range.upperBound
  }

  /// The next attribute, or `nil` after the last one or at a malformed one.
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

/// One attribute (`struct nlattr`, linux/netlink.h): its type, and where its payload is.
package struct NetlinkAttribute: Hashable, Sendable {
  package static let headerByteCount = 4
  /// `NLA_TYPE_MASK`: without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
  static let typeMask: UInt16 = 0x3fff

  /// The type, flag bits masked off. What it means depends on where the attribute stands.
  package let type: UInt16
  /// Offsets in the datagram, without header and padding.
  let payload: Range<Int>

  init(typeAndFlags: UInt16, payload: Range<Int>) {
    self.type = typeAndFlags & Self.typeMask
    self.payload = payload
  }
}

/// Why the bytes of a datagram are not a sequence of netlink messages.
package enum NetlinkFormatError: Error, Hashable, Sendable {
  /// Fewer bytes remain than a message header has.
  case truncatedHeader
  /// A header claims a message shorter than the header itself.
  case lengthBelowHeader
  /// A header claims more bytes than remain.
  case truncatedMessage
}
