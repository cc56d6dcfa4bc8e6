// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A nexthop object, which routes name instead of an interface and a gateway (`RTM_NEWNEXTHOP`, `RTM_DELNEXTHOP`;
/// `struct nhmsg`, linux/nexthop.h; ip-nexthop(8)).
package struct NexthopMessage: Hashable, Sendable {
  static let headerByteCount = 8

  /// Attributes of a nexthop (`NHA_…`, linux/nexthop.h).
  package enum Attribute {
    package static let id: UInt16 = 1
    package static let group: UInt16 = 2
    static let groupType: UInt16 = 3
    package static let blackhole: UInt16 = 4
    package static let outputInterface: UInt16 = 5
    package static let gateway: UInt16 = 6
  }

  /// One member of a group (`struct nexthop_grp`).
  package struct Member: Hashable, Sendable, BitwiseCopyable {
    package let id: UInt32
    /// 1 to 65,536.
    package let weight: UInt32

    package init(id: UInt32, weight: UInt32) {
      self.id = id
      self.weight = weight
    }
  }

  package private(set) var id: UInt32
  package let family: KernelAddressFamily
  package let scope: RouteScope
  package let `protocol`: RouteProtocol
  package let flags: RouteFlags
  package private(set) var outputInterface: UInt32?
  package private(set) var gateway: IPAddressBits?
  package private(set) var isBlackhole = false
  /// Empty if the nexthop is no group.
  package private(set) var group: [Member] = []

  /// - Returns: `nil` if the message is of another type, malformed, or names no object.
  package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
    let start = message.body.lowerBound
    guard message.type == .newNexthop || message.type == .deleteNexthop,
      let range = message.attributes(after: Self.headerByteCount),
      let family: UInt8 = bytes.integer(at: start),
      let scope: UInt8 = bytes.integer(at: start + 1),
      let origin: UInt8 = bytes.integer(at: start + 2),
      let flags: UInt32 = bytes.integer(at: start + 4)
    else { return nil }
    // The kernel never gives an object the id 0.
    id = 0
    self.family = KernelAddressFamily(rawValue: family)
    self.scope = RouteScope(rawValue: scope)
    self.protocol = RouteProtocol(rawValue: origin)
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
      guard payload.count % 8 == 0 else { return false }
      for offset in stride(from: payload.lowerBound, to: payload.upperBound, by: 8) {
        // Since Linux 6.12 the byte behind the weight is its high half; before, it is zero.
        guard let id: UInt32 = bytes.integer(at: offset), let low: UInt8 = bytes.integer(at: offset + 4),
          let high: UInt8 = bytes.integer(at: offset + 5)
        else { return false }
        group.append(Member(id: id, weight: UInt32(high) << 8 + UInt32(low) + 1))
      }
    default:
      break
    }
    return true
  }
}
