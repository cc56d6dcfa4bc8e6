// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One nexthop of a route with several (`struct rtnexthop` inside `RTA_MULTIPATH`, linux/rtnetlink.h).
package struct RouteNexthop: Hashable, Sendable, BitwiseCopyable {
  static let headerByteCount = 8

  private let flagBits: UInt8
  package let interfaceIndex: UInt32
  package private(set) var gateway: IPAddressBits?

  package var flags: RouteFlags { RouteFlags(rawValue: UInt32(flagBits)) }

  package init(flags: RouteFlags, interfaceIndex: UInt32, gateway: IPAddressBits?) {
    self.flagBits = UInt8(truncatingIfNeeded: flags.rawValue)
    self.interfaceIndex = interfaceIndex
    self.gateway = gateway
  }

  /// Reads all nexthops of an `RTA_MULTIPATH`.
  ///
  /// - Returns: `nil` if one of them is malformed.
  static func all(in bytes: RawSpan, range: Range<Int>) -> [RouteNexthop]? {
    var nexthops: [RouteNexthop] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let remaining = range.upperBound - offset
      guard remaining >= headerByteCount, let length = bytes.integer(at: offset, as: UInt16.self).map(Int.init),
        length >= headerByteCount, length <= remaining,
        let nexthop = RouteNexthop(in: bytes, range: offset..<(offset + length))
      else { return nil }
      nexthops.append(nexthop)
      // RTNH_ALIGN.
      offset += (length + 3) & ~3
    }
    return nexthops
  }

  private init?(in bytes: RawSpan, range: Range<Int>) {
    guard let flags: UInt8 = bytes.integer(at: range.lowerBound + 2),
      let index: UInt32 = bytes.integer(at: range.lowerBound + 4)
    else { return nil }
    flagBits = flags
    interfaceIndex = index
    var attributes = NetlinkAttributeCursor((range.lowerBound + Self.headerByteCount)..<range.upperBound)
    while let attribute = attributes.next(in: bytes) {
      switch attribute.type {
      case RouteMessage.Attribute.gateway:
        if !gateway.takeIn(IPAddressBits(bytes, in: attribute.payload)) { return nil }
      case RouteMessage.Attribute.via:
        if !gateway.takeIn(IPAddressBits(via: attribute.payload, in: bytes)) { return nil }
      default:
        break
      }
    }
    if attributes.isMalformed { return nil }
  }
}
