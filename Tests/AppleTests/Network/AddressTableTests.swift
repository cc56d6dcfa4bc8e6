// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import Foundation
import Testing

@testable import DialtoneNetwork

/// Every property of an address, at both ends of the range that has it, by RFC 4291, RFC 3056, RFC 3927, RFC 4193 and
/// the macros of netinet6/in6.h; every constant and every port, by the registries of IANA.
@Suite struct AddressTableTests {
  private static let interface = NWInterface(type: .wifi, name: "wlan0", index: 7)

  @Test("the IPv4 constants have their bytes")
  func constantsOfIPv4() {
    let table: [(IPv4Address, [UInt8])] = [
      (.any, [0, 0, 0, 0]), (.broadcast, [255, 255, 255, 255]), (.loopback, [127, 0, 0, 1]),
      (.allHostsGroup, [224, 0, 0, 1]), (.allRoutersGroup, [224, 0, 0, 2]), (.allReportsGroup, [224, 0, 0, 22]),
      (.mdnsGroup, [224, 0, 0, 251]),
    ]
    for (address, bytes) in table {
      #expect(address.rawValue == Data(bytes) && IPv4Address(Data(bytes)) == address)
      #expect(address.debugDescription == bytes.map(String.init).joined(separator: ".") && address.interface == nil)
    }
  }

  @Test(
    "the kinds of IPv4 address begin and end where they should",
    arguments: [
      ("127.0.0.1", "loopback"), ("127.0.0.0", ""), ("127.0.0.2", ""), ("126.0.0.1", ""), ("169.253.255.255", ""),
      ("169.254.0.0", "link-local"), ("169.254.255.255", "link-local"), ("169.255.0.0", ""), ("223.255.255.255", ""),
      ("224.0.0.0", "multicast"), ("239.255.255.255", "multicast"), ("240.0.0.0", ""), ("255.255.255.255", ""),
      ("0.0.0.0", ""), ("1.2.3.4", ""),
    ])
  func kindsOfIPv4(text: String, kind: String) throws {
    let address = try #require(IPv4Address(text))
    #expect(address.isLoopback == (kind == "loopback"))
    #expect(address.isLinkLocal == (kind == "link-local"))
    #expect(address.isMulticast == (kind == "multicast"))
    #expect(address.debugDescription == text)
  }

  @Test("an address of IPv4 has four bytes, and may be bound to an interface")
  func bytesOfIPv4() throws {
    let bytes = Data([9, 9, 1, 2, 3, 4])
    let address = try #require(IPv4Address(bytes[2...], Self.interface))
    #expect(address.rawValue == Data([1, 2, 3, 4]) && address.debugDescription == "1.2.3.4%wlan0")
    #expect(address.interface == Self.interface && address != IPv4Address("1.2.3.4"))
    for count in [0, 1, 3, 5, 16] { #expect(IPv4Address(Data(repeating: 1, count: count)) == nil) }
    // As on Apple's platforms: only the constant itself is it.
    #expect(try !#require(IPv4Address(Data([127, 0, 0, 1]), Self.interface)).isLoopback)
  }

  @Test("the IPv6 constants have their bytes")
  func constantsOfIPv6() {
    let table: [(IPv6Address, (UInt8, UInt8, UInt8))] = [
      (.any, (0, 0, 0)), (.broadcast, (0, 0, 0)), (.loopback, (0, 0, 1)), (.nodeLocalNodes, (0xFF, 1, 1)),
      (.linkLocalNodes, (0xFF, 2, 1)), (.linkLocalRouters, (0xFF, 2, 2)),
    ]
    for (address, bytes) in table {
      let expected = Data([bytes.0, bytes.1] + [UInt8](repeating: 0, count: 13) + [bytes.2])
      #expect(address.rawValue == expected && IPv6Address(expected) == address && address.interface == nil)
    }
  }

  @Test(
    "the kinds of IPv6 address begin and end where they should",
    arguments: [
      ("::", ["any"]), ("::1", ["loopback"]), ("::2", ["compatible"]), ("::255.255.255.255", ["compatible"]),
      ("::1:0:0", []), ("::ffff:0:0", ["mapped"]), ("::ffff:255.255.255.255", ["mapped"]), ("::fffe:1.2.3.4", []),
      ("::7fff:1.2.3.4", []), ("::1:ffff:1.2.3.4", []), ("1::ffff:1.2.3.4", []), ("1::1", []), ("1::", []),
      ("1::2", []), ("fe7f:ffff::1", []), ("fe80::", ["link-local"]), ("febf:ffff::1", ["link-local"]),
      ("fec0::1", []), ("feff::1", []), ("ff00::", ["multicast"]), ("ffff:ffff::1", ["multicast"]), ("2001::1", []),
      ("2002::", ["6to4"]), ("2002:ffff::1", ["6to4"]), ("2003::1", []), ("fbff::1", []), ("fc00::", ["unique-local"]),
      ("fdff:ffff::1", ["unique-local"]), ("fe00::1", []), ("2001:db8::1", []),
    ] as [(String, [String])])
  func kindsOfIPv6(text: String, kinds: [String]) throws {
    let address = try #require(IPv6Address(text))
    let found = [
      ("any", address.isAny), ("loopback", address.isLoopback), ("compatible", address.isIPv4Compatabile),
      ("mapped", address.isIPv4Mapped), ("link-local", address.isLinkLocal), ("multicast", address.isMulticast),
      ("6to4", address.is6to4), ("unique-local", address.isUniqueLocal),
    ].filter(\.1).map(\.0)
    #expect(found == kinds)
    #expect((address.asIPv4 != nil) == (kinds == ["mapped"] || kinds == ["compatible"]))
  }

  @Test(
    "a multicast address has its scope, whatever its flags",
    arguments: [
      ("ff00::1", nil), ("ff01::1", .nodeLocal), ("ff02::1", .linkLocal), ("ff03::1", nil), ("ff05::1", .siteLocal),
      ("ff08::1", .organizationLocal), ("ff0e::1", .global), ("ff0f::1", nil), ("ff12::1", .linkLocal),
      ("fff5::1", .siteLocal), ("fe02::1", nil), ("2001:db8::1", nil),
    ] as [(String, IPv6Address.Scope?)])
  func scopes(text: String, scope: IPv6Address.Scope?) throws {
    #expect(try #require(IPv6Address(text)).multicastScope == scope)
  }

  @Test("an address of IPv6 has sixteen bytes, and may be bound to an interface")
  func bytesOfIPv6() throws {
    let bytes = Data([9, 9] + (1...16).map { UInt8($0) })
    let address = try #require(IPv6Address(bytes[2...], Self.interface))
    #expect(address.rawValue == Data((1...16).map { UInt8($0) }))
    #expect(address.debugDescription == "102:304:506:708:90a:b0c:d0e:f10%wlan0")
    #expect(address.interface == Self.interface && address != IPv6Address("102:304:506:708:90a:b0c:d0e:f10"))
    for count in [0, 4, 15, 17] { #expect(IPv6Address(Data(repeating: 1, count: count)) == nil) }
    let mapped = Data(repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 7]
    let inner = try #require(IPv6Address(mapped, Self.interface)?.asIPv4)
    #expect(inner.rawValue == Data([192, 0, 2, 7]) && inner.interface == Self.interface)
  }

  // MARK: Endpoints

  @Test("the ports have the numbers that IANA gives their services")
  func ports() {
    let table: [(NWEndpoint.Port, UInt16, String)] = [
      (.ssh, 22, "ssh"), (.smtp, 25, "smtp"), (.http, 80, "http"), (.pop, 110, "pop3"), (.imap, 143, "imap"),
      (.https, 443, "https"), (.imaps, 993, "imaps"), (.socks, 1080, "socks"),
    ]
    for (port, number, name) in table {
      #expect(port.rawValue == number && NWEndpoint.Port(name) == port && NWEndpoint.Port("\(number)") == port)
      #expect(port.debugDescription == "\(number)")
    }
    #expect(NWEndpoint.Port.any.rawValue == 0 && NWEndpoint.Port("0") == .any)
    #expect(NWEndpoint.Port("65535")?.rawValue == 65_535)
    #expect(NWEndpoint.Port("99999") == nil && NWEndpoint.Port("ssh\0") == nil)
  }

  @Test("an endpoint has the interface of its host, and a text")
  func textsOfEndpoints() throws {
    let interface = Self.interface
    let free = try #require(IPv4Address("192.0.2.7"))
    let bound = try #require(IPv4Address(Data([192, 0, 2, 7]), interface))
    let url = try #require(URL(string: "https://example.com/a"))
    let table: [(NWEndpoint, NWInterface?, String)] = [
      (.hostPort(host: .name("printer", nil), port: 80), nil, "printer:80"),
      (.hostPort(host: .name("printer", interface), port: 80), interface, "printer%wlan0:80"),
      (.hostPort(host: .ipv4(free), port: 80), nil, "192.0.2.7:80"),
      (.hostPort(host: .ipv4(bound), port: .any), interface, "192.0.2.7%wlan0:0"),
      (.hostPort(host: .ipv6(.loopback), port: 80), nil, "::1.80"),
      (.service(name: "a", type: "_b._tcp", domain: "local", interface: nil), nil, "a._b._tcplocal"),
      (.service(name: "a", type: "_b._tcp", domain: "local", interface: interface), interface, "a._b._tcplocal"),
      (.unix(path: "/run/a"), nil, "/run/a"), (.url(url), nil, "https://example.com/a"),
    ]
    for (endpoint, interface, text) in table {
      #expect(endpoint.interface == interface && endpoint.debugDescription == text)
    }
  }

  // MARK: Paths

  private static func path(
    _ status: NetworkPath.Status, _ kind: InterfaceKind, _ addresses: [String] = [], dns: Bool = false
  ) throws -> NWPath {
    let interface = try #require(NetworkInterface(name: "if0", index: 3, kind: kind))
    let gateways = try addresses.map { try address($0) }
    return NWPath(NetworkPath(status, interfaces: [.init(interface, gateways: gateways)], supportsDNS: dns))
  }

  @Test("a path in words has what it supports, and nothing else")
  func textsOfPaths() throws {
    let begin = "satisfied (Path is satisfied), interface: if0"
    #expect(try Self.path(.satisfied, .wired, ["192.0.2.1"]).debugDescription == begin + ", ipv4")
    #expect(try Self.path(.satisfied, .wired, ["2001:db8::1"]).debugDescription == begin + ", ipv6")
    #expect(
      try Self.path(.satisfied, .wired, ["192.0.2.1", "2001:db8::1"], dns: true).debugDescription
        == begin + ", ipv4, ipv6, dns")
    #expect(try Self.path(.satisfied, .cellular, ["192.0.2.1"]).debugDescription == begin + ", ipv4, expensive")
    #expect(NWPath(NetworkPath(.unsatisfied)).debugDescription == "unsatisfied (No network route)")
    #expect(NWPath(NetworkPath(.requiresConnection)).debugDescription == "satisfiable (Connection required)")
  }

  /// RFC 8950: a router of IPv6 may be the next hop of IPv4.
  @Test("a path of IPv4 alone may have a gateway of IPv6")
  func gatewaysOfTheOtherFamily() throws {
    let interface = try #require(NetworkInterface(name: "if0", index: 3, kind: .wired))
    let (own, gateway) = (try address("192.0.2.7"), try address("2001:db8::1"))
    let path = NWPath(NetworkPath(.satisfied, interfaces: [.init(interface, addresses: [own], gateways: [gateway])]))
    #expect(path.supportsIPv4 && !path.supportsIPv6 && path.gateways.map(\.debugDescription) == ["2001:db8::1.0"])
  }

  @Test("only a satisfied path has interfaces and gateways")
  func whatAPathHas() throws {
    let satisfied = try Self.path(.satisfied, .wifi, ["192.0.2.1"])
    #expect(satisfied.status == .satisfied && satisfied.availableInterfaces.map(\.name) == ["if0"])
    #expect(satisfied.availableInterfaces.first?.index == 3)
    #expect(satisfied.gateways.map(\.debugDescription) == ["192.0.2.1:0"])
    #expect(satisfied.usesInterfaceType(.wifi) && !satisfied.usesInterfaceType(.wiredEthernet))
    #expect(!satisfied.isExpensive && !satisfied.isConstrained && !satisfied.isUltraConstrained)
    #expect(satisfied.linkQuality == .unknown && satisfied.unsatisfiedReason == .notAvailable)
    #expect(satisfied.localEndpoint == nil && satisfied.remoteEndpoint == nil)
    for status in [NetworkPath.Status.unsatisfied, .requiresConnection, .undetermined] {
      let other = try Self.path(status, .wifi, ["192.0.2.1"])
      #expect(other.availableInterfaces.isEmpty && other.gateways.isEmpty && !other.usesInterfaceType(.wifi))
      #expect(!other.supportsIPv4 && other.status != .satisfied && other != satisfied)
    }
  }

  @Test("each type of interface stands for its kinds, and each kind for its type")
  func kindsOfInterface() {
    let table: [(NWInterface.InterfaceType, Set<InterfaceKind>)] = [
      (.wifi, [.wifi]), (.cellular, [.cellular]), (.wiredEthernet, [.wired]), (.loopback, [.loopback]),
      (.other, [.tunnel, .other]),
    ]
    for (type, kinds) in table {
      #expect(type.kinds == kinds)
      for kind in kinds { #expect(NWInterface.InterfaceType(kind) == type) }
    }
  }
}
#endif
