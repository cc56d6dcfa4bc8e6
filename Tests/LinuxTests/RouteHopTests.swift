// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import TestSupport
import Testing

@testable import Dialtone

/// What hops, sources and the state of links make of a route, on replies made by hand (HowReachabilityIsDecided.md,
/// "A route" and "Flags").
struct RouteHopTests {
  typealias Fields = BuiltMessages.LinkFields

  private static let target = IPAddress(ipv4: 0xC629_0004)

  /// A network with a link for each word, from index 3 on: wired ones, except for the last four.
  private func network() throws -> BuiltNetwork {
    var network = BuiltNetwork()
    try network.add(Fields(index: 1, name: "lo", deviceType: .loopback, flags: 0x10049, state: .unknown))
    try network.add(Fields(index: 3, name: "works"))
    try network.add(Fields(index: 4, name: "pulled", flags: 0x1003, state: .down))
    try network.add(Fields(index: 5, name: "off", flags: 0x1002, state: .down))
    try network.add(Fields(index: 6, name: "dormant", flags: 0x11003, state: .dormant))
    try network.add(Fields(index: 7, name: "sleeps", flags: 0x11003, state: .dormant))
    try network.add(Fields(index: 8, name: "wlan0"), .init(isWireless: true))
    try network.add(Fields(index: 9, name: "wwan0", deviceType: .rawIP))
    try network.add(Fields(index: 10, name: "tun0", deviceType: .none, flags: 0x11051, infoKind: "tun"))
    try network.add(Fields(index: 11, name: "ppp0", deviceType: .ppp, flags: 0x11051))
    return network
  }

  private func replies(_ hops: [UInt32], flags: RouteFlags = []) throws -> RouteReplies {
    RouteReplies(
      match: try BuiltMessages.route(),
      plain: try BuiltMessages.route(over: hops[0], via: "10.0.0.2", from: "10.0.0.1"),
      severalHops: try hops.map {
        RouteNexthop(flags: flags, interfaceIndex: $0, gateway: try address("10.0.0.2").bits)
      })
  }

  /// RFC 1122, 3.2.2.2: a redirect names another router of the same link, and only the kernel's answer for a packet has
  /// it. Of several hops, that answer is about one that a hash chose.
  @Test func aRedirectChangesTheGateway() throws {
    func gateway(by link: UInt32, _ hops: [RouteNexthop] = []) throws -> IPAddress? {
      let replies = RouteReplies(
        match: try BuiltMessages.route(over: 3, via: "10.0.0.2"),
        plain: try BuiltMessages.route(over: link, via: "10.0.0.3", from: "10.0.0.1"), severalHops: hops)
      return try network().decision().decide(Self.target, replies).gateway
    }
    let hop = RouteNexthop(flags: [], interfaceIndex: 3, gateway: try address("10.0.0.2").bits)
    #expect(try gateway(by: 3) == IPAddress("10.0.0.3"))
    #expect(try gateway(by: 8) == IPAddress("10.0.0.2"))
    #expect(try gateway(by: 3, [hop, hop]) == IPAddress("10.0.0.2"))
  }

  @Test(
    "the first hop without a problem is used; without one, the first problem counts, and a dormant link before others",
    arguments: [
      ([4, 3], "works", nil), ([5, 4, 8], "wlan0", nil), ([6, 3], "works", nil), ([99, 3], "works", nil),
      ([3, 8], "works", nil),
      ([4, 5], "pulled", .noCarrier), ([5, 4], "off", .linkDown), ([4, 6], "dormant", .dormant),
      ([6, 4], "dormant", .dormant), ([6, 7], "dormant", .dormant), ([4, 5, 7, 6], "sleeps", .dormant),
      ([99, 4], "pulled", .noCarrier), ([99], nil, .linkDown),
    ] as [([UInt32], String?, Reachability.Reason?)])
  func theFirstHopThatWorksIsUsed(hops: [UInt32], name: String?, reason: Reachability.Reason?) throws {
    let state = try network().decision().decide(Self.target, replies(hops))
    #expect(state.interface?.name == name)
    #expect(state.reason == reason)
    #expect(state.isReachable == (reason == nil))
    #expect((state.gateway != nil) == (reason == nil))
    #expect(state.destination == Self.target)
  }

  @Test(
    "the problems of a hop, in their order",
    arguments: [
      (3, .linkDown, .noCarrier), (3, .dead, .linkDown), (3, [.dead, .linkDown], .noCarrier), (4, .dead, .noCarrier),
      (5, .linkDown, .linkDown), (5, .dead, .linkDown), (6, .linkDown, .dormant), (6, .dead, .dormant),
      (3, [], nil),
    ] as [(UInt32, RouteFlags, Reachability.Reason?)])
  func problemsAreFoundInTheirOrder(hop: UInt32, flags: RouteFlags, reason: Reachability.Reason?) throws {
    #expect(try network().decision().decide(Self.target, replies([hop], flags: flags)).reason == reason)
  }

  @Test(
    "flags are those of the kind of the link, and of whether there is a gateway",
    arguments: [
      (3, nil, [.reachable, .isDirect]), (3, "10.0.0.2", .reachable), (8, nil, [.reachable, .isDirect]),
      (9, "10.0.0.2", [.reachable, .isWWAN, .transientConnection]),
      (9, nil, [.reachable, .isWWAN, .transientConnection, .isDirect]),
      (10, nil, [.reachable, .transientConnection]), (10, "10.0.0.2", [.reachable, .transientConnection]),
      (11, nil, [.reachable, .transientConnection]),
    ] as [(UInt32, String?, ReachabilityFlags)])
  func flagsFollowFromTheLink(link: UInt32, gateway: String?, flags: ReachabilityFlags) throws {
    let state = try network().internet(over: link, via: gateway, from: "10.0.0.1")
    #expect(state.flags == flags)
    #expect(state.gateway?.description == gateway)
    #expect(state.source == IPAddress(ipv4: 0x0A00_0001))
  }

  /// By the table of flags, whatever kind the link is of.
  @Test func aLinkOfHardwareTypePPPIsTransient() throws {
    var network = BuiltNetwork()
    try network.add(Fields(deviceType: .ppp, infoKind: "veth"))
    let state = try network.internet(over: 3, from: "10.0.0.1")
    #expect(state.interface?.kind == .wired)
    #expect(state.flags == [.reachable, .transientConnection, .isDirect])
  }

  @Test(
    "a link-local target on a wired or Wi-Fi link is a neighbour, whatever gateway the route has",
    arguments: [
      (3, "fe80::9", true), (8, "fe80::9", true), (10, "fe80::9", false), (9, "fe80::9", false),
      (3, "2001:db8:1::1", false),
    ] as [(UInt32, String, Bool)])
  func aLinkLocalTargetIsANeighbour(link: UInt32, target: String, isNeighbour: Bool) throws {
    let replies = RouteReplies(
      match: try BuiltMessages.route(.ipv6, over: link, via: "fe80::2"),
      plain: try BuiltMessages.route(.ipv6, over: link, via: "fe80::2", from: "2001:db8::1"))
    let state = try network().decision().decide(try address(target), replies)
    #expect(state.isReachable)
    #expect(state.gateway == (isNeighbour ? nil : IPAddress("fe80::2")))
    #expect(state.flags.contains(.isDirect) == isNeighbour)
  }

  @Test(
    "multicast and broadcast use no gateway, although the kernel names that of the default route",
    arguments: [RouteType.multicast, .broadcast])
  func multicastUsesNoGateway(type: RouteType) throws {
    let replies = RouteReplies(
      match: try BuiltMessages.route(type: type, over: 3, via: "10.0.0.2"),
      plain: try BuiltMessages.route(type: type, over: 3, via: "10.0.0.2", from: "10.0.0.1"))
    let state = try network().decision().decide(try address("239.1.2.3"), replies)
    #expect(state.isReachable && state.gateway == nil && state.flags == [.reachable, .isDirect])
  }

  /// `ip route add 192.0.2.0/24 via 10.0.0.1` with an address of this machine: `ip route get` has no `via` then, and
  /// packets are for neighbours (rt_set_nexthop, net/ipv4/route.c: a gateway of scope host is not used).
  @Test(
    "the gateway is the one that the kernel uses now: one that a router named, or none",
    arguments: ["10.0.0.2", "10.0.0.7", nil])
  func theGatewayIsTheOneInUse(used: String?) throws {
    let replies = RouteReplies(
      match: try BuiltMessages.route(over: 3, via: "10.0.0.2"),
      plain: try BuiltMessages.route(over: 3, via: used, from: "10.0.0.1"))
    let state = try network().decision().decide(try address("192.0.2.1"), replies)
    #expect(state.isReachable && state.gateway == used.flatMap { IPAddress($0) })
    #expect(state.flags.contains(.isDirect) == (used == nil))
  }

  @Test(
    "a link-local target takes any source but loopback and the unspecified one, others one of wider scope",
    arguments: [
      ("fe80::9", "fe80::1", true), ("fe80::9", "2001:db8::1", true), ("fe80::9", "::1", false),
      ("fe80::9", "::", false), ("fe80::9", nil, false), ("2001:db8:1::1", "fe80::1", false),
      ("2001:db8:1::1", "fd00::1", true), ("2001:db8:1::1", "::", false), ("198.41.0.4", "169.254.7.7", true),
      ("198.41.0.4", "127.0.0.1", false), ("198.41.0.4", "0.0.0.0", false), ("169.254.1.1", "10.0.0.1", true),
      ("169.254.1.1", "127.0.0.1", false),
    ] as [(String, String?, Bool)])
  func aSourceHasToFit(target: String, source: String?, isReachable: Bool) throws {
    let target = try address(target)
    let family: KernelAddressFamily = target.family == .ipv4 ? .ipv4 : .ipv6
    let replies = RouteReplies(
      match: try BuiltMessages.route(family, over: 3), plain: try BuiltMessages.route(family, over: 3, from: source))
    let state = try network().decision().decide(target, replies)
    #expect(state.isReachable == isReachable)
    #expect(state.reason == (isReachable ? nil : .noAddress))
    #expect(state.interface?.name == "works")
    #expect(state.source == (isReachable ? source.flatMap { IPAddress($0) } : nil))
  }

  @Test("a source that was asked for counts before the one that the reply names")
  func theSourceThatWasAskedForCounts() throws {
    let decision = try network().decision()
    let (own, other) = (try address("10.0.0.1"), try address("10.7.0.1"))
    let plain = try BuiltMessages.route(over: 3, from: "10.0.0.1")
    let replies = RouteReplies(match: try BuiltMessages.route(over: 3), plain: plain)
    #expect(decision.decide(Self.target, replies).source == own)
    #expect(decision.decide(Self.target, replies, source: other).source == other)
    let local = RouteReplies(match: try BuiltMessages.route(type: .local, over: 1), plain: plain)
    #expect(decision.decide(own, local).source == own)
    #expect(decision.decide(own, local, source: other).source == other)
    #expect(decision.decide(own, RouteReplies(match: local.match)).source == nil)
  }

  @Test(
    "if the second reply refuses, that counts; EINVAL and EADDRNOTAVAIL say that no source fits",
    arguments: [
      (EINVAL, .noAddress, .unreachable, "works"), (EADDRNOTAVAIL, .noAddress, .unreachable, "works"),
      (EACCES, .prohibited, .unreachable, nil), (EPERM, .denied, .undetermined, nil),
      (EHOSTUNREACH, .unreachableRoute, .unreachable, nil),
    ] as [(CInt, Reachability.Reason, Reachability.Status, String?)])
  func theSecondReplyMayRefuse(
    errno: CInt, reason: Reachability.Reason, status: Reachability.Status, name: String?
  ) throws {
    let replies = RouteReplies(match: try BuiltMessages.route(over: 3), plain: .refusal(errno))
    let state = try network().decision().decide(Self.target, replies)
    #expect(state.reason == reason && state.status == status && state.interface?.name == name)
  }

  @Test(
    "errors mean what they mean for the family and the interface",
    arguments: [
      ("198.41.0.4", nil, ENETDOWN, .noRoute), ("198.41.0.4", nil, ENODEV, .noRoute),
      ("198.41.0.4", nil, EOPNOTSUPP, .denied), ("198.41.0.4", nil, EAFNOSUPPORT, .denied),
      ("2001:db8::9", nil, EAFNOSUPPORT, .noRoute), ("2001:db8::9", nil, EHOSTUNREACH, .unreachableRoute),
      ("198.41.0.4", 3, EHOSTUNREACH, .noRoute), ("198.41.0.4", 4, ENETUNREACH, .noCarrier),
      ("198.41.0.4", 3, EACCES, .prohibited), ("198.41.0.4", 3, EINVAL, .blackhole),
    ] as [(String, UInt32?, CInt, Reachability.Reason)])
  func errorsMeanWhatTheyMean(target: String, output: UInt32?, errno: CInt, reason: Reachability.Reason) throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "works"))
    try network.add(Fields(index: 4, name: "pulled", flags: 0x1003, state: .down))
    let replies = RouteReplies(match: .refusal(errno), plain: .refusal(errno))
    #expect(network.decision().decide(try address(target), replies, output: output).reason == reason)
  }

  @Test(
    "an error for packets from loopback, or from nobody here, says that they never leave, unless a route refuses them",
    arguments: [
      ("127.0.0.1", EINVAL, .noAddress), ("10.0.0.1", ENETUNREACH, .noAddress), ("10.0.0.1", EINVAL, .blackhole),
      ("10.0.0.1", EACCES, .prohibited), (nil, EINVAL, .blackhole),
    ] as [(String?, CInt, Reachability.Reason)])
  func nothingLeavesFromALoopbackAddress(source: String?, errno: CInt, reason: Reachability.Reason) throws {
    let replies = RouteReplies(match: .refusal(errno), plain: .refusal(errno))
    let state = try network().decision().decide(Self.target, replies, source: try source.map { try address($0) })
    #expect(state ≈ Reachability(status: .unreachable, reason: reason))
  }

  // MARK: This machine's addresses

  @Test(
    "packets to an own address pass over lo, or over the VRF that the second reply names",
    arguments: [
      (true, true, 1, nil), (false, true, 1, "lo"), (true, true, 2, nil), (true, false, 2, "vrf0"),
      (false, true, 2, nil), (true, false, 1, nil), (true, true, 99, nil), (false, true, 99, "lo"),
    ] as [(Bool, Bool, UInt32, String?)])
  func anOwnAddressNeedsItsCarrier(isLoopbackUp: Bool, isVRFUp: Bool, index: UInt32, down: String?) throws {
    var network = BuiltNetwork()
    let flags: UInt32 = isLoopbackUp ? 0x10049 : 0x8
    try network.add(Fields(index: 1, name: "lo", deviceType: .loopback, flags: flags, state: .unknown))
    try network.add(Fields(index: 2, name: "vrf0", flags: isVRFUp ? 0x10041 : 0x40, infoKind: "vrf"))
    let replies = RouteReplies(
      match: try BuiltMessages.route(type: .local, over: 3),
      plain: try BuiltMessages.route(type: .local, over: index, from: "10.0.0.1"))
    let state = network.decision().decide(try address("10.0.0.1"), replies)
    #expect(state.isReachable == (down == nil))
    #expect(state.reason == (down == nil ? nil : .linkDown))
    #expect(state.interface?.name == down ?? "lo")
    #expect(state.flags == (down == nil ? [.reachable, .isLocalAddress] : []))
  }

  // MARK: A way that no query shows

  @Test(
    "a way that only connect(2) finds has no gateway that is known, and is not called direct",
    arguments: [
      (3, "works", nil, .reachable), (9, "wwan0", nil, [.reachable, .isWWAN, .transientConnection]),
      (11, "ppp0", nil, [.reachable, .transientConnection]), (4, "pulled", .noCarrier, []),
      (5, "off", .linkDown, []),
    ] as [(UInt32, String, Reachability.Reason?, ReachabilityFlags)])
  func aWayThatIsNotShown(
    output: UInt32, name: String, reason: Reachability.Reason?, flags: ReachabilityFlags
  ) throws {
    let (six, source) = (try address("2001:db8::9"), try address("2001:db8::1"))
    let state = try network().decision().unseenRoute(over: output, to: six, from: source)
    #expect(state.isReachable == (reason == nil) && state.reason == reason)
    #expect(state.interface?.name == name && state.gateway == nil && state.flags == flags)
    #expect(state.destination == six && state.source == (reason == nil ? source : nil))
    let missing = try network().decision().unseenRoute(over: 99, to: six, from: source)
    #expect(missing.reason == .noRoute && missing.interface == nil)
  }
}
