// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One message of a datagram: its header, and where in the datagram its body is.
///
/// Holds offsets and no bytes: it means something only together with the bytes it was read from.
package struct NetlinkMessage: Hashable, Sendable {
  package let header: NetlinkHeader
  /// Offsets in the datagram, without header and padding.
  package let body: Range<Int>

  package init(header: NetlinkHeader, body: Range<Int>) {
    self.header = header
    self.body = body
  }

  package var type: NetlinkMessageType { header.type }
  package var flags: NetlinkFlags { header.flags }

  /// Where the attributes are in a message whose body starts with a fixed header of `fixedByteCount` bytes.
  ///
  /// - Returns: `nil` if the body is shorter than the fixed header.
  package func attributes(after fixedByteCount: Int) -> Range<Int>? {
    guard body.count >= fixedByteCount else { return nil }
    // Attributes start at a multiple of four; a body that ends inside the padding has none.
    let start = body.lowerBound + (fixedByteCount + 3) & ~3
    return min(start, body.upperBound)..<body.upperBound
  }
}

extension NetlinkMessage {
  /// What a message of rtnetlink(7) tells of.
  package enum Subject: Hashable, Sendable {
    case link, address, route, neighbour, rule, netconf, nexthop
    /// What a router advertises (RFC 4861, 4.2).
    case advertisement
    /// Something else, or nothing that exists.
    case other
  }

  package var subject: Subject {
    switch type {
    case .newRoute, .deleteRoute: .route
    case .newLink, .deleteLink: .link
    case .newAddress, .deleteAddress: .address
    case .newNeighbour, .deleteNeighbour: .neighbour
    case .newRule, .deleteRule: .rule
    case .newNetconf, .deleteNetconf: .netconf
    case .newNexthop, .deleteNexthop: .nexthop
    case .newPrefix, .newNeighbourDiscoveryOption: .advertisement
    default: .other
    }
  }
}

/// The header of every netlink message, `struct nlmsghdr` (linux/netlink.h).
package struct NetlinkHeader: Hashable, Sendable, BitwiseCopyable {
  package static let byteCount = 16

  /// Header and body, without the padding to the next message.
  package let length: UInt32
  private let typeValue: UInt16
  private let flagBits: UInt16
  /// In an answer, the request's number.
  package let sequence: UInt32

  package var type: NetlinkMessageType { NetlinkMessageType(rawValue: typeValue) }
  package var flags: NetlinkFlags { NetlinkFlags(rawValue: flagBits) }

  package init(length: UInt32, type: NetlinkMessageType, flags: NetlinkFlags, sequence: UInt32) {
    self.length = length
    self.typeValue = type.rawValue
    self.flagBits = flags.rawValue
    self.sequence = sequence
  }

  /// Reads a header at an offset; `nil` if it does not fit.
  package init?(in bytes: RawSpan, at offset: Int) {
    guard offset >= 0, bytes.byteCount >= Self.byteCount, offset <= bytes.byteCount - Self.byteCount,
      let length: UInt32 = bytes.integer(at: offset),
      let type: UInt16 = bytes.integer(at: offset + 4),
      let flags: UInt16 = bytes.integer(at: offset + 6),
      let sequence: UInt32 = bytes.integer(at: offset + 8)
    else { return nil }
    self.length = length
    self.typeValue = type
    self.flagBits = flags
    self.sequence = sequence
  }
}

/// What a netlink message is (`nlmsg_type`): control types from linux/netlink.h, the others from linux/rtnetlink.h.
package struct NetlinkMessageType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  static let noop = Self(rawValue: 1)
  /// An error, or with error number 0 an acknowledgement.
  package static let error = Self(rawValue: 2)
  /// The end of a dump.
  package static let done = Self(rawValue: 3)

  package static let newLink = Self(rawValue: 16)
  package static let deleteLink = Self(rawValue: 17)
  package static let getLink = Self(rawValue: 18)

  package static let newAddress = Self(rawValue: 20)
  package static let deleteAddress = Self(rawValue: 21)
  package static let getAddress = Self(rawValue: 22)

  package static let newRoute = Self(rawValue: 24)
  package static let deleteRoute = Self(rawValue: 25)
  package static let getRoute = Self(rawValue: 26)

  package static let newNeighbour = Self(rawValue: 28)
  package static let deleteNeighbour = Self(rawValue: 29)
  package static let getNeighbour = Self(rawValue: 30)

  package static let newRule = Self(rawValue: 32)
  package static let deleteRule = Self(rawValue: 33)
  package static let getRule = Self(rawValue: 34)

  package static let newPrefix = Self(rawValue: 52)
  package static let newNeighbourDiscoveryOption = Self(rawValue: 68)

  package static let newNetconf = Self(rawValue: 80)
  package static let deleteNetconf = Self(rawValue: 81)

  package static let newNexthop = Self(rawValue: 104)
  package static let deleteNexthop = Self(rawValue: 105)
  static let getNexthop = Self(rawValue: 106)

  /// The controller of generic netlink, `GENL_ID_CTRL` (linux/genetlink.h).
  static let genericController = Self(rawValue: 16)
}

/// The flags of a netlink message (`nlmsg_flags`, linux/netlink.h). Bits above 0xff mean different things in requests
/// and in acknowledgements, so some values here are the same.
package struct NetlinkFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let request = Self(rawValue: 0x01)
  /// The data changed while it was dumped: the answer may miss or repeat entries.
  static let dumpInterrupted = Self(rawValue: 0x10)
  /// The kernel honoured the filter in a dump request.
  static let dumpFiltered = Self(rawValue: 0x20)

  // Requests that read.
  package static let root = Self(rawValue: 0x100)
  package static let match = Self(rawValue: 0x200)
  package static let dump: Self = [.root, .match]

  // Acknowledgements.
  /// The acknowledgement repeats only the header of the request.
  static let capped = Self(rawValue: 0x100)
  /// Attributes follow the acknowledgement: the extended acknowledgement.
  static let acknowledgementTLVs = Self(rawValue: 0x200)
}
