// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whole requests that read. Each passes the kernel's strict checking: it sets no field that the kernel would ignore.
extension NetlinkRequestBuilder {
  /// Asks which route a packet to `destination` would take.
  ///
  /// The answer is one message of type `newRoute`, or an error: no route.
  ///
  /// - Parameters:
  ///   - destination: the address. 0.0.0.0 gives "local, lo" with any routes: ask for a real address.
  ///   - source: the local address of a pair. IPv4 refuses one that is not local, IPv6 accepts any.
  ///   - outputInterface: only routes out of this interface. 0 would mean "any" to the kernel.
  ///   - mark: as if the socket had this `SO_MARK`; needs no privilege.
  ///   - transport: the protocol of the packets, for rules that look at it (RTA_IP_PROTO). Use TCP or UDP: the kernel
  ///     refuses most others. Without one, IPv4 takes UDP and IPv6 none.
  ///   - destinationPort: the port that they are sent to, for rules that look at it (RTA_DPORT). Needs a `transport`.
  ///   - fibMatch: `RTM_F_FIB_MATCH`: answers with the route as configured, all its nexthops and their flags, instead
  ///     of the chosen one. It never chooses a source.
  ///   - namesTable: `RTM_F_LOOKUP_TABLE`: the answer names the table in which the route was found.
  ///   - sequence: the request's number.
  package mutating func appendRouteQuery(
    destination: IPAddressBits, source: IPAddressBits? = nil, outputInterface: UInt32? = nil, mark: UInt32? = nil,
    transport: Int? = nil, destinationPort: UInt16? = nil, fibMatch: Bool, namesTable: Bool = false,
    sequence: UInt32 = 0
  ) {
    begin(.getRoute, .request, sequence: sequence)
    var flags: RouteFlags = fibMatch ? .fibMatch : []
    if namesTable { flags.insert(.lookupTable) }
    // struct rtmsg: the lengths of destination and source follow the family, and the flags stand at the end.
    let header = appendHeader(byteCount: RouteMessage.headerByteCount, family: destination.family)
    store(UInt8(destination.bitWidth), at: header + 1)
    store(source.map { UInt8($0.bitWidth) } ?? 0, at: header + 2)
    store(flags.rawValue, at: header + 8)
    append(RouteMessage.Attribute.destination, address: destination)
    if let source { append(RouteMessage.Attribute.source, address: source) }
    if let outputInterface { append(RouteMessage.Attribute.outputInterface, outputInterface) }
    if let mark { append(RouteMessage.Attribute.mark, mark) }
    if let transport { append(RouteMessage.Attribute.ipProtocol, UInt8(truncatingIfNeeded: transport)) }
    if let destinationPort { append(RouteMessage.Attribute.destinationPort, destinationPort.bigEndian) }
    end()
  }

  /// Waits inside the kernel until its lock of network configuration (RTNL) is free.
  ///
  /// It asks for a link that cannot exist, so the answer is always `ENODEV`, in a few dozen bytes. Requests behind it
  /// in the same send see what the lock's holder did. Without it, an IPv4 route query may still see the routes of an
  /// address that is just being deleted.
  package mutating func appendLinkBarrier(sequence: UInt32 = 0) {
    appendGetLink(index: UInt32(Int32.max), sequence: sequence)
  }

  /// Asks for one link; the answer is one message of type `newLink`, or `ENODEV`.
  package mutating func appendGetLink(index: UInt32, sequence: UInt32 = 0) {
    begin(.getLink, .request, sequence: sequence)
    // struct ifinfomsg.
    store(index, at: appendHeader(byteCount: LinkMessage.headerByteCount) + 4)
    append(LinkMessage.Attribute.extendedMask, LinkMessage.skipStatistics)
    end()
  }

  /// Asks for one nexthop object; the answer is one message of type `newNexthop`, or `ENOENT`.
  package mutating func appendGetNexthop(id: UInt32, sequence: UInt32 = 0) {
    begin(.getNexthop, .request, sequence: sequence)
    appendHeader(byteCount: NexthopMessage.headerByteCount)
    append(NexthopMessage.Attribute.id, id)
    end()
  }

  /// Asks for one neighbour; the answer is one message of type `newNeighbour`, or `ENOENT` (since Linux 5.0).
  package mutating func appendGetNeighbour(_ address: IPAddressBits, interface: UInt32, sequence: UInt32 = 0) {
    begin(.getNeighbour, .request, sequence: sequence)
    // struct ndmsg.
    store(interface, at: appendHeader(byteCount: NeighbourMessage.headerByteCount, family: address.family) + 4)
    append(NeighbourMessage.Attribute.destination, address: address)
    end()
  }

  /// Asks for everything of one type.
  ///
  /// - Parameters:
  ///   - type: `getLink`, `getAddress`, `getRoute`, `getRule`, `getNexthop` or `getNeighbour`.
  ///   - family: one family, or `unspecified` for all; links and nexthops take only `unspecified`.
  ///   - table: routes of this table only, if the kernel checks strictly. Old kernels answer with all tables.
  ///   - sequence: the request's number.
  mutating func appendDump(
    _ type: NetlinkMessageType, family: KernelAddressFamily = .unspecified, table: UInt32? = nil, sequence: UInt32 = 0
  ) {
    begin(type, [.request, .dump], sequence: sequence)
    let byteCount =
      switch type {
      case .getLink: LinkMessage.headerByteCount
      case .getAddress: AddressMessage.headerByteCount
      case .getRoute: RouteMessage.headerByteCount
      case .getRule: RuleMessage.headerByteCount
      case .getNexthop: NexthopMessage.headerByteCount
      case .getNeighbour: NeighbourMessage.headerByteCount
      // struct rtgenmsg: every rtnetlink family understands a dump request that has only the family.
      default: 1
      }
    appendHeader(byteCount: byteCount, family: family)
    if type == .getLink { append(LinkMessage.Attribute.extendedMask, LinkMessage.skipStatistics) }
    if type == .getRoute, let table { append(RouteMessage.Attribute.table, table) }
    end()
  }

  /// `struct genlmsghdr`, linux/genetlink.h.
  package mutating func appendGenericHeader(command: UInt8, version: UInt8) {
    let start = appendHeader(byteCount: GenericNetlinkMessage.headerByteCount)
    store(command, at: start)
    store(version, at: start + 1)
  }

  /// Asks generic netlink for the number of a family, such as `nl80211`.
  package mutating func appendGetFamily(named name: String, sequence: UInt32 = 0) {
    begin(.genericController, .request, sequence: sequence)
    appendGenericHeader(command: GenericNetlinkMessage.Controller.getFamily, version: 1)
    append(GenericNetlinkMessage.Controller.familyName, string: name)
    end()
  }

  /// Asks nl80211, whose number is `family`, for an interface: an answer means that it is Wi-Fi, `ENODEV` that it is
  /// not.
  package mutating func appendGetWirelessInterface(index: UInt32, family: NetlinkMessageType, sequence: UInt32 = 0) {
    begin(family, .request, sequence: sequence)
    appendGenericHeader(command: GenericNetlinkMessage.Wireless.getInterface, version: 0)
    append(GenericNetlinkMessage.Wireless.interfaceIndex, index)
    end()
  }

  /// Asks WireGuard for an interface and all its peers: a dump (`WG_CMD_GET_DEVICE`, linux/wireguard.h). The kernel
  /// tells only a process with CAP_NET_ADMIN. `family` is the number of that family.
  package mutating func appendGetWireGuard(_ name: String, family: NetlinkMessageType, sequence: UInt32 = 0) {
    begin(family, [.request, .dump], sequence: sequence)
    appendGenericHeader(command: WireGuardDevice.getDevice, version: 1)
    append(WireGuardDevice.interfaceName, string: name)
    end()
  }
}
