// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A changed setting of IPv4 or IPv6, of one interface or of all (`RTM_NEWNETCONF`; `struct netconfmsg`,
/// linux/netconf.h).
package struct NetconfMessage: Hashable, Sendable {
  package static let headerByteCount = 1
  /// `NETCONFA_IFINDEX_ALL`: the setting holds for every interface.
  package static let allInterfaces: Int32 = -1
  /// `NETCONFA_IFINDEX_DEFAULT`: the setting that new interfaces start with.
  package static let defaultInterface: Int32 = -2

  /// Attributes of a setting (`NETCONFA_…`, linux/netconf.h).
  package enum Attribute {
    package static let interfaceIndex: UInt16 = 1
    package static let forwarding: UInt16 = 2
    package static let reversePathFilter: UInt16 = 3
    package static let ignoreRoutesWithLinkdown: UInt16 = 6
  }

  package let family: KernelAddressFamily
  package private(set) var interfaceIndex: Int32 = NetconfMessage.defaultInterface
  /// Whether routes over a link without carrier are passed over (`ignore_routes_with_linkdown`); `nil` where the message
  /// is about something else.
  package private(set) var ignoreRoutesWithLinkdown: Bool?
  package private(set) var forwarding: Bool?
  package private(set) var reversePathFilter: Int32?

  /// - Returns: `nil` where the message is of another type, malformed, or names no interface.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    guard message.type == .newNetconf || message.type == .deleteNetconf,
      let range = message.attributes(after: Self.headerByteCount),
      let family: UInt8 = bytes.integer(at: message.body.lowerBound)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    var attributes = NetlinkAttributeCursor(range)
    var hasInterface = false
    while let attribute = attributes.next(in: bytes) {
      // Every setting is a 32-bit integer; an unknown one may be anything.
      switch attribute.type {
      case Attribute.interfaceIndex:
        guard let value: Int32 = bytes.integer(in: attribute.payload) else { return nil }
        interfaceIndex = value
        hasInterface = true
      case Attribute.forwarding:
        guard let value: Int32 = bytes.integer(in: attribute.payload) else { return nil }
        forwarding = value != 0
      case Attribute.reversePathFilter:
        guard let value: Int32 = bytes.integer(in: attribute.payload) else { return nil }
        reversePathFilter = value
      case Attribute.ignoreRoutesWithLinkdown:
        guard let value: Int32 = bytes.integer(in: attribute.payload) else { return nil }
        ignoreRoutesWithLinkdown = value != 0
      default:
        break
      }
    }
    if attributes.isMalformed || !hasInterface { return nil }
  }
}
