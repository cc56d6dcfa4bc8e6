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
      var collector = BodyCollector([Array(text.utf8)])
      var rest = Array(body.utf8)[...]
      while !rest.isEmpty {
        collector.append(ByteBuffer(bytes: rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(collector.body.hasText == isFound, "in parts of \(size)")
      #expect(collector.body.length == body.utf8.count)
    }
  }

  /// A server may send chunks of one byte. To search a window as long as the text for each of them would take minutes.
  @Test(.timeLimit(.minutes(5)))
  func aPartOfOneByteCostsOneByte() {
    let text = String(repeating: "a", count: 30_000)
    var collector = BodyCollector([Array((text + "b").utf8)])
    let start = ContinuousClock.now
    for _ in 0..<65_536 where start.duration(to: .now) < .seconds(20) {
      collector.append(ByteBuffer(bytes: [UInt8(ascii: "a")]))
    }
    #expect(collector.body.isComplete && !collector.body.hasText && collector.body.length == 65_536)
  }
}
