// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// The kind of a link, on messages made by hand after captures of a machine with such links (see Scenarios.md).
struct InterfaceKindTests {
  typealias Fields = BuiltMessages.LinkFields

  struct Row: CustomTestStringConvertible, Sendable {
    let name: String
    let type: UInt16
    let kind: String?
    let evidence: InterfaceKind.Evidence
    let expected: InterfaceKind
    var flags: UInt32 = 0x1002

    var testDescription: String { name }

    init(
      _ expected: InterfaceKind, _ name: String, _ type: UInt16, _ kind: String? = nil, isWireless: Bool = false,
      uevent: String? = nil, flags: UInt32 = 0x1002
    ) {
      self.name = name
      self.type = type
      self.kind = kind
      self.expected = expected
      self.flags = flags
      evidence = .init(isWireless: isWireless, deviceType: uevent)
    }
  }

  @Test(arguments: [
    Row(.loopback, "lo", 772, flags: 0x10049),
    Row(.wired, "a wired card", 1),
    Row(.wired, "netdevsim's eth0", 1),
    Row(.wifi, "mac80211_hwsim's wlan1, by nl80211", 1, isWireless: true, uevent: "wlan"),
    Row(.wifi, "wlan1 in another namespace: sysfs does not show it", 1, isWireless: true),
    Row(.wifi, "wlan1 where nl80211 is refused", 1, uevent: "wlan"),
    Row(.wifi, "virt_wifi", 1, "virt_wifi", uevent: "wlan"),
    Row(.cellular, "wwan_hwsim's wwan0-1", 65534, "wwan", uevent: "wwan"),
    Row(.cellular, "cdc_ether's wwan0: Ethernet, by its uevent", 1, uevent: "wwan"),
    Row(.wired, "cdc_ether's usb0: no uevent of its own", 1),
    Row(.cellular, "qmi_wwan in raw-IP mode: no link layer", 65534, uevent: "wwan"),
    Row(.cellular, "ARPHRD_RAWIP", 519),
    Row(.cellular, "the number of some modems before it", 530),
    Row(.cellular, "rmnet", 519, "rmnet"),
    Row(.cellular, "ppp over a modem", 512, "ppp", uevent: "wwan"),
    Row(.tunnel, "ppp", 512, "ppp", uevent: "ppp"),
    Row(.tunnel, "ppp of an older kernel", 512),
    Row(.tunnel, "wg0", 65534, "wireguard", uevent: "wireguard"),
    Row(.tunnel, "tun0", 65534, "tun"),
    Row(.wired, "tap0", 1, "tun"),
    Row(.tunnel, "gre", 778, "gre"),
    Row(.tunnel, "gretap", 1, "gretap"),
    Row(.tunnel, "vxlan", 1, "vxlan", uevent: "vxlan"),
    Row(.tunnel, "sit0, made with the module", 776, "sit"),
    Row(.tunnel, "ip6tnl0 without a kind", 769),
    Row(.wired, "veth", 1, "veth"),
    Row(.other, "dummy", 1, "dummy"),
    Row(.other, "ifb", 1, "ifb"),
    Row(.other, "vrf", 1, "vrf", uevent: "vrf"),
    Row(.other, "a monitor device of Wi-Fi", 803, isWireless: true, uevent: "wlan"),
    Row(.other, "nlmon", 824, "nlmon"),
    Row(.other, "can0", 280),
    Row(.wired, "InfiniBand", 32),
  ])
  func readsTheKind(row: Row) throws {
    var fields = Fields()
    fields.deviceType = DeviceType(rawValue: row.type)
    fields.infoKind = row.kind
    fields.flags = row.flags
    let message = try BuiltMessages.link(fields)
    #expect(InterfaceKind(message) { row.evidence } == row.expected)
  }

  @Test("a name proves nothing", arguments: ["wlan0", "wwan0", "lo", "tun0", "ppp0", "docker0"])
  func aNameProvesNothing(name: String) throws {
    let message = try BuiltMessages.link(Fields(name: name))
    #expect(InterfaceKind(message) { .init() } == .wired)
  }

  @Test("a VLAN or macvlan is what its lower link is", arguments: ["vlan", "macvlan", "macvtap", "ipvlan", "macsec"])
  func aStackedLinkHasTheKindOfItsLowerLink(kind: String) throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 10, name: "wlan0"), .init(isWireless: true))
    try network.add(Fields(index: 12, name: "wlan0.10", infoKind: kind, lower: 10))
    try network.add(Fields(index: 13, name: "x", infoKind: kind, lower: 12))
    #expect(try network.kind(of: 12) == .wifi)
    #expect(try network.kind(of: 13) == .wifi)
    // Its lower link is in another namespace. There its index is 10, which is another link's here.
    try network.add(Fields(index: 14, name: "y", infoKind: kind, lower: 10, lowerNamespace: 0))
    #expect(try network.kind(of: 14) == .other)
    // On a dummy, as in the capture: d0.10 on d0.
    try network.add(Fields(index: 10, name: "d0", infoKind: "dummy"))
    #expect(try network.kind(of: 12) == .other)
  }

  @Test(
    "if sysfs shows another namespace, a USB modem is recognised by what its driver says",
    arguments: [
      ("cdc_ether", "Mobile Broadband Network Device", "wwan" as String?),  // the radio lab's
      ("cdc_ether", "CDC Ethernet Device", nil),  // the same card, before it was bound as a modem
      ("qmi_wwan", "WWAN/QMI device", "wwan"), ("cdc_mbim", "CDC MBIM", "wwan"), ("hso", "", "wwan"),
      ("virtio_net", "", nil), ("e1000e", "0.5-3", nil),
    ])
  func aUSBModemIsRecognisedByItsDriver(name: String, firmware: String, deviceType: String?) {
    #expect(InterfaceKind.Evidence.deviceType(driver: name, firmware: firmware) == deviceType)
  }

  @Test("a veth's IFLA_LINK is beside it, not below")
  func theOtherEndOfAVethIsNoLowerLink() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 13, name: "v1", infoKind: "veth", lower: 0))
    try network.add(Fields(index: 14, name: "v0", infoKind: "veth", lower: 13))
    #expect(network.links[14]?.lower == nil)
    #expect(try network.kind(of: 14) == .wired)
  }

  /// Siblings reach each other by the driver's own switch (drivers/net/macvlan.c, ipvlan_core.c of Linux).
  @Test(arguments: [("macvlan", true), ("ipvtap", true), ("vlan", false), ("macsec", false)])
  func onlySiblingsNeedNoPortOfTheBridgeBelow(kind: String, operates: Bool) throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 3, name: "br0", infoKind: "bridge"))
    try network.add(Fields(index: 4, name: "m0", infoKind: kind, lower: 3))
    #expect(try network.isOperating(4) == operates)
  }

  @Test("a bridge is what its live ports are; of several kinds, or without any, other")
  func aBridgeHasTheKindOfItsLivePorts() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 15, name: "br0", infoKind: "bridge"))
    #expect(try network.kind(of: 15) == .other && !network.isOperating(15))
    try network.add(Fields(index: 16, name: "eth0", master: 15))
    #expect(try network.kind(of: 15) == .wired && network.isOperating(15))
    try network.add(Fields(index: 17, name: "wlan0", master: 15), .init(isWireless: true))
    #expect(try network.kind(of: 15) == .other && network.isOperating(15))
    try network.add(Fields(index: 16, name: "eth0", flags: 0x1003, state: .down, master: 15))
    #expect(try network.kind(of: 15) == .wifi && network.isOperating(15))
    try network.add(Fields(index: 17, name: "wlan0", flags: 0x1003, state: .down, master: 15), .init(isWireless: true))
    #expect(try !network.isOperating(15))
  }

  @Test("a bond is what its active port is; without members it is down")
  func aBondHasTheKindOfItsActivePort() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 20, name: "bond0", flags: 0x1403, state: .down, infoKind: "bond"))
    #expect(try network.kind(of: 20) == .other && !network.isOperating(20))
    try network.add(Fields(index: 21, name: "eth0", master: 20))
    try network.add(Fields(index: 22, name: "wlan0", master: 20), .init(isWireless: true))
    try network.add(Fields(index: 20, name: "bond0", infoKind: "bond", activePort: 21))
    #expect(try network.kind(of: 20) == .wired && network.isOperating(20))
    try network.add(Fields(index: 20, name: "bond0", infoKind: "bond", activePort: 22))
    #expect(try network.kind(of: 20) == .wifi)
    // Without an active port (balancing) both are live, and of different kinds.
    try network.add(Fields(index: 20, name: "bond0", infoKind: "bond"))
    #expect(try network.kind(of: 20) == .other)
  }

  @Test("links that go round in a circle end somewhere")
  func aCircleOfLinksEnds() throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 2, name: "a", infoKind: "macvlan", lower: 3))
    try network.add(Fields(index: 3, name: "b", infoKind: "macvlan", lower: 2))
    try network.add(Fields(index: 4, name: "c", infoKind: "bridge", master: 4))
    for index in [2, 3, 4] as [UInt32] {
      #expect(try network.kind(of: index) == .other)
      #expect(try network.isOperating(index), "each says so of itself")
      #expect(network.links.hardware(of: try #require(network.links[index])).isEmpty)
    }
  }

  /// linux/netdevice.h, MAX_NEST_DEV: the kernel stacks eight links, the lowest included.
  @Test func asManyLinksAsTheKernelStacksAreLookedThrough() throws {
    let (radio, bridge) = (Fields(index: 1, name: "w"), Fields(index: 1, infoKind: "bridge"))
    for (lowest, kind) in [(radio, InterfaceKind.wifi), (bridge, .other)] {
      var network = BuiltNetwork()
      try network.add(lowest, .init(isWireless: true))
      for index in 2...8 as ClosedRange<UInt32> {
        try network.add(Fields(index: index, name: "v\(index)", infoKind: "vlan", lower: index - 1))
      }
      #expect(try network.kind(of: 8) == kind)
      // A bridge without a port carries nothing.
      #expect(try network.isOperating(2) == (kind == .wifi))
      #expect(network.links.hardware(of: try #require(network.links[8])).map(\.index) == (kind == .wifi ? [1] : []))
    }
  }
}
