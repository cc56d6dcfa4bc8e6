// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import TestSupport
import Testing

@testable import DialtoneDiagnosis
@testable import Netlink

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
        #expect(isTCP && segment.endpoints == ends && segment.isSYN && !segment.isRST, "\(text)")
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
