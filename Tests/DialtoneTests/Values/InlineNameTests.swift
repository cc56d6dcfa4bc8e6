// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

struct InlineNameTests {
  @Test(arguments: ["", "a", "lo", "eth0", "12345678", "123456789", "0123456789abcde", "wlän0", "网络接口a", "a b", "%"])
  func goesThereAndBack(text: String) throws {
    let name = try #require(InlineName(text))
    #expect(name.text == text)
    #expect(name.isEmpty == text.isEmpty)
    #expect(InlineName(text[...]) == name)
  }

  @Test(arguments: ["0123456789abcdef", "网络接口网络", "\0", "a\0", "\0a", "eth0\0"])
  func refusesWhatDoesNotFitOrHoldsAZero(text: String) {
    #expect(InlineName(text) == nil)
  }

  @Test func isOfSixteenBytes() {
    #expect(MemoryLayout<InlineName>.size == 16)
    #expect(InlineName.capacity == 15)
  }

  @Test func equalTextsAreEqualNames() {
    #expect(InlineName("eth0") == InlineName("eth0"))
    #expect(InlineName("eth0") != InlineName("eth1"))
    #expect(InlineName("12345678a") != InlineName("12345678"))
    #expect(InlineName() == InlineName(""))
  }

  @Test(arguments: [
    ("", false), ("0123456789abcdef", false), ("a\0", false), ("eth0", true), ("0123456789abcde", true),
  ])
  func anInterfaceNeedsANameThatFits(name: String, isTaken: Bool) {
    let interface = NetworkInterface(name: name, index: 1, kind: .wired)
    #expect((interface != nil) == isTaken)
    if isTaken { #expect(interface?.name == name) }
  }

  @Test func anInterfaceIsDescribedByKindAndName() {
    #expect(interface("wlan0", 3, .wifi).description == "Wi-Fi (wlan0)")
    #expect(interface("wg0", 3, .tunnel).description == "tunnel (wg0)")
  }

  /// A kernel link may have any bytes as its name. Made into text, nine of them can take 27 bytes.
  @Test(arguments: [
    ("eth0", "eth0"), (String(repeating: "\u{FFFD}", count: 9), String(repeating: "\u{FFFD}", count: 5)),
    ("aaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaa"), ("", ""),
  ])
  func isCutAtACharacterIfItDoesNotFit(text: String, kept: String) {
    #expect(InlineName(truncating: text).text == kept)
  }
}
