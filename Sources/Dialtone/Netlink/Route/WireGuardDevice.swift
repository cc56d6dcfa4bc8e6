// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A WireGuard interface and its peers, as the kernel tells them (linux/wireguard.h).
package struct WireGuardDevice: Equatable, Sendable {
  package static let familyName = "wireguard"
  static let getDevice: UInt8 = 0
  static let interfaceName: UInt16 = 2

  private enum Attribute {
    static let mark: UInt16 = 7
    static let peers: UInt16 = 8
    static let endpoint: UInt16 = 4
    static let lastHandshake: UInt16 = 6
    static let allowed: UInt16 = 9
    static let allowedAddress: UInt16 = 2
    static let allowedLength: UInt16 = 3
  }

  package struct Peer: Equatable, Sendable {
    package var endpoint: IPAddressBits?
    package var port: UInt16 = 0
    /// Seconds since 1970; 0 for never.
    package var lastHandshake: Int64 = 0
    package var allowed: [IPPrefix] = []

    package init() {}
  }

  /// The firewall mark of the outer packets; 0 for none.
  package var mark: UInt32 = 0
  package var peers: [Peer] = []

  package init() {}

  /// Takes in one message of the kernel's answer; a long list comes in several.
  package mutating func add(_ message: GenericNetlinkMessage, in bytes: RawSpan) {
    var attributes = NetlinkAttributeCursor(message.attributes)
    while let attribute = attributes.next(in: bytes) {
      switch attribute.type {
      case Attribute.mark: mark = bytes.integer(in: attribute.payload) ?? 0
      case Attribute.peers:
        var list = NetlinkAttributeCursor(attribute.payload)
        while let entry = list.next(in: bytes) { peers.append(Self.peer(entry.payload, bytes)) }
      default: break
      }
    }
  }

  private static func peer(_ range: Range<Int>, _ bytes: RawSpan) -> Peer {
    var peer = Peer()
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      let payload = attribute.payload
      switch attribute.type {
      case Attribute.endpoint: readEndpoint(&peer, payload, bytes)
      case Attribute.lastHandshake:
        // struct __kernel_timespec: the seconds stand first.
        peer.lastHandshake = bytes.integer(in: payload.prefix(MemoryLayout<Int64>.size)) ?? 0
      case Attribute.allowed:
        var list = NetlinkAttributeCursor(payload)
        while let entry = list.next(in: bytes) {
          if let network = network(entry.payload, bytes) { peer.allowed.append(network) }
        }
      default: break
      }
    }
    return peer
  }

  /// Reads a `sockaddr_in` or `sockaddr_in6`.
  private static func readEndpoint(_ peer: inout Peer, _ payload: Range<Int>, _ bytes: RawSpan) {
    guard let family: UInt16 = bytes.integer(at: payload.lowerBound),
      let port: UInt16 = bytes.integer(at: payload.lowerBound + 2)
    else { return }
    let isIPv6 = family == UInt16(KernelAddressFamily.ipv6.rawValue)
    let start = payload.lowerBound + (isIPv6 ? 8 : 4)
    let end = start + (isIPv6 ? 16 : 4)
    if end > payload.upperBound { return }
    peer.endpoint = IPAddressBits(bytes, in: start..<end)
    peer.port = UInt16(bigEndian: port)
  }

  private static func network(_ range: Range<Int>, _ bytes: RawSpan) -> IPPrefix? {
    var address: IPAddressBits?
    var length: UInt8?
    var attributes = NetlinkAttributeCursor(range)
    while let attribute = attributes.next(in: bytes) {
      switch attribute.type {
      case Attribute.allowedAddress: address = IPAddressBits(bytes, in: attribute.payload)
      case Attribute.allowedLength: length = bytes.integer(in: attribute.payload)
      default: break
      }
    }
    guard let address, let length else { return nil }
    return IPPrefix(address, length: Int(length))
  }

  /// The peer that packets to an address go to: the one whose allowed prefix is the longest.
  package func peer(for address: IPAddressBits) -> Peer? {
    var best: (peer: Peer, length: Int)?
    for peer in peers {
      for network in peer.allowed where address.matches(prefix: network.address, length: network.length) {
        if network.length > best?.length ?? -1 { best = (peer, network.length) }
      }
    }
    return best?.peer
  }
}
