// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

@testable import Dialtone

/// How a path is made of links, addresses and routes, on messages made by hand.
struct NetworkPathAssemblyTests {
  typealias Fields = BuiltMessages.LinkFields
  typealias Way = NetworkPathAssembly.Way

  /// eth0 (2) and eth1 (3), wired, wlan0 (4), wwan0 (5), all with IPv4 addresses; lo (1).
  private func network() throws -> BuiltNetwork {
    var network = BuiltNetwork()
    try network.add(Fields(index: 1, name: "lo", deviceType: .loopback, flags: 0x10049, state: .unknown))
    try network.add("127.0.0.1", 8, on: 1)
    try network.add(Fields(index: 2, name: "eth0"))
    try network.add(Fields(index: 3, name: "eth1"))
    try network.add(Fields(index: 4, name: "wlan0"), .init(isWireless: true))
    try network.add(Fields(index: 5, name: "wwan0", deviceType: .rawIP, flags: 0x10051))
    for index: UInt32 in 2...5 { try network.add("10.0.\(index).1", 24, on: index) }
    return network
  }

  @Test(
    "a port carries the packets of its master; one of a VRF carries its own",
    arguments: [
      ("bridge", false), ("bond", false), ("team", false), ("openvswitch", false), ("vrf", true),
    ])
  func aPortCarriesThePacketsOfItsMaster(master: String, isListed: Bool) throws {
    var network = try network()
    try network.add(Fields(index: 9, name: "m0", infoKind: master))
    try network.add(Fields(index: 3, name: "eth1", master: 9))
    #expect(network.candidates().contains("eth1") == isListed)
    // An interface that is asked for by name counts.
    #expect(network.candidates { $0.interface = "eth1" } == ["eth1"])
  }

  @Test("a virtual link without an address of its own is not chosen, unless asked for or cellular")
  func aVirtualLinkWithoutAnAddressIsNotChosen() throws {
    var network = try network()
    try network.add(Fields(index: 10, name: "veth0", infoKind: "veth"))
    try network.add(Fields(index: 11, name: "wwan1", deviceType: .rawIP, infoKind: "wwan"))
    try network.add(Fields(index: 12, name: "eth2"))
    for index: UInt32 in 10...12 { try network.add("fe80::1", 64, on: index) }
    #expect(network.candidates() == ["eth0", "eth1", "wlan0", "wwan0", "wwan1", "eth2"])
    #expect(network.candidates { $0.interface = "veth0" } == ["veth0"])
    try network.add("2001:db8::1", 64, on: 10)
    #expect(network.candidates().contains("veth0"))
  }

  @Test("what is down, has no usable address or is the loopback interface is no candidate")
  func unusableLinksAreNoCandidates() throws {
    var network = try network()
    try network.add(Fields(index: 2, name: "eth0", flags: 0x1003, state: .down))
    try network.add(Fields(index: 13, name: "bare"))
    try network.add(Fields(index: 14, name: "tentative"))
    try network.add("2001:db8::1", 64, on: 14, .tentative)
    #expect(network.candidates() == ["eth1", "wlan0", "wwan0"])
    #expect(network.candidates { $0.interface = "lo" } == [])
    #expect(network.candidates { $0.requiredKinds = [.loopback] } == [])
  }

  @Test(
    "kinds and name choose the interfaces",
    arguments: [
      ([.wired], [], nil, ["eth0", "eth1"]), ([.wired, .wifi], [], nil, ["eth0", "eth1", "wlan0"]),
      ([], [.cellular], nil, ["eth0", "eth1", "wlan0"]), ([.wired], [.wired], nil, []), ([], [], "wlan0", ["wlan0"]),
      ([.wired], [], "wlan0", []), ([], [], "4", ["wlan0"]), ([], [], "missing", []),
      ([], [], "a-name-far-too-long", []),
      ([], [], "", []),
    ] as [(Set<InterfaceKind>, Set<InterfaceKind>, String?, [String])])
  func kindsAndNameChoose(
    required: Set<InterfaceKind>, prohibited: Set<InterfaceKind>, name: String?, expected: [String]
  ) throws {
    let candidates = try network().candidates {
      $0.requiredKinds = required
      $0.prohibitedKinds = prohibited
      $0.interface = name
    }
    #expect(candidates == expected)
  }

  @Test("an interface whose name is a number is found by its name, not by its index")
  func aNumberIsANameAndNoIndex() throws {
    var network = try network()
    try network.add(Fields(index: 14, name: "2"))
    try network.add("10.0.14.1", 24, on: 14)
    #expect(network.candidates { $0.interface = "2" } == ["2"])
  }

  @Test("first the link by which unbound packets leave, then by metric, then links that lead nowhere")
  func unboundPacketsThenMetricDecideTheOrder() throws {
    let network = try network()
    let path = try network.path(
      general: [.ipv4: .via(4, metric: 600)],
      bound: [
        2: [.ipv4: .via(2, metric: 100)], 3: [:], 4: [.ipv4: .via(4, metric: 600)],
        5: [.ipv4: .via(5, metric: 50)],
      ])
    #expect(path.status == .satisfied)
    #expect(path.reason == nil)
    #expect(path.interfaces.map(\.name) == ["wlan0", "wwan0", "eth0", "eth1"])
    #expect(path.interfaces.map(\.leadsToInternet) == [true, true, true, false])
    #expect(path.preferredInterface?.name == "wlan0")
    #expect(path.gateways.map(\.description) == ["10.0.4.254", "10.0.5.254", "10.0.2.254"])
    #expect(path.description == "satisfied via Wi-Fi (wlan0), cellular (wwan0), wired (eth0)")
  }

  @Test("equal metrics: the lower index first; of two families the lower metric counts")
  func theLowerIndexBreaksATie() throws {
    let network = try network()
    let path = try network.path(
      general: [.ipv4: .via(2)],
      bound: [
        2: [.ipv4: .via(2)], 3: [.ipv4: .via(3, metric: 1024), .ipv6: .via(3, metric: 90)],
        4: [.ipv6: .via(4, metric: 90)], 5: [.ipv4: .via(5, metric: 100)],
      ])
    #expect(path.interfaces.map(\.name) == ["eth0", "eth1", "wlan0", "wwan0"])
    #expect(path.interfaces.map(\.supportsIPv4) == [true, true, false, true])
    #expect(path.interfaces.map(\.supportsIPv6) == [false, true, true, false])
  }

  @Test("if unbound packets are blocked the path is unsatisfied, even if bound ones get through")
  func blockedUnboundPacketsLeaveThePathUnsatisfied() throws {
    let network = try network()
    let path = try network.path(
      general: [.ipv4: .refusal(EACCES), .ipv6: .refusal(EACCES)],
      bound: [2: [.ipv4: .via(2), .ipv6: .via(2)]])
    #expect(path.status == .unsatisfied)
    #expect(path.reason == .prohibited)
    #expect(path.interfaces.first?.leadsToInternet == true)
    #expect(!path.supportsIPv4 && !path.supportsIPv6)
    #expect(path.preferredInterface == nil)
    #expect(path.gateways.isEmpty)
    #expect(!path.uses(.wired))
    #expect(path.description == "unsatisfied: a route or rule prohibits it")
  }

  @Test("a family that is blocked is not supported while the other is")
  func aBlockedFamilyIsNotSupported() throws {
    let network = try network()
    let path = try network.path(
      general: [.ipv4: .via(2), .ipv6: .refusal(EHOSTUNREACH)],
      bound: [2: [.ipv4: .via(2), .ipv6: .via(2)]])
    #expect(path.status == .satisfied)
    #expect(path.supportsIPv4)
    #expect(!path.supportsIPv6)
  }

  @Test("what restricts the interfaces makes packets that are bound to them the measure")
  func restrictedPathsAreJudgedByBoundPackets() throws {
    let network = try network()
    let general: [IPAddress.Family: Told] = [.ipv4: .via(4)]
    let bound: [UInt32: [IPAddress.Family: Told]] = [2: [.ipv4: .via(2, metric: 9)], 3: [.ipv4: .via(3)]]
    let wired = try network.path(general: general, bound: bound) { $0.requiredKinds = [.wired] }
    #expect(wired.status == .satisfied)
    #expect(wired.interfaces.map(\.name) == ["eth1", "eth0"])
    #expect(wired.supportsIPv4 && !wired.supportsIPv6)
    // Refused in general, but not over eth1.
    let blocked = try network.path(general: [.ipv4: .refusal(EACCES)], bound: bound) { $0.interface = "eth1" }
    #expect(blocked.status == .satisfied)
    let tunnel = try network.path(general: general, bound: [:]) { $0.requiredKinds = [.tunnel] }
    #expect(tunnel.status == .unsatisfied)
    #expect(tunnel.reason == .noInterface)
    #expect(tunnel.interfaces.isEmpty)
    let missing = try network.path(general: general, bound: [:]) { $0.interface = "missing" }
    #expect(missing.reason == .noInterface)
  }

  /// A rule may send packets without a link's address over it, which a socket that is bound to it never meets (found by
  /// RandomisedTests, seed 37942225869357818).
  @Test("unbound packets leave by a link: that counts for its kind, not for who binds to it")
  func aNamedLinkIsForPacketsThatAreBoundToIt() throws {
    for (configure, expected) in [
      ({ $0.requiredKinds = [.wired] }, NetworkPath.Status.satisfied), ({ $0.interface = "eth0" }, .unsatisfied),
    ] as [((inout PathConfiguration) -> Void, NetworkPath.Status)] {
      let path = try network().path(general: [.ipv4: .via(2)], bound: [2: [:]], configure)
      #expect(path.status == expected)
      #expect(path.supportsIPv4 == (expected == .satisfied))
    }
  }

  @Test("the unbound packets' interface comes first among those that count, too")
  func theUnboundPacketsInterfaceComesFirst() throws {
    let network = try network()
    let path = try network.path(
      general: [.ipv4: .via(3, metric: 7)],
      bound: [2: [.ipv4: .via(2)], 3: [.ipv4: .via(3, metric: 7)]]
    ) { $0.prohibitedKinds = [.cellular] }
    #expect(path.interfaces.map(\.name) == ["eth1", "eth0"])
  }

  @Test(
    "why no interface that counts leads anywhere",
    arguments: [
      (UInt32(0x1003), Reachability.Reason.noCarrier), (0x1002, .linkDown),
    ])
  func saysWhyNoAllowedInterfaceLeadsOn(flags: UInt32, reason: Reachability.Reason) throws {
    var network = try network()
    try network.add(Fields(index: 4, name: "wlan0", flags: flags, state: .down), .init(isWireless: true))
    let path = try network.path(general: [.ipv4: .via(2)], bound: [:]) { $0.requiredKinds = [.wifi] }
    #expect(path.status == .unsatisfied)
    #expect(path.reason == reason)
  }

  @Test("a modem without a session, a link that is dormant: a connection is required")
  func aDormantLinkOrAModemWithoutASessionRequiresAConnection() throws {
    var network = try network()
    try network.add(Fields(index: 5, name: "wwan0", deviceType: .rawIP, flags: 0x1003, state: .down))
    let cellular = try network.path(general: [:], bound: [:]) { $0.requiredKinds = [.cellular] }
    #expect(cellular.status == .requiresConnection)
    #expect(cellular.reason == .noSession)
    try network.add(Fields(index: 2, name: "eth0", flags: 0x11003, state: .dormant))
    let general = try network.path(general: [.ipv4: .via(2)], bound: [:])
    #expect(general.status == .requiresConnection)
    #expect(general.reason == .dormant)
    #expect(general.preferredInterface == nil)
  }

  @Test("a link without an address is listed if packets leave by it; so is a port", arguments: [nil, UInt32(9)])
  func aLinkWithoutAnAddressIsListedIfPacketsLeaveByIt(master: UInt32?) throws {
    var network = try network()
    try network.add(Fields(index: 9, name: "br0", infoKind: "bridge"))
    try network.add(Fields(index: 8, name: "tun0", deviceType: .none, flags: 0x11051, infoKind: "tun", master: master))
    #expect(!network.candidates().contains("tun0"))
    for required: Set<InterfaceKind> in [[], [.tunnel]] {
      let path = try network.path(general: [.ipv4: .via(8)], bound: [2: [.ipv4: .via(2)]]) {
        $0.requiredKinds = required
      }
      #expect(path.status == .satisfied)
      #expect(path.interfaces.first?.name == "tun0")
      #expect(path.interfaces.first?.supportsIPv4 == true)
      #expect(path.interfaces.first?.addresses == [])
    }
    let wired = try network.path(general: [.ipv4: .via(8)], bound: [2: [:]]) { $0.requiredKinds = [.wired] }
    #expect(wired.status == .unsatisfied)
    #expect(wired.interfaces.map(\.name) == ["eth0"])
  }

  @Test("an unknown answer makes the path undetermined", arguments: [false, true])
  func aLostAnswerIsUndetermined(isRestricted: Bool) throws {
    let path = try network().path(
      general: [.ipv4: .lost, .ipv6: .refusal(ENETUNREACH)], bound: [2: [.ipv4: .lost]]
    ) { if isRestricted { $0.interface = "eth0" } }
    #expect(path.status == .undetermined)
    #expect(path.reason == .denied)
    #expect(path.description == "undetermined: the system denies access to the network's state")
  }

  @Test("addresses in an order of their own: IPv4, IPv6, link-local ones last; each once; temporary ones apart")
  func addressesAreSortedAndListedOnce() throws {
    var network = try network()
    try network.add("2001:db8::9", 64, on: 2, .temporary)
    try network.add("fe80::9", 64, on: 2)
    try network.add("2001:db8::2", 64, on: 2)
    try network.add("2001:db8::1", 64, on: 2)
    try network.add("2001:db8::8", 64, on: 2, [.temporary, .tentative])
    try network.add("169.254.0.1", 16, on: 2)
    try network.add("10.0.0.1", 24, on: 2)
    try network.add("10.0.2.1", 16, on: 2)
    let interface = try #require(try network.path(general: [:], bound: [2: [:]]).interfaces.first)
    #expect(
      interface.addresses.map(\.description) == [
        "10.0.0.1", "10.0.2.1", "169.254.0.1", "2001:db8::1", "2001:db8::2", "fe80::9",
      ])
    #expect(interface.temporaryAddresses.map(\.description) == ["2001:db8::9"])
  }

  @Test("cellular and metered interfaces are expensive, those that the user names are constrained")
  func cellularAndMeteredInterfacesAreExpensive() throws {
    let network = try network()
    let bound: [UInt32: [IPAddress.Family: Told]] = [2: [.ipv4: .via(2)], 5: [.ipv4: .via(5)]]
    let wired = try network.path(general: [.ipv4: .via(2)], bound: bound)
    #expect(wired.interfaces.map(\.isExpensive) == [false, true])
    #expect(!wired.isExpensive && !wired.isConstrained)
    let marked = try network.path(general: [.ipv4: .via(2)], bound: bound) {
      $0.meteredInterfaces = ["eth0"]
      $0.constrainedInterfaces = ["eth0", "missing"]
    }
    #expect(marked.isExpensive && marked.isConstrained)
    #expect(marked.description == "satisfied via wired (eth0), cellular (wwan0), expensive, constrained")
    #expect(try network.path(general: [.ipv4: .via(5)], bound: bound).isExpensive)
  }

  @Test(
    "a name server supports DNS if it can be reached; one on this machine, if it can reach others",
    arguments: [
      (true, [], false), (true, ["192.0.2.1"], true), (true, ["127.0.0.1"], true), (false, ["127.0.0.1"], false),
      (false, ["192.0.2.1"], true), (true, ["198.51.100.1"], false), (false, ["127.0.0.1", "192.0.2.1"], true),
    ])
  func aReachableNameServerSupportsDNS(isSatisfied: Bool, servers: [String], isSupported: Bool) throws {
    let network = try network()
    let states = try servers.map { server in
      let isLocal = server == "127.0.0.1"
      return Reachability(
        status: server == "198.51.100.1" ? .unreachable : .reachable,
        flags: isLocal ? [.reachable, .isLocalAddress] : .reachable, destination: try address(server))
    }
    let path = try network.path(
      general: [.ipv4: isSatisfied ? .via(2) : .refusal(ENETUNREACH)], bound: [:], nameServers: states)
    #expect(path.supportsDNS == isSupported)
  }
}

/// What the kernel answers about a way.
private enum Told {
  case via(UInt32, metric: UInt32 = 0)
  case refusal(CInt)
  case lost
}

extension BuiltNetwork {
  /// The names of the links that are asked about.
  fileprivate func candidates(_ configure: (inout PathConfiguration) -> Void = { _ in }) -> [String] {
    var configuration = PathConfiguration()
    configure(&configuration)
    return NetworkPathAssembly(decision(), configuration).candidates.map(\.name.text)
  }

  /// The path if the kernel gives these answers. For what is not listed, there is no route.
  fileprivate func path(
    general: [IPAddress.Family: Told], bound: [UInt32: [IPAddress.Family: Told]], nameServers: [Reachability] = [],
    _ configure: (inout PathConfiguration) -> Void = { _ in }
  ) throws -> NetworkPath {
    var configuration = PathConfiguration()
    configure(&configuration)
    let assembly = NetworkPathAssembly(decision(), configuration)
    let general = try ways(general)
    let candidates = assembly.candidates
    let links =
      candidates.filter { bound.keys.contains($0.index) } + assembly.others(takenBy: general, than: candidates)
    return assembly.path(
      general: general,
      bound: try links.map { .init(link: $0, ways: try ways(bound[$0.index] ?? [:], output: $0.index)) },
      nameServers: nameServers)
  }

  private func ways(
    _ told: [IPAddress.Family: Told], output: UInt32? = nil
  ) throws -> [NetworkPathAssembly.Way] {
    try [IPAddress.Family.ipv4, .ipv6].map { family in
      let target = try address(family == .ipv4 ? "198.41.0.4" : "2001:503:ba3e::2:30")
      var replies: RouteReplies
      var metric: UInt32 = 0
      switch told[family] ?? .refusal(ENETUNREACH) {
      case .refusal(let errno): replies = RouteReplies(match: .refusal(errno), plain: .refusal(errno))
      case .lost: replies = RouteReplies()
      case .via(let link, let itsMetric):
        metric = itsMetric
        let (kernelFamily, gateway, source): (KernelAddressFamily, String, String) =
          family == .ipv4 ? (.ipv4, "10.0.\(link).254", "10.0.\(link).1") : (.ipv6, "fe80::\(link)", "2001:db8::1")
        replies = RouteReplies(
          match: try BuiltMessages.route(kernelFamily, over: link, via: gateway),
          plain: try BuiltMessages.route(kernelFamily, over: link, via: gateway, from: source))
      }
      return .init(decision().decide(target, replies, output: output), metric: metric)
    }
  }
}
