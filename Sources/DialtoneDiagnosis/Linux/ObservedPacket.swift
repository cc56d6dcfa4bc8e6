// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What a packet on a link is, as far as tells whether a connection's packets leave and come in. Pure.
///
/// Any neighbour can have written the bytes. A packet that the kernel would drop before any firewall, because its
/// headers or their checksums are wrong, is none.
enum ObservedPacket: Equatable, Sendable {
  /// The two ends of a flow, as a packet has them.
  struct Endpoints: Hashable, Sendable {
    var source: IPAddressBits
    var sourcePort: UInt16
    var destination: IPAddressBits
    var destinationPort: UInt16

    /// Whether both are this machine's: its own address, or a loopback address.
    var areOwn: Bool { source == destination || IPAddress(destination).isLoopback }

    var reversed: Endpoints {
      Endpoints(source: destination, sourcePort: destinationPort, destination: source, destinationPort: sourcePort)
    }
  }

  /// A TCP segment (RFC 9293, 3.1) that begins or refuses a connection.
  struct Segment: Equatable, Sendable {
    var endpoints: Endpoints
    var sequence: UInt32
    /// `nil` without the flag ACK.
    var acknowledgement: UInt32?
    var isSYN: Bool
  }

  case segment(Segment)
  case datagram(Endpoints)
  /// Asks who has a neighbour's address: an ARP request (RFC 826), a neighbour solicitation (RFC 4861, 4.3).
  case neighbourQuestion(IPAddressBits)
  /// Says who has it: an ARP reply, a neighbour advertisement (RFC 4861, 4.4).
  case neighbourAnswer(IPAddressBits)
  /// Something by IPsec (RFC 4302, RFC 4303): what is inside cannot be read.
  case sealed

  /// The EtherTypes (linux/if_ether.h).
  private enum EtherType {
    static let ipv4: UInt16 = 0x0800
    static let arp: UInt16 = 0x0806
    static let ipv6: UInt16 = 0x86DD
  }

  /// The protocol numbers of IANA.
  private enum ProtocolNumber {
    static let hopByHop: UInt8 = 0
    static let tcp: UInt8 = 6
    static let udp: UInt8 = 17
    static let routing: UInt8 = 43
    static let esp: UInt8 = 50
    static let ah: UInt8 = 51
    static let icmp6: UInt8 = 58
    static let destination: UInt8 = 60
  }

  /// Reads a packet.
  ///
  /// - Parameters:
  ///   - bytes: The packet from its network header on, or its beginning.
  ///   - length: How many bytes the whole packet has.
  ///   - etherType: What the link says that it is.
  ///   - isChecked: Whether the checksum of its transport header needs no look: the device has looked, or fills it in.
  init?(_ bytes: ArraySlice<UInt8>, length: Int, etherType: UInt16, isChecked: Bool) {
    switch etherType {
    case EtherType.arp: self.init(arp: NetworkByteReader(bytes))
    case EtherType.ipv4: self.init(ipv4: bytes, length, isChecked)
    case EtherType.ipv6: self.init(ipv6: bytes, length, isChecked)
    default: return nil
    }
  }

  private init?(arp reader: NetworkByteReader) {
    var reader = reader
    // Ethernet's addresses and IPv4's, and no others.
    guard reader.uint16() == 1, reader.uint16() == EtherType.ipv4, reader.uint8() == 6, reader.uint8() == 4,
      let operation = reader.uint16(), reader.skip(6), let sender = reader.address(isIPv6: false), reader.skip(6),
      let target = reader.address(isIPv6: false)
    else { return nil }
    switch operation {
    // Without a sender, or about the sender, it looks for a conflict of addresses (RFC 5227), and nobody should answer.
    case 1 where sender.low == 0 || sender == target: return nil
    case 1: self = .neighbourQuestion(target)
    case 2: self = .neighbourAnswer(sender)
    default: return nil
    }
  }

  private init?(ipv4 bytes: ArraySlice<UInt8>, _ length: Int, _ isChecked: Bool) {
    var reader = NetworkByteReader(bytes)
    guard let first = reader.uint8(), first >> 4 == 4, first & 0xF >= 5 else { return nil }
    let headerLength = Int(first & 0xF) * 4
    guard bytes.count >= headerLength, reader.skip(1), let total = reader.uint16(), total >= headerLength,
      total <= length, reader.skip(2), let fragment = reader.uint16(), reader.skip(1), let number = reader.uint8(),
      reader.skip(2), let source = reader.address(isIPv6: false), let destination = reader.address(isIPv6: false),
      reader.skip(headerLength - 20), InternetChecksum(bytes.prefix(headerLength)).isRight
    else { return nil }
    // A fragment is no whole answer: the others may never come.
    if fragment & 0x3FFF != 0, number != ProtocolNumber.esp, number != ProtocolNumber.ah { return nil }
    let payload = Payload(
      number: number, source: source, destination: destination, length: Int(total) - headerLength, isChecked: isChecked)
    self.init(payload, bytes.dropFirst(headerLength))
  }

  private init?(ipv6 bytes: ArraySlice<UInt8>, _ length: Int, _ isChecked: Bool) {
    var reader = NetworkByteReader(bytes)
    guard let first = reader.uint8(), first >> 4 == 6, reader.skip(3), let payloadLength = reader.uint16(),
      var number = reader.uint8(), let hopLimit = reader.uint8(), let source = reader.address(isIPv6: true),
      let destination = reader.address(isIPv6: true), Int(payloadLength) + 40 <= length
    else { return nil }
    var rest = Int(payloadLength)
    // Extension headers (RFC 8200, 4); a fragment's is none of them.
    while [ProtocolNumber.hopByHop, ProtocolNumber.routing, ProtocolNumber.destination].contains(number) {
      guard let next = reader.uint8(), let units = reader.uint8(), reader.skip(Int(units) * 8 + 6) else { return nil }
      number = next
      rest -= Int(units) * 8 + 8
      if rest < 0 { return nil }
    }
    let payload = Payload(
      number: number, source: source, destination: destination, length: rest, isChecked: isChecked,
      isFromLink: hopLimit == 255)
    self.init(payload, bytes.suffix(reader.count))
  }

  /// What an IP header says of what follows.
  private struct Payload {
    var number: UInt8
    var source: IPAddressBits
    var destination: IPAddressBits
    var length: Int
    var isChecked: Bool
    /// Whether no router has forwarded it (RFC 4861, 7.1).
    var isFromLink = false

    /// The ends of a flow, whose ports a segment or a datagram begins with.
    func endpoints(_ reader: inout NetworkByteReader) -> Endpoints? {
      guard let sourcePort = reader.uint16(), let destinationPort = reader.uint16() else { return nil }
      return Endpoints(
        source: source, sourcePort: sourcePort, destination: destination, destinationPort: destinationPort)
    }

    /// Whether the transport checksum is right (RFC 9293, 3.1; RFC 768; RFC 8200, 8.1). That of bytes which are not all
    /// there cannot be.
    func isRight(_ bytes: ArraySlice<UInt8>) -> Bool {
      if isChecked { return true }
      guard bytes.count >= length else { return false }
      var sum = InternetChecksum(bytes.prefix(length))
      for part in [source.high, source.low, destination.high, destination.low, UInt64(length), UInt64(number)] {
        sum.add(part)
      }
      return sum.isRight
    }
  }

  private init?(_ payload: Payload, _ bytes: ArraySlice<UInt8>) {
    switch payload.number {
    case ProtocolNumber.tcp: self.init(tcp: payload, bytes)
    case ProtocolNumber.udp: self.init(udp: payload, bytes)
    case ProtocolNumber.icmp6: self.init(icmp6: payload, bytes)
    case ProtocolNumber.esp, ProtocolNumber.ah: self = .sealed
    default: return nil
    }
  }

  private init?(tcp payload: Payload, _ bytes: ArraySlice<UInt8>) {
    var reader = NetworkByteReader(bytes)
    guard let endpoints = payload.endpoints(&reader), let sequence = reader.uint32(),
      let acknowledgement = reader.uint32(), let offset = reader.uint8(), let flags = reader.uint8(),
      // Others tell nothing of whether a connection can be made.
      flags & (Self.syn | Self.rst) != 0,
      offset >> 4 >= 5, Int(offset >> 4) * 4 <= payload.length, payload.isRight(bytes)
    else { return nil }
    self = .segment(
      Segment(
        endpoints: endpoints, sequence: sequence, acknowledgement: flags & Self.ack == 0 ? nil : acknowledgement,
        isSYN: flags & Self.syn != 0))
  }

  /// The flags of a segment (RFC 9293, 3.1).
  private static let (syn, rst, ack): (UInt8, UInt8, UInt8) = (0x02, 0x04, 0x10)

  private init?(udp payload: Payload, _ bytes: ArraySlice<UInt8>) {
    var reader = NetworkByteReader(bytes)
    guard let endpoints = payload.endpoints(&reader), let length = reader.uint16(), let checksum = reader.uint16(),
      length >= 8, length <= payload.length
    else { return nil }
    var payload = payload
    payload.length = Int(length)
    // IPv4 allows none.
    guard checksum == 0 && !payload.source.isIPv6 || payload.isRight(bytes) else { return nil }
    self = .datagram(endpoints)
  }

  private init?(icmp6 payload: Payload, _ bytes: ArraySlice<UInt8>) {
    var reader = NetworkByteReader(bytes)
    guard let type = reader.uint8(), reader.uint8() == 0, reader.skip(6), payload.length >= 24, payload.isFromLink,
      let target = reader.address(isIPv6: true), payload.isRight(bytes)
    else { return nil }
    switch type {
    // It looks for a conflict of addresses (RFC 4862, 5.4.2), and nobody should answer.
    case 135 where payload.source.high == 0 && payload.source.low == 0: return nil
    case 135: self = .neighbourQuestion(target)
    case 136: self = .neighbourAnswer(target)
    default: return nil
    }
  }
}

/// The checksum of the Internet's headers (RFC 1071). The sum of everything, the checksum itself included, is all ones.
private struct InternetChecksum {
  private var sum: UInt64 = 0

  init(_ bytes: ArraySlice<UInt8>) {
    for (offset, byte) in bytes.enumerated() { sum += UInt64(byte) << (offset % 2 == 0 ? 8 : 0) }
  }

  mutating func add(_ value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 16) { sum += (value >> shift) & 0xFFFF }
  }

  var isRight: Bool {
    var folded = sum
    while folded > 0xFFFF { folded = (folded & 0xFFFF) + folded >> 16 }
    return folded == 0xFFFF
  }
}
