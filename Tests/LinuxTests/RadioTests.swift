// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

/// Wi-Fi and modems on messages made by hand: the sequences that a machine with mac80211_hwsim, wwan_hwsim and a USB
/// modem announced (see Scenarios.md), and the states of the Internet over them.
struct RadioTests {
  typealias Fields = BuiltMessages.LinkFields

  /// A message's flags and operational state, and the Internet's reason after it.
  typealias Step = (flags: UInt32, state: OperationalState, reason: Reachability.Reason?)

  @Test("wlan1: started, associated, given its keys, deauthenticated, associated again, stopped")
  func wifiIsReachableOnlyWhileAssociated() throws {
    let steps: [Step] = [
      (0x1043, .unknown, .noCarrier),  // "running" for a moment, but without a carrier
      (0x1003, .down, .noCarrier),
      (0x11003, .dormant, .dormant),  // associated; the keys are missing
      (0x11043, .up, nil),
      (0x1003, .down, .noCarrier),
      (0x11003, .dormant, .dormant),
      (0x11043, .up, nil),
      (0x1003, .dormant, .noCarrier),  // the state lags behind the carrier
      (0x1003, .down, .noCarrier),
      (0x1002, .down, .linkDown),
    ]
    var network = BuiltNetwork()
    try network.add("192.168.77.2", 24, on: 3)
    for (position, step) in steps.enumerated() {
      try network.add(
        Fields(index: 3, name: "wlan1", flags: step.flags, state: step.state), .init(isWireless: true))
      let state = try network.internet(over: 3, via: "192.168.77.1", from: "192.168.77.2")
      #expect(state.reason == step.reason, "step \(position)")
      #expect(state.interface == NetworkInterface(name: "wlan1", index: 3, kind: .wifi))
      switch step.reason {
      case nil:
        #expect(state.status == .reachable && state.flags == .reachable)
        #expect(state.gateway == IPAddress("192.168.77.1"))
      case .dormant:
        #expect(state.status == .requiresConnection)
        #expect(state.flags == [.reachable, .connectionRequired, .connectionOnTraffic])
      default:
        #expect(state.status == .unreachable && state.flags == [])
      }
    }
  }

  @Test("events of wireless extensions say nothing of the link")
  func wirelessEventsSayNothingOfTheLink() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "wlan1"), .init(isWireless: true))
    let before = network.links[3]
    for flags: UInt32 in [0x1003, 0x1043, 0x11003] {
      let event = Fields(index: 3, name: "wlan1", flags: flags, state: nil, address: nil, isWirelessEvent: true)
      #expect(try !BuiltMessages.link(event).isSnapshot)
      #expect(try network.add(event) == nil)
    }
    #expect(network.links[3] == before)
  }

  @Test("a bridge port's message of its own is no snapshot of the link")
  func aBridgePortsMessageIsNoSnapshot() throws {
    let message = try BuiltMessages.link(Fields(index: 4, name: "v1", infoKind: nil, master: 3, family: .bridge))
    #expect(!message.isSnapshot)
    #expect(Link(message, kind: .wired) == nil)
  }

  @Test("wwan0-1: there, up, with an address and a route, down, gone")
  func aModemIsReachableOnlyWithASession() throws {
    var network = BuiltNetwork()
    var fields = Fields(index: 9, name: "wwan0-1", deviceType: .none, flags: 0x90, state: .down, address: nil)
    fields.infoKind = "wwan"
    let interface = NetworkInterface(name: "wwan0-1", index: 9, kind: .cellular)
    let withoutSession = Reachability(
      status: .requiresConnection, flags: [.reachable, .connectionRequired, .isWWAN, .transientConnection],
      interface: interface, reason: .noSession)

    #expect(network.decision().withoutRoute() ≈ Reachability(status: .unreachable, reason: .noRoute))
    try network.add(fields, .init(deviceType: "wwan"))
    #expect(network.decision().withoutRoute() ≈ withoutSession)
    fields.flags = 0x100d1
    fields.state = .unknown
    try network.add(fields, .init(deviceType: "wwan"))
    #expect(try network.isOperating(9))
    try network.add("fe80::8e74:4ca5:411:8b41", 64, on: 9)
    #expect(network.decision().withoutRoute() ≈ withoutSession, "a link-local address is no session")
    try network.add("10.64.0.2", 32, on: 9)
    #expect(network.decision().withoutRoute().isUnreachable(because: .noRoute))
    // `default dev wwan0-1`, metric 700: without a gateway, but point-to-point.
    #expect(
      try network.internet(over: 9, from: "10.64.0.2")
        ≈ Reachability(status: .reachable, flags: [.reachable, .isWWAN, .transientConnection], interface: interface))
    #expect(network.decision().localNetwork(nil, nil) ≈ Reachability(status: .unreachable, reason: .noInterface))
    fields.flags = 0x90
    fields.state = .down
    try network.add(fields, .init(deviceType: "wwan"))
    #expect(network.decision().withoutRoute() ≈ withoutSession)
    #expect(network.links.remove(9) == .idle)
    #expect(network.decision().withoutRoute() ≈ Reachability(status: .unreachable, reason: .noRoute))
  }

  @Test("a USB modem that is Ethernet to the kernel is cellular by its uevent")
  func aUSBModemIsCellular() throws {
    var network = BuiltNetwork()
    let modem = InterfaceKind.Evidence(deviceType: "wwan")
    try network.add(Fields(index: 4, name: "wwan0", flags: 0x11043, state: .unknown), modem)
    try network.add("192.168.8.100", 24, on: 4)
    let state = try network.internet(over: 4, via: "192.168.8.1", from: "192.168.8.100")
    #expect(state.interface == NetworkInterface(name: "wwan0", index: 4, kind: .cellular))
    #expect(state.flags == [.reachable, .isWWAN, .transientConnection])
    #expect(state.flags.description == "WR t------")
  }

  @Test("a blocked radio requires that the user acts", arguments: [InterfaceKind.wifi, .cellular])
  func aBlockedRadioRequiresTheUser(kind: InterfaceKind) throws {
    var network = BuiltNetwork()
    let evidence = InterfaceKind.Evidence(isWireless: kind == .wifi, deviceType: kind == .wifi ? "wlan" : "wwan")
    try network.add(Fields(index: 5, name: "radio0", flags: 0x1002, state: .down), evidence)
    let blocked = network.decision { $0.ownKind == kind }
    var flags: ReachabilityFlags = [.reachable, .connectionRequired, .interventionRequired]
    if kind == .cellular { flags.formUnion([.isWWAN, .transientConnection]) }
    let expected = Reachability(
      status: .requiresConnection, flags: flags, interface: NetworkInterface(name: "radio0", index: 5, kind: kind),
      reason: .radioBlocked)
    #expect(blocked.withoutRoute() ≈ expected)
    #expect(blocked.reason(ofIdle: try #require(network.links[5])) == .radioBlocked)
    if kind == .wifi { #expect(blocked.localNetwork(.wifi, nil) == expected) }
    // A radio of another kind does not matter.
    let other = network.decision { $0.ownKind != kind }
    #expect(other.withoutRoute().reason == (kind == .wifi ? .linkDown : .noSession))
    // A link that operates is not blocked, whatever the switches say.
    try network.add(Fields(index: 5, name: "radio0"), evidence)
    #expect(network.decision { $0.ownKind == kind }.withoutRoute().reason == (kind == .wifi ? .noRoute : .noSession))
  }

  @Test("a link on a blocked radio is as blocked, whatever it is made of")
  func aLinkOverABlockedRadioIsBlocked() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 5, name: "wlan0", flags: 0x1002, state: .down), .init(isWireless: true))
    try network.add(Fields(index: 6, name: "wlan0.7", flags: 0x1002, state: .down, infoKind: "vlan", lower: 5))
    try network.add("10.7.0.2", 24, on: 6)
    let state = network.decision { $0.index == 5 }.withoutRoute(output: 6)
    #expect(state.reason == .radioBlocked && state.interface?.name == "wlan0.7")
  }

  @Test("WireGuard: up as soon as it is on; point-to-point, so neither gateway nor direct")
  func wireGuardIsUpAndPointToPoint() throws {
    var network = BuiltNetwork()
    var fields = Fields(index: 11, name: "wg0", deviceType: .none, flags: 0x90, state: .down, address: nil)
    fields.infoKind = "wireguard"
    try network.add(fields)
    try network.add("10.8.0.2", 24, on: 11)
    #expect(try !network.isOperating(11))
    fields.flags = 0x100d1
    fields.state = .unknown
    try network.add(fields)
    #expect(
      try network.internet(over: 11, from: "10.8.0.2")
        ≈ Reachability(
          status: .reachable, flags: [.reachable, .transientConnection],
          interface: NetworkInterface(name: "wg0", index: 11, kind: .tunnel)))
  }
}

extension Reachability {
  fileprivate func isUnreachable(because reason: Reason) -> Bool { status == .unreachable && self.reason == reason }
}
