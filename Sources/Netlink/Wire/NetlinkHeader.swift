// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The header of every netlink message, `struct nlmsghdr` (linux/netlink.h).
package struct NetlinkHeader: Hashable, Sendable, BitwiseCopyable {
  package static let byteCount = 16

  /// Header and body, without the padding to the next message.
  package var length: UInt32
  package var typeValue: UInt16
  package var flagBits: UInt16
  /// In an answer, that of the request.
  package var sequence: UInt32
  /// The port for which the message is meant. Any sender can write it: judge a datagram by its sender's address.
  package var portID: UInt32

  @inline(__always)
  package var type: NetlinkMessageType { NetlinkMessageType(rawValue: typeValue) }
  @inline(__always)
  package var flags: NetlinkFlags { NetlinkFlags(rawValue: flagBits) }

  package init(length: UInt32, type: NetlinkMessageType, flags: NetlinkFlags, sequence: UInt32, portID: UInt32 = 0) {
    self.length = length
    self.typeValue = type.rawValue
    self.flagBits = flags.rawValue
    self.sequence = sequence
    self.portID = portID
  }

  /// Reads a header at an offset; `nil` where it does not fit.
  @inline(__always)
  package init?(in bytes: RawSpan, at offset: Int) {
    guard offset >= 0, bytes.byteCount >= Self.byteCount, offset <= bytes.byteCount - Self.byteCount,
      let length: UInt32 = bytes.integer(at: offset),
      let type: UInt16 = bytes.integer(at: offset + 4),
      let flags: UInt16 = bytes.integer(at: offset + 6),
      let sequence: UInt32 = bytes.integer(at: offset + 8),
      let portID: UInt32 = bytes.integer(at: offset + 12)
    else { return nil }
    self.length = length
    self.typeValue = type
    self.flagBits = flags
    self.sequence = sequence
    self.portID = portID
  }
}
