// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import DialtoneCLI

struct ListFileTests {
  private func texts(_ text: String) throws -> [String] {
    try ListFile.entries(of: Array(text.utf8), list: "hosts").map(\.text)
  }

  @Test(arguments: [
    ("a\nb\n", ["a", "b"]), ("a\nb", ["a", "b"]), ("\n\n a \t\n", ["a"]), ("a\r\nb\r\n", ["a", "b"]),
    ("# all\na # one\n#b\n  # c\n", ["a"]), ("http://a/#part\nb#c\n", ["http://a/#part", "b#c"]),
    ("\u{FEFF}a\nb\n", ["a", "b"]), ("", []), ("\n# nothing\n", []), ("é漢\n", ["é漢"]),
  ])
  func readsOneEntryPerLine(text: String, entries: [String]) throws {
    #expect(try texts(text) == entries)
  }

  @Test func numbersTheLines() throws {
    let entries = try ListFile.entries(of: Array("# hosts\na\n\nb\n".utf8), list: "hosts")
    #expect(entries.map(\.place) == [.line(2, list: "hosts"), .line(4, list: "hosts")])
  }

  @Test func namesTheLineThatIsNotUTF8() throws {
    let error = #expect(throws: ValidationError.self) {
      try ListFile.entries(of: [0x61, 0x0A, 0xFF, 0xFE, 0x0A], list: "hosts")
    }
    #expect(error?.message.hasPrefix("--from-file: hosts, line 2 is not valid UTF-8; ") == true)
  }

  @Test func namesTheLineThatIsTooLong() throws {
    let bytes = Array("a\n# \(String(repeating: "c", count: 100_000))\n\(String(repeating: "a", count: 70_000))\n".utf8)
    let error = #expect(throws: ValidationError.self) { try ListFile.entries(of: bytes, list: "hosts") }
    #expect(error?.message == "--from-file: hosts, line 3 is too long; write one target a line")
  }
}
