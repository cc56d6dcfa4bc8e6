// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import TestSupport
import Testing

@testable import DialtoneSites

struct BodyCollectorTests {
  @Test(arguments: [
    ("aab", "aaab", true), ("aab", "aaaa", false), ("abab", "abaabab", true), ("aabaaab", "aabaabaaab", true),
    ("well", "all is well", true), ("well", "wel", false), ("x", "", false), ("aa", "aba", false),
  ])
  func findsTextHoweverItIsCut(_ text: String, _ body: String, _ isFound: Bool) {
    for size in 1...max(1, body.utf8.count) {
      var collector = BodyCollector(text, codings: [] as [String])
      var rest = Array(body.utf8)[...]
      while !rest.isEmpty {
        collector.append(ByteBuffer(bytes: rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(collector.body.hasText == isFound, "in parts of \(size)")
      #expect(collector.body.length == body.utf8.count)
    }
  }

  /// A server may send chunks of one byte; to look through a window as long as the text for each would take minutes.
  @Test(.timeLimit(.minutes(5)), .fewAtATime)
  func aPartOfOneByteCostsOneByte() {
    let text = String(repeating: "a", count: 30_000)
    var collector = BodyCollector(text + "b", codings: [] as [String])
    let start = ContinuousClock.now
    for _ in 0..<65_536 where start.duration(to: .now) < .seconds(20) {
      collector.append(ByteBuffer(bytes: [UInt8(ascii: "a")]))
    }
    #expect(collector.body.isComplete && !collector.body.hasText && collector.body.length == 65_536)
  }

  /// What decides is there before the end, and before what is wrong with it: however the bytes are cut.
  @Test(arguments: [1, 5, 1_000], [[], [7, 7, 7, 7, 7, 7, 7, 7]] as [[UInt8]])
  func findsTextInWhatIsCompressedAsItComes(inPartsOf size: Int, before rest: [UInt8]) {
    // "hello hello hello hello\n" by gzip, without its check sum.
    let gzip: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0xB9, 0,
    ]
    for (text, isFound) in [("hello hello hello\n", true), ("hallo", false)] {
      var collector = BodyCollector(text, codings: ["gzip"])
      let bytes = gzip + rest
      for start in stride(from: 0, to: bytes.count, by: size) {
        collector.append(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(collector.body.hasText == isFound && collector.body.length == 24 && !collector.body.isComplete)
      #expect((collector.failure == nil) == rest.isEmpty)
      collector.end()
      #expect(collector.failure?.code == .malformedResponse && !collector.body.isComplete)
    }
  }
}
