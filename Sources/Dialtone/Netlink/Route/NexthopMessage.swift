// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A nexthop object, which routes name instead of an interface and a gateway (`RTM_NEWNEXTHOP`, `RTM_DELNEXTHOP`;
/// `struct nhmsg`, linux/nexthop.h; ip-nexthop(8)).
package struct NexthopMessage: Hashable, Sendable {
  package static let headerByteCount = 8

  /// Attributes of a nexthop (`NHA_…`, linux/nexthop.h).
  package enum Attribute {
    package static let id: UInt16 = 1
    package static let group: UInt16 = 2
    package static let blackhole: UInt16 = 4
    package static let outputInterface: UInt16 = 5
    package static let gateway: UInt16 = 6
  }

  package private(set) var id: UInt32
  package let flags: RouteFlags
  package private(set) var outputInterface: UInt32?
  package private(set) var gateway: IPAddressBits?
  package private(set) var isBlackhole = false
  /// The objects that a group is made of; empty if the nexthop is none.
  package private(set) var group: [UInt32] = []

  /// - Returns: `nil` if the message is of another type, malformed, or names no object.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    guard message.type == .newNexthop || message.type == .deleteNexthop,
      let range = message.attributes(after: Self.headerByteCount),
      let flags: UInt32 = bytes.integer(at: message.body.lowerBound + 4)
    else { return nil }
    // The kernel never gives an object the id 0.
    id = 0
    self.flags = RouteFlags(rawValue: flags)
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      guard read(attribute, in: bytes) else { return nil }
    }
    if attributes.isMalformed || id == 0 { return nil }
  }

  /// - Returns: whether the attribute is unknown or has the size it must have.
  private mutating func read(_ attribute: NetlinkAttribute, in bytes: RawSpan) -> Bool {
    let payload = attribute.payload
    switch attribute.type {
    case Attribute.id:
      guard let value: UInt32 = bytes.integer(in: payload) else { return false }
      id = value
    case Attribute.outputInterface: return outputInterface.takeIn(bytes.integer(in: payload))
    case Attribute.gateway: return gateway.takeIn(IPAddressBits(bytes, in: payload))
    case Attribute.blackhole:
      isBlackhole = true
    case Attribute.group:
      // struct nexthop_grp: the id, and how much of the traffic goes there.
      guard payload.count % 8 == 0 else { return false }
      for offset in stride(from: payload.lowerBound, to: payload.upperBound, by: 8) {
        guard let id: UInt32 = bytes.integer(at: offset) else { return false }
        group.append(id)
      }
    default:
      break
    }
    return true
  }
}
