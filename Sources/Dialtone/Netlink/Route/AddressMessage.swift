// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An address of a link (`RTM_NEWADDR`, `RTM_DELADDR`; `struct ifaddrmsg`; rtnetlink(7)).
package struct AddressMessage: Hashable, Sendable {
  package static let headerByteCount = 8

  /// Attributes of an address (`IFA_…`, linux/if_addr.h).
  package enum Attribute {
    package static let address: UInt16 = 1
    package static let local: UInt16 = 2
    package static let cacheInfo: UInt16 = 6
    package static let flags: UInt16 = 8
  }

  package let family: KernelAddressFamily
  package let prefixLength: UInt8
  package private(set) var flags: AddressFlags
  package let interfaceIndex: UInt32
  /// `IFA_ADDRESS`: the peer if there is one, else the address itself.
  package private(set) var address: IPAddressBits?
  /// `IFA_LOCAL`: this machine's address. IPv6 leaves it out if there is no peer.
  package private(set) var local: IPAddressBits?
  /// For how many seconds it is valid from now on (`ifa_valid` of `struct ifa_cacheinfo`); `nil` for ever, or if the
  /// message does not say.
  package private(set) var validLifetime: UInt32?

  package var localAddress: IPAddressBits? { local ?? address }
  /// The other end of a point-to-point link.
  package var peer: IPAddressBits? { local == nil || local == address ? nil : address }

  /// - Returns: `nil` if the message is of another type, or malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let start = message.body.lowerBound
    guard message.type == .newAddress || message.type == .deleteAddress,
      let range = message.attributes(after: Self.headerByteCount),
      let family: UInt8 = bytes.integer(at: start),
      let prefixLength: UInt8 = bytes.integer(at: start + 1),
      let flags: UInt8 = bytes.integer(at: start + 2),
      let index: UInt32 = bytes.integer(at: start + 4)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    self.prefixLength = prefixLength
    self.flags = AddressFlags(rawValue: UInt32(flags))
    interfaceIndex = index
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      switch attribute.type {
      case Attribute.address:
        if !address.takeIn(IPAddressBits(bytes, in: attribute.payload, family: self.family)) { return nil }
      case Attribute.local:
        if !local.takeIn(IPAddressBits(bytes, in: attribute.payload, family: self.family)) { return nil }
      case Attribute.flags:
        // Replaces the eight bits of the header, which lack the newer flags.
        guard let value: UInt32 = bytes.integer(in: attribute.payload) else { return nil }
        self.flags = AddressFlags(rawValue: value)
      case Attribute.cacheInfo:
        // The preferred lifetime stands before it; all ones are "for ever".
        guard attribute.payload.count >= 8, let value: UInt32 = bytes.integer(at: attribute.payload.lowerBound + 4)
        else { return nil }
        validLifetime = value == .max ? nil : value
      default:
        break
      }
    }
    if attributes.isMalformed { return nil }
  }
}

/// The flags of an address (`IFA_F_…`, linux/if_addr.h).
package struct AddressFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// IPv6: a privacy address (RFC 8981). In IPv4 the same bit says that it is not the first of its subnet.
  package static let temporary = Self(rawValue: 0x01)
  package static let noDAD = Self(rawValue: 0x02)
  package static let optimistic = Self(rawValue: 0x04)
  /// Another host has the address.
  package static let dadFailed = Self(rawValue: 0x08)
  /// Not to be used for new connections.
  package static let deprecated = Self(rawValue: 0x20)
  /// Not usable until duplicate address detection has ended.
  package static let tentative = Self(rawValue: 0x40)
  package static let permanent = Self(rawValue: 0x80)
}

/// Addresses as the attributes of rtnetlink hold them.
extension IPAddressBits {
  /// Reads an address. If the message names an IP family, the address must be of it; for other families the size
  /// decides.
  init?(_ bytes: RawSpan, in range: Range<Int>, family: KernelAddressFamily) {
    self.init(bytes, in: range)
    if family == .ipv4 && isIPv6 || family == .ipv6 && !isIPv6 { return nil }
  }

  /// Reads `struct rtvia` (linux/rtnetlink.h): a 16-bit family, then an address of it.
  init?(via range: Range<Int>, in bytes: RawSpan) {
    guard range.count > 2, let family: UInt16 = bytes.integer(at: range.lowerBound) else { return nil }
    self.init(bytes, in: (range.lowerBound + 2)..<range.upperBound)
    guard family == UInt16(self.family.rawValue) else { return nil }
  }
}
