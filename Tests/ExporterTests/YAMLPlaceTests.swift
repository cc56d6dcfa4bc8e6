// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneExporter

/// What PyYAML cannot be asked: tabs, lines, depths, and texts that stand for nothing (YAML 1.2.2).
struct YAMLPlaceTests {
  /// 6.1 and 6.2: tabs separate, and do not indent; at the end of a line they mean nothing.
  @Test(arguments: [
    ("a:\tb", "b"), ("a\t: b", "b"), ("a: b\t", "b"), ("a: b\t# c", "b"), ("a: b \t \n", "b"), ("a:\t\n  b", "b"),
    ("a: \t b", "b"), ("\t# c\na: b", "b"), ("\t\na: b", "b"), ("a: b\n\t\n", "b"), ("a: b\n  \t# c\n", "b"),
    ("a: b\tc", "b\tc"), ("a: b\t#c", "b"), ("a: b#\tc", "b#\tc"), ("a: \"b\t\n  c\"", "b c"),
    ("a: 'b \t\n  c'", "b c"),
    ("a: \"b\n \t c\"", "b c"), ("a: \"b\tc\"", "b\tc"), ("a: \"b\\\tc\"", "b\tc"), ("a: 'b'\t# c", "b"),
    ("a: |\t\n  b", "b"), ("a: |-\t# c\n  b", "b"), ("a: |-\n  b\tc", "b\tc"), ("a: |-\n  \tb", "\tb"),
    ("a: >-\n  b\n  \tc\n  d", "b\n\tc\nd"), ("a:\t'b'", "b"), ("\"a\"\t: b", "b"), ("a: b \n  c", "b c"),
    ("a: b\t\n  c", "b c"), ("a: b \n \n  c", "b\nc"), ("a: b\n  c \n  d", "b c d"), ("a: b #c", "b"),
    ("a: #c\n  b", "b"),
    ("a: \"b\" \t", "b"), ("a: b\r\n  c\r\n\r\n  d", "b c\nd"), ("a: b\r  c", "b c"), ("a: b\r\r  c", "b\nc"),
  ])
  func tabsAndBlanksSeparate(_ document: String, _ text: String) throws {
    #expect(try Tree(yaml: document) == .entries(["a": .text(text)]), "\(document.debugDescription)")
  }

  @Test(arguments: [
    ("[a,\tb]", ["a", "b"]), ("[\ta\t,b\t]", ["a", "b"]), ("[a\t#c\n,b]", ["a", "b"]),
    ("- a\t\n- b", ["a", "b"]), ("-  a\n-   b # c", ["a", "b"]), ("- a\n\n\n- b\n", ["a", "b"]),
    ("[a,\n\n\tb]", ["a", "b"]), ("[-a, -1,]", ["-a", "-1"]), ("[a b, 'c']", ["a b", "c"]), ("[a\n b]", ["a b"]),
    ("[a:b, c]", ["a:b", "c"]), ("[\"a\"\n,'b'\n]", ["a", "b"]),
  ])
  func readsItems(_ document: String, _ items: [String]) throws {
    #expect(try Tree(yaml: document) == .items(items.map { .text($0) }), "\(document.debugDescription)")
  }

  @Test func readsWhereADocumentEnds() throws {
    for document in ["a", "a\n", "a\n...", "a\n...\n", "--- a\n...\n# c", "---\na\n...", "'a'\n...", "\"a\"\n...\n\n"] {
      #expect(try Tree(yaml: document) == .text("a"), "\(document.debugDescription)")
    }
    for (document, text) in [("a\n....", "a ...."), ("a\n..", "a .."), ("a\n ...", "a ..."), ("a\n--", "a --")] {
      #expect(try Tree(yaml: document) == .text(text), "\(document.debugDescription)")
    }
    #expect(try Tree(yaml: "a: |\n  \nb: c") == .entries(["a": .text(""), "b": .text("c")]))
    #expect(try Tree(yaml: "a: >\n   \n\nb: c") == .entries(["a": .text(""), "b": .text("c")]))
    #expect(try Tree(yaml: "'<<': a\n\"b\" : c") == .entries(["<<": .text("a"), "b": .text("c")]))
    for document in ["a\n--- b", "a\n---\n", "a\n... b", "a\n...\nb", "---\n---\n", "--- |\n  a\n---", "[a,#c\nb]"] {
      #expect(throws: ConfigurationError.self, "\(document.debugDescription)") { try Tree(yaml: document) }
    }
  }

  /// 32 levels in each other, however many stand beside each other.
  @Test(arguments: ["", "[], ", "[[]], {a: [b]}, ", "[[[]]], [], {a: {}}, {}, "])
  func countsTheLevels(_ before: String) throws {
    func nested(_ levels: Int) -> String {
      "[" + before + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels)
    }
    _ = try Tree(yaml: nested(32))
    let error = #expect(throws: ConfigurationError.self) { try Tree(yaml: nested(33)) }
    #expect(error?.line == 1 && error?.message.contains("32 levels") == true)
  }

  @Test func countsTheLevelsOfBlocks() throws {
    let (dashes, braces) = (String(repeating: "- ", count: 31), String(repeating: "{a: ", count: 31))
    _ = try Tree(yaml: dashes + "- a")
    _ = try Tree(yaml: "a: \(braces)b\(String(repeating: "}", count: 31))")
    _ = try Tree(yaml: "- a: b\n- c\n" + dashes + "- a")
    for document in [dashes + "- - a", dashes + "- a: b", "- a: b\n- [c]\n- d: e\n" + dashes + "- - a"] {
      #expect(throws: ConfigurationError.self) { try Tree(yaml: document) }
    }
  }

  // MARK: Lines

  /// Each key with a colon, each text, and the beginning of each list and mapping, with their lines.
  private func places(_ node: YAMLValue) -> [String] {
    switch node.content {
    case .text(let text, let isPlain): ["\(isPlain ? text : "\"\(text)\"") \(node.line)"]
    case .items(let items): ["[ \(node.line)"] + items.flatMap(places)
    case .entries(let entries):
      ["{ \(node.line)"] + entries.flatMap { ["\($0.key.text): \($0.key.line)"] + places($0.value) }
    }
  }

  @Test(arguments: [
    (
      "a: b\n# c\nd:\n  - e\n  -\n  - f: g\n    h: 'i'\nj: [k,\n l, \"m\"]\nn: |-\n  o\n  p\nq:\n\nr:\n  s\n  t\n",
      "{ 1, a: 1, b 1, d: 3, [ 4, e 4,  5, { 6, f: 6, g 6, h: 7, \"i\" 7, j: 8, [ 8, k 8, l 9, \"m\" 9, n: 10, "
        + "\"o\np\" 10, q: 13,  13, r: 15, s t 16"
    ),
    ("\n\n- a\n\n- {b: ,\n\n  c: d}", "[ 3, a 3, { 5, b: 5,  5, c: 7, d 7"), ("---\n", " 1"), ("---\na", "a 2"),
    ("# c\r\n\r\n--- # d\r\na:\r\n  b: |\r\n    c\r\n  d: e", "{ 4, a: 4, { 5, b: 5, \"c\n\" 5, d: 7, e 7"),
    ("a:\rb:\r- c", "{ 1, a: 1,  1, b: 2, [ 3, c 3"), ("- - a\n  - b\n-\n  c: d", "[ 1, [ 1, a 1, b 2, { 4, c: 4, d 4"),
    ("a: \"b\n\n  c\"\nd: e\n  f\n\ng: h", "{ 1, a: 1, \"b\nc\" 1, d: 4, e f 4, g: 7, h 7"),
    ("a: [\n]\nb: {\n}", "{ 1, a: 1, [ 1, b: 3, { 3"), ("'a': ''\n\"b\": ~", "{ 1, a: 1, \"\" 1, b: 2, ~ 2"),
  ])
  func knowsTheLines(_ document: String, _ places: String) throws {
    var reader = try YAMLReader(document)
    let node = try #require(try reader.document())
    #expect(self.places(node).joined(separator: ", ") == places)
  }

  /// 10.2.1.1: only without quotes a text stands for nothing.
  @Test(arguments: ["~", "null", "Null", "NULL", ""])
  func nothingIsPlain(_ text: String) throws {
    let nothing = try YAMLValue(reading: "a: \(text)\nb: [\(text.isEmpty ? "~" : text)]\nc: {d: \(text)}").entries()
    try #require(nothing.count == 3)
    #expect(try nothing[0].value.entries().isEmpty && nothing[0].value.items().isEmpty)
    #expect(try nothing[1].value.items().first?.items().isEmpty == true)
    #expect(try nothing[2].value.entries().first?.value.items().isEmpty == true)
    for quoted in ["'\(text)'", "\"\(text)\"", "|-\n  \(text)", "['\(text)']", "{e: '\(text)'}"] {
      let entries = try YAMLValue(reading: "a: \(quoted)").entries()
      let value = try #require(entries.first?.value)
      if quoted.hasPrefix("[") {
        let item = try #require(try value.items().first)
        #expect(throws: ConfigurationError.self) { try item.entries() }
      } else if quoted.hasPrefix("{") {
        let item = try #require(try value.entries().first?.value)
        #expect(throws: ConfigurationError.self) { try item.items() }
      } else {
        #expect(throws: ConfigurationError.self) { try value.entries() }
        #expect(throws: ConfigurationError.self) { try value.items() }
        #expect(try value.string() == text)
      }
    }
  }

  /// 5.1 and 5.4: what cannot stand in a stream, with its line, and how to write it.
  @Test(arguments: [
    ("\u{1}", 1, "U+0001"), ("a\u{8}", 1, "U+0008"), ("\n\u{B}", 2, "U+000B"), ("\r\n\r\n\u{C}", 3, "U+000C"),
    ("\r\r\u{E}", 3, "U+000E"), ("\n\r\u{1F}", 3, "U+001F"), ("\u{7F}", 1, "U+007F"), ("\u{80}", 1, "U+0080"),
    ("\u{9F}", 1, "U+009F"), ("\u{2028}", 1, "U+2028"), ("\u{2029}", 1, "U+2029"), ("\u{FFFE}", 1, "U+FFFE"),
    ("\u{FFFF}", 1, "U+FFFF"), ("a\u{FEFF}", 1, "U+FEFF"), ("\n\u{FEFF}", 2, "U+FEFF"),
  ])
  func refusesACharacter(_ document: String, _ line: Int, _ name: String) {
    let error = #expect(throws: ConfigurationError.self) { try YAMLCursor(document) }
    #expect(error?.line == line && error?.message.contains("\(name) cannot stand") == true)
    #expect(error?.message.contains("\"\\u\(name.dropFirst(2))\"") == true)
  }

  @Test(arguments: [
    "~", " ", "\u{A0}", "\u{2027}", "\u{202A}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{10FFFF}", "\u{FF00}",
  ])
  func takesACharacter(_ character: String) throws {
    #expect(try Tree(yaml: "a: 'x\(character)x'") == .entries(["a": .text("x\(character)x")]))
  }
}
