// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneSites
import TestSupport
import Testing

@testable import DialtoneDiagnosis

/// Packets of a link, as any neighbour can have written them. `Scripts/fuzz packet` goes on from here.
struct ObservedPacketTests {
  /// What Linux sent by a veth for connect(2) and send(2) to port 53, read by packet(7), and what it was asked for. The
  /// checksums of the transport headers are left to the device.
  private static let sent: [(etherType: UInt16, text: String, source: (String, UInt16), target: String, isTCP: Bool)] =
    [
      (
        0x0800,
        "4500003cf56b40004006314c0a0100020a010001d8fa00358bdc1a4300000000a002faf014330000020405b40402080aefb682b5"
          + "000000000103030a", ("10.1.0.2", 55546), "10.1.0.1", true
      ),
      (
        0x0800, "4500001f8d994000401199300a0100020a010001d04e0035000b1421686921", ("10.1.0.2", 53326), "10.1.0.1", false
      ),
      (
        0x86DD,
        "60080aa400280640fd010000000000000000000000000002fd010000000000000000000000000001c8fe00353d3f9c3400000000"
          + "a002fd20fa340000020405a00402080ae6f0a9d1000000000103030a", ("fd01::2", 51454), "fd01::1", true
      ),
      (
        0x86DD,
        "6008019b000b1140fd010000000000000000000000000002fd010000000000000000000000000001e1800035000bfa22686921",
        ("fd01::2", 57728), "fd01::1", false
      ),
    ]

  private static func bytes(_ text: String) throws -> [UInt8] {
    try stride(from: 0, to: text.count, by: 2).map { position in
      try #require(UInt8(text.dropFirst(position).prefix(2), radix: 16))
    }
  }

  private static func packet(_ bytes: [UInt8], _ etherType: UInt16, isChecked: Bool = true) -> ObservedPacket? {
    ObservedPacket(bytes[...], length: bytes.count, etherType: etherType, isChecked: isChecked)
  }

  @Test func readsWhatTheKernelSends() throws {
    for (etherType, text, source, target, isTCP) in Self.sent {
      let ends = ObservedPacket.Endpoints(
        source: try #require(IPAddress(source.0)).bits, sourcePort: source.1,
        destination: try #require(IPAddress(target)).bits, destinationPort: 53)
      switch Self.packet(try Self.bytes(text), etherType) {
      case .segment(let segment):
        #expect(isTCP && segment.endpoints == ends && segment.isSYN, "\(text)")
        #expect(segment.acknowledgement == nil)
      case .datagram(let endpoints): #expect(!isTCP && endpoints == ends, "\(text)")
      case let other: Issue.record("\(text): \(String(describing: other))")
      }
    }
  }

  /// The kernel would drop it before any firewall, so that it proves nothing.
  @Test func whatIsDamagedIsNone() throws {
    for (etherType, text, _, _, _) in Self.sent {
      let bytes = try Self.bytes(text)
      #expect(Self.packet(bytes, etherType, isChecked: false) == nil, "its checksum is not there yet: \(text)")
      // Another EtherType, or the other version's.
      for other in [0x0800, 0x0806, 0x86DD, 0x88B5] as [UInt16] where other != etherType {
        #expect(Self.packet(bytes, other) == nil, "\(other): \(text)")
      }
      // Less than the header says.
      for count in 0..<bytes.count {
        #expect(Self.packet(Array(bytes.prefix(count)), etherType) == nil, "\(count): \(text)")
      }
      // A bit of IPv4's header, which has a checksum (RFC 791).
      for bit in 0..<(etherType == 0x0800 ? 160 : 0) {
        var wrong = bytes
        wrong[bit / 8] ^= 1 << (bit % 8)
        #expect(Self.packet(wrong, etherType) == nil, "bit \(bit): \(text)")
      }
    }
  }

  /// RFC 8200, 4: extension headers stand between IPv6's header and what it carries, each of 8 bytes or a multiple.
  @Test(arguments: [0, 43, 60] as [UInt8])
  func extensionHeadersAreSkipped(number: UInt8) throws {
    for (etherType, text, _, _, _) in Self.sent where etherType == 0x86DD {
      let bytes = try Self.bytes(text)
      for units in 0...2 {
        // What follows it, its length, and a PadN option.
        let padding = 8 * units + 4
        let header = [bytes[6], UInt8(units), 1, UInt8(padding)] + [UInt8](repeating: 0, count: padding)
        var long = Array(bytes[..<40]) + header + bytes[40...]
        long[5] += UInt8(header.count)
        long[6] = number
        #expect(Self.packet(long, etherType) == Self.packet(bytes, etherType), "\(units): \(text)")
        // A payload that ends inside of the header.
        long[5] = UInt8(header.count - 1)
        #expect(Self.packet(long, etherType) == nil, "\(units): \(text)")
      }
    }
  }

  /// RFC 4861, 4.3 and 4.4, 7.1: none is taken that a router may have forwarded. RFC 4862, 5.4.2: one without a source
  /// looks for a conflict.
  @Test func readsQuestionsForNeighbours() throws {
    func packet(type: UInt8, from source: String, hopLimit: UInt8 = 255) throws -> ObservedPacket? {
      func bytes(_ text: String) throws -> [UInt8] { try #require(IPAddress(text)).networkBytes }
      let body = try [type, 0, 0, 0, 0, 0, 0, 0] + bytes("fe80::2")
      let head: [UInt8] = [0x60, 0, 0, 0, 0, UInt8(body.count), 58, hopLimit]
      return try Self.packet(head + bytes(source) + bytes("ff02::1:ff00:2") + body, 0x86DD)
    }
    let target = try #require(IPAddress("fe80::2")).bits
    #expect(try packet(type: 135, from: "fe80::1") == .neighbourQuestion(target))
    #expect(try packet(type: 136, from: "fe80::2") == .neighbourAnswer(target))
    #expect(try packet(type: 135, from: "::") == nil)
    #expect(try packet(type: 135, from: "fe80::1", hopLimit: 254) == nil)
    #expect(try packet(type: 134, from: "fe80::1") == nil)
  }

  /// RFC 9293, 3.1, RFC 768 and RFC 8200, 8.1: the same packets with their whole checksums, by another program.
  @Test(arguments: zip(0..<4, ["474c", "91e6", "1d80", "9ab2"]))
  func aChecksumThatIsThereIsLookedAt(sample: Int, checksum: String) throws {
    let (etherType, text, _, _, isTCP) = Self.sent[sample]
    let header = etherType == 0x0800 ? 20 : 40
    var bytes = try Self.bytes(text)
    let place = header + (isTCP ? 16 : 6)
    bytes.replaceSubrange(place..<place + 2, with: try Self.bytes(checksum))
    #expect(Self.packet(bytes, etherType, isChecked: false) == Self.packet(bytes, etherType))
    #expect(Self.packet(bytes, etherType) != nil)
    // A bit of IPv6's addresses, of the transport header, or of what it carries.
    for bit in (etherType == 0x0800 ? 160 : 64)..<bytes.count * 8 {
      var wrong = bytes
      wrong[bit / 8] ^= 1 << (bit % 8)
      #expect(Self.packet(wrong, etherType, isChecked: false) == nil, "bit \(bit): \(text)")
    }
    // Zero is none: IPv4 has datagrams without one.
    bytes.replaceSubrange(place..<place + 2, with: [0, 0])
    #expect((Self.packet(bytes, etherType, isChecked: false) != nil) == (etherType == 0x0800 && !isTCP))
  }

  /// The same datagram over IPv4 (RFC 791): whole, with options, and two fragments, each with the header's checksum;
  /// and what IPsec seals (RFC 4302, RFC 4303).
  @Test func readsTheHeaderOfIPv4() throws {
    func packet(_ text: String) throws -> ObservedPacket? {
      try Self.packet(Self.bytes(text), 0x0800, isChecked: false)
    }
    let ends = ObservedPacket.Endpoints(
      source: IPAddress(ipv4: 0x0A01_0002).bits, sourcePort: 53_326, destination: IPAddress(ipv4: 0x0A01_0001).bits,
      destinationPort: 53)
    let body = "0a0100020a010001d04e0035000b91e6686921"
    #expect(try packet("4500001f00004000401126ca" + body) == .datagram(ends))
    #expect(try packet("4600002300004000401123c50a0100020a01000101010100d04e0035000b91e6686921") == .datagram(ends))
    #expect(try packet("4500001f00002000401146ca" + body) == nil, "more fragments follow")
    #expect(try packet("4500001f00000001401166c9" + body) == nil, "it is a later fragment")
    #expect(try packet("4500001c00004000403226ac0a0100020a0100010000000000000000") == .sealed)
    #expect(try packet("4500002000004000403326a70a0100020a010001000000000000000000000000") == .sealed)
  }

  /// RFC 8200, 4, and RFC 4303: what IPsec seals over IPv6.
  @Test(arguments: [(50, .sealed), (51, .sealed), (44, nil), (1, nil)] as [(UInt8, ObservedPacket?)])
  func readsWhatIPv6Carries(number: UInt8, packet: ObservedPacket?) throws {
    var bytes = try Self.bytes(Self.sent[3].text)
    bytes[6] = number
    #expect(Self.packet(bytes, 0x86DD) == packet)
  }

  /// RFC 9293, 3.1: an answer to a SYN, and a refusal. What neither begins nor refuses a connection tells nothing.
  @Test(arguments: [(0x12, true), (0x14, false), (0x04, false), (0x10, nil), (0x01, nil)] as [(UInt8, Bool?)])
  func readsTheFlagsOfASegment(flags: UInt8, isSYN: Bool?) throws {
    var bytes = try Self.bytes(Self.sent[0].text)
    bytes[33] = flags
    bytes.replaceSubrange(28..<32, with: [0x8B, 0xDC, 0x1A, 0x44])
    guard case .segment(let segment)? = Self.packet(bytes, 0x0800) else {
      #expect(isSYN == nil && Self.packet(bytes, 0x0800) == nil)
      return
    }
    #expect(segment.isSYN == isSYN && segment.sequence == 0x8BDC_1A43)
    #expect(segment.acknowledgement == (flags & 0x10 == 0 ? nil : 0x8BDC_1A44))
  }

  /// RFC 826, of Ethernet and IPv4; RFC 5227: without a sender, or about the sender, it looks for a conflict.
  @Test func readsQuestionsOfARP() throws {
    func packet(_ operation: String, from sender: String, to target: String, _ kinds: String = "000108000604") throws
      -> ObservedPacket?
    {
      try Self.packet(Self.bytes(kinds + operation + "020000000001" + sender + "020000000002" + target), 0x0806)
    }
    let (own, other) = ("c0000202", "c0000201")
    #expect(try packet("0001", from: own, to: other) == .neighbourQuestion(IPAddress(ipv4: 0xC000_0201).bits))
    #expect(try packet("0002", from: other, to: own) == .neighbourAnswer(IPAddress(ipv4: 0xC000_0201).bits))
    #expect(try packet("0001", from: "00000000", to: other) == nil)
    #expect(try packet("0001", from: other, to: other) == nil)
    #expect(try packet("0003", from: own, to: other) == nil, "a question of RARP (RFC 903)")
    for kinds in ["000608000604", "000186dd0604", "000108000804", "000108000610"] {
      #expect(try packet("0001", from: own, to: other, kinds) == nil, "\(kinds)")
    }
  }

  /// Four zero bytes once ended a process that runs as root.
  @Test(arguments: [1, 2, UInt64.random(in: 3...UInt64.max)])
  func anyBytesAreRead(seed: UInt64) throws {
    for etherType in [0x0800, 0x0806, 0x86DD, 0x88B5] as [UInt16] {
      #expect(Self.packet([0, 0, 0, 0], etherType) == nil)
    }
    var numbers = SeededNumbers(seed: seed)
    let samples = try Self.sent.map { try Self.bytes($0.text) }
    for _ in 0..<20_000 {
      var bytes = samples.randomElement(using: &numbers) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count, using: &numbers))
      let whole = bytes.count + Int.random(in: 0...1_500, using: &numbers)
      for etherType in [0x0800, 0x0806, 0x86DD, 0x88B5] as [UInt16] {
        let packet = ObservedPacket(bytes[...], length: whole, etherType: etherType, isChecked: true)
        #expect(packet == nil || bytes.count >= 28, "\(bytes)")
      }
    }
  }
}
#endif
