// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct NetlinkMessageCursorTests {
  /// Two messages, the first with an attribute that needs padding.
  static let two: [UInt8] = {
    var builder = NetlinkRequestBuilder()
    builder.begin(.newLink, .multi, sequence: 7)
    builder.append(3, bytes: [1, 2, 3, 4, 5])
    builder.end()
    builder.begin(.done, [.multi, .acknowledge], sequence: 0xffff_fffe)
    builder.end()
    return builder.bytes
  }()

  private func walk(_ array: [UInt8]) throws(NetlinkFormatError) -> [NetlinkMessage] {
    try withBytes(of: array) { bytes throws(NetlinkFormatError) in
      var cursor = NetlinkMessageCursor(count: bytes.byteCount)
      var found: [NetlinkMessage] = []
      while let message = try cursor.next(in: bytes) { found.append(message) }
      return found
    }
  }

  @Test func findsEachMessageAndItsBody() throws {
    let messages = try walk(Self.two)
    #expect(messages.map(\.type) == [.newLink, .done])
    #expect(messages.map(\.body) == [16..<28, 44..<44])
    #expect(messages.map(\.header.sequence) == [7, 0xffff_fffe])
    #expect(messages.last?.flags == [.multi, .acknowledge])
  }

  @Test func skipsPaddingBetweenMessages() throws {
    var bytes = Self.two
    // 28 - 3: the first message without its padding.
    bytes[0] = 25
    #expect(try walk(bytes).map(\.body) == [16..<25, 44..<44])
  }

  @Test func acceptsALastMessageWithoutPadding() throws {
    var bytes = Array(Self.two[..<25])
    bytes[0] = 25
    #expect(try walk(bytes).map(\.body) == [16..<25])
  }

  @Test func emptyDatagramHasNoMessage() throws {
    #expect(try walk([]).isEmpty)
    // Nor does one that fills nothing of its buffer.
    for count in [0, -1] {
      try withBytes(of: Self.two) { bytes throws(NetlinkFormatError) in
        var cursor = NetlinkMessageCursor(count: count)
        #expect(try cursor.next(in: bytes) == nil)
      }
    }
  }

  @Test(arguments: 1..<16) func rejectsTruncatedHeader(count: Int) {
    #expect(throws: NetlinkFormatError.truncatedHeader) { try walk(Array(Self.two[..<count])) }
  }

  @Test(arguments: 0..<16) func rejectsLengthBelowHeader(length: UInt8) {
    var bytes = Self.two
    bytes[0] = length
    #expect(throws: NetlinkFormatError.lengthBelowHeader) { try walk(bytes) }
  }

  @Test(arguments: [[45, 0, 0, 0], [0xff, 0xff, 0xff, 0x7f], [0xff, 0xff, 0xff, 0xff]] as [[UInt8]])
  func rejectsLengthBeyondDatagram(length: [UInt8]) {
    var bytes = Self.two
    bytes.replaceSubrange(0..<4, with: length)
    #expect(throws: NetlinkFormatError.truncatedMessage) { try walk(bytes) }
  }

  @Test func endsForGoodAfterAnError() throws {
    let (error, next) = try withBytes(of: [UInt8](repeating: 0, count: 64)) { bytes throws(NetlinkFormatError) in
      var cursor = NetlinkMessageCursor(count: 64)
      var error: NetlinkFormatError?
      do throws(NetlinkFormatError) { _ = try cursor.next(in: bytes) } catch let thrown { error = thrown }
      return (error, try cursor.next(in: bytes))
    }
    #expect(error == .lengthBelowHeader)
    #expect(next == nil)
  }

  @Test func believesTheSpanRatherThanTheCount() throws {
    let types = try withBytes(of: Self.two) { bytes throws(NetlinkFormatError) in
      var cursor = NetlinkMessageCursor(count: .max)
      return [try cursor.next(in: bytes)?.type, try cursor.next(in: bytes)?.type, try cursor.next(in: bytes)?.type]
    }
    #expect(types == [.newLink, .done, nil])
  }

  @Test(arguments: [(0, 16..<36), (1, 20..<36), (12, 28..<36), (13, 32..<36), (18, 36..<36), (20, 36..<36)])
  func attributesStartAtAMultipleOfFour(headerByteCount: Int, expected: Range<Int>) {
    let header = NetlinkHeader(length: 36, type: .newLink, flags: [], sequence: 0)
    let message = NetlinkMessage(header: header, body: 16..<36)
    #expect(message.attributes(after: headerByteCount) == expected)
    #expect(message.attributes(after: 21) == nil)
  }
}
