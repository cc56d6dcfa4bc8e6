// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Acknowledgements, generic netlink and WireGuard, field by field (netlink(7), linux/genetlink.h, linux/wireguard.h).
struct AnswerFieldsTests {
  private typealias Raw = RawMessage

  // MARK: Acknowledgements

  /// NLMSG_ERROR is 2, NLMSG_DONE 3; NLM_F_CAPPED is 0x100, NLM_F_ACK_TLVS 0x200.
  private func read(
    _ type: UInt16, flags: UInt16 = 0, _ parts: [UInt8]...
  ) throws -> (acknowledgement: NetlinkAcknowledgement, text: String?) {
    try decode(Raw.bytes(type, flags: flags, parts.flatMap { $0 })) { message, bytes in
      NetlinkAcknowledgement(message, in: bytes).map { ($0, $0.text(in: bytes)) }
    }
  }

  /// The kernel writes -errno. A positive number is a byte count, which old kernels write at the end of a dump.
  @Test(
    arguments: [
      (0, 0), (-1, 1), (-2, 2), (-101, 101), (1, 0), (20, 0), (.max, 0), (.min, .max), (.min + 1, .max),
    ] as [(Int32, Int32)], [2, 3] as [UInt16])
  func anErrorIsNegative(number: (code: Int32, errno: Int32), type: UInt16) throws {
    let acknowledgement = try read(type, Raw.host(number.code)).acknowledgement
    #expect(acknowledgement.errno == number.errno)
    #expect(acknowledgement.isSuccess == (number.errno == 0))
  }

  private static let explanation = Raw.attribute(1, Raw.text("no")) + Raw.attribute(2, Raw.host(UInt32(36)))

  /// The header of the request, in which it claims a length.
  private static func request(_ length: UInt32) -> [UInt8] { Raw.host(length) + Raw.zeros(12) }

  @Test func anExplanationStandsBehindTheRequest() throws {
    // The request of 21 bytes is padded to 24.
    let whole = try read(2, flags: 0x200, Raw.host(Int32(-22)), Self.request(21), Raw.zeros(8), Self.explanation)
    #expect(whole.text == "no")
    let exact = try read(2, flags: 0x200, Raw.host(Int32(-22)), Self.request(20), Raw.zeros(4), Self.explanation)
    #expect(exact.text == "no")
    // Of a capped one only the header is repeated, whatever length it claims.
    let capped = try read(2, flags: 0x300, Raw.host(Int32(-22)), Self.request(21), Self.explanation)
    #expect(capped.text == "no")
    let success = try read(2, flags: 0x200, Raw.host(Int32(0)), Self.request(21), Self.explanation)
    #expect(success.text == "no" && success.acknowledgement.isSuccess)
    let end = try read(3, flags: 0x200, Raw.host(Int32(-22)), Self.explanation)
    #expect(end.text == "no")
  }

  @Test func withoutItsFlagThereIsNoExplanation() throws {
    for flags in [0, 0x100, 2] as [UInt16] {
      let error = try read(2, flags: flags, Raw.host(Int32(-22)), Self.request(16), Self.explanation)
      #expect(error.text == nil && error.acknowledgement.errno == 22)
    }
  }

  @Test func anExplanationWithoutATextHasNone() throws {
    let error = try read(
      2, flags: 0x300, Raw.host(Int32(-22)), Self.request(16), Raw.attribute(2, Raw.host(UInt32(36))),
      Raw.attribute(9, [1]))
    #expect(error.text == nil)
  }

  // MARK: Generic netlink

  private func generic<Value>(
    _ type: UInt16, _ parts: [UInt8]..., body: (GenericNetlinkMessage, RawSpan) -> Value?
  ) throws -> Value? {
    try decode(Raw.bytes(type, parts.flatMap { $0 })) { message, bytes in
      .some(GenericNetlinkMessage(message, in: bytes).flatMap { body($0, bytes) })
    }
  }

  @Test func readsEachFieldOfAGenericMessage() throws {
    let message = try #require(try generic(33, [5, 9, 0, 0], Raw.attribute(1, [7])) { message, _ in message })
    #expect(message.family.rawValue == 33 && message.command == 5)
    #expect(message.attributes == 20..<28)
  }

  /// NL80211_CMD_NEW_INTERFACE is 7, NL80211_ATTR_WIPHY 1, NL80211_ATTR_IFINDEX 3.
  @Test(arguments: [(7, true), (5, false), (6, false), (8, false)] as [(UInt8, Bool)])
  func readsTheInterfaceAndTheRadioOfAnAnswerAlone(command: UInt8, isAnswer: Bool) throws {
    let attributes = Raw.attribute(1, Raw.host(UInt32(4))) + Raw.attribute(3, Raw.host(UInt32(9)))
    let header = [command, 1, 0, 0]
    #expect(try generic(33, header, attributes) { $0.wirelessRadio(in: $1) } == (isAnswer ? 4 : nil))
    #expect(try generic(33, header, attributes) { $0.wirelessInterfaceIndex(in: $1) } == (isAnswer ? 9 : nil))
    #expect(try generic(33, header) { $0.wirelessRadio(in: $1) } == nil)
    #expect(try generic(33, header) { $0.wirelessInterfaceIndex(in: $1) } == nil)
  }

  /// GENL_ID_CTRL is 16, CTRL_CMD_NEWFAMILY 1, CTRL_ATTR_FAMILY_ID 1.
  @Test(
    arguments: [(16, 1, 35), (16, 2, nil), (16, 3, nil), (17, 1, nil), (35, 1, nil)]
      as [(UInt16, UInt8, UInt16?)])
  func onlyTheControllersAnswerNumbersAFamily(type: UInt16, command: UInt8, expected: UInt16?) throws {
    let attributes = Raw.attribute(2, Raw.text("nl80211")) + Raw.attribute(1, Raw.host(UInt16(35)))
    let id = try generic(type, [command, 2, 0, 0], attributes) { $0.familyID(in: $1)?.rawValue }
    #expect(id == expected)
  }

  @Test func theFirstAttributeOfItsTypeCounts() throws {
    let first = Raw.attribute(1, Raw.host(UInt16(35))) + Raw.attribute(1, Raw.host(UInt16(36)))
    #expect(try generic(16, [1, 2, 0, 0], first) { $0.familyID(in: $1)?.rawValue } == 35)
    let long = Raw.attribute(1, Raw.host(UInt32(35))) + Raw.attribute(1, Raw.host(UInt16(36)))
    #expect(try generic(16, [1, 2, 0, 0], long) { $0.familyID(in: $1)?.rawValue } == nil)
  }

  // MARK: WireGuard

  private func device(_ attributes: [UInt8]...) throws -> WireGuardDevice {
    var device = WireGuardDevice()
    let bytes = Raw.bytes(33, [0, 1, 0, 0], attributes.flatMap { $0 })
    _ = try decode(bytes) { message, span in
      GenericNetlinkMessage(message, in: span).map { device.add($0, in: span) }
    }
    return device
  }

  private func peer(_ attributes: [UInt8]...) throws -> WireGuardDevice.Peer {
    let device = try device(Raw.attribute(0x8008, Raw.attribute(0x8000, attributes.flatMap { $0 })))
    #expect(device.peers.count == 1)
    return device.peers.first ?? WireGuardDevice.Peer()
  }

  @Test func aDeviceHasNeitherAMarkNorPeersAtFirst() throws {
    #expect(WireGuardDevice().mark == 0 && WireGuardDevice().peers.isEmpty)
    let peer = WireGuardDevice.Peer()
    #expect(peer.endpoint == nil && peer.port == 0 && peer.lastHandshake == 0 && peer.allowed.isEmpty)
    #expect(try device(Raw.attribute(7, [1])).mark == 0)
    #expect(try device(Raw.attribute(7, Raw.host(UInt32(7)))).mark == 7)
  }

  /// `sockaddr_in`: family, port and address are 8 bytes; `sockaddr_in6`: the address ends with byte 24.
  @Test(arguments: [(2, 7, false), (2, 8, true), (2, 16, true), (10, 23, false), (10, 24, true), (10, 28, true)])
  func readsAnEndpointThatIsThereAsAWhole(family: Int, count: Int, isRead: Bool) throws {
    let address = family == 2 ? [192, 0, 2, 9] + Raw.zeros(8) : Raw.zeros(4) + Raw.ipv6(9) + Raw.zeros(4)
    let whole = Raw.host(UInt16(family)) + [0xca, 0x6c] + address
    let peer = try peer(Raw.attribute(4, [UInt8](whole.prefix(count))))
    #expect(peer.endpoint == (isRead ? (family == 2 ? ipv4(192, 0, 2, 9) : Raw.address(9)) : nil))
    #expect(peer.port == (isRead ? 51_820 : 0))
  }

  @Test func theTimeOfAHandshakeIsInItsSeconds() throws {
    #expect(try peer(Raw.attribute(6, Raw.host(Int64(1_700_000_000)))).lastHandshake == 1_700_000_000)
    #expect(try peer(Raw.attribute(6, Raw.host(Int64(5)) + Raw.host(Int64(9)))).lastHandshake == 5)
    #expect(try peer(Raw.attribute(6, Raw.zeros(7))).lastHandshake == 0)
  }

  @Test func peersAreEqualIfAllOfTheirPartsAre() {
    var peer = WireGuardDevice.Peer()
    (peer.endpoint, peer.port, peer.lastHandshake) = (ipv4(192, 0, 2, 9), 51_820, 5)
    peer.allowed = [IPPrefix(ipv4(10, 0, 0, 0), length: 8), IPPrefix(Raw.address(0), length: 64)]
    #expect(peer == peer)
    let changes: [(inout WireGuardDevice.Peer) -> Void] = [
      { $0.endpoint = ipv4(192, 0, 2, 8) }, { $0.endpoint = nil }, { $0.port = 51_821 }, { $0.lastHandshake = 6 },
      { $0.allowed[0].address = ipv4(11, 0, 0, 0) }, { $0.allowed[1].length = 65 }, { $0.allowed.removeLast() },
      { $0.allowed.reverse() },
    ]
    for (number, change) in changes.enumerated() {
      var other = peer
      change(&other)
      #expect(peer != other, "change \(number)")
      var (first, second) = (WireGuardDevice(), WireGuardDevice())
      (first.peers, second.peers) = ([peer], [other])
      #expect(first != second)
    }
  }

  @Test func nobodyIsAskedWithoutAPrefix() {
    var device = WireGuardDevice()
    device.peers = [WireGuardDevice.Peer()]
    #expect(device.peer(for: ipv4(10, 0, 0, 1)) == nil)
    // A prefix of no length is one, too.
    device.peers[0].allowed = [IPPrefix(ipv4(0, 0, 0, 0), length: 0)]
    #expect(device.peer(for: ipv4(10, 0, 0, 1)) == device.peers[0])
    #expect(device.peer(for: Raw.address(1)) == nil)
  }
}
