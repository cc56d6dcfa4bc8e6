// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct NetlinkAttributeCursorTests {
  private func walk(_ array: [UInt8], _ range: Range<Int>? = nil) -> (found: [NetlinkAttribute], isMalformed: Bool) {
    withBytes(of: array) { bytes in
      var cursor = NetlinkAttributeCursor(range ?? 0..<bytes.byteCount)
      var found: [NetlinkAttribute] = []
      while let attribute = cursor.next(in: bytes) { found.append(attribute) }
      return (found, cursor.isMalformed)
    }
  }

  /// The attributes in a message of the builder, whose first 16 bytes are the message's header.
  private func attributes(_ body: (inout NetlinkRequestBuilder) -> Void) -> [UInt8] {
    Array(message(.newLink, [], body)[16...])
  }

  @Test func findsEachAttribute() {
    let bytes = attributes {
      $0.append(3, bytes: [1, 2, 3, 4, 5])
      $0.appendFlag(4)
      $0.append(5, UInt32(9))
    }
    let (found, isMalformed) = walk(bytes)
    #expect(found.map(\.type) == [3, 4, 5])
    #expect(found.map(\.payload) == [4..<9, 16..<16, 20..<24])
    #expect(!isMalformed)
  }

  @Test func masksTheFlagBitsOff() {
    let bytes = attributes {
      $0.append(0x8000 | 18, UInt32(0))
      $0.append(0x4000 | 19, UInt32(0))
    }
    #expect(walk(bytes).found.map(\.type) == [18, 19])
  }

  @Test func emptyRangeHasNone() {
    let (found, isMalformed) = walk([], 0..<0)
    #expect(found.isEmpty)
    #expect(!isMalformed)
  }

  @Test(arguments: [[0, 0], [3, 0], [9, 0], [0xff, 0xff]] as [[UInt8]])
  func stopsAtALengthThatDoesNotFit(length: [UInt8]) {
    var bytes = attributes {
      $0.append(1, UInt32(1))
      $0.append(2, UInt32(2))
    }
    bytes.replaceSubrange(8..<10, with: length)
    let (found, isMalformed) = walk(bytes)
    #expect(found.map(\.type) == [1])
    #expect(isMalformed)
  }

  @Test(arguments: 1..<4) func reportsBytesLeftOver(count: Int) {
    let bytes = attributes { $0.append(1, UInt32(1)) } + [UInt8](repeating: 0, count: count)
    let (found, isMalformed) = walk(bytes)
    #expect(found.map(\.type) == [1])
    #expect(isMalformed)
  }

  @Test(arguments: [0..<100, -8..<8, 90..<100]) func rangeOutsideTheBytesIsMalformed(range: Range<Int>) {
    let (found, isMalformed) = walk(attributes { $0.append(1, UInt32(1)) }, range)
    #expect(found.isEmpty)
    #expect(isMalformed)
  }
}
