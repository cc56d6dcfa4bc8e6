// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Foundation
import Testing

@testable import DialtoneNetwork

#if os(Linux)
/// Addresses, hosts and ports; expectations from RFC 4291, RFC 5952 and the registries of IANA.
@Suite struct EndpointTests {
  @Test("reads IPv4 addresses")
  func readsIPv4() throws {
    let address = try #require(IPv4Address("192.0.2.7"))
    #expect(address.rawValue == Data([192, 0, 2, 7]))
    #expect(IPv4Address(Data([192, 0, 2, 7])) == address)
    #expect("\(address)" == "192.0.2.7")
    #expect(IPv4Address("192.0.2.x") == nil && IPv4Address("::1") == nil && IPv4Address(Data([1])) == nil)
    #expect(IPv4Address("") == nil && IPv4Address("192.0.2.7 ") == nil && IPv4Address("192.0.2.7\0") == nil)
    // inet_aton(3)
    #expect(IPv4Address("127.1") == .loopback && IPv4Address("0xC0.0.519") == address)
    #expect(try !#require(IPv4Address("127.0.0.2")).isLoopback)
    #expect(IPv4Address("127.0.0.1") == .loopback && IPv4Address.loopback.isLoopback)
    #expect(IPv4Address.mdnsGroup.isMulticast && "\(IPv4Address.mdnsGroup)" == "224.0.0.251")
    #expect(try #require(IPv4Address("169.254.3.4")).isLinkLocal && !address.isLinkLocal)
    #expect("\(IPv4Address.allReportsGroup)" == "224.0.0.22" && "\(IPv4Address.broadcast)" == "255.255.255.255")
  }

  @Test("reads IPv6 addresses")
  func readsIPv6() throws {
    let address = try #require(IPv6Address("2001:db8:0:0::7"))
    #expect("\(address)" == "2001:db8::7")
    #expect(address.rawValue == Data([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]))
    #expect(IPv6Address(address.rawValue) == address && IPv6Address(Data([1])) == nil)
    #expect(IPv6Address("1.2.3.4") == nil && IPv6Address("x") == nil)
    #expect(try #require(IPv6Address("fe80::1%lo")).isLinkLocal)
    #expect(try #require(IPv6Address("fd00::1")).isUniqueLocal && !address.isUniqueLocal)
    #expect(IPv6Address.loopback.isLoopback && IPv6Address.any.isAny)
    #expect("\(IPv6Address.linkLocalRouters)" == "ff02::2" && "\(IPv6Address.nodeLocalNodes)" == "ff01::1")
    #expect(IPv6Address.linkLocalNodes.multicastScope == .linkLocal && IPv6Address.linkLocalNodes.isMulticast)
    #expect(try #require(IPv6Address("ff0e::1")).multicastScope == .global && address.multicastScope == nil)
  }

  @Test("finds the IPv4 address in an IPv6 one", arguments: ["::ffff:192.0.2.7", "::192.0.2.7"])
  func findsIPv4(text: String) throws {
    #expect(try #require(IPv6Address(text)).asIPv4 == IPv4Address("192.0.2.7"))
    let translated = try #require(IPv6Address("2002:c000:207::1"))
    #expect(translated.is6to4 && translated.asIPv4 == nil)
  }

  /// Apple's documentation: "169.254.8.8%en0", "::1%lo0".
  @Test(
    "reads addresses that are bound to an interface",
    arguments: [
      ("192.0.2.7%lo", "192.0.2.7"), ("127.1%lo", "127.0.0.1"), ("::1%lo", "::1"), ("fe80::7%lo", "fe80::7"),
      ("2001:db8::7%an-interface-of-a-long-name", "2001:db8::7"), ("::ffff:192.0.2.7%lo", "192.0.2.7"),
    ])
  func readsZones(text: String, address: String) {
    #expect(NWEndpoint.Host(text) == NWEndpoint.Host(address) && "\(NWEndpoint.Host(text))" == address)
    #expect(IPv6Address(text) == nil || text.contains(":"))
    #expect(IPv4Address(text) == nil || !text.contains(":"))
  }

  @Test("reads hosts and ports")
  func readsHosts() throws {
    #expect(NWEndpoint.Host("192.0.2.7") == .ipv4(try #require(IPv4Address("192.0.2.7"))))
    #expect(NWEndpoint.Host("::1") == .ipv6(.loopback))
    #expect(NWEndpoint.Host("::ffff:192.0.2.7") == NWEndpoint.Host("192.0.2.7"))
    #expect(NWEndpoint.Host("127.1") == .ipv4(.loopback) && IPv6Address.broadcast == .any)
    #expect(NWEndpoint.Host("example.com") == .name("example.com", nil))
    #expect(NWEndpoint.Port("https") == .https && NWEndpoint.Port("8080")?.rawValue == 8080)
    #expect(NWEndpoint.Port("nonsense") == nil && NWEndpoint.Port("65536") == nil && NWEndpoint.Port("") == nil)
    // strtol(3), by which Apple's getaddrinfo(3) reads numbers, takes spaces and signs. A port has 16 bits (RFC 9293).
    #expect(NWEndpoint.Port("+80") == .http && NWEndpoint.Port(" 80") == .http)
    for text in ["+65536", " 65536", "\t70000", "+131152", "-65456", "-18446744073709551536"] {
      #expect(NWEndpoint.Port(text) == nil, "\(text)")
    }
    #expect(NWEndpoint.Port(integerLiteral: 22) == .ssh)
    #expect(try #require(NWEndpoint.Port(rawValue: 443)) == .https)
    #expect("\(NWEndpoint.hostPort(host: "192.0.2.7", port: 443))" == "192.0.2.7:443")
    #expect("\(NWEndpoint.hostPort(host: "2001:db8::7", port: 443))" == "2001:db8::7.443")
    #expect(NWEndpoint.hostPort(host: "::1", port: .any).interface == nil)
  }

  @Test(
    "services have their ports",
    .enabled(if: FileManager.default.fileExists(atPath: "/etc/services"), "no services(5)"),
    arguments: [("domain", 53), ("ftp", 21), ("telnet", 23)] as [(String, UInt16)])
  func readsServices(name: String, number: UInt16) throws {
    #expect(NWEndpoint.Port(name)?.rawValue == number)
  }

  @Test("tells the interfaces apart as Apple does")
  func mapsKinds() {
    #expect(NWInterface.InterfaceType(.tunnel) == .other && NWInterface.InterfaceType(.other) == .other)
    #expect(NWInterface.InterfaceType(.wired) == .wiredEthernet && NWInterface.InterfaceType(.wifi) == .wifi)
    #expect(NWInterface.InterfaceType(.cellular) == .cellular && NWInterface.InterfaceType(.loopback) == .loopback)
  }

  @Test("a path is what ours says, in Apple's words")
  func mapsPaths() throws {
    let interface = try #require(NetworkInterface(name: "wwan0", index: 3, kind: .cellular))
    let modem = NWPath(
      NetworkPath(.satisfied, interfaces: [.init(interface, gateways: [try address("fe80::1")])]))
    #expect(modem.isExpensive && modem.usesInterfaceType(.cellular) && modem.supportsIPv6)
    #expect(modem.gateways.first?.interface?.name == "wwan0", "a link-local gateway has its interface")
    #expect("\(modem.gateways[0])" == "fe80::1%wwan0.0")
    #expect(NWPath(NetworkPath(.requiresConnection)).status == .requiresConnection)
    #expect(NWPath(NetworkPath(.undetermined, reason: .denied)).status == .unsatisfied)
    #expect(modem.debugDescription == "satisfied (Path is satisfied), interface: wwan0, ipv6, expensive")
  }
}
#endif
