// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import MessageBuilding
@testable import Dialtone
import Testing

/// The parser declares constants itself, so that every platform can build it. They equal those of the kernel's headers.
struct KernelConstantsTests {
  struct Pair: CustomTestStringConvertible, Sendable {
    let name: String
    let ours: Int64
    let kernels: Int64
    var testDescription: String { name }

    init(_ name: String, _ ours: some BinaryInteger, _ kernels: some BinaryInteger) {
      (self.name, self.ours, self.kernels) = (name, Int64(ours), Int64(kernels))
    }

    init<Value: RawRepresentable>(_ name: String, _ ours: Value, _ kernels: some BinaryInteger)
    where Value.RawValue: BinaryInteger {
      self.init(name, ours.rawValue, kernels)
    }

    init<Kernel: RawRepresentable>(_ name: String, _ ours: some BinaryInteger, _ kernels: Kernel)
    where Kernel.RawValue: BinaryInteger {
      self.init(name, ours, kernels.rawValue)
    }

    init<Value: RawRepresentable, Kernel: RawRepresentable>(_ name: String, _ ours: Value, _ kernels: Kernel)
    where Value.RawValue: BinaryInteger, Kernel.RawValue: BinaryInteger {
      self.init(name, ours.rawValue, kernels.rawValue)
    }
  }

  static let messageTypes: [Pair] = [
    Pair("NLMSG_NOOP", NetlinkMessageType.noop, NLMSG_NOOP),
    Pair("NLMSG_ERROR", NetlinkMessageType.error, NLMSG_ERROR),
    Pair("NLMSG_DONE", NetlinkMessageType.done, NLMSG_DONE),
    Pair("NLMSG_OVERRUN", NetlinkMessageType.overrun, NLMSG_OVERRUN),
    Pair("RTM_NEWLINK", NetlinkMessageType.newLink, RTM_NEWLINK),
    Pair("RTM_DELLINK", NetlinkMessageType.deleteLink, RTM_DELLINK),
    Pair("RTM_GETLINK", NetlinkMessageType.getLink, RTM_GETLINK),
    Pair("RTM_NEWADDR", NetlinkMessageType.newAddress, RTM_NEWADDR),
    Pair("RTM_DELADDR", NetlinkMessageType.deleteAddress, RTM_DELADDR),
    Pair("RTM_GETADDR", NetlinkMessageType.getAddress, RTM_GETADDR),
    Pair("RTM_NEWROUTE", NetlinkMessageType.newRoute, RTM_NEWROUTE),
    Pair("RTM_DELROUTE", NetlinkMessageType.deleteRoute, RTM_DELROUTE),
    Pair("RTM_GETROUTE", NetlinkMessageType.getRoute, RTM_GETROUTE),
    Pair("RTM_NEWNEIGH", NetlinkMessageType.newNeighbour, RTM_NEWNEIGH),
    Pair("RTM_DELNEIGH", NetlinkMessageType.deleteNeighbour, RTM_DELNEIGH),
    Pair("RTM_GETNEIGH", NetlinkMessageType.getNeighbour, RTM_GETNEIGH),
    Pair("RTM_NEWRULE", NetlinkMessageType.newRule, RTM_NEWRULE),
    Pair("RTM_DELRULE", NetlinkMessageType.deleteRule, RTM_DELRULE),
    Pair("RTM_GETRULE", NetlinkMessageType.getRule, RTM_GETRULE),
    Pair("RTM_NEWPREFIX", NetlinkMessageType.newPrefix, RTM_NEWPREFIX),
    Pair("RTM_NEWNDUSEROPT", NetlinkMessageType.newNeighbourDiscoveryOption, RTM_NEWNDUSEROPT),
    Pair("RTM_NEWNETCONF", NetlinkMessageType.newNetconf, RTM_NEWNETCONF),
    Pair("RTM_DELNETCONF", NetlinkMessageType.deleteNetconf, RTM_DELNETCONF),
    Pair("RTM_NEWNEXTHOP", NetlinkMessageType.newNexthop, RTM_NEWNEXTHOP),
    Pair("RTM_DELNEXTHOP", NetlinkMessageType.deleteNexthop, RTM_DELNEXTHOP),
    Pair("RTM_GETNEXTHOP", NetlinkMessageType.getNexthop, RTM_GETNEXTHOP),
    Pair("GENL_ID_CTRL", NetlinkMessageType.genericController, GENL_ID_CTRL),
  ]

  static let messageFlags: [Pair] = [
    Pair("NLM_F_REQUEST", NetlinkFlags.request, NLM_F_REQUEST),
    Pair("NLM_F_MULTI", NetlinkFlags.multi, NLM_F_MULTI),
    Pair("NLM_F_ACK", NetlinkFlags.acknowledge, NLM_F_ACK),
    Pair("NLM_F_DUMP_INTR", NetlinkFlags.dumpInterrupted, NLM_F_DUMP_INTR),
    Pair("NLM_F_DUMP_FILTERED", NetlinkFlags.dumpFiltered, NLM_F_DUMP_FILTERED),
    Pair("NLM_F_ROOT", NetlinkFlags.root, NLM_F_ROOT),
    Pair("NLM_F_MATCH", NetlinkFlags.match, NLM_F_MATCH),
    Pair("NLM_F_DUMP", NetlinkFlags.dump, NLM_F_DUMP),
    Pair("NLM_F_CAPPED", NetlinkFlags.capped, NLM_F_CAPPED),
    Pair("NLM_F_ACK_TLVS", NetlinkFlags.acknowledgementTLVs, NLM_F_ACK_TLVS),
  ]

  static let groups: [Pair] = [
    Pair("RTNLGRP_LINK", NetlinkGroup.link, RTNLGRP_LINK),
    Pair("RTNLGRP_NEIGH", NetlinkGroup.neighbour, RTNLGRP_NEIGH),
    Pair("RTNLGRP_IPV4_IFADDR", NetlinkGroup.ipv4Address, RTNLGRP_IPV4_IFADDR),
    Pair("RTNLGRP_IPV4_ROUTE", NetlinkGroup.ipv4Route, RTNLGRP_IPV4_ROUTE),
    Pair("RTNLGRP_IPV4_RULE", NetlinkGroup.ipv4Rule, RTNLGRP_IPV4_RULE),
    Pair("RTNLGRP_IPV6_IFADDR", NetlinkGroup.ipv6Address, RTNLGRP_IPV6_IFADDR),
    Pair("RTNLGRP_IPV6_ROUTE", NetlinkGroup.ipv6Route, RTNLGRP_IPV6_ROUTE),
    Pair("RTNLGRP_IPV6_PREFIX", NetlinkGroup.ipv6Prefix, RTNLGRP_IPV6_PREFIX),
    Pair("RTNLGRP_ND_USEROPT", NetlinkGroup.neighbourDiscoveryOption, RTNLGRP_ND_USEROPT),
    Pair("RTNLGRP_IPV6_RULE", NetlinkGroup.ipv6Rule, RTNLGRP_IPV6_RULE),
    Pair("RTNLGRP_IPV4_NETCONF", NetlinkGroup.ipv4Netconf, RTNLGRP_IPV4_NETCONF),
    Pair("RTNLGRP_IPV6_NETCONF", NetlinkGroup.ipv6Netconf, RTNLGRP_IPV6_NETCONF),
    Pair("RTNLGRP_NEXTHOP", NetlinkGroup.nexthop, RTNLGRP_NEXTHOP),
  ]

  static let others: [Pair] = [
    Pair("NETLINK_ROUTE", NetlinkProtocol.route, NETLINK_ROUTE),
    Pair("NETLINK_GENERIC", NetlinkProtocol.generic, NETLINK_GENERIC),
    Pair("AF_UNSPEC", KernelAddressFamily.unspecified, AF_UNSPEC),
    Pair("AF_INET", KernelAddressFamily.ipv4, AF_INET),
    Pair("AF_INET6", KernelAddressFamily.ipv6, AF_INET6),
    Pair("AF_BRIDGE", KernelAddressFamily.bridge, AF_BRIDGE),
    Pair("NLMSGERR_ATTR_MSG", NetlinkAcknowledgement.messageAttribute, NLMSGERR_ATTR_MSG),
    Pair("NLA_F_NESTED", NetlinkAttribute.nestedFlag, NLA_F_NESTED),
    Pair("RTEXT_FILTER_SKIP_STATS", LinkMessage.skipStatistics, RTEXT_FILTER_SKIP_STATS),
    Pair("CTRL_CMD_NEWFAMILY", GenericNetlinkMessage.Controller.newFamily, CTRL_CMD_NEWFAMILY),
    Pair("CTRL_CMD_GETFAMILY", GenericNetlinkMessage.Controller.getFamily, CTRL_CMD_GETFAMILY),
    Pair("CTRL_ATTR_FAMILY_ID", GenericNetlinkMessage.Controller.familyID, CTRL_ATTR_FAMILY_ID),
    Pair("CTRL_ATTR_FAMILY_NAME", GenericNetlinkMessage.Controller.familyName, CTRL_ATTR_FAMILY_NAME),
    Pair("NL80211_CMD_GET_INTERFACE", GenericNetlinkMessage.Wireless.getInterface, NL80211_CMD_GET_INTERFACE),
    Pair("NL80211_CMD_NEW_INTERFACE", GenericNetlinkMessage.Wireless.newInterface, NL80211_CMD_NEW_INTERFACE),
    Pair("NL80211_ATTR_IFINDEX", GenericNetlinkMessage.Wireless.interfaceIndex, NL80211_ATTR_IFINDEX),
  ]

  static let linkFlags: [Pair] = [
    Pair("IFF_UP", LinkFlags.up, IFF_UP),
    Pair("IFF_BROADCAST", LinkFlags.broadcast, IFF_BROADCAST),
    Pair("IFF_LOOPBACK", LinkFlags.loopback, IFF_LOOPBACK),
    Pair("IFF_POINTOPOINT", LinkFlags.pointToPoint, IFF_POINTOPOINT),
    Pair("IFF_RUNNING", LinkFlags.running, IFF_RUNNING),
    Pair("IFF_NOARP", LinkFlags.noARP, IFF_NOARP),
    Pair("IFF_MULTICAST", LinkFlags.multicast, IFF_MULTICAST),
    Pair("IFF_LOWER_UP", LinkFlags.lowerUp, IFF_LOWER_UP),
    Pair("IFF_DORMANT", LinkFlags.dormant, IFF_DORMANT),
  ]

  static let operationalStates: [Pair] = [
    Pair("IF_OPER_UNKNOWN", OperationalState.unknown, IF_OPER_UNKNOWN),
    Pair("IF_OPER_DOWN", OperationalState.down, IF_OPER_DOWN),
    Pair("IF_OPER_LOWERLAYERDOWN", OperationalState.lowerLayerDown, IF_OPER_LOWERLAYERDOWN),
    Pair("IF_OPER_DORMANT", OperationalState.dormant, IF_OPER_DORMANT),
    Pair("IF_OPER_UP", OperationalState.up, IF_OPER_UP),
  ]

  static let deviceTypes: [Pair] = [
    Pair("ARPHRD_ETHER", DeviceType.ethernet, ARPHRD_ETHER),
    Pair("ARPHRD_INFINIBAND", DeviceType.infiniband, ARPHRD_INFINIBAND),
    Pair("ARPHRD_PPP", DeviceType.ppp, ARPHRD_PPP),
    Pair("ARPHRD_RAWIP", DeviceType.rawIP, ARPHRD_RAWIP),
    Pair("ARPHRD_TUNNEL", DeviceType.tunnel, ARPHRD_TUNNEL),
    Pair("ARPHRD_TUNNEL6", DeviceType.tunnel6, ARPHRD_TUNNEL6),
    Pair("ARPHRD_LOOPBACK", DeviceType.loopback, ARPHRD_LOOPBACK),
    Pair("ARPHRD_SIT", DeviceType.sit, ARPHRD_SIT),
    Pair("ARPHRD_IPGRE", DeviceType.gre, ARPHRD_IPGRE),
    Pair("ARPHRD_IP6GRE", DeviceType.gre6, ARPHRD_IP6GRE),
    Pair("ARPHRD_NONE", DeviceType.none, ARPHRD_NONE),
  ]

  static let linkAttributes: [Pair] = [
    Pair("IFLA_ADDRESS", LinkMessage.Attribute.address, IFLA_ADDRESS),
    Pair("IFLA_IFNAME", LinkMessage.Attribute.name, IFLA_IFNAME),
    Pair("IFLA_LINK", LinkMessage.Attribute.link, IFLA_LINK),
    Pair("IFLA_MASTER", LinkMessage.Attribute.master, IFLA_MASTER),
    Pair("IFLA_OPERSTATE", LinkMessage.Attribute.operationalState, IFLA_OPERSTATE),
    Pair("IFLA_LINKINFO", LinkMessage.Attribute.linkInfo, IFLA_LINKINFO),
    Pair("IFLA_GROUP", LinkMessage.Attribute.group, IFLA_GROUP),
    Pair("IFLA_EXT_MASK", LinkMessage.Attribute.extendedMask, IFLA_EXT_MASK),
    Pair("IFLA_LINK_NETNSID", LinkMessage.Attribute.linkNamespaceID, IFLA_LINK_NETNSID),
    Pair("IFLA_PROP_LIST", LinkMessage.Attribute.properties, IFLA_PROP_LIST),
    Pair("IFLA_ALT_IFNAME", LinkMessage.Attribute.alternativeName, IFLA_ALT_IFNAME),
    Pair("IFLA_INFO_KIND", LinkMessage.InfoAttribute.kind, IFLA_INFO_KIND),
    Pair("IFLA_INFO_DATA", LinkMessage.InfoAttribute.data, IFLA_INFO_DATA),
    Pair("IFLA_BOND_ACTIVE_SLAVE", LinkMessage.InfoAttribute.bondActiveSlave, IFLA_BOND_ACTIVE_SLAVE),
  ]

  static let addresses: [Pair] = [
    Pair("IFA_F_SECONDARY", AddressFlags.secondary, IFA_F_SECONDARY),
    Pair("IFA_F_TEMPORARY", AddressFlags.temporary, IFA_F_TEMPORARY),
    Pair("IFA_F_NODAD", AddressFlags.noDAD, IFA_F_NODAD),
    Pair("IFA_F_OPTIMISTIC", AddressFlags.optimistic, IFA_F_OPTIMISTIC),
    Pair("IFA_F_DADFAILED", AddressFlags.dadFailed, IFA_F_DADFAILED),
    Pair("IFA_F_DEPRECATED", AddressFlags.deprecated, IFA_F_DEPRECATED),
    Pair("IFA_F_TENTATIVE", AddressFlags.tentative, IFA_F_TENTATIVE),
    Pair("IFA_F_PERMANENT", AddressFlags.permanent, IFA_F_PERMANENT),
    Pair("IFA_F_MANAGETEMPADDR", AddressFlags.managesTemporaryAddress, IFA_F_MANAGETEMPADDR),
    Pair("IFA_ADDRESS", AddressMessage.Attribute.address, IFA_ADDRESS),
    Pair("IFA_LOCAL", AddressMessage.Attribute.local, IFA_LOCAL),
    Pair("IFA_CACHEINFO", AddressMessage.Attribute.cacheInfo, IFA_CACHEINFO),
    Pair("IFA_FLAGS", AddressMessage.Attribute.flags, IFA_FLAGS),
  ]

  static let routes: [Pair] = [
    Pair("RT_SCOPE_UNIVERSE", RouteScope.universe, RT_SCOPE_UNIVERSE),
    Pair("RT_SCOPE_LINK", RouteScope.link, RT_SCOPE_LINK),
    Pair("RT_SCOPE_HOST", RouteScope.host, RT_SCOPE_HOST),
    Pair("RTN_UNSPEC", RouteType.unspecified, RTN_UNSPEC),
    Pair("RTN_UNICAST", RouteType.unicast, RTN_UNICAST),
    Pair("RTN_LOCAL", RouteType.local, RTN_LOCAL),
    Pair("RTN_BROADCAST", RouteType.broadcast, RTN_BROADCAST),
    Pair("RTN_ANYCAST", RouteType.anycast, RTN_ANYCAST),
    Pair("RTN_MULTICAST", RouteType.multicast, RTN_MULTICAST),
    Pair("RTN_BLACKHOLE", RouteType.blackhole, RTN_BLACKHOLE),
    Pair("RTN_UNREACHABLE", RouteType.unreachable, RTN_UNREACHABLE),
    Pair("RTN_PROHIBIT", RouteType.prohibit, RTN_PROHIBIT),
    Pair("RTN_THROW", RouteType.throw, RTN_THROW),
    Pair("RTPROT_UNSPEC", RouteProtocol.unspecified, RTPROT_UNSPEC),
    Pair("RTPROT_BOOT", RouteProtocol.boot, RTPROT_BOOT),
  ]

  static let routeFlags: [Pair] = [
    Pair("RTNH_F_DEAD", RouteFlags.dead, RTNH_F_DEAD),
    Pair("RTNH_F_LINKDOWN", RouteFlags.linkDown, RTNH_F_LINKDOWN),
    Pair("RTM_F_CLONED", RouteFlags.cloned, RTM_F_CLONED),
    Pair("RTM_F_FIB_MATCH", RouteFlags.fibMatch, RTM_F_FIB_MATCH),
  ]

  static let routeAttributes: [Pair] = [
    Pair("RTA_DST", RouteMessage.Attribute.destination, RTA_DST),
    Pair("RTA_SRC", RouteMessage.Attribute.source, RTA_SRC),
    Pair("RTA_OIF", RouteMessage.Attribute.outputInterface, RTA_OIF),
    Pair("RTA_GATEWAY", RouteMessage.Attribute.gateway, RTA_GATEWAY),
    Pair("RTA_PRIORITY", RouteMessage.Attribute.priority, RTA_PRIORITY),
    Pair("RTA_PREFSRC", RouteMessage.Attribute.preferredSource, RTA_PREFSRC),
    Pair("RTA_MULTIPATH", RouteMessage.Attribute.multipath, RTA_MULTIPATH),
    Pair("RTA_CACHEINFO", RouteMessage.Attribute.cacheInfo, RTA_CACHEINFO),
    Pair("RTA_TABLE", RouteMessage.Attribute.table, RTA_TABLE),
    Pair("RTA_MARK", RouteMessage.Attribute.mark, RTA_MARK),
    Pair("RTA_IP_PROTO", RouteMessage.Attribute.ipProtocol, RTA_IP_PROTO),
    Pair("RTA_DPORT", RouteMessage.Attribute.destinationPort, RTA_DPORT),
    Pair("RTA_VIA", RouteMessage.Attribute.via, RTA_VIA),
    Pair("RTA_NH_ID", RouteMessage.Attribute.nexthopID, RTA_NH_ID),
  ]

  static let rules: [Pair] = [
    Pair("FR_ACT_UNSPEC", RuleAction.unspecified, FR_ACT_UNSPEC),
    Pair("FR_ACT_TO_TBL", RuleAction.toTable, FR_ACT_TO_TBL),
    Pair("FR_ACT_GOTO", RuleAction.goto, FR_ACT_GOTO),
    Pair("FR_ACT_NOP", RuleAction.noOperation, FR_ACT_NOP),
    Pair("FR_ACT_BLACKHOLE", RuleAction.blackhole, FR_ACT_BLACKHOLE),
    Pair("FR_ACT_UNREACHABLE", RuleAction.unreachable, FR_ACT_UNREACHABLE),
    Pair("FR_ACT_PROHIBIT", RuleAction.prohibit, FR_ACT_PROHIBIT),
    Pair("FIB_RULE_PERMANENT", RuleFlags.permanent, FIB_RULE_PERMANENT),
    Pair("FIB_RULE_INVERT", RuleFlags.invert, FIB_RULE_INVERT),
    Pair("FIB_RULE_UNRESOLVED", RuleFlags.unresolved, FIB_RULE_UNRESOLVED),
    Pair("FRA_DST", RuleMessage.Attribute.destination, FRA_DST),
    Pair("FRA_SRC", RuleMessage.Attribute.source, FRA_SRC),
    Pair("FRA_IIFNAME", RuleMessage.Attribute.inputInterfaceName, FRA_IIFNAME),
    Pair("FRA_GOTO", RuleMessage.Attribute.goto, FRA_GOTO),
    Pair("FRA_PRIORITY", RuleMessage.Attribute.priority, FRA_PRIORITY),
    Pair("FRA_FWMARK", RuleMessage.Attribute.mark, FRA_FWMARK),
    Pair("FRA_SUPPRESS_PREFIXLEN", RuleMessage.Attribute.suppressPrefixLength, FRA_SUPPRESS_PREFIXLEN),
    Pair("FRA_TABLE", RuleMessage.Attribute.table, FRA_TABLE),
    Pair("FRA_FWMASK", RuleMessage.Attribute.markMask, FRA_FWMASK),
    Pair("FRA_OIFNAME", RuleMessage.Attribute.outputInterfaceName, FRA_OIFNAME),
    Pair("FRA_UID_RANGE", RuleMessage.Attribute.userIDRange, FRA_UID_RANGE),
  ]

  static let nexthops: [Pair] = [
    Pair("NHA_ID", NexthopMessage.Attribute.id, NHA_ID),
    Pair("NHA_GROUP", NexthopMessage.Attribute.group, NHA_GROUP),
    Pair("NHA_BLACKHOLE", NexthopMessage.Attribute.blackhole, NHA_BLACKHOLE),
    Pair("NHA_OIF", NexthopMessage.Attribute.outputInterface, NHA_OIF),
    Pair("NHA_GATEWAY", NexthopMessage.Attribute.gateway, NHA_GATEWAY),
  ]

  static let neighbours: [Pair] = [
    Pair("NUD_INCOMPLETE", NeighbourState.incomplete, NUD_INCOMPLETE),
    Pair("NUD_REACHABLE", NeighbourState.reachable, NUD_REACHABLE),
    Pair("NUD_STALE", NeighbourState.stale, NUD_STALE),
    Pair("NUD_DELAY", NeighbourState.delay, NUD_DELAY),
    Pair("NUD_PROBE", NeighbourState.probe, NUD_PROBE),
    Pair("NUD_FAILED", NeighbourState.failed, NUD_FAILED),
    Pair("NUD_NOARP", NeighbourState.noARP, NUD_NOARP),
    Pair("NUD_PERMANENT", NeighbourState.permanent, NUD_PERMANENT),
    Pair("NDA_DST", NeighbourMessage.Attribute.destination, NDA_DST),
  ]

  static let instructions: [Pair] = [
    Pair("BPF_LD | BPF_W | BPF_ABS", BPFInstruction.Code.loadWord, BPF_LD | BPF_W | BPF_ABS),
    Pair("BPF_LD | BPF_H | BPF_ABS", BPFInstruction.Code.loadHalf, BPF_LD | BPF_H | BPF_ABS),
    Pair("BPF_LD | BPF_B | BPF_ABS", BPFInstruction.Code.loadByte, BPF_LD | BPF_B | BPF_ABS),
    Pair("BPF_LD | BPF_W | BPF_IND", BPFInstruction.Code.loadWordIndexed, BPF_LD | BPF_W | BPF_IND),
    Pair("BPF_LD | BPF_IMM", BPFInstruction.Code.loadImmediate, BPF_LD | BPF_IMM),
    Pair("BPF_LD | BPF_MEM", BPFInstruction.Code.loadMemory, BPF_LD | BPF_MEM),
    Pair("BPF_LDX | BPF_IMM", BPFInstruction.Code.loadIndexImmediate, BPF_LDX | BPF_IMM),
    Pair("BPF_LDX | BPF_MEM", BPFInstruction.Code.loadIndexMemory, BPF_LDX | BPF_MEM),
    Pair("BPF_ST", BPFInstruction.Code.storeMemory, BPF_ST),
    Pair("BPF_ALU | BPF_SUB | BPF_K", BPFInstruction.Code.subtract, BPF_ALU | BPF_SUB | BPF_K),
    Pair("BPF_ALU | BPF_AND | BPF_X", BPFInstruction.Code.andIndex, BPF_ALU | BPF_AND | BPF_X),
    Pair("BPF_ALU | BPF_XOR | BPF_K", BPFInstruction.Code.exclusiveOr, BPF_ALU | BPF_XOR | BPF_K),
    Pair("BPF_ALU | BPF_LSH | BPF_X", BPFInstruction.Code.shiftLeftIndex, BPF_ALU | BPF_LSH | BPF_X),
    Pair("BPF_ALU | BPF_NEG", BPFInstruction.Code.negate, BPF_ALU | BPF_NEG),
    Pair("BPF_JMP | BPF_JA", BPFInstruction.Code.jump, BPF_JMP | BPF_JA),
    Pair("BPF_JMP | BPF_JEQ | BPF_K", BPFInstruction.Code.jumpIfEqual, BPF_JMP | BPF_JEQ | BPF_K),
    Pair("BPF_JMP | BPF_JSET | BPF_K", BPFInstruction.Code.jumpIfSet, BPF_JMP | BPF_JSET | BPF_K),
    Pair("BPF_JMP | BPF_JGT | BPF_K", BPFInstruction.Code.jumpIfGreater, BPF_JMP | BPF_JGT | BPF_K),
    Pair("BPF_JMP | BPF_JGE | BPF_K", BPFInstruction.Code.jumpIfGreaterOrEqual, BPF_JMP | BPF_JGE | BPF_K),
    Pair("BPF_MISC | BPF_TAX", BPFInstruction.Code.transferToIndex, BPF_MISC | BPF_TAX),
    Pair("BPF_RET | BPF_K", BPFInstruction.Code.finish, BPF_RET | BPF_K),
  ]

  @Test(
    arguments: [
      messageTypes, messageFlags, groups, others, linkFlags, operationalStates, deviceTypes, linkAttributes, addresses,
      routes, routeFlags, routeAttributes, rules, nexthops, neighbours, instructions,
    ].flatMap { $0 }) func constantsAreThoseOfTheHeaders(pair: Pair)
  {
    #expect(pair.ours == pair.kernels)
  }

  @Test func sizesAreThoseOfTheStructures() {
    #expect(NetlinkHeader.byteCount == MemoryLayout<nlmsghdr>.size)
    #expect(NetlinkAttribute.headerByteCount == MemoryLayout<nlattr>.size)
    #expect(LinkMessage.headerByteCount == MemoryLayout<ifinfomsg>.size)
    #expect(AddressMessage.headerByteCount == MemoryLayout<ifaddrmsg>.size)
    #expect(RouteMessage.headerByteCount == MemoryLayout<rtmsg>.size)
    #expect(RuleMessage.headerByteCount == MemoryLayout<fib_rule_hdr>.size)
    #expect(NexthopMessage.headerByteCount == MemoryLayout<nhmsg>.size)
    #expect(NeighbourMessage.headerByteCount == MemoryLayout<ndmsg>.size)
    #expect(GenericNetlinkMessage.headerByteCount == MemoryLayout<genlmsghdr>.size)
    #expect(MemoryLayout<BPFInstruction>.size == MemoryLayout<sock_filter>.size)
    // The buffers of rtnexthop, nexthop_grp and fib_rule_uid_range are read in steps of this size.
    #expect(MemoryLayout<rtnexthop>.size == 8)
    #expect(MemoryLayout<nexthop_grp>.size == 8)
    #expect(MemoryLayout<fib_rule_uid_range>.size == 8)
  }
}
#endif
