// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Paths at the boundaries of their rules, on states made by hand.
struct PathBoundaryTests {
  typealias Fields = BuiltMessages.LinkFields
  typealias Assembly = NetworkPathAssembly

  /// eth0 (2) and eth1 (3), wired, wlan0 (4), wwan0 (5), all with IPv4 addresses.
  private func network() throws -> BuiltNetwork {
    var network = BuiltNetwork()
    try network.add(Fields(index: 2, name: "eth0"))
    try network.add(Fields(index: 3, name: "eth1"))
    try network.add(Fields(index: 4, name: "wlan0"), .init(isWireless: true))
    try network.add(Fields(index: 5, name: "wwan0", deviceType: .rawIP))
    for index: UInt32 in 2...5 { try network.add("10.0.\(index).1", 24, on: index) }
    return network
  }

  private func assembly(
    _ network: BuiltNetwork, _ configure: (inout PathConfiguration) -> Void = { _ in }
  ) -> Assembly {
    var configuration = PathConfiguration()
    configure(&configuration)
    return Assembly(network.decision(), configuration)
  }

  private static let roots: [IPAddress.Family: IPAddress] = [
    .ipv4: .rootServer(.ipv4), .ipv6: .rootServer(.ipv6),
  ]

  private func way(
    _ network: BuiltNetwork, _ index: UInt32, _ family: IPAddress.Family = .ipv4, metric: UInt32 = 0,
    via gateway: String? = nil
  ) throws -> Assembly.Way {
    Assembly.Way(
      Reachability(
        status: .reachable, flags: .reachable, interface: try network.interface(index),
        gateway: gateway.flatMap { IPAddress($0) }, destination: Self.roots[family]), metric: metric)
  }

  private func noWay(_ family: IPAddress.Family = .ipv4) -> Assembly.Way {
    Assembly.Way(Reachability(status: .unreachable, destination: Self.roots[family], reason: .noRoute))
  }

  private func ways(_ network: BuiltNetwork, _ index: UInt32, _ ways: Assembly.Way...) throws -> Assembly.Ways {
    Assembly.Ways(link: try #require(network.links[index]), ways: ways)
  }

  // MARK: Order

  /// ip-route(8): a metric has 32 bits, all of which may be set.
  @Test func aLinkThatLeadsOnComesBeforeOneThatDoesNotWhateverItsMetric() throws {
    let network = try network()
    let path = assembly(network).path(
      general: [try way(network, 4)],
      bound: [
        try ways(network, 2, noWay()), try ways(network, 3, way(network, 3, metric: .max)),
        try ways(network, 4, way(network, 4, metric: .max)), try ways(network, 5, noWay()),
      ], nameServers: [])
    #expect(path.interfaces.map(\.name) == ["wlan0", "eth1", "eth0", "wwan0"])
    #expect(path.interfaces.map(\.leadsToInternet) == [true, true, false, false])
  }

  @Test func theLinkOfUnboundPacketsComesFirstOnlyIfTheyLeave() throws {
    let network = try network()
    let waiting = Assembly.Way(
      Reachability(
        status: .requiresConnection, interface: try network.interface(5), destination: Self.roots[.ipv4],
        reason: .dormant))
    let path = assembly(network).path(
      general: [waiting], bound: [try ways(network, 2, way(network, 2)), try ways(network, 5, way(network, 5))],
      nameServers: [])
    #expect(path.interfaces.map(\.name) == ["eth0", "wwan0"])
    #expect(path.status == .requiresConnection && path.reason == .dormant)
  }

  // MARK: Links by which unbound packets leave

  @Test func othersAreTheLinksThatUnboundPacketsTakeEachOnce() throws {
    var network = try network()
    try network.add(Fields(index: 8, name: "tun0", deviceType: .none, flags: 0x11051, infoKind: "tun"))
    try network.add(Fields(index: 1, name: "lo", deviceType: .loopback, flags: 0x10049, state: .unknown))
    let general = [try way(network, 8), try way(network, 8, .ipv6)]
    func others(_ general: [Assembly.Way], _ configure: (inout PathConfiguration) -> Void = { _ in }) -> [UInt32] {
      let assembly = assembly(network, configure)
      return assembly.others(takenBy: general, than: assembly.candidates).map(\.index)
    }
    #expect(others(general) == [8])
    #expect(others([try way(network, 2), try way(network, 8, .ipv6)]) == [8])
    #expect(others([noWay(), noWay(.ipv6)]) == [])
    #expect(others([try way(network, 1)]) == [], "loopback does not count")
    #expect(others(general) { $0.requiredKinds = [.wired] } == [])
    #expect(others(general) { $0.interface = "eth0" } == [])
    #expect(others(general) { $0.interface = "tun0" } == [], "it is a candidate by itself")
  }

  @Test func whatUnboundPacketsFindCompletesWhatBoundOnesDo() throws {
    let network = try network()
    let general = [try way(network, 2, via: "10.0.2.254"), try way(network, 2, .ipv6, via: "fe80::2")]
    func interface(_ bound: Assembly.Ways) throws -> NetworkPath.Interface {
      try #require(assembly(network).path(general: general, bound: [bound], nameServers: []).interfaces.first)
    }
    // Bound packets cannot leave by one family.
    let half = try interface(ways(network, 2, way(network, 2, via: "10.0.2.9"), noWay(.ipv6)))
    #expect(half.supportsIPv4 && half.supportsIPv6)
    #expect(half.gateways.map(\.description) == ["10.0.2.9", "fe80::2"])
    let whole = try interface(
      ways(network, 2, way(network, 2, via: "10.0.2.9"), way(network, 2, .ipv6, via: "fe80::9")))
    #expect(whole.gateways.map(\.description) == ["10.0.2.9", "fe80::9"])
    let none = try interface(ways(network, 2, noWay(), noWay(.ipv6)))
    #expect(none.gateways.map(\.description) == ["10.0.2.254", "fe80::2"])
    // Another link's ways are its own.
    let other = try interface(ways(network, 3, noWay(), noWay(.ipv6)))
    #expect(!other.supportsIPv4 && !other.supportsIPv6 && other.gateways.isEmpty)
  }

  @Test func aRouterOfBothFamiliesIsNamedOnce() throws {
    // RFC 5549: an IPv4 route may have an IPv6 gateway.
    let network = try network()
    let bound = try ways(network, 2, way(network, 2, via: "fe80::2"), way(network, 2, .ipv6, via: "fe80::2"))
    let path = assembly(network).path(general: [try way(network, 2)], bound: [bound], nameServers: [])
    #expect(path.interfaces.first?.gateways.map(\.description) == ["fe80::2"])
  }

  // MARK: Why nothing leaves

  @Test("a port is no reason why a restricted path leads nowhere, unless it is named", arguments: [true, false])
  func aPortIsNoReason(isNamed: Bool) throws {
    var network = BuiltNetwork()
    try network.add(Fields(index: 9, name: "br0", flags: 0x1002, state: .down, infoKind: "bridge"))
    try network.add(Fields(index: 3, name: "eth1", flags: 0x1003, state: .down, master: 9))
    try network.add(Fields(index: 4, name: "wlan0", flags: 0x1002, state: .down), .init(isWireless: true))
    let path = assembly(network) {
      if isNamed { $0.interface = "eth1" } else { $0.prohibitedKinds = [.cellular] }
    }.path(general: [noWay()], bound: [], nameServers: [])
    // The bridge is made of a wired port, and virtual: without an address it is asked for by itself.
    #expect(path.status == .unsatisfied)
    #expect(path.reason == (isNamed ? .noCarrier : .linkDown))
  }

  @Test func aLinkThatWasAskedForSpeaksForItself() throws {
    let network = try network()
    let refused = Assembly.Way(
      Reachability(status: .unreachable, destination: Self.roots[.ipv4], reason: .prohibited))
    let path = assembly(network) { $0.interface = "eth0" }
      .path(general: [refused], bound: [try ways(network, 2, refused)], nameServers: [])
    #expect(path.status == .unsatisfied && path.reason == .prohibited)
  }

  // MARK: Name servers

  @Test(
    "of a restricted path, a name server counts if its packets leave by an allowed link, or this machine asks others",
    arguments: [
      (2, true), (3, true), (4, false), (5, false), (77, false), (nil, false),
    ] as [(UInt32?, Bool)])
  func aNameServerCountsOverAnAllowedLink(index: UInt32?, isSupported: Bool) throws {
    let network = try network()
    let interface = index.map { NetworkInterface(name: "any", index: $0, kind: .wired) } ?? nil
    let server = Reachability(status: .reachable, flags: .reachable, interface: interface)
    func path(_ server: Reachability, _ configure: (inout PathConfiguration) -> Void) throws -> NetworkPath {
      assembly(network, configure)
        .path(general: [try way(network, 2)], bound: [try ways(network, 2, way(network, 2))], nameServers: [server])
    }
    #expect(try path(server) { $0.requiredKinds = [.wired] }.supportsDNS == isSupported)
    #expect(try path(server) { _ in }.supportsDNS, "without restrictions any link is allowed")
    var local = server
    local.flags = [.reachable, .isLocalAddress]
    #expect(try path(local) { $0.requiredKinds = [.wired] }.supportsDNS)
    var unreachable = server
    unreachable.status = .unreachable
    #expect(try !path(unreachable) { _ in }.supportsDNS)
  }

  // MARK: Addresses

  /// linux/if_addr.h: IFA_F_TEMPORARY of IPv6 has the bit of IFA_F_SECONDARY of IPv4.
  @Test func aSecondaryAddressOfIPv4IsNotTemporary() throws {
    var network = try network()
    try network.add("10.0.2.7", 24, on: 2, .temporary)
    try network.add("10.0.2.8", 24, on: 2, .tentative)
    let path = assembly(network).path(
      general: [try way(network, 2)], bound: [try ways(network, 2, way(network, 2))], nameServers: [])
    let interface = try #require(path.interfaces.first)
    #expect(interface.addresses.map(\.description) == ["10.0.2.1", "10.0.2.7"])
    #expect(interface.temporaryAddresses.isEmpty)
  }

  @Test("metered and constrained are what the configuration names, by any name", arguments: ["eth0", "uplink", "eth1"])
  func theConfigurationNamesLinks(name: String) throws {
    var network = try network()
    try network.add(Fields(index: 2, name: "eth0", alternativeNames: ["uplink"]))
    let bound = [try ways(network, 2, way(network, 2)), try ways(network, 5, way(network, 5))]
    let metered = assembly(network) { $0.meteredInterfaces = [name] }
      .path(general: [try way(network, 2)], bound: bound, nameServers: [])
    #expect(metered.interfaces.map(\.isExpensive) == [name != "eth1", true])
    #expect(metered.interfaces.map(\.isConstrained) == [false, false])
    let constrained = assembly(network) { $0.constrainedInterfaces = [name] }
      .path(general: [try way(network, 2)], bound: bound, nameServers: [])
    #expect(constrained.interfaces.map(\.isConstrained) == [name != "eth1", false])
    #expect(constrained.interfaces.map(\.isExpensive) == [false, true])
  }
}
