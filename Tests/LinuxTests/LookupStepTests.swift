// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

/// The lookups of connect(2) step by step, on replies made by hand: ip_route_connect (include/net/route.h) and
/// ip6_dst_lookup_tail (net/ipv6/ip6_output.c) of Linux. There is no socket to ask.
struct LookupStepTests {
  typealias Fields = BuiltMessages.LinkFields

  private static let four = "198.51.100.7"
  private static let six = "2001:db8:ffff::1"
  /// Rules that look at the source address, and rules that do not.
  private static let bySource = RuleTable(unreadable: EPERM)
  private static let plain = RuleTable()

  /// lo (1), eth0 (3) and eth1 (4), each of the latter with an address.
  private func decision() throws -> RouteDecision {
    var network = BuiltNetwork()
    try network.add(Fields(index: 1, name: "lo", deviceType: .loopback, flags: 0x10049, state: .unknown))
    try network.add(Fields(index: 3, name: "eth0"))
    try network.add(Fields(index: 4, name: "eth1"))
    try network.add("10.0.0.1", 24, on: 3)
    try network.add("10.1.0.1", 24, on: 4)
    return network.decision()
  }

  private func lookup(
    _ target: String, from source: String? = nil, over output: UInt32? = nil, number: Int = 0
  ) throws -> ConnectLookup {
    let target = try address(target)
    let destination = KernelQueries.Destination(
      address: target.bits, source: try source.map { try address($0).bits }, output: output, mark: 0, transport: .tcp,
      port: 0)
    return ConnectLookup(target, destination, number: number)
  }

  /// The replies for a route over a link.
  private func replies(
    over link: UInt32, from source: String? = nil, via gateway: String? = nil, type: RouteType = .unicast
  ) throws -> RouteReplies {
    let family: KernelAddressFamily = (source ?? gateway)?.contains(":") ?? false ? .ipv6 : .ipv4
    return RouteReplies(
      match: try BuiltMessages.route(family, type: type, over: link, via: gateway),
      plain: try BuiltMessages.route(family, type: type, over: link, via: gateway, from: source))
  }

  private func refusal(_ errno: CInt) -> RouteReplies { RouteReplies(match: .refusal(errno), plain: .refusal(errno)) }

  @Test func aLookupThatNothingWasAnsweredToIsDenied() throws {
    let lookup = try lookup(Self.four, number: 7)
    #expect(lookup.state ≈ .denied)
    #expect(lookup.metric == 0 && lookup.number == 7)
  }

  // MARK: IPv4: the second lookup

  @Test func ipv4LooksUpAgainWithTheChosenSourceIfARuleNamesOne() throws {
    let decision = try decision()
    let first = try replies(over: 3, from: "10.0.0.1", via: "10.0.0.2")
    var once = try lookup(Self.four)
    let isOpen = once.take(first, decision, Self.plain, nil)
    #expect(!isOpen && once.state.isReachable && once.destination.source == nil)
    var twice = try lookup(Self.four)
    let isOpenStill = twice.take(first, decision, Self.bySource, nil)
    #expect(isOpenStill && twice.destination.source == IPAddressBits(ipv4: 0x0A00_0001))
    #expect(twice.destination.output == nil && twice.state.isReachable)
    let isOpenAtLast = twice.take(refusal(EACCES), decision, Self.bySource, nil)
    #expect(!isOpenAtLast && twice.state.reason == .prohibited)
  }

  @Test(
    "there is no second lookup without a source, and in IPv6",
    arguments: [
      ("198.51.100.7", nil), ("198.51.100.7", "0.0.0.0"), ("239.1.2.3", nil), ("2001:db8:ffff::1", "2001:db8::1"),
      ("ff05::9", "2001:db8::1"),
    ] as [(String, String?)])
  func someAreNotLookedUpAgain(target: String, source: String?) throws {
    var lookup = try lookup(target)
    let isOpen = lookup.take(try replies(over: 3, from: source), try decision(), Self.bySource, nil)
    #expect(!isOpen && lookup.destination.source == nil)
  }

  /// With a source they leave by its link, whatever the route says (ip_route_output_key_hash_rcu, net/ipv4/route.c).
  @Test(
    "what goes to many is looked up again without a rule, too",
    arguments: [("239.1.2.3", true), ("255.255.255.255", true), ("255.255.255.254", false), ("223.255.255.255", false)])
  func whatGoesToManyIsLookedUpAgain(target: String, isOfMany: Bool) throws {
    for (rules, isLookedUp) in [(Self.bySource, true), (Self.plain, isOfMany)] {
      var lookup = try lookup(target)
      let isOpen = lookup.take(try replies(over: 3, from: "10.0.0.1"), try decision(), rules, nil)
      #expect(isOpen == isLookedUp)
    }
  }

  @Test("a lookup that has a source, or is refused or lost, is the last one", arguments: ["source", "refused", "lost"])
  func oneLookupIsEnough(what: String) throws {
    var lookup = try lookup(Self.four, from: what == "source" ? "10.1.0.1" : nil)
    let replies =
      what == "source" ? try replies(over: 3, from: "10.0.0.1") : what == "refused" ? refusal(EACCES) : RouteReplies()
    let isOpen = lookup.take(replies, try decision(), Self.bySource, nil)
    #expect(!isOpen)
    #expect(lookup.state.reason == (what == "source" ? nil : what == "refused" ? .prohibited : .denied))
    #expect(lookup.destination.source == (what == "source" ? try address("10.1.0.1").bits : nil))
  }

  @Test func ipv6IsNotLookedUpAgainWithoutASocketToAsk() throws {
    var lookup = try lookup(Self.six)
    let isOpen = lookup.take(refusal(EHOSTUNREACH), try decision(), Self.bySource, nil)
    #expect(!isOpen && lookup.state.reason == .unreachableRoute)
  }

  @Test func theMetricIsThatOfTheLastReply() throws {
    let bytes = BuiltMessages.bytes(.newRoute) { builder in
      builder.appendRouteHeader(family: .ipv4, type: .unicast)
      builder.append(RouteMessage.Attribute.outputInterface, UInt32(3))
      builder.append(RouteMessage.Attribute.priority, UInt32(600))
    }
    let match = RouteReply.route(try BuiltMessages.decode(bytes) { RouteMessage($0, in: $1) })
    var lookup = try lookup(Self.four)
    let first = RouteReplies(match: match, plain: try BuiltMessages.route(over: 3, from: "10.0.0.1"))
    _ = lookup.take(first, try decision(), Self.bySource, nil)
    #expect(lookup.metric == 600)
    _ = lookup.take(try replies(over: 4, from: "10.0.0.1"), try decision(), Self.bySource, nil)
    #expect(lookup.metric == 0 && lookup.state.interface?.index == 4)
  }

  // MARK: Several hops

  private func severalHops(plain: UInt32 = 4) throws -> RouteReplies {
    RouteReplies(
      match: try BuiltMessages.route(), plain: try BuiltMessages.route(over: plain, from: "10.1.0.1"),
      severalHops: [
        RouteNexthop(flags: [], interfaceIndex: 3, gateway: try address("10.0.0.2").bits),
        RouteNexthop(flags: [], interfaceIndex: 4, gateway: try address("10.1.0.2").bits),
      ])
  }

  @Test("if the second reply chose another hop, its source is asked for", arguments: [true, false])
  func theSourceOfTheHopIsAskedFor(namesSource: Bool) throws {
    let (decision, rules) = (try decision(), namesSource ? Self.bySource : Self.plain)
    var lookup = try lookup(Self.four)
    var isOpen = lookup.take(try severalHops(), decision, rules, nil)
    if namesSource {
      // First, whether the source of the other hop finds a way.
      #expect(isOpen && lookup.destination.output == nil)
      #expect(lookup.destination.source == (try address("10.1.0.1").bits))
      isOpen = lookup.take(try severalHops(), decision, rules, nil)
    }
    #expect(isOpen && lookup.destination.output == 3 && lookup.destination.source == nil)
    let isOpenStill = lookup.take(try replies(over: 3, from: "10.0.0.1"), decision, rules, nil)
    #expect(isOpenStill == namesSource && lookup.destination.output == nil)
    #expect(lookup.destination.source == (namesSource ? try address("10.0.0.1").bits : nil))
    // Interface, gateway and source are those of one hop.
    #expect(lookup.state.interface?.index == 3 && lookup.state.gateway == IPAddress("10.0.0.2"))
    #expect(lookup.state.source == IPAddress("10.0.0.1"))
  }

  /// connect(2) takes the hop that the hash chose. If it fails there, it fails each time.
  @Test func whatTheSourceOfTheOtherHopDoesNotReachIsUnreachable() throws {
    let decision = try decision()
    var lookup = try lookup(Self.four)
    let isOpen = lookup.take(try severalHops(), decision, Self.bySource, nil)
    #expect(isOpen)
    // A rule refuses it: blackhole (EINVAL).
    let refused = RouteReplies(match: .refusal(22), plain: .refusal(22))
    let isOpenStill = lookup.take(refused, decision, Self.bySource, nil)
    #expect(!isOpenStill && lookup.state.status == .unreachable)
  }

  @Test func aHopWhoseSourceIsNotToldKeepsTheFirstOne() throws {
    var lookup = try lookup(Self.four)
    _ = lookup.take(try severalHops(), try decision(), Self.plain, nil)
    let isOpen = lookup.take(refusal(ENETUNREACH), try decision(), Self.plain, nil)
    #expect(!isOpen && lookup.state.interface?.index == 3 && lookup.state.source == IPAddress("10.1.0.1"))
  }

  @Test func theSourceIsNotAskedForIfItIsThatOfTheHopOrOfThisMachineOrNothingLeaves() throws {
    let decision = try decision()
    var same = try lookup(Self.four)
    let isSameOpen = same.take(try severalHops(plain: 3), decision, Self.plain, nil)
    #expect(!isSameOpen && same.destination.output == nil)
    // Over one interface there is one hop.
    var bound = try lookup(Self.four, over: 4)
    let isBoundOpen = bound.take(try severalHops(plain: 3), decision, Self.plain, nil)
    #expect(!isBoundOpen && bound.destination.output == 4 && bound.state.interface?.index == 4)
    // An address of this machine is reached over lo, whatever the reply names.
    var own = try lookup("10.0.0.1")
    let isOwnOpen = own.take(try replies(over: 3, from: "10.0.0.1", type: .local), decision, Self.plain, nil)
    #expect(!isOwnOpen && own.state.interface?.index == 1 && own.destination.output == nil)
  }

  // MARK: A source and an interface in IPv6

  @Test("a reply about another interface is looked up again without the source", arguments: [true, false])
  func aReplyAboutAnotherInterfaceIsLookedUpAgain(isThere: Bool) throws {
    let decision = try decision()
    var lookup = try lookup(Self.six, from: "2001:db8::1", over: 3)
    let isOpen = lookup.take(try replies(over: 4, from: "2001:db8::4", via: "fe80::4"), decision, Self.plain, nil)
    #expect(isOpen && lookup.destination.source == nil && lookup.destination.output == 3)
    let second = isThere ? try replies(over: 3, from: "2001:db8::3", via: "fe80::3") : refusal(ENETUNREACH)
    let isOpenStill = lookup.take(second, decision, Self.plain, nil)
    #expect(!isOpenStill && lookup.state.isReachable == isThere)
    #expect(lookup.state.source == (isThere ? IPAddress("2001:db8::1") : nil))
    #expect(lookup.state.gateway == (isThere ? IPAddress("fe80::3") : nil))
    #expect(lookup.state.reason == (isThere ? nil : .noRoute))
  }

  @Test(
    "to what is on a link the kernel keeps by itself; IPv4 always does",
    arguments: [
      ("2001:db8:ffff::1", 3, .unicast), ("fe80::9", 4, .unicast), ("ff05::9", 4, .multicast),
      ("198.51.100.7", 4, .unicast),
    ] as [(String, UInt32, RouteType)])
  func theKernelKeepsToTheInterface(target: String, replied: UInt32, type: RouteType) throws {
    let source = target.contains(":") ? "2001:db8::1" : "10.0.0.1"
    var lookup = try lookup(target, from: source, over: 3)
    let isOpen = lookup.take(try replies(over: replied, from: source, type: type), try decision(), Self.plain, nil)
    #expect(!isOpen)
    #expect(lookup.destination.source == (try address(source).bits))
  }

  @Test func aLostReplyIsAboutNoInterface() throws {
    var lookup = try lookup(Self.six, from: "2001:db8::1", over: 3)
    let isOpen = lookup.take(RouteReplies(), try decision(), Self.plain, nil)
    #expect(!isOpen && lookup.state.reason == .denied)
    // A refusal may be another interface's.
    var refused = try self.lookup(Self.six, from: "2001:db8::1", over: 3)
    let isOpenStill = refused.take(refusal(EACCES), try decision(), Self.plain, nil)
    #expect(isOpenStill)
  }

  // MARK: The same from a source

  private func answer(
    to target: String = four, _ replies: RouteReplies, from source: String, rules: RuleTable = plain,
    hasFollowers: Bool = true, asked: String? = nil
  ) throws -> Reachability? {
    var lookup = try lookup(target, from: asked)
    lookup.hasFollowers = hasFollowers
    _ = lookup.take(replies, try decision(), Self.plain, nil)
    return lookup.state(from: try address(source), rules)
  }

  @Test func theSourceThatTheKernelChoseFindsTheSame() throws {
    let replies = try replies(over: 3, from: "10.0.0.1", via: "10.0.0.2")
    let same = try #require(try answer(replies, from: "10.0.0.1"))
    #expect(same.isReachable && same.interface?.index == 3 && same.source == IPAddress("10.0.0.1"))
    #expect(try answer(replies, from: "10.1.0.1") == nil)
    #expect(try answer(replies, from: "10.0.0.1", rules: Self.bySource) == nil)
    #expect(try answer(replies, from: "10.0.0.1", hasFollowers: false) == nil)
    #expect(try answer(replies, from: "10.0.0.1", asked: "10.0.0.1") == nil)
  }

  @Test("what leaves from no source leaves from none", arguments: [ENETUNREACH, EACCES, EHOSTUNREACH])
  func whatLeavesFromNoSource(errno: CInt) throws {
    for source in ["10.0.0.1", "10.1.0.1", "10.9.9.9"] {
      #expect(try answer(refusal(errno), from: source)?.status == .unreachable)
    }
    // From a loopback address nothing leaves for another reason.
    #expect(try answer(refusal(errno), from: "127.0.0.1") == nil)
    let long = RouteReplies(match: .refusal(EMSGSIZE), plain: .refusal(errno))
    #expect(try answer(long, from: "10.1.0.1")?.status == .unreachable)
  }

  @Test func whatMayDependOnTheSourceIsAskedAgain() throws {
    // No address, which another source may be; nothing known; a route but no packet; other types of routes; IPv6.
    #expect(try answer(replies(over: 3), from: "10.1.0.1") == nil)
    #expect(try answer(refusal(EPERM), from: "10.1.0.1") == nil)
    // The kernel may have chosen a loopback address, which it refuses in the same way as a blackhole swallows.
    #expect(try answer(refusal(EINVAL), from: "10.1.0.1") == nil)
    #expect(try answer(RouteReplies(match: replies(over: 3).match, plain: .refusal(EACCES)), from: "10.0.0.1") == nil)
    #expect(try answer(replies(over: 1, from: "10.0.0.1", type: .local), from: "10.0.0.1") == nil)
    #expect(try answer(replies(over: 3, from: "10.0.0.1", type: .prohibit), from: "10.0.0.1") == nil)
    #expect(try answer(to: "239.1.2.3", replies(over: 3, from: "10.0.0.1"), from: "10.0.0.1") == nil)
    #expect(try answer(to: "255.255.255.255", replies(over: 3, from: "10.0.0.1"), from: "10.0.0.1") == nil)
    #expect(try answer(to: Self.six, replies(over: 3, from: "2001:db8::1"), from: "2001:db8::1") == nil)
  }

  // MARK: Rules

  @Test(
    "a rule of IPv4 with a source prefix names the source",
    arguments: [
      (.ipv4, 0, false), (.ipv4, 1, true), (.ipv4, 32, true), (.ipv6, 64, false), (.ipv6, 0, false),
    ] as [(KernelAddressFamily, UInt8, Bool)])
  func aRuleMayNameTheSource(family: KernelAddressFamily, length: UInt8, namesSource: Bool) throws {
    let bytes = BuiltMessages.bytes(.newRule) { builder in
      builder.appendRuleHeader(family: family, sourceLength: length, action: .toTable)
    }
    var rules = RuleTable()
    rules.add(try BuiltMessages.decode(bytes) { RuleMessage($0, in: $1) })
    #expect(rules.namesSource == namesSource)
  }
}
#endif
