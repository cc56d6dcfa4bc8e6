// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A route: an event, one entry of a dump, or the answer to a query (`RTM_NEWROUTE`, `RTM_DELROUTE`; `struct rtmsg`;
/// rtnetlink(7)).
///
/// Its nexthops, if it has several, are told apart from it. So decoding a route with one allocates nothing, and copying
/// one copies bytes.
package struct RouteMessage: Hashable, Sendable, BitwiseCopyable {
  package static let headerByteCount = 12
  /// The table of this machine's own addresses (RT_TABLE_LOCAL, linux/rtnetlink.h).
  static let localTable: UInt8 = 255

  /// Attributes of a route (`RTA_…`, linux/rtnetlink.h).
  package enum Attribute {
    package static let destination: UInt16 = 1
    package static let source: UInt16 = 2
    package static let outputInterface: UInt16 = 4
    package static let gateway: UInt16 = 5
    package static let priority: UInt16 = 6
    package static let preferredSource: UInt16 = 7
    static let multipath: UInt16 = 9
    static let cacheInfo: UInt16 = 12
    package static let table: UInt16 = 15
    package static let mark: UInt16 = 16
    package static let via: UInt16 = 18
    static let ipProtocol: UInt16 = 27
    package static let destinationPort: UInt16 = 29
    package static let nexthopID: UInt16 = 30
  }

  package let family: KernelAddressFamily
  package let destinationLength: UInt8
  package let sourceLength: UInt8
  /// `RTA_TABLE`, else the eight bits of the header.
  package private(set) var table: UInt32
  package let type: RouteType
  package let flags: RouteFlags
  /// `nil` for a default route.
  package private(set) var destination: IPAddressBits?
  /// From `RTA_GATEWAY`, or from `RTA_VIA`, in which an IPv4 route may name an IPv6 gateway.
  package private(set) var gateway: IPAddressBits?
  package private(set) var outputInterface: UInt32?
  package private(set) var preferredSource: IPAddressBits?
  /// The metric: lower wins.
  package private(set) var priority: UInt32?
  package private(set) var nexthopID: UInt32?
  /// How much longer the kernel uses the route, in hundredths of a second (`rta_expires` of `struct rta_cacheinfo`,
  /// linux/rtnetlink.h); 0 means for ever, or less than one. Only IPv6 routes expire. A reply says so only with
  /// `RTM_F_FIB_MATCH`.
  package private(set) var expiry: Int32 = 0

  package func covers(_ address: IPAddressBits) -> Bool {
    guard let destination else { return destinationLength == 0 && address.family == family }
    return address.matches(prefix: destination, length: Int(destinationLength))
  }

  /// Reads a route, and puts its nexthops into `nexthops` if it has several: then `gateway` and `outputInterface` are
  /// `nil`. Otherwise `nexthops` stays as it is. Returns `nil` if the message is of another type, or malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan, nexthops: inout [RouteNexthop]) {
    let start = message.body.lowerBound
    guard message.type == .newRoute || message.type == .deleteRoute,
      let range = message.attributes(after: Self.headerByteCount),
      let family: UInt8 = bytes.integer(at: start),
      let destinationLength: UInt8 = bytes.integer(at: start + 1),
      let sourceLength: UInt8 = bytes.integer(at: start + 2),
      let table: UInt8 = bytes.integer(at: start + 4),
      let type: UInt8 = bytes.integer(at: start + 7),
      let flags: UInt32 = bytes.integer(at: start + 8)
    else { return nil }
    self.family = KernelAddressFamily(rawValue: family)
    self.destinationLength = destinationLength
    self.sourceLength = sourceLength
    self.table = UInt32(table)
    self.type = RouteType(rawValue: type)
    self.flags = RouteFlags(rawValue: flags)
    if self.family == .ipv4 && destinationLength > 32 || self.family == .ipv6 && destinationLength > 128 { return nil }
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      guard read(attribute, in: bytes, &nexthops) else { return nil }
    }
    if attributes.isMalformed { return nil }
  }

  /// - Returns: whether the attribute is unknown or has the size it must have.
  private mutating func read(
    _ attribute: NetlinkAttribute, in bytes: RawSpan, _ nexthops: inout [RouteNexthop]
  ) -> Bool {
    let payload = attribute.payload
    switch attribute.type {
    case Attribute.destination: return destination.takeIn(IPAddressBits(bytes, in: payload, family: family))
    case Attribute.outputInterface: return outputInterface.takeIn(bytes.integer(in: payload))
    case Attribute.gateway: return gateway.takeIn(IPAddressBits(bytes, in: payload, family: family))
    case Attribute.via: return gateway.takeIn(IPAddressBits(via: payload, in: bytes))
    case Attribute.preferredSource: return preferredSource.takeIn(IPAddressBits(bytes, in: payload, family: family))
    case Attribute.table:
      guard let value: UInt32 = bytes.integer(in: payload) else { return false }
      table = value
    case Attribute.priority: return priority.takeIn(bytes.integer(in: payload))
    case Attribute.nexthopID: return nexthopID.takeIn(bytes.integer(in: payload))
    case Attribute.cacheInfo:
      // Behind rta_clntref and rta_lastuse; later kernels may append fields.
      guard payload.count >= 12, let value: Int32 = bytes.integer(at: payload.lowerBound + 8) else { return false }
      expiry = value
    case Attribute.multipath:
      guard let value = RouteNexthop.all(in: bytes, range: payload) else { return false }
      nexthops = value
    default:
      break
    }
    return true
  }
}

extension RouteMessage {
  /// Whether a message about a route is about one of IPv6.
  package static func isIPv6(_ message: NetlinkMessage, in bytes: RawSpan) -> Bool {
    bytes.integer(at: message.body.lowerBound) == KernelAddressFamily.ipv6.rawValue
  }

  /// Whether it is about IPv4's table `local`, by which the kernel knows which sources are this machine's
  /// (`__ip_dev_find`, net/ipv4/devinet.c).
  package static func isOfIPv4Local(_ message: NetlinkMessage, in bytes: RawSpan) -> Bool {
    !isIPv6(message, in: bytes) && bytes.integer(at: message.body.lowerBound + 4) == localTable
  }
}

extension IPPrefix {
  /// The destination of a route that was announced: all that an event's reader needs to know of it. The address of a
  /// default route is all zeros.
  ///
  /// - Returns: `nil` if the message is of another type, or its destination malformed.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let start = message.body.lowerBound
    guard message.type == .newRoute || message.type == .deleteRoute,
      let range = message.attributes(after: RouteMessage.headerByteCount),
      let family: UInt8 = bytes.integer(at: start), let length: UInt8 = bytes.integer(at: start + 1)
    else { return nil }
    let isIPv6 = family == KernelAddressFamily.ipv6.rawValue
    guard isIPv6 || family == KernelAddressFamily.ipv4.rawValue, length <= (isIPv6 ? 128 : 32) else { return nil }
    var address = isIPv6 ? IPAddressBits(ipv6High: 0, low: 0) : IPAddressBits(ipv4: 0)
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      if attribute.type != RouteMessage.Attribute.destination { continue }
      guard let found = IPAddressBits(bytes, in: attribute.payload), found.isIPv6 == isIPv6 else { return nil }
      address = found
    }
    if attributes.isMalformed { return nil }
    self.init(address, length: Int(length))
  }
}

/// What happens to a packet that takes a route (`rtm_type`; rtnetlink(7)).
package struct RouteType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let unspecified = Self(rawValue: 0)
  package static let unicast = Self(rawValue: 1)
  /// For this machine.
  package static let local = Self(rawValue: 2)
  package static let broadcast = Self(rawValue: 3)
  package static let anycast = Self(rawValue: 4)
  package static let multicast = Self(rawValue: 5)
  package static let blackhole = Self(rawValue: 6)
  package static let unreachable = Self(rawValue: 7)
  package static let prohibit = Self(rawValue: 8)
  /// As if the table had no route: the next rule is asked.
  package static let `throw` = Self(rawValue: 9)
}

extension RouteType: CustomStringConvertible {
  /// The word of ip-route(8).
  package var description: String {
    let words = [
      "unspec", "unicast", "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable", "prohibit",
      "throw",
    ]
    return Int(rawValue) < words.count ? words[Int(rawValue)] : "type \(rawValue)"
  }
}

/// Flags of a route and of its nexthops (linux/rtnetlink.h). Both words share their low bits. `RTNH_F_…` describe a
/// nexthop; `rtm_flags` has them too if a route has just one. `RTM_F_…` describe the message.
package struct RouteFlags: OptionSet, Hashable, Sendable, BitwiseCopyable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The nexthop's link is down.
  package static let dead = Self(rawValue: 1 << 0)
  /// The nexthop's link has no carrier.
  package static let linkDown = Self(rawValue: 1 << 4)

  /// Asks for the number of the table, which an IPv4 reply otherwise gives as that of the main table.
  package static let lookupTable = Self(rawValue: 0x1000)
  /// Asks for the route as configured instead of the one chosen.
  package static let fibMatch = Self(rawValue: 0x2000)
}
