// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

/// Links by index and by name, what a change of one touches, and how they are made of others: on messages made by hand.
struct LinkOrderTests {
  typealias Fields = BuiltMessages.LinkFields

  private func table(_ indices: [UInt32]) throws -> LinkTable {
    var network = BuiltNetwork()
    for index in indices { try network.add(Fields(index: index, name: "l\(index)")) }
    return network.links
  }

  // MARK: The order

  @Test("links stand in the order of their indices, however they were announced", arguments: 0...14)
  func linksStandInTheOrderOfTheirIndices(count: Int) throws {
    let ascending = (0..<count).map { UInt32(2 + 3 * $0) }
    var numbers = SeededNumbers(seed: UInt64(count))
    for announced in [ascending, ascending.reversed(), ascending.shuffled(using: &numbers)] {
      var table = try table(announced)
      #expect(table.all.map(\.index) == ascending)
      for index in 0...UInt32(3 * count + 5) {
        #expect(table[index]?.index == (ascending.contains(index) ? index : nil))
      }
      for index in ascending { #expect(table.link(named: LinkName("l\(index)"))?.index == index) }
      var left = ascending
      for gone in announced {
        let before = table.remove(gone + 1)
        #expect(before == .nothing)
        let effect = table.remove(gone)
        #expect(effect == .everything)
        left.removeAll { $0 == gone }
        #expect(table.all.map(\.index) == left && table[gone] == nil)
        #expect(table.link(named: LinkName("l\(gone)")) == nil)
      }
    }
  }

  @Test func aLinkThatIsAnnouncedAgainTakesItsOwnPlace() throws {
    var network = BuiltNetwork()
    for index: UInt32 in [2, 5, 9] { try network.add(Fields(index: index, name: "l\(index)")) }
    for index: UInt32 in [2, 5, 9] {
      #expect(try network.add(Fields(index: index, name: "l\(index)", flags: 0x1002, state: .down)) == .everything)
      #expect(network.links[index]?.isUp == false)
    }
    #expect(network.links.all.map(\.index) == [2, 5, 9])
  }

  @Test("a name ends with its link, also if another link gets its index")
  func aNameEndsWithItsLink() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "eth0", alternativeNames: ["uplink"]))
    _ = network.links.remove(3)
    try network.add(Fields(index: 3, name: "eth1"))
    #expect(network.index(named: "eth1") == 3)
    #expect(network.index(named: "eth0") == nil && network.index(named: "uplink") == nil)
    // The same without the announcement of the end.
    try network.add(Fields(index: 3, name: "eth2"))
    #expect(network.index(named: "eth2") == 3 && network.index(named: "eth1") == nil)
  }

  @Test(
    "the loopback interface is the one with the flag: mostly the first",
    arguments: [
      ([1], 1), ([1, 2], 1), ([2], 2), ([2, 5], 2), ([], nil), ([3], 3),
    ] as [([UInt32], UInt32?)])
  func theLoopbackInterfaceHasTheFlag(loopbacks: [UInt32], found: UInt32?) throws {
    var network = BuiltNetwork()
    for index: UInt32 in 1...6 {
      try network.add(Fields(index: index, name: "l\(index)", flags: loopbacks.contains(index) ? 0x10049 : 0x11043))
    }
    #expect(network.links.loopback?.index == found)
  }

  // MARK: What a change touches

  private static let off = Fields(flags: 0x1002, state: .down)
  private static let pulled = Fields(flags: 0x1003, state: .down)
  private static let works = Fields()

  private static func renamed(_ fields: Fields) -> Fields {
    var fields = fields
    fields.name = "other"
    return fields
  }

  @Test(
    "a change touches every target if the link carried packets, does now, or has another name or group",
    arguments: [
      (nil, off, .idle), (nil, works, .everything), (off, off, .nothing), (off, pulled, .idle),
      // Over a link that is up, this machine's own addresses are reachable.
      (pulled, off, .everything),
      (off, works, .everything), (works, off, .everything), (works, works, .nothing),
      (works, renamed(works), .everything), (off, renamed(off), .everything), (off, renamed(pulled), .everything),
      // Neither broadcast nor multicast counts.
      (works, Fields(flags: 0x10041), .nothing), (works, Fields(flags: 0x11053), .everything),
      (off, Fields(flags: 0x1002, state: .down, master: 7), .idle),
      (works, Fields(address: [2, 0, 0, 0, 1, 1]), .everything), (works, Fields(group: 5), .everything),
      (off, Fields(flags: 0x1002, state: .down, group: 5), .everything), (Fields(group: 5), Fields(group: 5), .nothing),
    ] as [(Fields?, Fields, LinkTable.Effect)])
  func aChangeTouchesTargets(before: Fields?, after: Fields, effect: LinkTable.Effect) throws {
    var network = BuiltNetwork()
    if let before { try network.add(before) }
    #expect(try network.add(after) == effect)
    let removal = network.links.remove(after.index)
    #expect(removal == (after.flags & 1 == 1 ? .everything : .idle))
  }

  // MARK: What a link is

  /// Documentation/networking/operstates.rst of Linux; RFC 2863. 0x10000 is a carrier (IFF_LOWER_UP).
  @Test(
    "flags and operational state say what a link does",
    arguments: [
      (0x11043, .up, true, false, true), (0x1042, .up, false, false, false), (0x1043, .up, true, false, false),
      (0x11043, .unknown, true, false, true), (0x1043, .unknown, true, false, false),
      (0x11042, .unknown, false, false, false), (0x1003, .down, true, false, false),
      (0x11043, .down, true, false, false), (0x11003, .dormant, true, true, false),
      (0x1003, .dormant, true, false, false), (0x11002, .dormant, false, false, false),
      (0x11003, .testing, true, true, false), (0x1003, .testing, true, false, false),
      (0x11043, OperationalState(rawValue: 3), true, false, false),
    ] as [(UInt32, OperationalState, Bool, Bool, Bool)])
  func flagsAndStateSayWhatALinkDoes(
    flags: UInt32, state: OperationalState, isUp: Bool, isDormant: Bool, isOperating: Bool
  ) throws {
    let link = try #require(Link(try BuiltMessages.link(Fields(flags: flags, state: state)), kind: .wired))
    #expect(link.isUp == isUp && link.isDormant == isDormant && link.isOperating == isOperating)
  }

  @Test(
    "kinds of the driver say how a link is made of others",
    arguments: [
      ("vlan", .stacked), ("macvlan", .shared), ("macvtap", .shared), ("ipvlan", .shared), ("ipvtap", .shared),
      ("macsec", .stacked), ("bond", .ports), ("team", .ports), ("bridge", .bridge), ("vrf", .single),
      ("veth", .single), ("openvswitch", .single), (nil, .single),
    ] as [(String?, Link.Structure)])
  func kindsSayHowALinkIsMade(kind: String?, structure: Link.Structure) throws {
    let link = try #require(Link(try BuiltMessages.link(Fields(infoKind: kind)), kind: .wired))
    #expect(link.structure == structure)
    #expect(link.isStacked == (structure == .stacked || structure == .shared))
    #expect(link.isMadeOfPorts == (structure == .ports || structure == .bridge))
  }

  /// IFLA_LINK of linux/if_link.h: some drivers give a link's own index.
  @Test(
    "the lower link is another one, in this namespace",
    arguments: [
      ("vlan", 9, nil, 9), ("vlan", 3, nil, nil), ("vlan", 9, 0, nil), ("vlan", 9, 7, nil), ("veth", 9, nil, nil),
      (nil, 3, nil, nil), (nil, 9, nil, 9), ("vlan", nil, nil, nil),
    ] as [(String?, UInt32?, Int32?, UInt32?)])
  func theLowerLinkIsAnotherOne(kind: String?, told: UInt32?, namespace: Int32?, lower: UInt32?) throws {
    let fields = Fields(infoKind: kind, lower: told, lowerNamespace: namespace)
    #expect(try #require(Link(try BuiltMessages.link(fields), kind: .other)).lower == lower)
  }

  @Test("what is no snapshot of a link is no link")
  func whatIsNoSnapshotIsNoLink() throws {
    for fields in [Fields(name: nil), Fields(state: nil), Fields(family: .bridge)] {
      #expect(Link(try BuiltMessages.link(fields), kind: .wired) == nil)
    }
    let link = try #require(Link(try BuiltMessages.link(Fields(address: nil)), kind: .wifi, radio: 4))
    #expect(link.hardwareAddress == [] && link.ownKind == .wifi && link.radio == 4 && link.master == nil)
  }

  @Test func aLinkIsNamedByAnyOfItsNames() throws {
    let link = try #require(
      Link(try BuiltMessages.link(Fields(name: "eth0", alternativeNames: ["uplink", "lan"])), kind: .wired))
    #expect(link.names.map(\.text) == ["eth0", "uplink", "lan"])
    for (names, isNamed) in [
      (["eth0"], true), (["lan", "x"], true), (["uplink"], true), (["eth1"], false), ([], false),
    ] as [(Set<String>, Bool)] {
      #expect(link.isNamed(in: names) == isNamed, "\(names)")
    }
  }

  // MARK: Links of links

  @Test("a port carries its master's packets, unless that is a VRF")
  func aPortCarriesItsMastersPackets() throws {
    var network = BuiltNetwork()
    for (index, kind) in [(10, "bridge"), (11, "bond"), (12, "vrf"), (13, nil)] as [(UInt32, String?)] {
      try network.add(Fields(index: index, name: "m\(index)", infoKind: kind))
    }
    for (master, isPort) in [
      (nil, false), (10, true), (11, true), (12, false), (13, true), (99, true),
    ] as [(UInt32?, Bool)] {
      try network.add(Fields(index: 3, master: master))
      #expect(network.links.isPort(try #require(network.links[3])) == isPort)
    }
  }

  @Test("a bridge that is down carries nothing, whatever its ports do; a VLAN on it neither")
  func aBridgeThatIsDownCarriesNothing() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 5, name: "port", master: 10))
    for (isBridgeUp, isPortUp) in [(true, true), (true, false), (false, true)] {
      let (flags, state): (UInt32, OperationalState) = isBridgeUp ? (0x11043, .up) : (0x1002, .down)
      try network.add(Fields(index: 10, name: "br0", flags: flags, state: state, infoKind: "bridge"))
      try network.add(Fields(index: 5, name: "port", flags: isPortUp ? 0x11043 : 0x1002, state: .up, master: 10))
      try network.add(Fields(index: 11, name: "br0.7", infoKind: "vlan", lower: 10))
      #expect(try network.isOperating(10) == (isBridgeUp && isPortUp))
      #expect(try network.isOperating(11) == (isBridgeUp && isPortUp))
    }
    // On another link, the kernel's own word on the VLAN counts.
    try network.add(Fields(index: 12, name: "eth0", flags: 0x1002, state: .down))
    try network.add(Fields(index: 13, name: "eth0.7", infoKind: "vlan", lower: 12))
    #expect(try network.isOperating(13))
    try network.add(Fields(index: 13, name: "eth0.7", flags: 0x1003, state: .down, infoKind: "vlan", lower: 12))
    #expect(try !network.isOperating(13))
  }

  /// As a kernel was seen to say it, for up to a second until it announced the loss (net/core/link_watch.c).
  @Test func aCarrierThatIsLostIsSeenBeforeItIsAnnounced() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "eth0", flags: 0x11043, state: .up))
    #expect(try network.isOperating(3))
    try network.add(Fields(index: 3, name: "eth0", flags: 0x1043, state: .up))
    #expect(try !network.isOperating(3))
  }

  @Test("the hardware of a link is what is lowest: the active port of a bond, else all ports")
  func theHardwareIsWhatIsLowest() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "eth0", master: 10))
    try network.add(Fields(index: 4, name: "eth1", master: 10))
    try network.add(Fields(index: 10, name: "bond0", infoKind: "bond"))
    try network.add(Fields(index: 11, name: "bond0.7", infoKind: "vlan", lower: 10))
    try network.add(Fields(index: 12, name: "lost", infoKind: "vlan", lower: 99))
    func hardware(_ index: UInt32) throws -> [UInt32] {
      network.links.hardware(of: try #require(network.links[index])).map(\.index)
    }
    #expect(try hardware(3) == [3])
    #expect(try hardware(10) == [3, 4])
    #expect(try hardware(11) == [3, 4])
    #expect(try hardware(12) == [])
    try network.add(Fields(index: 10, name: "bond0", infoKind: "bond", activePort: 4))
    #expect(try hardware(11) == [4])
    try network.add(Fields(index: 10, name: "bond0", infoKind: "bond", activePort: 77))
    #expect(try hardware(11) == [3, 4], "the active port is not known")
  }

  /// VLANs on bridges whose ports are VLANs on bridges: as many as the kernel stacks (MAX_NEST_DEV of
  /// linux/netdevice.h), the lowest included.
  @Test("bridges and VLANs in turn are looked through to the lowest", arguments: ["bridge", "vlan"])
  func bridgesAndVLANsInTurnAreLookedThrough(highest: String) throws {
    func stack(_ lowest: Fields) throws -> BuiltNetwork {
      var network = BuiltNetwork()
      var lowest = lowest
      lowest.index = 1
      for index: UInt32 in 1...8 {
        var fields = index == 1 ? lowest : Fields(index: index, name: "l\(index)")
        // From the highest one downwards they take turns.
        let isVLAN = (index % 2 == 0) == (highest == "vlan")
        if index > 1 { fields.infoKind = isVLAN ? "vlan" : "bridge" }
        if index > 1, isVLAN { fields.lower = index - 1 }
        if index < 8, isVLAN { fields.master = index + 1 }
        try network.add(fields, .init(isWireless: true))
      }
      return network
    }
    let radio = try stack(Fields(name: "wlan0"))
    #expect(try radio.kind(of: 8) == .wifi)
    #expect(try radio.isOperating(8))
    #expect(radio.links.hardware(of: try #require(radio.links[8])).map(\.index) == [1])
    // A bridge without a port carries nothing, and so does what is built on it.
    if highest == "vlan" { #expect(try !stack(Fields(name: "br0", infoKind: "bridge")).isOperating(8)) }
  }

  /// Nothing is stacked deeper, but messages may make a circle for a moment.
  @Test func aStackThatNoKernelMakesIsOfNoKind() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 1, name: "wlan0"), .init(isWireless: true))
    for index: UInt32 in 2...9 {
      try network.add(Fields(index: index, name: "l\(index)", infoKind: "vlan", lower: index - 1))
    }
    #expect(try network.kind(of: 8) == .wifi && network.kind(of: 9) == .other)
    #expect(network.links.hardware(of: try #require(network.links[9])).isEmpty)
  }

  @Test("a bond whose active port is made of it, for a moment, is of no kind")
  func aCircleByTheActivePortEnds() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 5, name: "bond0", infoKind: "bond", activePort: 6))
    try network.add(Fields(index: 6, name: "bond1", infoKind: "bond", master: 5, activePort: 5))
    #expect(try network.kind(of: 5) == .other && network.kind(of: 6) == .other)
    #expect(network.links.hardware(of: try #require(network.links[5])).isEmpty)
  }
}
