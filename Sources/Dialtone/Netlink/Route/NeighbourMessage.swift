// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A neighbour on a link: an entry of the ARP or NDP table (`RTM_NEWNEIGH`, `RTM_DELNEIGH`; `struct ndmsg`;
/// rtnetlink(7)).
package struct NeighbourMessage: Hashable, Sendable {
  package static let headerByteCount = 12

  /// Attributes of a neighbour (`NDA_…`, linux/neighbour.h).
  package enum Attribute {
    package static let destination: UInt16 = 1
  }

  package let family: KernelAddressFamily
  package let interfaceIndex: UInt32
  package let state: NeighbourState
  /// `nil` in a bridge's forwarding table, which has no IP addresses.
  package private(set) var address: IPAddressBits?

  /// - Returns: `nil` if the message is of another type, or malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let start = message.body.lowerBound
    guard message.type == .newNeighbour || message.type == .deleteNeighbour,
      let range = message.attributes(after: Self.headerByteCount), bytes.contains(message.body),
      let family: UInt8 = bytes.integer(at: start),
      let index: UInt32 = bytes.integer(at: start + 4),
      let state: UInt16 = bytes.integer(at: start + 8)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    interfaceIndex = index
    self.state = NeighbourState(rawValue: state)
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      guard attribute.type == Attribute.destination else { continue }
      if !address.takeIn(IPAddressBits(bytes, in: attribute.payload, family: self.family)) { return nil }
    }
    if attributes.isMalformed { return nil }
  }
}

/// What is known of a neighbour (`NUD_…`, linux/neighbour.h).
package struct NeighbourState: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let incomplete = Self(rawValue: 0x01)
  package static let reachable = Self(rawValue: 0x02)
  package static let stale = Self(rawValue: 0x04)
  package static let delay = Self(rawValue: 0x08)
  package static let probe = Self(rawValue: 0x10)
  package static let failed = Self(rawValue: 0x20)
  /// The link does not resolve neighbours.
  package static let noARP = Self(rawValue: 0x40)
  package static let permanent = Self(rawValue: 0x80)
}
