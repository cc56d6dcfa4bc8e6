// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// Messages made by hand as the kernel would send them, for links that this machine has no driver for. They are written
/// as bytes and decoded again, so that the test covers everything from the datagram on.
enum BuiltMessages {
  /// The contents of a link's message. A field that is `nil` is not in it.
  struct LinkFields {
    var index: UInt32 = 3
    var name: String? = "l0"
    var deviceType = DeviceType.ethernet
    var flags: UInt32 = 0x11043
    var state: OperationalState? = .up
    var address: [UInt8]? = [2, 0, 0, 0, 1, 0]
    var infoKind: String?
    var lower: UInt32?
    var lowerNamespace: Int32?
    var master: UInt32?
    var activePort: UInt32?
    var alternativeNames: [String] = []
    var group: UInt32?
    var isWirelessEvent = false
    var family = KernelAddressFamily.unspecified
  }

  static func link(_ fields: LinkFields) throws -> LinkMessage {
    try decode(linkBytes(fields)) { LinkMessage($0, in: $1) }
  }

  static func linkBytes(_ fields: LinkFields) -> [UInt8] {
    bytes(.newLink) { builder in
      builder.appendLinkHeader(family: fields.family, index: fields.index, flags: LinkFlags(rawValue: fields.flags))
      // `struct ifinfomsg` has the device type after the family (linux/rtnetlink.h); requests leave it zero.
      builder.store(fields.deviceType.rawValue, at: 16 + 2)
      if let name = fields.name { builder.append(LinkMessage.Attribute.name, string: name) }
      if let state = fields.state { builder.append(LinkMessage.Attribute.operationalState, state.rawValue) }
      if let address = fields.address { builder.append(LinkMessage.Attribute.address, bytes: address) }
      if let lower = fields.lower { builder.append(LinkMessage.Attribute.link, lower) }
      if let namespace = fields.lowerNamespace { builder.append(LinkMessage.Attribute.linkNamespaceID, namespace) }
      if let master = fields.master { builder.append(LinkMessage.Attribute.master, master) }
      if let group = fields.group { builder.append(LinkMessage.Attribute.group, group) }
      if !fields.alternativeNames.isEmpty {
        let list = builder.beginNested(LinkMessage.Attribute.properties)
        for name in fields.alternativeNames {
          builder.append(LinkMessage.Attribute.alternativeName, string: name)
        }
        builder.endNested(list)
      }
      if fields.isWirelessEvent {
        // IFLA_WIRELESS, linux/if_link.h.
        builder.append(11, bytes: [24, 0, 0x15, 0x8b] + [UInt8](repeating: 0, count: 20))
      }
      guard let kind = fields.infoKind else { return }
      let info = builder.beginNested(LinkMessage.Attribute.linkInfo)
      builder.append(LinkMessage.InfoAttribute.kind, string: kind)
      if let port = fields.activePort {
        let data = builder.beginNested(LinkMessage.InfoAttribute.data)
        builder.append(LinkMessage.InfoAttribute.bondActiveSlave, port)
        builder.endNested(data)
      }
      builder.endNested(info)
    }
  }

  /// An address with the prefix; usable unless the flags say otherwise.
  static func address(
    _ text: String, _ length: UInt8, on link: UInt32, _ flags: AddressFlags = []
  ) throws -> AddressMessage {
    let bits = try #require(IPAddress(text)).bits
    let bytes = bytes(.newAddress) { builder in
      builder.appendAddressHeader(
        family: bits.family, prefixLength: length, scope: IPAddress(bits).isLinkLocal ? .link : .universe, index: link)
      builder.append(AddressMessage.Attribute.address, address: bits)
      if !bits.isIPv6 { builder.append(AddressMessage.Attribute.local, address: bits) }
      if !flags.isEmpty { builder.append(AddressMessage.Attribute.flags, flags.rawValue) }
    }
    return try decode(bytes) { AddressMessage($0, in: $1) }
  }

  /// A reply to a route query.
  static func route(
    _ family: KernelAddressFamily = .ipv4, type: RouteType = .unicast, flags: RouteFlags = [], over link: UInt32? = nil,
    via gateway: String? = nil, from source: String? = nil, nexthopID: UInt32? = nil
  ) throws -> RouteReply {
    let gateway = try gateway.map { try #require(IPAddress($0)).bits }
    let source = try source.map { try #require(IPAddress($0)).bits }
    let bytes = bytes(.newRoute) { builder in
      builder.appendRouteHeader(family: family, table: 254, type: type, flags: flags)
      if let link { builder.append(RouteMessage.Attribute.outputInterface, link) }
      if let gateway { builder.append(RouteMessage.Attribute.gateway, address: gateway) }
      if let source { builder.append(RouteMessage.Attribute.preferredSource, address: source) }
      if let nexthopID { builder.append(RouteMessage.Attribute.nexthopID, nexthopID) }
    }
    return .route(try decode(bytes) { RouteMessage($0, in: $1) })
  }

  static func bytes(
    _ type: NetlinkMessageType, _ body: (inout NetlinkRequestBuilder) -> Void
  ) -> [UInt8] {
    var builder = NetlinkRequestBuilder()
    builder.begin(type, [])
    body(&builder)
    builder.end()
    return builder.bytes
  }

  static func decode<Value>(
    _ bytes: [UInt8], _ body: (NetlinkMessage, RawSpan) -> Value?
  ) throws -> Value {
    // Bytes have no padding between them.
    let span = unsafe bytes.span.bytes
    var cursor = NetlinkMessageCursor(count: bytes.count)
    let value = try cursor.next(in: span).flatMap { body($0, span) }
    return try #require(value)
  }
}

/// A network made of these messages.
struct BuiltNetwork {
  var links = LinkTable()
  var addresses = AddressTable()

  /// Stores a link's message as the source does. Returns what it can have changed, `nil` if it is no snapshot.
  @discardableResult
  mutating func add(
    _ fields: BuiltMessages.LinkFields, _ evidence: InterfaceKind.Evidence = .init(), radio: UInt32? = nil
  ) throws -> LinkTable.Effect? {
    let message = try BuiltMessages.link(fields)
    return Link(message, kind: InterfaceKind(message) { evidence }, radio: radio).map { links.update($0) }
  }

  mutating func add(_ address: String, _ length: UInt8, on link: UInt32, _ flags: AddressFlags = []) throws {
    addresses.update(try BuiltMessages.address(address, length, on: link, flags))
  }

  func kind(of index: UInt32) throws -> InterfaceKind { links.kind(of: try #require(links[index])) }

  func isOperating(_ index: UInt32) throws -> Bool { links.isOperating(try #require(links[index])) }

  func interface(_ index: UInt32) throws -> NetworkInterface { links.interface(try #require(links[index])) }

  func decision(isBlocked: @escaping (Link) -> Bool = { _ in false }) -> RouteDecision {
    RouteDecision(links: links, addresses: addresses, isBlocked: isBlocked)
  }

  /// The index of the link with this name.
  func index(named name: String) -> UInt32? { links.link(named: LinkName(name))?.index }

  /// The answer for the Internet over IPv4, if the replies are for a default route over a link.
  func internet(
    over link: UInt32, via gateway: String? = nil, from source: String? = nil, flags: RouteFlags = []
  ) throws -> Reachability {
    decision().decide(
      try #require(IPAddress("198.41.0.4")),
      RouteReplies(
        match: try BuiltMessages.route(flags: flags, over: link, via: gateway),
        plain: try BuiltMessages.route(over: link, via: gateway, from: source)))
  }
}

/// An address from a test's text.
func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text), "\(text) is no address") }

extension ReachabilityTarget {
  static func address(_ text: String) throws -> ReachabilityTarget { .address(try LinuxTests.address(text)) }
}
