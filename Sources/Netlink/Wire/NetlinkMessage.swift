// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One message of a datagram: its header, and where in the datagram its body is.
///
/// Holds offsets and no bytes: it means something only together with the bytes it was read from.
package struct NetlinkMessage: Hashable, Sendable {
  package let header: NetlinkHeader
  /// Offsets in the datagram, without header and padding.
  package let body: Range<Int>

  @inline(__always)
  package init(header: NetlinkHeader, body: Range<Int>) {
    self.header = header
    self.body = body
  }

  @inline(__always)
  package var type: NetlinkMessageType { header.type }
  @inline(__always)
  package var flags: NetlinkFlags { header.flags }

  /// Where the attributes are in a message whose body starts with a fixed header of `fixedByteCount` bytes.
  ///
  /// - Returns: `nil` where the body is shorter than the fixed header.
  @inline(__always)
  package func attributes(after fixedByteCount: Int) -> Range<Int>? {
    guard body.count >= fixedByteCount else { return nil }
    // Attributes start at a multiple of four; a body that ends inside the padding has none.
    let start = body.lowerBound + (fixedByteCount + 3) & ~3
    return min(start, body.upperBound)..<body.upperBound
  }
}
