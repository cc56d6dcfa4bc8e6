// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One attribute (`struct nlattr`, linux/netlink.h): its type, and where its payload is.
package struct NetlinkAttribute: Hashable, Sendable {
  package static let headerByteCount = 4
  /// `NLA_F_NESTED`: the payload is attributes. Old families nest without setting it.
  package static let nestedFlag: UInt16 = 0x8000
  /// `NLA_TYPE_MASK`: without `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
  package static let typeMask: UInt16 = 0x3fff

  /// The type, flag bits masked off. What it means depends on where the attribute stands.
  package let type: UInt16
  package let isNested: Bool
  /// Offsets in the datagram, without header and padding.
  package let payload: Range<Int>

  @inline(__always)
  init(typeAndFlags: UInt16, payload: Range<Int>) {
    self.type = typeAndFlags & Self.typeMask
    self.isNested = typeAndFlags & Self.nestedFlag != 0
    self.payload = payload
  }
}
