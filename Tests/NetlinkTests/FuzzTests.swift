// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import TestSupport
import Testing

@testable import Dialtone

/// No bytes may make the parser trap or return an offset outside them. Bytes that are not a message are refused.
struct FuzzTests {
  /// Reads bytes as every kind of message.
  ///
  /// - Returns: The number of messages found. It depends on everything read, so that nothing is optimised away.
  @discardableResult
  private func decodeEverything(_ array: [UInt8]) -> Int {
    withBytes(of: array) { bytes in
      var found = 0
      var cursor = NetlinkMessageCursor(count: bytes.byteCount)
      do throws(NetlinkFormatError) {
        while let message = try cursor.next(in: bytes) {
          #expect(message.body.lowerBound >= 16 && message.body.upperBound <= bytes.byteCount)
          found += 1 + readAs(message, bytes)
        }
      } catch {
        found += 1
      }
      return found
    }
  }

  private func readAs(_ message: NetlinkMessage, _ bytes: RawSpan) -> Int {
    var found = 0
    if let acknowledgement = NetlinkAcknowledgement(message, in: bytes) {
      #expect(acknowledgement.errno >= 0)
      found += acknowledgement.text(in: bytes)?.utf8.count ?? 1
    }
    if let generic = GenericNetlinkMessage(message, in: bytes) {
      found += generic.familyID(in: bytes) == nil ? 1 : 2
      found += generic.wirelessInterfaceIndex(in: bytes) == nil ? 1 : 2
    }
    let decoders: [NetlinkMessageType: (NetlinkMessage, RawSpan) -> Bool] = [
      .newLink: { LinkMessage($0, in: $1) != nil }, .newAddress: { AddressMessage($0, in: $1) != nil },
      .newRoute: { RouteMessage($0, in: $1)?.covers(ipv4(1, 2, 3, 4)) != nil },
      .newRule: { RuleMessage($0, in: $1) != nil }, .newNexthop: { NexthopMessage($0, in: $1) != nil },
      .newNeighbour: { NeighbourMessage($0, in: $1) != nil },
    ]
    // The same body is read as every type, so that a mutation of the type hides nothing.
    for (type, decode) in decoders {
      let header = NetlinkHeader(length: message.header.length, type: type, flags: message.flags, sequence: 0)
      found += decode(NetlinkMessage(header: header, body: message.body), bytes) ? 1 : 0
    }
    if let range = message.attributes(after: 12) {
      var attributes = NetlinkAttributeCursor(range)
      while let attribute = attributes.next(in: bytes) {
        #expect(range.lowerBound <= attribute.payload.lowerBound && attribute.payload.upperBound <= range.upperBound)
        found += 1
      }
    }
    return found
  }

  private func setLength(_ bytes: inout [UInt8], _ length: Int) {
    for index in 0..<4 where index < bytes.count { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
  }

  @Test(arguments: RecordedMessage.all) func survivesEveryTruncation(recorded: RecordedMessage) {
    let whole = recorded.bytes
    for count in 0...whole.count {
      var bytes = Array(whole[..<count])
      decodeEverything(bytes)
      // Then with a header that fits the remaining bytes, so that the decoders see them.
      setLength(&bytes, count)
      decodeEverything(bytes)
    }
  }

  @Test(arguments: RecordedMessage.all) func survivesEveryMutationOfOneByte(recorded: RecordedMessage) {
    var bytes = recorded.bytes
    for index in bytes.indices {
      let original = bytes[index]
      for value in [0, 1, 3, 5, 0x7f, 0x80, 0xff, original &+ 1, original &- 1, original ^ 0x40] as Set<UInt8> {
        bytes[index] = value
        decodeEverything(bytes)
      }
      bytes[index] = original
    }
  }

  @Test(arguments: seeds) func survivesRandomBytes(seed: UInt64) {
    var generator = SeededNumbers(seed: seed)
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...120, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      decodeEverything(bytes)
      setLength(&bytes, bytes.count)
      decodeEverything(bytes)
    }
  }

  @Test(arguments: seeds) func survivesRandomAttributes(seed: UInt64) {
    var generator = SeededNumbers(seed: seed)
    for _ in 0..<5_000 {
      let bytes = message(.newRoute) {
        _ = $0.appendHeader(byteCount: [1, 4, 8, 12, 16].randomElement(using: &generator) ?? 12)
        for _ in 0..<Int.random(in: 0...8, using: &generator) {
          let count = [0, 1, 2, 4, 6, 8, 16, 18].randomElement(using: &generator) ?? 4
          let payload = (0..<count).map { _ in UInt8.random(in: 0...20, using: &generator) }
          $0.append(UInt16.random(in: 0...40, using: &generator), bytes: payload)
        }
      }
      decodeEverything(bytes)
    }
  }
}
