// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import Testing

@testable import DialtoneDiagnosis

/// What packets, by the standards, tell of a connection: whether its first one has left, and whether an answer came in.
struct PacketRecordTests {
  private typealias Place = PacketRecord.Place

  private static let own = IPAddress(ipv4: 0xC000_0202).bits
  private static let peer = IPAddress(ipv4: 0xCB00_710A).bits
  private static let router = IPAddress(ipv4: 0xC000_0201).bits
  private static let ends = ObservedPacket.Endpoints(
    source: own, sourcePort: 50_000, destination: peer, destinationPort: 443)
  private static let stream = PacketRecord.Flow(endpoints: ends, isStream: true)
  private static let datagrams = PacketRecord.Flow(endpoints: ends, isStream: false)
  private static let out = Place(interface: 2, isOutgoing: true)
  private static let into = Place(interface: 2, isOutgoing: false)

  private static func segment(
    _ ends: ObservedPacket.Endpoints, sequence: UInt32 = 0, acknowledgement: UInt32? = nil, isSYN: Bool = false
  ) -> ObservedPacket {
    .segment(
      ObservedPacket.Segment(endpoints: ends, sequence: sequence, acknowledgement: acknowledgement, isSYN: isSYN))
  }

  private static func record(_ packets: (ObservedPacket, Place)..., limit: Int = 100) -> PacketRecord {
    var record = PacketRecord(limit: limit)
    for (packet, place) in packets { record.note(packet, at: place) }
    return record
  }

  private static let syn = (segment(ends, sequence: .max, isSYN: true), out)

  /// RFC 9293, 3.10.7.3: an answer to a SYN acknowledges the number behind it, and numbers begin again at 0.
  @Test(arguments: [true, false])
  func anAnswerAcknowledgesTheSYN(isRefusal: Bool) {
    func answer(_ acknowledgement: UInt32?) -> (ObservedPacket, PacketRecord.Place) {
      (Self.segment(Self.ends.reversed, acknowledgement: acknowledgement, isSYN: !isRefusal), Self.into)
    }
    let answered = Self.record(Self.syn, answer(0)).sight(of: Self.stream)
    #expect(answered.hasLeft == true && answered.hasReturned == true && answered.answerCount == 1)
    for strange in [nil, 1, UInt32.max] {
      let sight = Self.record(Self.syn, answer(strange)).sight(of: Self.stream)
      #expect(sight.hasLeft == true && sight.hasReturned == false, "\(String(describing: strange))")
    }
    // An answer to what was not seen to leave is a stranger's.
    #expect(Self.record(answer(0)).sight(of: Self.stream).answerCount == 0)
  }

  @Test func aDatagramIsAnsweredByAnyOther() {
    let record = Self.record((.datagram(Self.ends), Self.out), (.datagram(Self.ends.reversed), Self.into))
    #expect(record.sight(of: Self.datagrams).hasReturned == true)
    // Not by one of another port, and a stream is another flow.
    var other = Self.ends.reversed
    other.destinationPort += 1
    let strange = Self.record((.datagram(Self.ends), Self.out), (.datagram(other), Self.into))
    #expect(strange.sight(of: Self.datagrams).hasReturned == false)
    #expect(strange.sight(of: Self.stream).hasLeft == false)
  }

  @Test func anAnswerByAnotherLinkIsNamed() {
    let answer = Self.segment(Self.ends.reversed, acknowledgement: 0, isSYN: true)
    let other = Self.record(Self.syn, (answer, Place(interface: 3, isOutgoing: false)))
    #expect(other.sight(of: Self.stream).otherWay == 3)
    #expect(Self.record(Self.syn, (answer, Self.into)).sight(of: Self.stream).otherWay == nil)
  }

  // MARK: Not leaving

  @Test func whatWasNotSeenHasNotLeft() {
    let sight = Self.record().sight(of: Self.stream)
    #expect(sight.hasLeft == false && sight.hasReturned == false)
  }

  /// What IPsec seals, and what was lost before it was read, may have been its packets.
  @Test func whatMayHaveGoneUnseenIsNotSaidToStay() {
    let sealed = Self.record((.sealed, Self.out))
    #expect(sealed.isBlind && sealed.sight(of: Self.stream).hasLeft == nil)
    #expect(sealed.sight(of: Self.stream).hasReturned == nil && sealed.neighbour(Self.router) == nil)
    let others = Self.record((.sealed, Self.into))
    #expect(!others.isBlind && others.sight(of: Self.stream).hasLeft == false)
    var lost = Self.record()
    lost.noteLoss()
    #expect(lost.sight(of: Self.stream).hasLeft == nil)
  }

  @Test func aPacketThatWaitsForANeighbourIsNotSaidToStay() {
    let asked = (ObservedPacket.neighbourQuestion(Self.router), Self.out)
    #expect(Self.record(asked).sight(of: Self.stream).hasLeft == nil)
    let answered = Self.record(asked, (.neighbourAnswer(Self.router), Self.into))
    #expect(answered.sight(of: Self.stream).hasLeft == false)
  }

  /// Network address translation (RFC 3022) puts in another source or another destination.
  @Test func whatLeavesUnderOtherNumbersIsNotSaidToStay() {
    var masked = Self.ends
    masked.source = Self.router
    masked.sourcePort = 1_024
    var redirected = Self.ends
    redirected.destination = Self.router
    var anotherPort = Self.ends
    anotherPort.sourcePort += 1
    func hasLeft(_ seen: ObservedPacket.Endpoints, by interface: UInt32 = 2) -> Bool? {
      let place = Place(interface: interface, isOutgoing: true)
      return Self.record((Self.segment(seen, isSYN: true), place)).sight(of: Self.stream).hasLeft
    }
    #expect(hasLeft(masked) == nil)
    #expect(hasLeft(redirected) == nil)
    // nft(8), masquerade fully-random: the port alone.
    #expect(hasLeft(anotherPort) == nil)
    // nft(8), redirect: to this machine itself, whose loopback interface is the first (LOOPBACK_IFINDEX).
    #expect(hasLeft(redirected, by: 1) == false)
    // ip-route(8), type local: what is for others comes back by the loopback interface, as all that is for this machine
    // does.
    #expect(hasLeft(Self.ends, by: 1) == false && hasLeft(Self.ends) == true)
    // So its answer is this machine's.
    let here = Self.record(
      (Self.segment(Self.ends, isSYN: true), Place(interface: 1, isOutgoing: true)),
      (Self.segment(Self.ends.reversed, acknowledgement: 1), Place(interface: 1, isOutgoing: false)))
    #expect(here.sight(of: Self.stream) == PacketRecord.Sight(hasLeft: false))
    var own = Self.ends
    own.destination = own.source
    let flow = PacketRecord.Flow(endpoints: own, isStream: true)
    let seen = (Self.segment(own, isSYN: true), Place(interface: 1, isOutgoing: true))
    #expect(Self.record(seen).sight(of: flow).hasLeft == true)
  }

  // MARK: Neighbours

  @Test func aNeighbourIsSeenToBeAskedAndToAnswer() {
    let asked = (ObservedPacket.neighbourQuestion(Self.router), Self.out)
    let answer = (ObservedPacket.neighbourAnswer(Self.router), Self.into)
    #expect(Self.record().neighbour(Self.router) == .init())
    #expect(Self.record(asked).neighbour(Self.router) == .init(isAsked: true))
    #expect(Self.record(asked, answer).neighbour(Self.router) == .init(isAsked: true, isAnswered: true))
    // Anybody may say anything unasked, and others' questions are not this machine's.
    #expect(Self.record(answer).neighbour(Self.router) == .init())
    #expect(Self.record((asked.0, Self.into)).neighbour(Self.router) == .init())
  }

  @Test func beyondTheLimitNothingIsSaidToStay() {
    var other = Self.ends
    other.sourcePort += 1
    let full = Self.record(Self.syn, (Self.segment(other, isSYN: true), Self.out), limit: 1)
    #expect(full.isBlind && full.sight(of: Self.stream).hasLeft == true)
    let second = (ObservedPacket.neighbourQuestion(Self.own), Self.out)
    #expect(Self.record((.neighbourQuestion(Self.router), Self.out), second, limit: 1).isBlind)
    #expect(!Self.record((.neighbourQuestion(Self.router), Self.out), limit: 1).isBlind)
  }
}
#endif
