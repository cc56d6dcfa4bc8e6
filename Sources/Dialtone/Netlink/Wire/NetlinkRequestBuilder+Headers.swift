// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The fixed headers that follow the message header, field by field as in the kernel's structures. Fields that are not
/// named here stay zero.
extension NetlinkRequestBuilder {
  /// `struct ifinfomsg`, linux/rtnetlink.h.
  mutating func appendLinkHeader(
    family: KernelAddressFamily = .unspecified, index: UInt32 = 0, flags: LinkFlags = [], change: LinkFlags = []
  ) {
    let start = appendHeader(byteCount: LinkMessage.headerByteCount)
    store(family.rawValue, at: start)
    store(index, at: start + 4)
    store(flags.rawValue, at: start + 8)
    store(change.rawValue, at: start + 12)
  }

  /// `struct ifaddrmsg`, linux/if_addr.h.
  mutating func appendAddressHeader(
    family: KernelAddressFamily, prefixLength: UInt8 = 0, flags: UInt8 = 0, scope: RouteScope = .universe,
    index: UInt32 = 0
  ) {
    let start = appendHeader(byteCount: AddressMessage.headerByteCount)
    store(family.rawValue, at: start)
    store(prefixLength, at: start + 1)
    store(flags, at: start + 2)
    store(scope.rawValue, at: start + 3)
    store(index, at: start + 4)
  }

  /// `struct rtmsg`, linux/rtnetlink.h. A table above 255 goes into the attribute `RTA_TABLE`.
  mutating func appendRouteHeader(
    family: KernelAddressFamily, destinationLength: UInt8 = 0, sourceLength: UInt8 = 0, table: UInt8 = 0,
    protocol origin: RouteProtocol = .unspecified, scope: RouteScope = .universe, type: RouteType = .unspecified,
    flags: RouteFlags = []
  ) {
    let start = appendHeader(byteCount: RouteMessage.headerByteCount)
    store(family.rawValue, at: start)
    store(destinationLength, at: start + 1)
    store(sourceLength, at: start + 2)
    store(table, at: start + 4)
    store(origin.rawValue, at: start + 5)
    store(scope.rawValue, at: start + 6)
    store(type.rawValue, at: start + 7)
    store(flags.rawValue, at: start + 8)
  }

  /// `struct fib_rule_hdr`, linux/fib_rules.h.
  mutating func appendRuleHeader(
    family: KernelAddressFamily, destinationLength: UInt8 = 0, sourceLength: UInt8 = 0, table: UInt8 = 0,
    action: RuleAction = .unspecified, flags: RuleFlags = []
  ) {
    let start = appendHeader(byteCount: RuleMessage.headerByteCount)
    store(family.rawValue, at: start)
    store(destinationLength, at: start + 1)
    store(sourceLength, at: start + 2)
    store(table, at: start + 4)
    store(action.rawValue, at: start + 7)
    store(flags.rawValue, at: start + 8)
  }

  /// `struct nhmsg`, linux/nexthop.h.
  mutating func appendNexthopHeader(
    family: KernelAddressFamily = .unspecified, scope: RouteScope = .universe,
    protocol origin: RouteProtocol = .unspecified, flags: RouteFlags = []
  ) {
    let start = appendHeader(byteCount: NexthopMessage.headerByteCount)
    store(family.rawValue, at: start)
    store(scope.rawValue, at: start + 1)
    store(origin.rawValue, at: start + 2)
    store(flags.rawValue, at: start + 4)
  }

  /// `struct ndmsg`, linux/neighbour.h.
  mutating func appendNeighbourHeader(
    family: KernelAddressFamily, index: UInt32 = 0, state: NeighbourState = [], flags: UInt8 = 0
  ) {
    let start = appendHeader(byteCount: NeighbourMessage.headerByteCount)
    store(family.rawValue, at: start)
    store(index, at: start + 4)
    store(state.rawValue, at: start + 8)
    store(flags, at: start + 10)
  }

  /// `struct genlmsghdr`, linux/genetlink.h.
  mutating func appendGenericHeader(command: UInt8, version: UInt8) {
    let start = appendHeader(byteCount: GenericNetlinkMessage.headerByteCount)
    store(command, at: start)
    store(version, at: start + 1)
  }
}
