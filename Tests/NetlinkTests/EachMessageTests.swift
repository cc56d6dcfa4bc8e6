// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

/// What all readers of messages have in common.
struct EachMessageTests {
  /// A reader, the two types it takes (linux/rtnetlink.h), the size of its fixed header, and what it cannot do without.
  struct Reader: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let types: Set<UInt16>
    let headerByteCount: Int
    var needed: [UInt8] = []
    let reads: @Sendable (NetlinkMessage, RawSpan) -> Bool
  }

  static let readers: [Reader] = [
    Reader(testDescription: "link", types: [16, 17], headerByteCount: 16) { LinkMessage($0, in: $1) != nil },
    Reader(testDescription: "address", types: [20, 21], headerByteCount: 8) { AddressMessage($0, in: $1) != nil },
    Reader(testDescription: "route", types: [24, 25], headerByteCount: 12) { RouteMessage($0, in: $1) != nil },
    Reader(testDescription: "prefix", types: [24, 25], headerByteCount: 12) { IPPrefix($0, in: $1) != nil },
    Reader(testDescription: "neighbour", types: [28, 29], headerByteCount: 12) { NeighbourMessage($0, in: $1) != nil },
    Reader(testDescription: "rule", types: [32, 33], headerByteCount: 12) { RuleMessage($0, in: $1) != nil },
    Reader(
      testDescription: "nexthop", types: [104, 105], headerByteCount: 8,
      needed: RawMessage.attribute(1, RawMessage.host(UInt32(5)))
    ) { NexthopMessage($0, in: $1) != nil },
    // From NLMSG_MIN_TYPE on (linux/netlink.h); the types below are control messages.
    Reader(testDescription: "generic", types: Set(16..<130), headerByteCount: 4) {
      GenericNetlinkMessage($0, in: $1) != nil
    },
    Reader(testDescription: "acknowledgement", types: [2, 3], headerByteCount: 4) {
      NetlinkAcknowledgement($0, in: $1) != nil
    },
  ]

  private func isRead(_ reader: Reader, type: UInt16? = nil, _ parts: [UInt8]) throws -> Bool {
    let bytes = RawMessage.bytes(type ?? reader.types.min() ?? 0, parts)
    return try decode(bytes) { reader.reads($0, $1) }
  }

  /// A fixed header of the family IPv4, whose other fields are zero.
  private func header(_ reader: Reader) -> [UInt8] { [2] + RawMessage.zeros(reader.headerByteCount - 1) }

  @Test(arguments: readers) func readsItsOwnTypesAlone(reader: Reader) throws {
    for type in UInt16(0)..<130 {
      #expect(
        try isRead(reader, type: type, header(reader) + reader.needed) == reader.types.contains(type), "type \(type)")
    }
  }

  @Test(arguments: readers) func refusesABodyShorterThanTheFixedHeader(reader: Reader) throws {
    for count in 0..<reader.headerByteCount {
      #expect(try !isRead(reader, [UInt8](header(reader).prefix(count))), "\(count) bytes")
    }
    #expect(try isRead(reader, header(reader)) == reader.needed.isEmpty)
  }

  @Test(arguments: readers.filter { !["generic", "acknowledgement"].contains($0.testDescription) })
  func refusesAttributesThatAreCut(reader: Reader) throws {
    let whole = header(reader) + reader.needed
    // Of a type that nobody knows. The length is the header's at least, and within the message.
    #expect(try isRead(reader, whole + [4, 0, 0xff, 0x3f]))
    for rest in [[1], [4, 0, 0xff], [3, 0, 0xff, 0x3f], [5, 0, 0xff, 0x3f], [0, 0, 0, 0]] as [[UInt8]] {
      #expect(try !isRead(reader, whole + rest), "\(rest)")
    }
  }

  /// Such as a message of which only the first bytes were received. (Of a prefix, the last bytes are not read.)
  @Test(arguments: readers.filter { $0.testDescription != "prefix" })
  func refusesABodyThatLeavesTheBytes(reader: Reader) {
    let type = NetlinkMessageType(rawValue: reader.types.min() ?? 0)
    let whole = RawMessage.bytes(type.rawValue, header(reader) + reader.needed)
    let header = NetlinkHeader(length: UInt32(whole.count), type: type, flags: [], sequence: 0)
    let message = NetlinkMessage(header: header, body: 16..<whole.count)
    #expect(withBytes(of: whole) { reader.reads(message, $0) })
    #expect(!withBytes(of: [UInt8](whole.dropLast(2))) { reader.reads(message, $0) })
  }

  @Test(
    arguments: [
      (16, .link), (17, .link), (18, .other), (20, .address), (21, .address), (22, .other), (24, .route), (25, .route),
      (26, .other), (28, .neighbour), (29, .neighbour), (30, .other), (32, .rule), (33, .rule), (34, .other),
      (52, .advertisement), (53, .other), (68, .advertisement), (80, .netconf), (81, .netconf),
      (82, .other), (104, .nexthop), (105, .nexthop), (106, .other), (0, .other),
      (2, .other), (15, .other),
    ] as [(UInt16, NetlinkMessage.Subject)])
  func tellsWhatAMessageIsAbout(type: UInt16, subject: NetlinkMessage.Subject) throws {
    #expect(try decode(RawMessage.bytes(type)) { message, _ in message.subject } == subject)
  }

  /// `struct nlmsghdr`: length, type, flags, number, port.
  @Test func readsEachFieldOfAHeader() throws {
    let bytes =
      RawMessage.host(UInt32(0x0102_0304)) + RawMessage.host(UInt16(0x0506)) + RawMessage.host(UInt16(0x0708))
      + RawMessage.host(UInt32(0x090a_0b0c)) + RawMessage.host(UInt32(0x0d0e_0f10))
    for offset in [0, 1, 5] {
      let header = try #require(
        withBytes(of: RawMessage.zeros(offset) + bytes) { NetlinkHeader(in: $0, at: offset) })
      #expect(header.length == 0x0102_0304)
      #expect(header.type.rawValue == 0x0506 && header.flags.rawValue == 0x0708)
      #expect(header.sequence == 0x090a_0b0c)
    }
    // One byte too few, or too far on, or before the beginning.
    #expect(withBytes(of: [UInt8](bytes.dropLast())) { NetlinkHeader(in: $0, at: 0) } == nil)
    #expect(withBytes(of: bytes) { NetlinkHeader(in: $0, at: 1) } == nil)
    #expect(withBytes(of: bytes) { NetlinkHeader(in: $0, at: -1) } == nil)
  }
}
