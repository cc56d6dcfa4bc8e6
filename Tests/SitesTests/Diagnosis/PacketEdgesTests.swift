// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import Testing

@testable import DialtoneDiagnosis

/// Packets that are as short as they may be, and what a record of them starts from.
struct PacketEdgesTests {
  private static func bytes(_ text: String) throws -> [UInt8] {
    try stride(from: 0, to: text.count, by: 2).map { position in
      try #require(UInt8(text.dropFirst(position).prefix(2), radix: 16))
    }
  }

  private static func packet(
    _ text: String, _ etherType: UInt16 = 0x0800, isChecked: Bool = false
  ) throws -> ObservedPacket? {
    let bytes = try bytes(text)
    return ObservedPacket(bytes[...], length: bytes.count, etherType: etherType, isChecked: isChecked)
  }

  private static let ends = ObservedPacket.Endpoints(
    source: IPAddress(ipv4: 0x0A01_0002).bits, sourcePort: 53_326, destination: IPAddress(ipv4: 0x0A01_0001).bits,
    destinationPort: 53)
  /// From 10.1.0.2 to 10.1.0.1.
  private static let addresses = "0a0100020a010001"

  /// RFC 9293, 3.1: the data offset is 5 words at least, which is a header without options. Checksums by another
  /// program.
  @Test(arguments: [("50", true), ("40", false), ("60", false)])
  func aSegmentHasTwentyBytesAtLeast(offset: String, isRead: Bool) throws {
    let segment = "d04e00358bdc1a4300000000\(offset)04000000000000"
    let found = try Self.packet("4500002800004000400626cc" + Self.addresses + segment, isChecked: true)
    let reset = ObservedPacket.Segment(
      endpoints: Self.ends, sequence: 0x8BDC_1A43, acknowledgement: nil, isSYN: false)
    #expect(found == (isRead ? .segment(reset) : nil))
  }

  /// RFC 768: a datagram may be empty; its length counts the header's 8 bytes.
  @Test(arguments: [(8, true), (7, false), (9, false)])
  func aDatagramMayBeEmpty(length: Int, isRead: Bool) throws {
    let found = try Self.packet("4500001c00004000401126cd" + Self.addresses + "d04e0035000\(length)0000")
    #expect(found == (isRead ? .datagram(Self.ends) : nil))
  }

  /// RFC 791: the total length counts the header, and nothing need follow.
  @Test func whatIPsecSealsMayBeEmpty() throws {
    #expect(try Self.packet("4500001400004000403226b4" + Self.addresses) == .sealed)
    // IPv6 (RFC 8200, 4): a header for each hop, which ends the payload.
    let six = "20010db8000000000000000000000001" + "20010db8000000000000000000000002"
    #expect(try Self.packet("6000000000080040" + six + "3200010400000000", 0x86DD) == .sealed)
    #expect(try Self.packet("6000000000083240" + six + "0000000000000000", 0x86DD) == .sealed)
  }

  /// RFC 4443, 2.1: ICMPv6 goes with IPv6. A question for a neighbour that IPv4 carries is none, though it has not been
  /// forwarded.
  @Test func questionsForNeighboursComeOverIPv6() throws {
    let body = "8700000000000000" + "fe800000000000000000000000000002"
    #expect(try Self.packet("4500002c00004000ff3a6793" + Self.addresses + body, isChecked: true) == nil)
  }

  /// RFC 4861, 7.1: the code is 0, and the message has 24 bytes at least.
  @Test(arguments: [("8700", 24, true), ("8800", 24, true), ("8701", 24, false), ("8700", 23, false)])
  func questionsForNeighboursAreWhole(type: String, length: UInt8, isRead: Bool) throws {
    let source = "fe800000000000000000000000000001"
    let body = "\(type)000000000000" + "fe800000000000000000000000000002"
    var bytes = try Self.bytes("6000000000003aff" + source + source + body)
    bytes[5] = length
    let found = ObservedPacket(bytes[...], length: bytes.count, etherType: 0x86DD, isChecked: true)
    #expect((found != nil) == isRead)
  }

  /// A witness takes the beginning of a packet alone: its checksum is right if the device says so, and else not known.
  @Test func theBeginningOfAPacketIsReadIfTheDeviceHasLookedAtIt() throws {
    // The datagram of `ObservedPacketTests`, with its checksum, and three bytes of data.
    let bytes = try Self.bytes("4500001f00004000401126ca" + Self.addresses + "d04e0035000b91e6686921")
    func packet(_ count: Int, isChecked: Bool) -> ObservedPacket? {
      ObservedPacket(bytes[..<count], length: bytes.count, etherType: 0x0800, isChecked: isChecked)
    }
    #expect(packet(31, isChecked: false) == .datagram(Self.ends))
    #expect(packet(30, isChecked: false) == nil && packet(28, isChecked: false) == nil)
    #expect(packet(30, isChecked: true) == .datagram(Self.ends) && packet(28, isChecked: true) == .datagram(Self.ends))
    #expect(packet(27, isChecked: true) == nil)
  }

  // MARK: Records

  private typealias Place = PacketRecord.Place

  private static let out = Place(interface: 2, isOutgoing: true)
  private static let into = Place(interface: 2, isOutgoing: false)
  private static let router = IPAddress(ipv4: 0xC000_0201).bits

  private static func syn(_ ends: ObservedPacket.Endpoints, acknowledgement: UInt32? = nil) -> ObservedPacket {
    .segment(
      ObservedPacket.Segment(endpoints: ends, sequence: 7, acknowledgement: acknowledgement, isSYN: true))
  }

  @Test func nothingIsSeenAtFirst() throws {
    let record = PacketRecord()
    let neighbour = try #require(record.neighbour(Self.router))
    #expect(!neighbour.isAsked && !neighbour.isAnswered && !record.isBlind)
    let sight = record.sight(of: PacketRecord.Flow(endpoints: Self.ends, isStream: true))
    #expect(sight.hasLeft == false && sight.answerCount == 0 && sight.otherWay == nil)
    #expect(sight.leavingBy == [] && sight.returningBy == [])
  }

  /// What was seen to answer has answered, no matter what else was not seen.
  @Test func aNeighbourThatWasSeenIsSeenByTheBlind() {
    var record = PacketRecord()
    record.note(.neighbourQuestion(Self.router), at: Self.out)
    record.noteLoss()
    #expect(record.neighbour(Self.router) == nil)
    record.note(.neighbourAnswer(Self.router), at: Self.into)
    #expect(record.neighbour(Self.router)?.isAnswered == true)
    // One's own answer to others is none.
    var other = PacketRecord()
    other.note(.neighbourQuestion(Self.router), at: Self.out)
    other.note(.neighbourAnswer(Self.router), at: Self.out)
    #expect(other.neighbour(Self.router)?.isAnswered == false)
  }

  /// Of a bridge or a VLAN, the link beneath is seen, too: an answer by one of several is no answer by another way.
  @Test func eachLinkOfAPacketIsKept() {
    var record = PacketRecord()
    let flow = PacketRecord.Flow(endpoints: Self.ends, isStream: false)
    for interface: UInt32 in [5, 2] {
      record.note(.datagram(Self.ends), at: Place(interface: interface, isOutgoing: true))
    }
    for interface: UInt32 in [9, 7] {
      record.note(.datagram(Self.ends.reversed), at: Place(interface: interface, isOutgoing: false))
    }
    let sight = record.sight(of: flow)
    #expect(sight.leavingBy == [2, 5] && sight.returningBy == [7, 9])
    #expect(sight.otherWay == 7 && sight.answerCount == 2)
    record.note(.datagram(Self.ends.reversed), at: Place(interface: 5, isOutgoing: false))
    #expect(record.sight(of: flow).otherWay == nil && record.sight(of: flow).answerCount == 3)
  }

  /// RFC 9293, 3.5: a SYN that acknowledges another one is a service's answer, and begins nothing here.
  @Test func anAnswerOfAServiceHereBeginsNoFlow() {
    var record = PacketRecord()
    record.note(Self.syn(Self.ends, acknowledgement: 1), at: Self.out)
    let flow = PacketRecord.Flow(endpoints: Self.ends, isStream: true)
    #expect(record.sight(of: flow).hasLeft == false)
    record.note(Self.syn(Self.ends), at: Self.out)
    #expect(record.sight(of: flow).hasLeft == true)
  }

  /// A flow to somebody else from another port is another flow, and no translation of this one (RFC 3022).
  @Test func anotherFlowIsNoTranslation() {
    var other = Self.ends
    (other.destination, other.sourcePort) = (Self.router, 1_024)
    var otherPort = Self.ends
    (otherPort.destinationPort, otherPort.sourcePort) = (54, 1_024)
    for seen in [other, otherPort] {
      var record = PacketRecord()
      record.note(Self.syn(seen), at: Self.out)
      #expect(record.sight(of: PacketRecord.Flow(endpoints: Self.ends, isStream: true)).hasLeft == false)
    }
    // From the same port to another port of the peer: a destination that was put in.
    otherPort.sourcePort = Self.ends.sourcePort
    var record = PacketRecord()
    record.note(Self.syn(otherPort), at: Self.out)
    #expect(record.sight(of: PacketRecord.Flow(endpoints: Self.ends, isStream: true)).hasLeft == nil)
    // A stream is no datagram.
    #expect(record.sight(of: PacketRecord.Flow(endpoints: Self.ends, isStream: false)).hasLeft == false)
  }

  /// What is kept goes on being told when no more is kept.
  @Test func whatIsKnownIsUpdatedBeyondTheLimit() {
    var record = PacketRecord(limit: 1)
    record.note(.datagram(Self.ends), at: Self.out)
    record.note(.datagram(Self.ends), at: Place(interface: 3, isOutgoing: true))
    record.note(.neighbourQuestion(Self.router), at: Self.out)
    record.note(.neighbourQuestion(Self.router), at: Self.out)
    record.note(.neighbourAnswer(Self.router), at: Self.into)
    #expect(!record.isBlind && record.neighbour(Self.router)?.isAnswered == true)
    #expect(record.sight(of: PacketRecord.Flow(endpoints: Self.ends, isStream: false)).leavingBy == [2, 3])
    record.note(.datagram(Self.ends.reversed), at: Self.out)
    #expect(record.isBlind)
  }
}
#endif
