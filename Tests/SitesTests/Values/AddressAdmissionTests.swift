// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// Which addresses a check may connect to.
struct AddressAdmissionTests {
  typealias Network = AddressAdmission.Network

  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  private func network(_ text: String, _ length: Int) throws -> Network {
    try #require(Network(try address(text), length: length))
  }

  @Test(arguments: [
    ("192.0.2.0", 0, true), ("192.0.2.0", 32, true), ("192.0.2.0", 33, false), ("192.0.2.0", -1, false),
    ("2001:db8::", 0, true), ("2001:db8::", 128, true), ("2001:db8::", 129, false), ("2001:db8::", -1, false),
    ("::ffff:192.0.2.0", 32, true), ("::ffff:192.0.2.0", 33, false),
  ])
  func aNetworkHasALengthOfItsFamily(_ text: String, _ length: Int, _ isOne: Bool) throws {
    #expect((Network(try address(text), length: length) != nil) == isOne)
  }

  @Test(arguments: [
    ("192.0.2.0", 24, "192.0.2.255", true), ("192.0.2.0", 24, "192.0.3.0", false),
    ("192.0.2.0", 24, "192.0.1.255", false), ("192.0.2.128", 25, "192.0.2.127", false),
    ("192.0.2.128", 25, "192.0.2.129", true), ("192.0.2.1", 32, "192.0.2.1", true),
    ("192.0.2.1", 32, "192.0.2.0", false), ("192.0.2.1", 0, "255.255.255.255", true), ("192.0.2.1", 0, "::1", false),
    ("128.0.0.0", 1, "127.255.255.255", false), ("128.0.0.0", 1, "255.0.0.0", true),
    ("2001:db8::", 32, "2001:db8:ffff::1", true), ("2001:db8::", 32, "2001:db9::", false),
    ("2001:db8::1", 128, "2001:db8::1", true), ("2001:db8::1", 128, "2001:db8::", false),
    ("2001:db8::1", 64, "2001:db8::ffff:0:0:0", true), ("2001:db8::1", 64, "2001:db8:0:1::1", false),
    ("2001:db8::", 65, "2001:db8::8000:0:0:0", false), ("::", 0, "ffff::", true), ("::", 0, "0.0.0.0", false),
    ("::", 63, "0:0:0:1::", true), ("8000::", 1, "7fff::", false),
  ])
  func aNetworkContainsWhatHasItsFirstBits(
    _ text: String, _ length: Int, _ other: String, _ isContained: Bool
  ) throws {
    #expect(try network(text, length).contains(address(other)) == isContained)
    #expect(try address(other).bits.matches(prefix: address(text).bits, length: length) == isContained)
  }

  /// Link-local addresses (RFC 3927, RFC 4291) and the metadata services of clouds, with what is beside each.
  private static let metadata: [(text: String, isAdmitted: Bool)] = [
    ("169.254.169.254", false), ("169.254.0.0", false), ("169.254.255.255", false), ("169.253.255.255", true),
    ("169.255.0.0", true), ("fe80::1", false), ("febf:ffff::1", false), ("fe7f::1", true), ("fec0::1", false),
    ("feff:ffff::1", false), ("fd00:ec2::23", false), ("fd00:ec2::24", true), ("fd00:42::42", false),
    ("fd00:42::43", true), ("fd00:a9fe:a9fe::1", false), ("fd00:a9fe:a9fe::2", true), ("fd00:100::100:200", false),
    ("fd00:100::100:201", true), ("fd00:c1::a9fe:a9fe", false),
    ("fe80::1%lo", false), ("fd00:ec2::254", false), ("fd00:ec2::253", true), ("fd00:ec2::255", true),
    ("fd20:ce::254", false), ("fd20:ce::255", true), ("100.100.100.200", false), ("100.100.100.201", true),
    ("192.0.0.192", false), ("192.0.0.193", true), ("168.63.129.16", false), ("168.63.129.17", true),
  ]

  @Test(arguments: metadata) func metadataServicesAreNeverAdmitted(_ text: String, _ isAdmitted: Bool) throws {
    let address = try address(text)
    #expect(AddressAdmission().admits(address) == isAdmitted)
    // No list opens them.
    let all = [try network("0.0.0.0", 0), try network("::", 0)]
    #expect(AddressAdmission(networks: all).admits(address) == isAdmitted)
    #expect(AddressAdmission(excludesLoopback: true, listed: all).admits(address) == isAdmitted)
  }

  /// The same services behind translators (RFC 6052, RFC 8215), in IPv4-mapped and IPv4-compatible addresses (RFC 4291)
  /// and behind 6to4 (RFC 3056). 169.254.169.254 is a9fe:a9fe.
  @Test(arguments: [
    ("64:ff9b::a9fe:a9fe", false), ("64:ff9b::a9fe:1", false), ("64:ff9b::6464:64c8", false),
    ("64:ff9b::808:808", true),
    ("64:ff9b:1::a9fe:1", false), ("64:ff9b:1:ffff::a9fe:1", false), ("64:ff9b:2::a9fe:1", true),
    ("64:ff9b:0:1::a9fe:1", true), ("::a9fe:1", false), ("::169.254.1.1", false), ("::808:808", true),
    ("::ffff:169.254.1.1", false), ("::ffff:8.8.8.8", true), ("2002:a9fe:a9fe::1", false), ("2002:a9fe:1::", false),
    ("2002:808:808::1", true), ("2003:a9fe:a9fe::1", true),
    // A prefix of a network's own: only the service itself can be told.
    ("2001:db8::a9fe:a9fe", false), ("2001:db8::a9fe:a9ff", true), ("2001:db8::a9fe:1", true),
    ("2001:db8::1:a9fe:a9fe", false), ("2001:db8:1:a9fe:a9fe::", true),
  ])
  func noFormOfAMetadataServiceIsAdmitted(_ text: String, _ isAdmitted: Bool) throws {
    #expect(AddressAdmission().admits(try address(text)) == isAdmitted)
  }

  /// RFC 1122, 3.2.1.3 and RFC 4291, 2.5.3: 127/8 and ::1. To connect to the unspecified address reaches it, too.
  @Test(arguments: [
    ("127.0.0.1", true), ("127.255.255.255", true), ("128.0.0.0", false), ("126.255.255.255", false), ("::1", true),
    ("::", true), ("0.0.0.0", true), ("::ffff:127.0.0.1", true), ("::ffff:0.0.0.0", true), ("64:ff9b::7f00:1", true),
    ("64:ff9b:1::7f00:1", true), ("2002:7f00:1::", true), ("2002::1", true), ("::7f00:1", true), ("::2", false),
    ("192.0.2.1", false), ("2001:db8::1", false), ("2001:db8::7f00:1", false), ("0.0.0.1", false),
  ])
  func loopbackIsLeftOutIfWanted(_ text: String, _ isLoopback: Bool) throws {
    let address = try address(text)
    #expect(AddressAdmission().admits(address))
    #expect(AddressAdmission(excludesLoopback: true).admits(address) == !isLoopback)
    // A list that has it opens it, whatever else is listed.
    let own = try #require(Network(address, length: address.unmapped.family == .ipv4 ? 32 : 128))
    let listed = [try network("203.0.113.0", 24), own]
    #expect(AddressAdmission(excludesLoopback: true, listed: listed).admits(address))
    #expect(AddressAdmission(excludesLoopback: true, listed: [listed[0]]).admits(address) == !isLoopback)
  }

  @Test func onlyListedNetworksAreAdmittedIfThereAreAny() throws {
    let networks = [try network("192.0.2.0", 24), try network("2001:db8::", 32), try network("127.0.0.0", 8)]
    for excludesLoopback in [true, false] {
      let admission = AddressAdmission(networks: networks, excludesLoopback: excludesLoopback)
      for (text, isAdmitted) in [
        ("192.0.2.7", true), ("::ffff:192.0.2.7", true), ("192.0.3.7", false), ("2001:db8::7", true),
        ("2001:db9::7", false), ("127.0.0.1", true), ("::1", false), ("64:ff9b::c000:207", false),
      ] {
        #expect(try admission.admits(address(text)) == isAdmitted, "\(text)")
      }
    }
    #expect(try !AddressAdmission(networks: []).admits(address("192.0.2.7")), "an empty list admits nothing")
    #expect(!AddressAdmission().excludesLoopback && AddressAdmission().networks == nil)
  }

  @Test(
    arguments: [
      ("192.0.2.7", [192, 0, 2, 7]), ("255.1.128.0", [255, 1, 128, 0]),
      ("102:304:506:708:90a:b0c:d0e:f10", Array(1...16)),
      ("ff00::80", [255] + [UInt8](repeating: 0, count: 14) + [128]),
    ] as [(String, [UInt8])])
  func bytesAreInNetworkOrder(_ text: String, _ bytes: [UInt8]) throws {
    #expect(try address(text).networkBytes == bytes)
  }
}
