// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneExporter
import Foundation
import TestSupport
import Testing

struct RegularExpressionTests {
  /// From RE2's page of its syntax, and Go's package regexp.
  @Test(arguments: [
    ("", "", true), ("a", "bab", true), ("^a$", "a", true), ("^a$", "a\n", false), ("(?m)^a$", "b\na\nc", true),
    ("(?m)^a", "ab", true), ("(?m)b$", "ab", true), ("(?m)^b", "ab", false),
    ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true), ("(?i)straße", "STRAßE", true), ("(?i:A)b", "aB", false),
    ("[^a-c]", "abc", false), ("[]a]", "]", true), ("[a-]", "-", true), (#"[\d_]"#, "x_", true), (#"\D"#, "12", false),
    ("[[:alpha:]]+[[:^digit:]]", "ab1", true), (#"\bcat\b"#, "a cat.", true), (#"\bcat\b"#, "concat", false),
    (#"\x41\x{263a}"#, "A☺", true), (#"\Qa.b\E+"#, "a.bb", true), (#"^\Qab\E+$"#, "abab", false),
    ("a{2,3}$", "aa", true), ("^a{2,3}$", "aaaa", false),
    ("^a{2}$", "aa", true), ("a{2,}", "a", false), ("a{,2}", "a{,2}", true), ("(?P<name>x)|y", "y", true),
    ("(a*)*b", "aaab", true), ("(|a)+$", "aaa", true), (#"\Aab\z"#, "ab", true),
    (#"^\s*\{\s*"ok""#, "  { \"ok\"", true),
    ("^.$", "é", true), ("a|b|cd", "xcd", true), ("x*", "", true),
  ])
  func matchesAsRE2(_ expression: String, _ text: String, _ isMatch: Bool) throws {
    #expect(try RegularExpression(expression).matches(text.utf8) == isMatch)
  }

  /// What RE2 refuses, and what Dialtone does not have: nothing is matched otherwise than RE2 would.
  @Test(arguments: [
    "(", ")", "[a", "a**", "*a", "a{2}{3}", "a{1001}", "(?=a)", "(?!a)", "(?<=a)", #"(a)\1"#, #"\pL"#, #"\C"#, #"\"#,
    #"\Q\E*"#,
    "[b-a]", "[[:nosuch:]]", "(?P<>a)", "(?Pa)", "((a{1000}){1000})", #"\x{110000}"#, #"\y"#,
    String(repeating: "(", count: 200) + String(repeating: ")", count: 200),
  ])
  func refusesTheRest(_ expression: String) {
    #expect(throws: RegularExpression.Refusal.self) { try RegularExpression(expression) }
  }

  /// A backtracking matcher takes 2 to the power of the length.
  @Test(arguments: ["(a*)*b", "(a|aa)+$b", "(x+x+)+y", "(.*)(.*)(.*)(.*)z"])
  func takesLinearTime(_ expression: String) throws {
    let body = [UInt8](repeating: UInt8(ascii: expression.hasPrefix("(x") ? "x" : "a"), count: 20_000)
    #expect(try !RegularExpression(expression).matches(body, budget: 40 * body.count))
  }

  /// What a text repeats is found out once: phrases in a page of half a megabyte cost less than its bytes are many.
  @Test func phrasesCostLittle() throws {
    let phrases = (0..<20).map { "(?i:error \($0) of the server)" }.joined(separator: "|")
    let page = [UInt8](repeatElement("<p>No Error 7 of a Server</p>\n".utf8, count: 16_000).joined())
    #expect(try !RegularExpression("(?i)(\(phrases))").matches(page, budget: page.count / 4))
    #expect(try RegularExpression("(?i)(\(phrases))").matches(page + "ERROR 19 OF THE \u{17F}ERVER".utf8))
  }

  /// Each of these sets of states is a new one, more than are kept.
  @Test func endsWithItsBudget() throws {
    var numbers = SeededNumbers(seed: 9)
    let text = (0..<100_000).map { _ in Bool.random(using: &numbers) ? UInt8(ascii: "a") : UInt8(ascii: "b") }
    let expression = try RegularExpression("a[ab]{20}c")
    #expect(throws: RegularExpression.TooCostly.self) { try expression.matches(text, budget: 100_000) }
    #expect(try !expression.matches(text))
    #expect(try expression.matches(text + "abbbbbbbbbbbbbbbbbbbbc".utf8))
    #expect(try !expression.matches(text + "babbbbbbbbbbbbbbbbbbbc".utf8))
  }

  /// Characters that no set tells apart are one kind. 200 kinds come one after the other here.
  @Test func knowsManyKindsOfCharacters() throws {
    let letters = (0..<200).compactMap { Unicode.Scalar(0x4E00 + $0 * 64) }
    let text = String(String.UnicodeScalarView(letters))
    let all = try RegularExpression("^(?:\(text))+$")
    #expect(try all.matches((text + text).utf8))
    // These have the same lower bits.
    #expect(try !all.matches((text + text.replacing("\u{4E00}", with: "\u{6E00}")).utf8))
    #expect(try !all.matches((text + text.dropLast()).utf8))
  }

  @Test func readsBytesThatAreNoUTF8() throws {
    #expect(try RegularExpression("a.b").matches([0x61, 0xFF, 0x62]))
    #expect(try !RegularExpression("é").matches([0xC3]))
  }

  /// Python's matcher of the same syntax is the judge.
  @Test(.enabled(if: Python.path != nil, "python3 is not installed"))
  func matchesRandomExpressionsAsPython() async throws {
    var numbers = SeededNumbers(seed: 26)
    let expressions = (0..<300).map { _ in Self.random(&numbers, depth: 3) }
    let texts = (0..<12).map { _ in
      String((0..<Int.random(in: 0...8, using: &numbers)).map { _ in "ab c".randomElement(using: &numbers) ?? "a" })
    }
    let input = (expressions + ["--"] + texts).joined(separator: "\n")
    let script = """
      import re, sys
      lines = sys.stdin.read().split("\\n")
      end = lines.index("--")
      for e in lines[:end]:
          print("".join("1" if re.search(e.replace("$", "\\\\Z"), t, re.A) else "0" for t in lines[end + 1:]))
      """
    let answers = try await Python.run(script, input: input).split(separator: "\n")
    try #require(answers.count == expressions.count)
    for (expression, answer) in zip(expressions, answers) {
      let own = try RegularExpression(expression)
      let found = try texts.map { try own.matches($0.utf8) ? "1" : "0" }.joined()
      #expect(found == answer, "\(expression) in \(texts)")
    }
  }

  /// A probe ends in its time, whatever a stranger has sent.
  @Test func endsWhenItIsTold() throws {
    let expression = try RegularExpression("(a|aa)+b")
    let text = repeatElement(UInt8(ascii: "a"), count: 1 << 24)
    var count = 0
    #expect(throws: RegularExpression.TooCostly.self) {
      try expression.matches(text, budget: .max) {
        count += 1
        return count == 3
      }
    }
    // Asked again and again, and never after it has said so.
    #expect(count == 3)
  }

  private static func random(_ numbers: inout SeededNumbers, depth: Int) -> String {
    let atoms = ["a", "b", ".", "[ab]", "[^a]", "\\w", "\\s", "\\b", "^", "$"]
    guard depth > 0 else { return atoms.randomElement(using: &numbers) ?? "a" }
    func next(_ numbers: inout SeededNumbers) -> String { random(&numbers, depth: depth - 1) }
    switch Int.random(in: 0..<6, using: &numbers) {
    case 0: return next(&numbers) + next(&numbers)
    case 1: return "(?:" + next(&numbers) + "|" + next(&numbers) + ")"
    case 2: return "(" + next(&numbers) + ")*"
    case 3: return "(" + next(&numbers) + "){1,2}"
    case 4: return "(?:" + next(&numbers) + ")?" + next(&numbers)
    default: return atoms.randomElement(using: &numbers) ?? "a"
    }
  }
}
