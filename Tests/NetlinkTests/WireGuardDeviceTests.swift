// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Messages as linux/wireguard.h has them: `enum wgdevice_attribute`, `wgpeer_attribute` and `wgallowedip_attribute`.
struct WireGuardDeviceTests {
  /// `struct nlattr`, padded; what contains others has NLA_F_NESTED.
  private static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: (4 - payload.count % 4) % 4)
    return bytes(UInt16(4 + payload.count)) + bytes(type) + payload + padding
  }

  private static func nested(_ type: UInt16, _ parts: [[UInt8]]) -> [UInt8] {
    attribute(type | 0x8000, parts.flatMap { $0 })
  }

  /// In this machine's order.
  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    var value = value
    return unsafe withUnsafeBytes(of: &value) { unsafe Array($0) }
  }

  private static func allowed(_ family: UInt16, _ address: [UInt8], _ length: UInt8) -> [UInt8] {
    nested(0, [attribute(1, bytes(family)), attribute(2, address), attribute(3, [length])])
  }

  /// `sockaddr_in`: 192.0.2.9, port 51820.
  private static let endpoint = bytes(UInt16(2)) + [0xCA, 0x6C, 192, 0, 2, 9] + [UInt8](repeating: 0, count: 8)
  /// `sockaddr_in6`: 2001:db8::9, port 51821.
  private static let endpointOfIPv6 =
    bytes(UInt16(10)) + [0xCA, 0x6D, 0, 0, 0, 0] + ipv6(9) + [UInt8](repeating: 0, count: 4)

  private static func ipv6(_ last: UInt8) -> [UInt8] {
    [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [last]
  }

  private func device(_ messages: [[[UInt8]]]) throws -> WireGuardDevice {
    var device = WireGuardDevice()
    for parts in messages {
      let bytes = message(NetlinkMessageType(rawValue: 33)) { builder in
        builder.appendGenericHeader(command: 0, version: 1)
      }
      var whole = bytes + parts.flatMap { $0 }
      whole.replaceSubrange(0..<4, with: Self.bytes(UInt32(whole.count)))
      device = try decode(whole) { header, span in
        GenericNetlinkMessage(header, in: span).map { generic in
          var device = device
          device.add(generic, in: span)
          return device
        }
      }
    }
    return device
  }

  @Test func readsAllOfADevice() throws {
    let first = Self.nested(
      0,
      [
        Self.attribute(1, [UInt8](repeating: 7, count: 32)), Self.attribute(4, Self.endpoint),
        Self.attribute(6, Self.bytes(Int64(1_700_000_000)) + Self.bytes(Int64(5))),
        Self.nested(9, [Self.allowed(2, [0, 0, 0, 0], 0), Self.allowed(10, Self.ipv6(0), 64)]),
      ])
    let second = Self.nested(
      1, [Self.attribute(4, Self.endpointOfIPv6), Self.nested(9, [Self.allowed(2, [10, 1, 0, 0], 16)])])
    // A long list comes in several messages, of which the first alone has the rest.
    let device = try device([
      [Self.attribute(7, Self.bytes(UInt32(0xCA6C))), Self.nested(8, [first])], [Self.nested(8, [second])],
    ])
    #expect(device.mark == 0xCA6C && device.peers.count == 2)
    let peers = device.peers
    #expect(peers[0].endpoint == ipv4(192, 0, 2, 9) && peers[0].port == 51_820)
    #expect(peers[0].lastHandshake == 1_700_000_000)
    #expect(peers[0].allowed.map(\.length) == [0, 64])
    #expect(peers[0].allowed.map(\.address.isIPv6) == [false, true])
    let other = IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 9)
    #expect(peers[1].endpoint == other && peers[1].port == 51_821 && peers[1].lastHandshake == 0)
    // The longest prefix wins, whatever the order (wireguard(8), AllowedIPs).
    #expect(device.peer(for: ipv4(10, 1, 2, 3)) == peers[1])
    #expect(device.peer(for: ipv4(10, 2, 2, 3)) == peers[0])
    #expect(device.peer(for: IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 1)) == peers[0])
    #expect(device.peer(for: IPAddressBits(ipv6High: 0x2001_0DB8_0000_0001, low: 1)) == nil)
    #expect(peers[0] != peers[1])
  }

  @Test func whatIsCutNamesNobody() throws {
    let cut = [
      Self.attribute(4, Array(Self.endpoint.prefix(6))), Self.attribute(6, [1, 2, 3]),
      Self.nested(9, [Self.nested(0, [Self.attribute(2, [10, 1, 0, 0])]), Self.nested(0, [Self.attribute(3, [8])])]),
    ]
    let device = try device([[Self.nested(8, [Self.nested(0, cut)])]])
    #expect(device.peers == [WireGuardDevice.Peer()])
    #expect(device.peer(for: ipv4(10, 1, 2, 3)) == nil)
  }
}
