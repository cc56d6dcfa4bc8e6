// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// The fixed headers that follow the message header, field by field as in the kernel's structures. Fields that are not
/// named here stay zero.
extension NetlinkRequestBuilder {
  /// `struct ifinfomsg`, linux/rtnetlink.h.
  package mutating func appendLinkHeader(
    family: KernelAddressFamily = .unspecified, index: UInt32 = 0, flags: LinkFlags = [], change: LinkFlags = []
  ) {
    let start = appendHeader(byteCount: LinkMessage.headerByteCount, family: family)
    store(index, at: start + 4)
    store(flags.rawValue, at: start + 8)
    store(change.rawValue, at: start + 12)
  }

  /// `struct ifaddrmsg`, linux/if_addr.h.
  package mutating func appendAddressHeader(
    family: KernelAddressFamily, prefixLength: UInt8 = 0, flags: UInt8 = 0, scope: RouteScope = .universe,
    index: UInt32 = 0
  ) {
    let start = appendHeader(byteCount: AddressMessage.headerByteCount, family: family)
    store(prefixLength, at: start + 1)
    store(flags, at: start + 2)
    store(scope.rawValue, at: start + 3)
    store(index, at: start + 4)
  }

  /// `struct rtmsg`, linux/rtnetlink.h. A table above 255 goes into the attribute `RTA_TABLE`.
  package mutating func appendRouteHeader(
    family: KernelAddressFamily, destinationLength: UInt8 = 0, sourceLength: UInt8 = 0, table: UInt8 = 0,
    protocol origin: RouteProtocol = .unspecified, scope: RouteScope = .universe, type: RouteType = .unspecified,
    flags: RouteFlags = []
  ) {
    let start = appendHeader(byteCount: RouteMessage.headerByteCount, family: family)
    store(destinationLength, at: start + 1)
    store(sourceLength, at: start + 2)
    store(table, at: start + 4)
    store(origin.rawValue, at: start + 5)
    store(scope.rawValue, at: start + 6)
    store(type.rawValue, at: start + 7)
    store(flags.rawValue, at: start + 8)
  }

  /// `struct fib_rule_hdr`, linux/fib_rules.h.
  package mutating func appendRuleHeader(
    family: KernelAddressFamily, destinationLength: UInt8 = 0, sourceLength: UInt8 = 0, table: UInt8 = 0,
    action: RuleAction = .unspecified, flags: RuleFlags = []
  ) {
    let start = appendHeader(byteCount: RuleMessage.headerByteCount, family: family)
    store(destinationLength, at: start + 1)
    store(sourceLength, at: start + 2)
    store(table, at: start + 4)
    store(action.rawValue, at: start + 7)
    store(flags.rawValue, at: start + 8)
  }

  /// `struct nhmsg`, linux/nexthop.h.
  package mutating func appendNexthopHeader(
    family: KernelAddressFamily = .unspecified, scope: RouteScope = .universe,
    protocol origin: RouteProtocol = .unspecified, flags: RouteFlags = []
  ) {
    let start = appendHeader(byteCount: NexthopMessage.headerByteCount, family: family)
    store(scope.rawValue, at: start + 1)
    store(origin.rawValue, at: start + 2)
    store(flags.rawValue, at: start + 4)
  }

  /// `struct ndmsg`, linux/neighbour.h.
  package mutating func appendNeighbourHeader(
    family: KernelAddressFamily, index: UInt32 = 0, state: NeighbourState = [], flags: UInt8 = 0
  ) {
    let start = appendHeader(byteCount: NeighbourMessage.headerByteCount, family: family)
    store(index, at: start + 4)
    store(state.rawValue, at: start + 8)
    store(flags, at: start + 10)
  }
}

/// How far a destination is (`rtm_scope`, `ifa_scope`; `enum rt_scope_t`, linux/rtnetlink.h).
package struct RouteScope: RawRepresentable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let universe = Self(rawValue: 0)
  /// On the attached link.
  package static let link = Self(rawValue: 253)
  package static let host = Self(rawValue: 254)
}

/// Who made a route (`rtm_protocol`; `RTPROT_…`, linux/rtnetlink.h).
package struct RouteProtocol: RawRepresentable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let unspecified = Self(rawValue: 0)
  package static let boot = Self(rawValue: 3)
}
