// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import Netlink

/// Sees packets leave this machine and come in, behind its own firewall on the way out and before it on the way in
/// (packet(7)). So it tells a local firewall from a remote one. It needs CAP_NET_RAW. Belongs to one thread.
final class PacketWitness {
  /// What was seen of one connection.
  struct Sight: Equatable {
    var hasLeft: Bool { !leavingBy.isEmpty }
    var hasReturned: Bool { !returningBy.isEmpty }
    /// The interfaces, by index: of a bridge or a VLAN, the one beneath, too.
    var leavingBy: Set<UInt32> = []
    var returningBy: Set<UInt32> = []

    /// The interface that an answer came in by, if none was sent by it.
    var otherWay: UInt32? { hasLeft && leavingBy.isDisjoint(with: returningBy) ? returningBy.min() : nil }
  }

  private struct Key: Hashable {
    let address: IPAddressBits
    let port: UInt16
  }

  private let owner: OwnedDescriptor
  private var sights: [Key: Sight] = [:]
  /// Whether packets leave in a form that this does not read, by IPsec.
  private var isBlind = false

  /// - Returns: `nil` without the privilege.
  init?() {
    let descriptor = csystem_packet_socket()
    if descriptor < 0 { return nil }
    owner = OwnedDescriptor(descriptor)
  }

  var descriptor: CInt { owner.rawValue }

  /// Reads what has come by since.
  func read() {
    var buffer = [UInt8](repeating: 0, count: 128)
    var interface: UInt32 = 0
    var isOutgoing: CInt = 0
    while true {
      // The call writes at most as many bytes as it is told there is room for, and fills in the two numbers.
      let count = unsafe csystem_receive_packet(descriptor, &buffer, buffer.count, &interface, &isOutgoing)
      if count < 0 { break }
      note(buffer.prefix(count), interface, isOutgoing: isOutgoing == 1)
    }
    // With a gap, what was not seen may have been there.
    if csystem_lost_packets(descriptor) > 0 { isBlind = true }
  }

  private func note(_ packet: ArraySlice<UInt8>, _ interface: UInt32, isOutgoing: Bool) {
    guard let first = packet.first else { return }
    let isIPv6 = first >> 4 == 6
    let headerSize = isIPv6 ? 40 : Int(first & 0xF) * 4
    if packet.count < headerSize + 4 { return }
    let number = packet[isIPv6 ? 6 : 9]
    // ESP and AH (RFC 4303, RFC 4302).
    if isOutgoing, number == 50 || number == 51 { isBlind = true }
    guard number == UInt8(IPPROTO_TCP) || number == UInt8(IPPROTO_UDP) else { return }
    func address(_ offset: Int) -> IPAddressBits {
      let bytes = packet[offset..<offset + (isIPv6 ? 16 : 4)]
      func value(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
      return isIPv6
        ? IPAddressBits(ipv6High: value(bytes.prefix(8)), low: value(bytes.suffix(8)))
        : IPAddressBits(ipv4: UInt32(truncatingIfNeeded: value(bytes)))
    }
    func port(_ offset: Int) -> UInt16 {
      UInt16(packet[headerSize + offset]) << 8 | UInt16(packet[headerSize + offset + 1])
    }
    let source = isIPv6 ? 8 : 12
    let destination = isIPv6 ? 24 : 16
    // Over lo the same packet leaves and comes in, so that both ends of it are looked at.
    if isOutgoing {
      sights[Key(address: address(destination), port: port(2)), default: Sight()].leavingBy.insert(interface)
    } else {
      sights[Key(address: address(source), port: port(0)), default: Sight()].returningBy.insert(interface)
    }
  }

  /// What was seen of connections to a port; `nil` if that cannot be told.
  func sight(of address: IPAddress, port: UInt16) -> Sight? {
    let sight = sights[Key(address: address.bits, port: port)] ?? Sight()
    if isBlind, !sight.hasLeft || !sight.hasReturned { return sight.hasReturned ? sight : nil }
    return sight
  }
}
#endif
