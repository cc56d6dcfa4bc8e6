// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import TestSupport
import Testing

@testable import Dialtone

/// How the kernel's replies are decided, on replies made by hand: those that a real kernel gives only in a race, or
/// only elsewhere.
struct RouteDecisionTests {
  typealias Fields = BuiltMessages.LinkFields

  /// l0 (3) and l1 (4), wired, with addresses.
  private func network() throws -> BuiltNetwork {
    var network = BuiltNetwork()
    try network.add(Fields(index: 1, name: "lo", deviceType: .loopback, flags: 0x10049, state: .unknown))
    try network.add(Fields(index: 3, name: "l0"))
    try network.add(Fields(index: 4, name: "l1"))
    try network.add("10.0.0.1", 24, on: 3)
    try network.add("2001:db8::1", 64, on: 3)
    try network.add("10.1.0.1", 24, on: 4)
    return network
  }

  private let target = IPAddress(ipv4: 0xC629_0004)
  private let l0 = NetworkInterface(name: "l0", index: 3, kind: .wired)
  private let l1 = NetworkInterface(name: "l1", index: 4, kind: .wired)

  @Test(
    "an error says why, in either reply",
    arguments: [
      (ENETUNREACH, Reachability.Reason.noRoute, Reachability.Status.unreachable),
      (EHOSTUNREACH, .unreachableRoute, .unreachable), (EACCES, .prohibited, .unreachable),
      (EINVAL, .blackhole, .unreachable), (EPERM, .denied, .undetermined), (ENOBUFS, .denied, .undetermined),
    ])
  func anErrorSaysWhy(errno: CInt, reason: Reachability.Reason, status: Reachability.Status) throws {
    let state = try network().decision().decide(target, RouteReplies(match: .refusal(errno), plain: .refusal(errno)))
    #expect(state ≈ Reachability(status: status, reason: reason))
    #expect(state.destination == target)
  }

  @Test("a route that does not fit into the first reply is judged by the second")
  func aLongRouteIsJudgedByTheSecondReply() throws {
    let decision = try network().decision()
    let plain = try BuiltMessages.route(over: 3, via: "10.0.0.2", from: "10.0.0.1")
    #expect(
      decision.decide(target, RouteReplies(match: .refusal(EMSGSIZE), plain: plain))
        ≈ Reachability(status: .reachable, flags: .reachable, interface: l0, gateway: try address("10.0.0.2")))
    #expect(
      decision.decide(target, RouteReplies(match: .refusal(EMSGSIZE), plain: .refusal(EACCES)))
        ≈ Reachability(status: .unreachable, reason: .prohibited))
    #expect(
      decision.decide(target, RouteReplies(match: .refusal(EMSGSIZE)))
        ≈ Reachability(status: .undetermined, reason: .denied))
  }

  @Test(
    "rules that cannot be read may look at the source, unless the kernel has none",
    arguments: [
      (EOPNOTSUPP, false), (EAFNOSUPPORT, false), (EPERM, true), (ENOBUFS, true),
    ])
  func unreadableRulesMayLookAtTheSource(errno: CInt, namesSource: Bool) {
    #expect(RuleTable(unreadable: errno).namesSource == namesSource)
  }

  @Test("with an output interface EHOSTUNREACH is no route")
  func ehostunreachOverAnInterfaceIsNoRoute() throws {
    let state = try network().decision()
      .decide(target, RouteReplies(match: .refusal(EHOSTUNREACH), plain: .refusal(EHOSTUNREACH)), output: 3)
    #expect(state ≈ Reachability(status: .unreachable, reason: .noRoute))
  }

  @Test("a reply that names other links alone is no route over the one that was asked for")
  func aRouteOverAnotherLinkIsNone() throws {
    let elsewhere = try BuiltMessages.route(over: 4, via: "10.1.0.2", from: "10.1.0.1")
    let state = try network().decision().decide(target, RouteReplies(match: elsewhere, plain: elsewhere), output: 3)
    #expect(state ≈ Reachability(status: .unreachable, reason: .noRoute))
  }

  @Test("a kernel without IPv6 has no route")
  func aKernelWithoutIPv6HasNoRoute() throws {
    let six = try address("2001:db8:1::1")
    let state = try network().decision().decide(six, RouteReplies(match: .refusal(EOPNOTSUPP)))
    #expect(state ≈ Reachability(status: .unreachable, reason: .noRoute))
  }

  @Test("a lost reply is unknown, never reachable")
  func aLostReplyIsUnknown() throws {
    let match = try BuiltMessages.route(over: 3, via: "10.0.0.2")
    for replies in [RouteReplies(), RouteReplies(match: match)] {
      let state = try network().decision().decide(target, replies)
      #expect(state ≈ Reachability(status: .undetermined, reason: .denied))
    }
  }

  @Test(
    "a route of a refusing type is unreachable for its reason",
    arguments: [
      (RouteType.unreachable, Reachability.Reason.unreachableRoute), (.prohibit, .prohibited), (.blackhole, .blackhole),
      (.throw, .noRoute),
    ])
  func aRefusingRouteIsUnreachableForItsReason(type: RouteType, reason: Reachability.Reason) throws {
    let match = try BuiltMessages.route(type: type, over: 1)
    let state = try network().decision().decide(target, RouteReplies(match: match, plain: match))
    #expect(state ≈ Reachability(status: .unreachable, reason: reason))
  }

  @Test("a hop that is already dead is not used, even if its link looks well")
  func aDeadHopIsNotUsed() throws {
    let network = try network()
    #expect(
      try network.internet(over: 3, via: "10.0.0.2", from: "10.0.0.1", flags: .dead)
        ≈ Reachability(status: .unreachable, interface: l0, reason: .linkDown))
    #expect(
      try network.internet(over: 3, via: "10.0.0.2", from: "10.0.0.1", flags: .linkDown)
        ≈ Reachability(status: .unreachable, interface: l0, reason: .noCarrier))
  }

  @Test("a route over an unknown link is unreachable")
  func aRouteOverAnUnknownLinkIsUnreachable() throws {
    let state = try network().internet(over: 77, via: "10.0.0.2", from: "10.0.0.1")
    #expect(state ≈ Reachability(status: .unreachable, reason: .linkDown))
  }

  @Test(
    "without a usable source there is no address",
    arguments: [nil, "::1", "fe80::1"])
  func withoutAUsableSourceThereIsNoAddress(source: String?) throws {
    let six = try address("2001:db8:1::1")
    let state = try network().decision().decide(
      six,
      RouteReplies(
        match: BuiltMessages.route(.ipv6, over: 3, via: "2001:db8::2"),
        plain: BuiltMessages.route(.ipv6, over: 3, via: "2001:db8::2", from: source)))
    #expect(state ≈ Reachability(status: .unreachable, interface: l0, reason: .noAddress))
  }

  @Test("the source may sit on another link", arguments: ["2001:db8:7::1", "fd00::1"])
  func theSourceMayBeOnAnotherLink(source: String) throws {
    let six = try address("2001:db8:1::1")
    let state = try network().decision().decide(
      six,
      RouteReplies(
        match: BuiltMessages.route(.ipv6, over: 3, via: "fe80::9"),
        plain: BuiltMessages.route(.ipv6, over: 3, via: "fe80::9", from: source)))
    #expect(
      state
        ≈ Reachability(status: .reachable, flags: .reachable, interface: l0, gateway: try address("fe80::9")))
    #expect(state.source == IPAddress(source))
  }

  @Test("hops of a nexthop object count if the route names none; those over the wrong interface do not")
  func hopsOfANexthopObjectCount() throws {
    let hops = [
      RouteNexthop(flags: .linkDown, interfaceIndex: 3, gateway: try address("10.0.0.2").bits),
      RouteNexthop(flags: [], interfaceIndex: 4, gateway: try address("10.1.0.2").bits),
    ]
    let replies = RouteReplies(
      match: try BuiltMessages.route(nexthopID: 7), plain: try BuiltMessages.route(over: 4, from: "10.1.0.1"),
      severalHops: hops)
    let decision = try network().decision()
    let overL1 = Reachability(status: .reachable, flags: .reachable, interface: l1, gateway: try address("10.1.0.2"))
    #expect(decision.decide(target, replies) ≈ overL1)
    #expect(decision.decide(target, replies, output: 4) ≈ overL1)
    #expect(
      decision.decide(target, replies, output: 3)
        ≈ Reachability(status: .unreachable, interface: l0, reason: .noCarrier))
  }

  @Test(
    "an address of this machine is reached over lo, whatever link the reply names",
    arguments: [RouteType.local, .anycast])
  func anOwnAddressIsReachedOverLoopback(type: RouteType) throws {
    var network = try network()
    try network.add(Fields(index: 3, name: "l0", flags: 0x1002, state: .down))
    let state = network.decision().decide(
      try address("10.0.0.1"),
      RouteReplies(
        match: try BuiltMessages.route(type: type, over: 3), plain: try BuiltMessages.route(over: 1, from: "10.0.0.1")))
    #expect(
      state
        ≈ Reachability(
          status: .reachable, flags: [.reachable, .isLocalAddress],
          interface: NetworkInterface(name: "lo", index: 1, kind: .loopback)))
  }

  @Test("without a route, the reason is that of the link that says most")
  func theLinkThatSaysMostGivesTheReason() throws {
    var network = BuiltNetwork()
    #expect(network.decision().withoutRoute().reason == .noRoute)
    try network.add(Fields(index: 3, name: "off", flags: 0x1002, state: .down))
    #expect(network.decision().withoutRoute().reason == .linkDown)
    try network.add(Fields(index: 4, name: "pulled", flags: 0x1003, state: .down))
    #expect(network.decision().withoutRoute().reason == .noCarrier)
    try network.add(Fields(index: 5, name: "fine"))
    #expect(network.decision().withoutRoute().reason == .noRoute)
    try network.add("10.0.0.1", 24, on: 4)
    #expect(network.decision().withoutRoute().interface?.name == "pulled")
    // Of links that say the same, the first counts.
    try network.add(Fields(index: 8, name: "too", flags: 0x1003, state: .down))
    try network.add("10.2.0.1", 24, on: 8)
    #expect(network.decision().withoutRoute().interface?.name == "pulled")
    // Links of containers do not count.
    try network.add(Fields(index: 6, name: "veth", flags: 0x1003, state: .down, infoKind: "veth"))
    #expect(network.decision().withoutRoute().interface?.name == "pulled")
  }

  @Test("of links that could be brought up, a modem without a session says more than a radio that is switched off")
  func aModemSaysMoreThanARadioThatIsOff() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "wlan0", flags: 0x1003, state: .down), .init(isWireless: true))
    let isOff: (Link) -> Bool = { $0.index == 3 }
    #expect(network.decision(isBlocked: isOff).withoutRoute().reason == .radioBlocked)
    try network.add(Fields(index: 4, name: "wwan0", flags: 0x1003, state: .down), .init(deviceType: "wwan"))
    #expect(network.decision(isBlocked: isOff).withoutRoute().reason == .noSession)
    // RFC 2863: a dormant one waits for something that may come by itself.
    try network.add(Fields(index: 5, name: "eth0", flags: 0x11003, state: .dormant))
    #expect(network.decision(isBlocked: isOff).withoutRoute().reason == .dormant)
  }

  @Test("of the local network's links, one with an address that others can answer is named, wherever it stands")
  func theLocalNetworkIsNamedByARealAddress() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "dormant", flags: 0x11003, state: .dormant))
    try network.add(Fields(index: 4, name: "bare"))
    try network.add("fe80::7", 64, on: 4)
    #expect(network.decision().localNetwork(nil, nil).interface?.name == "bare")
    try network.add(Fields(index: 5, name: "set"))
    try network.add("10.0.0.1", 24, on: 5)
    #expect(network.decision().localNetwork(nil, nil).interface?.name == "set")
    #expect(network.decision().localNetwork(nil, .ipv6).interface?.name == "bare")
  }

  @Test("a link that is off and has an address says more than one that operates without one")
  func aLinkWithAnAddressSaysMore() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "bare"))
    try network.add(Fields(index: 4, name: "off", flags: 0x1002, state: .down))
    #expect(network.decision().withoutRoute() ≈ Reachability(status: .unreachable, reason: .noRoute))
    try network.add("10.0.0.1", 24, on: 4)
    let off = NetworkInterface(name: "off", index: 4, kind: .wired)
    #expect(
      network.decision().withoutRoute() ≈ Reachability(status: .unreachable, interface: off, reason: .linkDown))
    // With an address, the one that operates says more.
    try network.add("10.1.0.1", 24, on: 3)
    #expect(network.decision().withoutRoute() ≈ Reachability(status: .unreachable, reason: .noRoute))
  }
}
