// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// What is read as JSON, and how it is written (RFC 8259).
struct JSONLineTests {
  private func read(_ text: String) -> JSONValue? { JSONValue(line: Array(text.utf8)[...]) }

  /// RFC 8259, 6. A number that is not whole is read as null, and one that has no room in 64 bits not at all.
  @Test(
    arguments: [
      ("0", .number(0)), ("-0", .number(0)), ("7", .number(7)), ("-7", .number(-7)), ("19", .number(19)),
      ("1234567890", .number(1_234_567_890)), ("9223372036854775807", .number(.max)),
      ("-9223372036854775808", .number(.min)), ("9223372036854775808", nil), ("-9223372036854775809", nil),
      ("10000000000000000000", nil), ("99999999999999999999", nil), ("1.5", .null), ("-1.5", .null), ("1e5", .null),
      ("1E+5", .null), ("2.25e-30", .null), ("0.0123456789", .null), ("1.5x", nil), (".5", nil), ("-", nil),
      ("+1", nil), ("1:", nil), ("1/", nil), ("1 2", nil), ("1,", nil), ("x", nil), ("-x", nil),
    ] as [(String, JSONValue?)])
  func readsNumbers(text: String, value: JSONValue?) { #expect(read(text) == value) }

  /// RFC 8259, 3: three names, in lower case.
  @Test(
    arguments: [
      ("true", .flag(true)), ("false", .flag(false)), ("null", .null), ("tru", nil), ("fals", nil), ("nul", nil),
      ("t", nil), ("truex", nil), ("True", nil), ("trie", nil), ("nuln", nil), ("falsy", nil),
    ] as [(String, JSONValue?)])
  func readsNames(text: String, value: JSONValue?) { #expect(read(text) == value) }

  /// RFC 8259, 4 and 5.
  @Test(
    arguments: [
      ("[]", .list([])), ("[ \t\r]", .list([])), ("[1]", .list([.number(1)])),
      ("[1,\"a\",[]]", .list([.number(1), .text("a"), .list([])])), (" [ 1 , 2 ] ", .list([.number(1), .number(2)])),
      ("\t\r[]\t\r", .list([])), ("[1,]", nil), ("[,1]", nil), ("[1 2]", nil), ("[1", nil), ("[1,2", nil), ("[1}", nil),
      ("[", nil), ("]", nil), ("[]]", nil), ("[]x", nil), ("", nil), (" ", nil), ("{}", .object([])),
      ("{ }", .object([])), ("{\"a\":1}", .object([("a", .number(1))])),
      (" { \"a\" : 1 , \"b\" : null } ", .object([("a", .number(1)), ("b", .null)])),
      ("{\"a\":1,\"a\":2}", .object([("a", .number(1)), ("a", .number(2))])),
      ("{\"a\":{\"b\":[{}]}}", .object([("a", .object([("b", .list([.object([])]))]))])), ("{\"a\"}", nil),
      ("{\"a\" 1}", nil), ("{\"a\":}", nil), ("{a:1}", nil), ("{\"a\":1,}", nil), ("{\"a\":1", nil), ("{", nil),
      ("{1:1}", nil), ("{\"a\":1]", nil), ("{\"a\":1;\"b\":2}", nil), ("}", nil),
    ] as [(String, JSONValue?)])
  func readsWhatHasParts(text: String, value: JSONValue?) { #expect(read(text) == value) }

  /// RFC 8259, 9: a parser may set a limit. No line of ours is deeper than four.
  @Test func readsEightLevels() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      // The innermost one has nothing in it.
      func nested(_ depth: Int) -> String {
        let inner = open == "[" ? "[]" : "{}"
        return String(repeating: open, count: depth - 1) + inner + String(repeating: close, count: depth - 1)
      }
      for depth in 1...8 { #expect(read(nested(depth)) != nil, "\(open) \(depth)") }
      for depth in [9, 10, 2_000] { #expect(read(nested(depth)) == nil, "\(open) \(depth)") }
    }
    // What lies beside is as deep as the first.
    #expect(read("[[[[[[[1],[2],[3]]]]]]]") != nil && read("[[1],[2],[3],[4],[5],[6],[7],[8],[9],[10]]") != nil)
  }

  /// RFC 8259, 7: what must be escaped, and how it may be.
  @Test(
    arguments: [
      (#""""#, ""), (#""abc""#, "abc"), (#""a b""#, "a b"), (#""\"\\\/""#, "\"\\/"),
      (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"), (#""\u0041\u0010\u00e9\u00E9\u20ac""#, "A\u{10}éé€"),
      (#""a\u0000b""#, "a\0b"), (#""x\n y z""#, "x\n y z"), (#""é 网\n网 𝄞""#, "é 网\n网 𝄞"),
      ("\"\u{7F}!~\"", "\u{7F}!~"),
      (#""\\\\""#, #"\\"#), (#""\"""#, "\""), (#""1:{}[],""#, "1:{}[],"), (#""\\n""#, #"\n"#),
    ])
  func readsTexts(text: String, value: String) { #expect(read(text) == .text(value)) }

  @Test(arguments: [
    #"""#, #""abc"#, #""abc\""#, #""abc\"#, #""\x""#, #""\a""#, #""\N""#, #""\u""#, #""\u12""#, #""\u123g""#,
    #""\u000g""#, #""\u+041""#, #""\u-000""#, #""\ud800""#, #""\udfff""#, #""\u004"#, #""\u0041"#, "\"\u{1}\"",
    "\"\u{1F}\"", "\"\t\"",
    "\"\\n\u{1F}\"", "\"\\n\u{1}\"", #""a"b"#, #""a\nb"c"#, "'a'", "abc",
  ])
  func refusesTornTexts(text: String) { #expect(read(text) == nil) }

  /// RFC 3629: text is UTF-8, before and behind an escape.
  @Test(arguments: [
    [0x22, 0xFF, 0x22], [0x22, 0x5C, 0x6E, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x5C, 0x6E, 0xC3, 0x22],
  ])
  func refusesWhatIsNoText(bytes: [UInt8]) { #expect(JSONValue(line: bytes[...]) == nil) }

  /// A line is a part of what was read.
  @Test func readsAPartOfWhatThereIs() {
    let bytes = Array("xx{\"a\":[1]}yy".utf8)
    #expect(JSONValue(line: bytes[2..<bytes.count - 2]) == .object([("a", .list([.number(1)]))]))
    #expect(JSONValue(line: bytes[2..<bytes.count - 3]) == nil && JSONValue(line: bytes[2...]) == nil)
  }

  @Test func valuesAreTheSameIfTheySayTheSame() {
    let values: [JSONValue] = [
      .text("1"), .text(""), .number(1), .number(0), .flag(true), .flag(false), .null, .list([]), .list([.null]),
      .list([.null, .null]), .object([]), .object([("a", .null)]), .object([("b", .null)]),
      .object([("a", .number(1))]), .object([("a", .null), ("b", .null)]),
    ]
    for (first, a) in values.enumerated() {
      for (second, b) in values.enumerated() { #expect((a == b) == (first == second), "\(a) \(b)") }
    }
  }

  @Test func givesWhatItHas() {
    let object = JSONValue.object([("a", .number(1)), ("b", .text("x")), ("a", .number(2)), ("c", .list([.null]))])
    #expect(object["a"] == .number(1) && object["b"] == .text("x") && object["d"] == nil)
    #expect(object["a"]?.number == 1 && object["a"]?.text == nil && object["a"]?.list == nil)
    #expect(object["a"]?["a"] == nil)
    #expect(object["b"]?.text == "x" && object["b"]?.number == nil && object["c"]?.list == [.null])
  }

  // MARK: Written

  private func text(_ body: (inout JSONText) -> Void) -> String {
    String(decoding: JSONText.object(body), as: UTF8.self)
  }

  @Test func writesEachKindOfField() {
    #expect(text { _ in } == "{}")
    let written = text { text in
      text.field("text", "a")
      text.field("none", nil as String?)
      text.field("number", -5 as Int64)
      text.field("no number", nil as Int64?)
      text.field("true", true)
      text.field("false", false)
      text.field("span", seconds: 1_500_000)
      text.field("no span", seconds: nil)
      text.fieldIfAny("left out", nil)
      text.fieldIfAny("any", "b")
      text.field("none of them", [])
      text.field("some", ["x", "y", "z"])
      text.key("list")
      text.array { text in
        text.number("1")
        text.null()
        text.object { $0.field("a", true) }
        text.object { _ in }
        text.array { $0.string("s") }
        text.array { _ in }
      }
      text.field("last", "")
    }
    #expect(
      written == #"{"text":"a","none":null,"number":-5,"no number":null,"true":true,"false":false,"span":1.500000,"#
        + #""no span":null,"any":"b","none of them":[],"some":["x","y","z"],"#
        + #""list":[1,null,{"a":true},{},["s"],[]],"last":""}"#)
  }

  @Test func writesValuesAlone() {
    var text = JSONText()
    text.string("a")
    #expect(text.bytes == Array(#""a""#.utf8))
    text = JSONText()
    text.array { _ in }
    #expect(text.bytes == Array("[]".utf8))
    text = JSONText()
    text.number("1")
    #expect(text.bytes == Array("1".utf8))
  }

  @Test(
    arguments: [
      (0, "0.000000"), (1, "0.000001"), (12, "0.000012"), (999_999, "0.999999"), (1_000_000, "1.000000"),
      (61_000_050, "61.000050"), (-1, "-0.000001"), (-1_500_000, "-1.500000"), (.max, "9223372036854.775807"),
      (.min, "-9223372036854.775808"),
    ] as [(Int64, String)])
  func writesSeconds(microseconds: Int64, text: String) { #expect(JSONText.seconds(microseconds) == text) }

  /// RFC 8259, 7: what must be escaped, and what a terminal would obey.
  @Test(
    arguments: [
      ("\0", #"\u0000"#), ("\u{1}", #"\u0001"#), ("\u{8}", #"\u0008"#), ("\u{1F}", #"\u001f"#), (" ", " "),
      ("~", "~"), ("\u{7F}", #"\u007f"#), ("\u{80}", #"\u0080"#), ("\u{9F}", #"\u009f"#), ("\u{A0}", "\u{A0}"),
      ("\"", #"\""#), ("\\", #"\\"#), ("/", "/"), ("!", "!"), ("#", "#"), ("[", "["), ("]", "]"), ("\n", #"\n"#),
      ("\r", #"\r"#), ("\t", #"\t"#), ("\u{B}", #"\u000b"#), ("\u{10}", #"\u0010"#), ("𝄞", "𝄞"),
    ])
  func escapesWhatMustBe(text: String, escaped: String) {
    var json = JSONText()
    json.string(text)
    #expect(json.bytes == Array("\"\(escaped)\"".utf8))
    #expect(JSONValue(line: json.bytes[...]) == .text(text))
  }
}
