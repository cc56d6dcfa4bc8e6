// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import MessageBuilding
import Testing

@testable import Dialtone

/// What the kernel's two replies for a destination say together, and when their routes end: on messages made by hand.
struct RouteReplyTests {
  // MARK: The two replies

  private static func route(_ type: RouteType, over link: UInt32? = 3, via gateway: String? = nil) throws -> RouteReply
  {
    try BuiltMessages.route(gateway?.contains(":") ?? false ? .ipv6 : .ipv4, type: type, over: link, via: gateway)
  }

  /// ip_route_output_key_hash_rcu, net/ipv4/route.c: multicast and broadcast packets may need no route.
  @Test(
    "the second reply stands for the route if the first cannot tell it",
    arguments: [
      (EMSGSIZE, .unicast, true), (EMSGSIZE, .multicast, true), (EHOSTUNREACH, .multicast, true),
      (EHOSTUNREACH, .broadcast, true), (EHOSTUNREACH, .unicast, false), (EHOSTUNREACH, .local, false),
      (ENETUNREACH, .multicast, false), (EINVAL, .broadcast, false),
    ] as [(CInt, RouteType, Bool)])
  func theSecondReplyMayStandForTheRoute(errno: CInt, type: RouteType, isSecond: Bool) throws {
    let plain = try Self.route(type)
    let replies = RouteReplies(match: .refusal(errno), plain: plain)
    #expect(replies.configured == (isSecond ? plain : .refusal(errno)))
    #expect(replies.hops.map(\.interfaceIndex) == (isSecond ? [3] : []))
  }

  @Test func aRefusalOfBothStays() {
    for plain in [RouteReply.refusal(EHOSTUNREACH), .lost] {
      #expect(RouteReplies(match: .refusal(EHOSTUNREACH), plain: plain).configured == .refusal(EHOSTUNREACH))
      #expect(RouteReplies(match: .refusal(EMSGSIZE), plain: plain).configured == plain)
    }
    #expect(RouteReplies().configured == .lost && RouteReplies().hops.isEmpty)
  }

  private static let hops = [
    RouteNexthop(flags: [], interfaceIndex: 7, gateway: nil),
    RouteNexthop(flags: .linkDown, interfaceIndex: 8, gateway: IPAddressBits(ipv4: 0x0A00_0002)),
  ]

  @Test func hopsAreThoseOfTheRouteInTheKernelsOrder() throws {
    let single = RouteReplies(
      match: try BuiltMessages.route(flags: .linkDown, over: 3, via: "10.0.0.2"),
      plain: try Self.route(.unicast, over: 4))
    let hop = try #require(single.hops.first)
    #expect(single.hops.count == 1 && hop.interfaceIndex == 3 && hop.flags == .linkDown)
    #expect(hop.gateway == IPAddressBits(ipv4: 0x0A00_0002))
    let several = RouteReplies(match: try Self.route(.unicast, over: nil), severalHops: Self.hops)
    #expect(several.hops == Self.hops)
    // Without a route there are none.
    #expect(RouteReplies(match: .refusal(ENETUNREACH), severalHops: Self.hops).hops.isEmpty)
    #expect(RouteReplies(match: try Self.route(.unicast, over: nil)).hops.isEmpty)
  }

  @Test func hopsAreLookedAtUntilOneServes() throws {
    let several = RouteReplies(match: try Self.route(.unicast, over: nil), severalHops: Self.hops)
    var seen: [UInt32] = []
    func first(_ wanted: UInt32) -> UInt32? {
      seen = []
      return several.firstHop { hop in
        seen.append(hop.interfaceIndex)
        return hop.interfaceIndex == wanted ? wanted * 10 : nil
      }
    }
    #expect(first(7) == 70 && seen == [7])
    #expect(first(8) == 80 && seen == [7, 8])
    #expect(first(9) == nil && seen == [7, 8])
  }

  @Test func aRouteMayHaveAnIPv6Gateway() throws {
    let (four, six) = (try Self.route(.unicast, via: "10.0.0.2"), try Self.route(.unicast, via: "fe80::2"))
    let none = try Self.route(.unicast)
    #expect(RouteReplies(match: six).mayHaveIPv6Gateway)
    #expect(!RouteReplies(match: four, plain: six).mayHaveIPv6Gateway)
    #expect(!RouteReplies(match: none, plain: six).mayHaveIPv6Gateway)
    #expect(RouteReplies(match: none, severalHops: Self.hops).mayHaveIPv6Gateway)
    // What does not fit into the reply may be anything.
    #expect(RouteReplies(match: .refusal(EMSGSIZE)).mayHaveIPv6Gateway)
    #expect(!RouteReplies(match: .refusal(ENETUNREACH), plain: six).mayHaveIPv6Gateway)
    #expect(!RouteReplies(plain: six).mayHaveIPv6Gateway)
  }

  // MARK: Metrics and ends

  /// An IPv6 route as a query with RTM_F_FIB_MATCH shows it. The third word of `struct rta_cacheinfo` is the rest of
  /// its life (linux/rtnetlink.h).
  private static func route(
    to prefix: IPAddressBits? = nil, length: UInt8 = 0, expiry: Int32 = 0, metric: UInt32? = nil, over link: UInt32 = 3,
    via gateway: String = "fe80::2", table: UInt32 = 254
  ) throws -> RouteMessage {
    let gateway = try address(gateway).bits
    let bytes = BuiltMessages.bytes(.newRoute) { builder in
      builder.appendRouteHeader(family: .ipv6, destinationLength: length, type: .unicast)
      if let prefix { builder.append(RouteMessage.Attribute.destination, address: prefix) }
      builder.append(RouteMessage.Attribute.table, table)
      builder.append(RouteMessage.Attribute.outputInterface, link)
      builder.append(RouteMessage.Attribute.gateway, address: gateway)
      if let metric { builder.append(RouteMessage.Attribute.priority, metric) }
      let words = unsafe [0, 0, expiry, 0, 0, 0, 0, 0].withUnsafeBytes { unsafe Array($0) }
      builder.append(RouteMessage.Attribute.cacheInfo, bytes: words)
    }
    return try BuiltMessages.decode(bytes) { RouteMessage($0, in: $1) }
  }

  @Test func theMetricIsThatOfTheRoute() throws {
    let route = RouteReply.route(try Self.route(metric: 1_024))
    #expect(RouteReplies(match: route).metric == 1_024)
    #expect(RouteReplies(match: .refusal(EMSGSIZE), plain: route).metric == 1_024)
    #expect(RouteReplies(match: .route(try Self.route()), plain: route).metric == 0)
    #expect(RouteReplies(match: .refusal(ENETUNREACH), plain: route).metric == 0)
    #expect(RouteReplies(plain: route).metric == 0)
  }

  @Test(
    "only a route with some time left is known to end",
    arguments: [(0, false), (1, true), (100, true)] as [(Int32, Bool)])
  func aRouteWithTimeLeftEnds(expiry: Int32, ends: Bool) throws {
    let route = RouteReply.route(try Self.route(expiry: expiry))
    #expect(RouteReplies(match: route).expires == ends)
    // The second reply does not say.
    #expect(!RouteReplies(match: .refusal(EMSGSIZE), plain: route).expires && !RouteReplies(plain: route).expires)
  }

  private static let prefix = IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 0)
  private static let millisecond: Int64 = 1_000_000

  /// The kernel counts in hundredths of a second, and rounds down. Three of them later the end is certain.
  @Test(
    "a route is asked about again just after its end",
    arguments: [
      (1, 40), (2, 50), (100, 1_030), (360_000, 3_600_030), (0, nil), (-1, nil),
    ] as [(Int32, Int64?)])
  func aRouteIsAskedAboutAfterItsEnd(expiry: Int32, milliseconds: Int64?) throws {
    var expiries = RouteExpiries()
    expiries.note(try Self.route(expiry: expiry), now: 5_000)
    #expect(expiries.next == milliseconds.map { 5_000 + $0 * Self.millisecond })
    guard let next = expiries.next else { return }
    let early = expiries.pass(now: next - 1)
    #expect(early.isEmpty && expiries.next == next)
    let ended = expiries.pass(now: next)
    // A default route touches all of IPv6.
    #expect(ended == [IPPrefix(IPAddressBits(ipv6High: 0, low: 0), length: 0)])
  }

  @Test func aRouteThatIsSeenAgainHasOneEnd() throws {
    var expiries = RouteExpiries()
    let (first, renewed) = (1_030 * Self.millisecond, 2_030 * Self.millisecond)
    func note(_ expiry: Int32) throws {
      expiries.note(try Self.route(to: Self.prefix, length: 32, expiry: expiry), now: 0)
    }
    try note(100)
    try note(100)
    #expect(expiries.next == first)
    // A router advertises it anew; a reply in its last hundredth of a second does not say when it ends.
    try note(200)
    #expect(expiries.next == renewed)
    try note(0)
    #expect(expiries.next == renewed)
    let early = expiries.pass(now: renewed - 1)
    let ended = expiries.pass(now: renewed)
    #expect(early == [] && ended == [IPPrefix(Self.prefix, length: 32)])
  }

  @Test(
    "routes that differ in anything end apart", arguments: ["prefix", "length", "metric", "link", "gateway", "table"])
  func routesEndApart(difference: String) throws {
    var expiries = RouteExpiries()
    expiries.note(try Self.route(to: Self.prefix, length: 32, expiry: 100, metric: 1), now: 0)
    let isPrefix = difference == "prefix"
    let second = isPrefix ? IPAddressBits(ipv6High: 0x2001_0DB9_0000_0000, low: 0) : Self.prefix
    let length: UInt8 = difference == "length" ? 33 : 32
    expiries.note(
      try Self.route(
        to: second, length: length, expiry: 200, metric: difference == "metric" ? 2 : 1,
        over: difference == "link" ? 4 : 3, via: difference == "gateway" ? "fe80::3" : "fe80::2",
        table: difference == "table" ? 253 : 254), now: 0)
    #expect(expiries.next == 1_030 * Self.millisecond)
    let first = expiries.pass(now: 1_030 * Self.millisecond)
    #expect(first == [IPPrefix(Self.prefix, length: 32)])
    #expect(expiries.next == 2_030 * Self.millisecond)
    let last = expiries.pass(now: .max)
    // The first one as well: the kernel may still have it.
    #expect(last.contains(IPPrefix(second, length: Int(length))) && last.count == 2)
  }

  /// The last representable time is far away, and not before now.
  @Test func anEndBeyondAllTimesIsTheLast() throws {
    var expiries = RouteExpiries()
    expiries.note(try Self.route(expiry: .max), now: .max - 1)
    #expect(expiries.next == .max)
  }

  // MARK: When the tables are read

  /// LinuxNetwork reads them at most ten times a second; it polls every five seconds.
  @Test func theScheduleHasItsTimes() {
    #expect(10 * ReadingSchedule.spacing == 1_000 * Self.millisecond)
    #expect(ReadingSchedule.pollInterval == 5_000 * Self.millisecond)
  }
}
