// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Dialtone

/// Which link gives the reason while there is no route, and which one stands for the local network: the tables of
/// HowReachabilityIsDecided.md, each line beside each other.
struct MissingRouteTests {
  typealias Fields = BuiltMessages.LinkFields

  /// What a link may be like.
  enum Condition: String, CaseIterable, Sendable {
    case off, pulled, bare, offWithAddress, working, pulledWithAddress, blocked, withoutSession, dormant
    case withLinkLocal

    func add(to network: inout BuiltNetwork, index: UInt32) throws {
      var fields = Fields(index: index, name: "\(rawValue.prefix(12))\(index)")
      var evidence = InterfaceKind.Evidence()
      switch self {
      case .off, .offWithAddress: (fields.flags, fields.state) = (0x1002, .down)
      case .pulled, .pulledWithAddress: (fields.flags, fields.state) = (0x1003, .down)
      case .blocked:
        (fields.flags, fields.state) = (0x1003, .down)
        evidence.isWireless = true
      case .withoutSession:
        (fields.flags, fields.state) = (0x1003, .down)
        fields.deviceType = .rawIP
      case .dormant: (fields.flags, fields.state) = (0x11003, .dormant)
      case .bare, .working, .withLinkLocal: break
      }
      try network.add(fields, evidence)
      switch self {
      case .offWithAddress, .working, .pulledWithAddress: try network.add("10.0.\(index).1", 24, on: index)
      case .withLinkLocal: try network.add("fe80::1", 64, on: index)
      default: break
      }
    }

    var reason: Reachability.Reason? {
      switch self {
      case .off, .offWithAddress: .linkDown
      case .pulled, .pulledWithAddress: .noCarrier
      case .bare, .working, .withLinkLocal: .noRoute
      case .blocked: .radioBlocked
      case .withoutSession: .noSession
      case .dormant: .dormant
      }
    }
  }

  private static func decision(_ network: BuiltNetwork) -> RouteDecision {
    network.decision { $0.name.text.hasPrefix("blocked") }
  }

  /// From the last line of the table to the first.
  private static let order: [Condition] = [
    .off, .pulled, .bare, .offWithAddress, .working, .pulledWithAddress, .blocked, .withoutSession, .dormant,
  ]

  private static let pairs = order.indices.flatMap { high in order[..<high].map { ($0, order[high]) } }

  @Test("of two links, the one whose line comes first gives the reason, wherever it stands", arguments: pairs)
  func theFirstLineDecides(less: Condition, more: Condition) throws {
    for (first, second) in [(less, more), (more, less)] {
      var network = BuiltNetwork()
      try first.add(to: &network, index: 3)
      try second.add(to: &network, index: 4)
      let state = Self.decision(network).withoutRoute()
      #expect(state.reason == more.reason)
      let isNamed = more.reason != .noRoute
      #expect(state.interface?.index == (isNamed ? first == more ? 3 : 4 : nil))
      let isWaiting = more == .dormant || more == .withoutSession || more == .blocked
      #expect(state.status == (isWaiting ? .requiresConnection : .unreachable))
    }
  }

  @Test("of two links that are alike, the one with the lower index is named", arguments: order)
  func theLowerIndexIsNamed(condition: Condition) throws {
    var network = BuiltNetwork()
    for index: UInt32 in [7, 5, 6] { try condition.add(to: &network, index: index) }
    let state = Self.decision(network).withoutRoute()
    #expect(state.interface?.index == (condition.reason == .noRoute ? nil : 5))
  }

  private static let kinds: [(Fields, InterfaceKind.Evidence, Reachability.Reason)] = [
    (Fields(), .init(), .noCarrier), (Fields(), .init(isWireless: true), .noCarrier),
    (Fields(deviceType: .rawIP), .init(), .noSession), (Fields(deviceType: .tunnel), .init(), .noCarrier),
    (Fields(deviceType: DeviceType(rawValue: 280)), .init(), .noRoute),  // CAN
    (Fields(deviceType: .loopback), .init(), .noRoute),
    // Virtual ones without an address, of which only a modem counts.
    (Fields(infoKind: "veth"), .init(), .noRoute), (Fields(infoKind: "wireguard"), .init(), .noRoute),
    (Fields(deviceType: .none, infoKind: "wwan"), .init(), .noSession),
  ]

  @Test("links of the kinds loopback and other do not count, nor virtual ones without an address", arguments: kinds)
  func someKindsDoNotCount(fields: Fields, evidence: InterfaceKind.Evidence, reason: Reachability.Reason) throws {
    var network = BuiltNetwork()
    var fields = fields
    (fields.flags, fields.state) = (0x1003, .down)
    try network.add(fields, evidence)
    let state = network.decision().withoutRoute()
    #expect(state.reason == reason)
    #expect(state.interface == (reason == .noRoute ? nil : try network.interface(3)))
  }

  @Test("a virtual link counts with an address of more than link-local scope, or if it is asked for")
  func aVirtualLinkCountsIfItIsAskedFor() throws {
    var network = BuiltNetwork()
    try network.add(Fields(flags: 0x1003, state: .down, infoKind: "veth"))
    try network.add("fe80::1", 64, on: 3)
    #expect(network.decision().withoutRoute().reason == .noRoute)
    #expect(network.decision().withoutRoute(output: 3).reason == .noCarrier)
    #expect(network.decision().withoutRoute(output: 3).interface?.index == 3)
    try network.add("10.0.0.1", 24, on: 3)
    #expect(network.decision().withoutRoute().reason == .noCarrier)
  }

  @Test("if an interface is asked for, only that one is looked at", arguments: order)
  func onlyTheLinkThatIsAskedForIsLookedAt(condition: Condition) throws {
    var network = BuiltNetwork()
    for (offset, other) in Self.order.enumerated() { try other.add(to: &network, index: UInt32(3 + offset)) }
    let decision = Self.decision(network)
    let index = UInt32(3 + (try #require(Self.order.firstIndex(of: condition))))
    #expect(decision.withoutRoute(output: index).reason == condition.reason)
    #expect(decision.withoutRoute(output: 99) ≈ Reachability(status: .unreachable, reason: .noRoute))
  }

  @Test("a modem that operates has no session while it has no address of more than link-local scope")
  func aModemWithoutAnAddressHasNoSession() throws {
    var network = BuiltNetwork()
    try network.add(Fields(deviceType: .rawIP))
    #expect(network.decision().withoutRoute().reason == .noSession)
    try network.add("169.254.7.7", 16, on: 3)
    #expect(network.decision().withoutRoute().reason == .noSession)
    try network.add("10.0.0.1", 24, on: 3)
    #expect(network.decision().withoutRoute() ≈ Reachability(status: .unreachable, reason: .noRoute))
  }

  @Test("a radio is asked about only if its link is Wi-Fi or cellular and does not operate", arguments: [true, false])
  func radiosAreAskedAbout(isBlocked: Bool) throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "wired", flags: 0x1003, state: .down))
    #expect(network.decision { _ in isBlocked }.withoutRoute().reason == .noCarrier)
    var wifi = BuiltNetwork()
    try wifi.add(Fields(index: 3, name: "on"), .init(isWireless: true))
    #expect(wifi.decision { _ in isBlocked }.withoutRoute().reason == .noRoute)
    var modem = BuiltNetwork()
    try modem.add(Fields(index: 3, name: "wwan0", deviceType: .rawIP, flags: 0x1002, state: .down))
    #expect(modem.decision { _ in isBlocked }.withoutRoute().reason == (isBlocked ? .radioBlocked : .noSession))
  }

  @Test("a link that is made of several radios is blocked only if all of them are")
  func allRadiosBelowHaveToBeBlocked() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 2, name: "bond0", flags: 0x1403, state: .down, infoKind: "bond"))
    for (index, name) in [(3, "blocked3"), (4, "other")] as [(UInt32, String)] {
      try network.add(
        Fields(index: index, name: name, flags: 0x1003, state: .down, master: 2), .init(isWireless: true))
    }
    #expect(Self.decision(network).withoutRoute(output: 2).reason == .noCarrier)
    #expect(network.decision { _ in true }.withoutRoute(output: 2).reason == .radioBlocked)
  }

  @Test(
    "why a link carries nothing, for a list of links",
    arguments: [
      (.off, .linkDown), (.offWithAddress, .linkDown), (.pulled, .noCarrier), (.pulledWithAddress, .noCarrier),
      (.bare, nil), (.working, nil), (.blocked, .radioBlocked), (.withoutSession, .noSession), (.dormant, .dormant),
    ] as [(Condition, Reachability.Reason?)])
  func saysWhyALinkCarriesNothing(condition: Condition, reason: Reachability.Reason?) throws {
    var network = BuiltNetwork()
    try condition.add(to: &network, index: 3)
    #expect(Self.decision(network).reason(ofIdle: try #require(network.links[3])) == reason)
  }

  // MARK: The local network

  /// What is said of the local network over one link: the later says more.
  private static let localOrder: [(condition: Condition, reason: Reachability.Reason?)] = [
    (.off, .linkDown), (.pulled, .noCarrier), (.bare, .noAddress), (.offWithAddress, .linkDown),
    (.pulledWithAddress, .noCarrier), (.blocked, .radioBlocked), (.dormant, .dormant), (.withLinkLocal, nil),
    (.working, nil),
  ]

  private static let localPairs = localOrder.indices.flatMap { high in
    localOrder[..<high].map { ($0, localOrder[high]) }
  }

  @Test("of two links, one stands for the local network, wherever it stands", arguments: localPairs)
  func oneLinkStandsForTheLocalNetwork(
    less: (condition: Condition, reason: Reachability.Reason?),
    more: (condition: Condition, reason: Reachability.Reason?)
  ) throws {
    for isFirst in [true, false] {
      var network = BuiltNetwork()
      try more.condition.add(to: &network, index: isFirst ? 3 : 4)
      try less.condition.add(to: &network, index: isFirst ? 4 : 3)
      let state = Self.decision(network).localNetwork(nil, nil)
      #expect(state.reason == more.reason)
      #expect(state.interface?.index == (isFirst ? 3 : 4))
      #expect(state.isReachable == (more.reason == nil))
      if more.reason == nil { #expect(state.flags == [.reachable, .isDirect] && state.source != nil) }
    }
  }

  @Test(
    "the kind, the family and the interface that are asked for restrict the local network",
    arguments: [
      (nil, nil, nil, 3), (.wired, nil, nil, 3), (.wifi, nil, nil, 4), (nil, .ipv6, nil, 4), (nil, nil, 4, 4),
      (nil, nil, 5, nil), (.wired, nil, 4, nil), (.cellular, nil, nil, nil), (.tunnel, nil, nil, nil),
      (nil, nil, 99, nil),
    ] as [(InterfaceKind?, IPAddress.Family?, UInt32?, UInt32?)])
  func theLocalNetworkMayBeRestricted(
    kind: InterfaceKind?, family: IPAddress.Family?, output: UInt32?, found: UInt32?
  ) throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "eth0"))
    try network.add(Fields(index: 4, name: "wlan0"), .init(isWireless: true))
    try network.add(Fields(index: 5, name: "wwan0", deviceType: .rawIP))
    for index: UInt32 in 3...5 { try network.add("10.0.\(index).1", 24, on: index) }
    try network.add("2001:db8::1", 64, on: 4)
    let state = network.decision().localNetwork(kind, family, output: output)
    #expect(state.interface?.index == found)
    #expect(state.reason == (found == nil ? .noInterface : nil))
  }

  // MARK: The memory of searches

  @Test func aSearchIsMadeOnceForEachInterface() {
    let searches = ReasonSearches()
    #expect(searches.count == 0)
    func ask(_ output: UInt32?, _ reason: Reachability.Reason) -> Reachability.Reason? {
      searches.result(output) { Reachability(status: .unreachable, reason: reason) }.reason
    }
    #expect(ask(nil, .noRoute) == .noRoute && searches.count == 1)
    #expect(ask(nil, .linkDown) == .noRoute && searches.count == 1)
    // lo has the index 1.
    #expect(ask(1, .noCarrier) == .noCarrier && searches.count == 2)
    #expect(ask(1, .dormant) == .noCarrier && ask(2, .dormant) == .dormant && searches.count == 3)
    #expect(ask(nil, .linkDown) == .noRoute)
    searches.removeAll()
    #expect(ask(nil, .linkDown) == .linkDown && ask(1, .dormant) == .dormant && searches.count == 5)
  }
}
