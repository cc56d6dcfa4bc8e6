// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An address of a link (`RTM_NEWADDR`, `RTM_DELADDR`; `struct ifaddrmsg`; rtnetlink(7)).
package struct AddressMessage: Hashable, Sendable {
  package static let headerByteCount = 8

  /// Attributes of an address (`IFA_…`, linux/if_addr.h).
  package enum Attribute {
    package static let address: UInt16 = 1
    package static let local: UInt16 = 2
    package static let label: UInt16 = 3
    package static let broadcast: UInt16 = 4
    package static let cacheInfo: UInt16 = 6
    package static let flags: UInt16 = 8
    package static let routePriority: UInt16 = 9
  }

  package let family: KernelAddressFamily
  package let prefixLength: UInt8
  package private(set) var flags: AddressFlags
  package let scope: RouteScope
  package let interfaceIndex: UInt32
  /// `IFA_ADDRESS`: the peer where there is one, else the address itself.
  package private(set) var address: IPAddressBits?
  /// `IFA_LOCAL`: this machine's address. IPv6 leaves it out where there is no peer.
  package private(set) var local: IPAddressBits?

  /// This machine's address.
  package var localAddress: IPAddressBits? { local ?? address }
  /// The other end of a point-to-point link.
  package var peer: IPAddressBits? { local == nil || local == address ? nil : address }

  /// - Returns: `nil` where the message is of another type, or malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let start = message.body.lowerBound
    guard message.type == .newAddress || message.type == .deleteAddress,
      let range = message.attributes(after: Self.headerByteCount),
      let family: UInt8 = bytes.integer(at: start),
      let prefixLength: UInt8 = bytes.integer(at: start + 1),
      let flags: UInt8 = bytes.integer(at: start + 2),
      let scope: UInt8 = bytes.integer(at: start + 3),
      let index: UInt32 = bytes.integer(at: start + 4)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    self.prefixLength = prefixLength
    self.flags = AddressFlags(rawValue: UInt32(flags))
    self.scope = RouteScope(rawValue: scope)
    interfaceIndex = index
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      switch attribute.type {
      case Attribute.address:
        guard let value = IPAddressBits(bytes, in: attribute.payload, family: self.family) else { return nil }
        address = value
      case Attribute.local:
        guard let value = IPAddressBits(bytes, in: attribute.payload, family: self.family) else { return nil }
        local = value
      case Attribute.flags:
        // Replaces the eight bits of the header, which lack the newer flags.
        guard let value: UInt32 = bytes.integer(in: attribute.payload) else { return nil }
        self.flags = AddressFlags(rawValue: value)
      default:
        break
      }
    }
    if attributes.isMalformed { return nil }
  }
}
