// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneExporter

/// RE2's page of its syntax (https://github.com/google/re2/wiki/Syntax), line by line.
struct RegularExpressionSyntaxTests {
  private func check(_ expression: String, _ text: String, _ isMatch: Bool) throws {
    let found = try RegularExpression(expression).matches(text.utf8)
    #expect(found == isMatch, "\(expression) in \(text.debugDescription)")
  }

  /// How often an expression may stand in a text, that it has to fill: the counts that are taken, up to five.
  @Test(arguments: [
    ("a*", [0, 1, 2, 3, 4, 5]), ("a+", [1, 2, 3, 4, 5]), ("a?", [0, 1]), ("a*?", [0, 1, 2, 3, 4, 5]),
    ("a+?", [1, 2, 3, 4, 5]), ("a??", [0, 1]), ("a{3}", [3]), ("a{0}", [0]), ("a{0,0}", [0]), ("a{2,4}", [2, 3, 4]),
    ("a{0,2}", [0, 1, 2]), ("a{1,}", [1, 2, 3, 4, 5]), ("a{3,}?", [3, 4, 5]), ("a{0,}", [0, 1, 2, 3, 4, 5]),
    ("(aa)*", [0, 2, 4]), ("(aa)+", [2, 4]), ("(aa)?", [0, 2]), ("(a{2}){1,2}", [2, 4]), ("a|aaa", [1, 3]),
    ("|aa", [0, 2]), ("a||aaaa", [0, 1, 4]), ("(aa|aaa)", [2, 3]), ("(?:a|aa|)a", [1, 2, 3]), ("", [0]), ("()", [0]),
    ("a()a", [2]), ("(a)(a)", [2]), ("aa{1}", [2]), ("(?U)a*", [0, 1, 2, 3, 4, 5]), ("[a]{2}", [2]), (".{4}", [4]),
  ])
  func repeatsAsOftenAsItSays(_ expression: String, _ counts: [Int]) throws {
    let all = try RegularExpression("^(?:\(expression))$")
    for count in 0...5 {
      let text = String(repeating: "a", count: count)
      #expect(try all.matches(text.utf8) == counts.contains(count), "\(expression) of \(count)")
    }
  }

  @Test func readsNumbersOfSeveralDigits() throws {
    for count in [11, 12, 13] {
      try check("^a{12}$", String(repeating: "a", count: count), count == 12)
      try check("^a{10,12}$", String(repeating: "a", count: count), count <= 12)
    }
    try check("^a{1000}$", String(repeating: "a", count: 1_000), true)
    try check("^a{1000}$", String(repeating: "a", count: 999), false)
  }

  /// Characters of which an expression takes some: these, and not the others.
  @Test(arguments: [
    (#"\d"#, "0189", "/:aA\u{0}٣"), (#"\D"#, "/:a\n\u{0}\u{10FFFF}٣", "0189"),
    (#"\w"#, "09azAZ_", "-`{@[/: é\u{212A}\u{17F}"), (#"\W"#, "-`{@[/: é\u{212A}\u{0}\u{10FFFF}", "09azAZ_"),
    (#"\s"#, "\t\n\u{C}\r ", "\u{B}a\u{A0}"), (#"\S"#, "\u{B}a\u{A0}\u{0}\u{10FFFF}", "\t\n\u{C}\r "),
    (#"[\d]"#, "09", "a/"), (#"[\D]"#, "a/:", "09"), (#"[^\d]"#, "a/:", "09"), (#"[^\D]"#, "09", "a/:"),
    (#"[\w-]"#, "aZ9_-", "+ "), (#"[\W]"#, "- ", "aZ9_"), (#"[\s]"#, " \t", "a"), (#"[\S]"#, "a", " \t"),
    (#"[\d\s]"#, "0 9", "a"), (#"[a\D]"#, "ab", "0"), (#"[^\s\d]"#, "a", "0 "),
    ("[a-c]", "abc", "`dA-"), ("[^a-c]", "`dA-\n", "abc"), ("[a-a]", "a", "b-"), ("[a-cx-z]", "abcxyz", "dw-"),
    ("[-a]", "-a", "b"), ("[a-]", "-a", "b"), ("[]]", "]", "["), ("[^]]", "[a", "]"), ("[]-a]", "]^_`a", "-b"),
    ("[a^]", "a^", "b"), ("[.]", ".", "a"), ("[$*+?()|{}]", "$*+?()|{}", "a"), (#"[\]]"#, "]", #"\"#),
    (#"[\\]"#, #"\"#, "]"), (#"[\-a]"#, "-a", "b"), (#"[a\-c]"#, "-ac", "b"), (#"[\n\t]"#, "\n\t", "nt"),
    (#"[\x41-\x{43}]"#, "ABC", "@D"), ("[a-c-e]", "abc-e", "d"), ("[[a]", "[a", "]:"), ("[a[]", "[a", "]"),
    (#"[\^a]"#, "^a", "b"), ("[é-ü]", "éíü", "èý"), ("[0-9_]", "09_", "a"),
    ("[[:alnum:]]", "09azAZ", "_-é"), ("[[:alpha:]]", "azAZ", "0_@[`{"), ("[[:ascii:]]", "\u{0}\u{7F}", "\u{80}é"),
    ("[[:blank:]]", "\t ", "\n\r"), ("[[:cntrl:]]", "\u{0}\u{1F}\u{7F}", " ~"), ("[[:digit:]]", "09", "a/:"),
    ("[[:graph:]]", "!~a", " \u{7F}"), ("[[:lower:]]", "az", "AZ`{"), ("[[:print:]]", " ~", "\u{1F}\u{7F}"),
    ("[[:punct:]]", "!/:@[`{~", "09azAZ "), ("[[:space:]]", "\t\n\u{B}\u{C}\r ", "a\u{8}\u{E}"),
    ("[[:upper:]]", "AZ", "az@["), ("[[:word:]]", "09azAZ_", "-"), ("[[:xdigit:]]", "09afAF", "gG@`"),
    ("[[:^ascii:]]", "\u{80}é\u{10FFFF}", "\u{0}a\u{7F}"), ("[[:^cntrl:]]", " ~\u{80}", "\u{0}\u{1F}\u{7F}"),
    ("[[:^lower:]]", "A`{\u{0}", "az"), ("[^[:digit:]]", "a", "0"), ("[[:digit:]a]", "0a", "b"),
    ("[[:digit:][:upper:]]", "0A", "a"), ("[x[:^digit:]]", "xa", "0"),
    ("(?i)[a-c]", "abcABC", "dD`@"), ("(?i)[^a-c]", "dD", "abcABC"), ("(?i)k", "kK\u{212A}", "lL"),
    (#"(?i)\x{212A}"#, "kK\u{212A}", "lL"), (#"(?i)\w"#, "aZ\u{212A}", "-"), (#"(?i)\W"#, "-", "aZ\u{212A}"),
    ("(?i)É", "éÉ", "eE"), ("(?i)[[:lower:]]", "aZ", "0"), ("(?i)i", "iI", "\u{130}"), ("k", "k", "K\u{212A}"),
    (".", "a\r\u{0}\u{10FFFF}\t\u{B}", "\n"), ("(?s).", "a\n\r", ""), ("(?s-s).", "a", "\n"),
  ])
  func takesTheCharactersOfItsClass(_ expression: String, _ taken: String, _ others: String) throws {
    let whole = try RegularExpression("\\A(?:\(expression))\\z")
    for scalar in taken.unicodeScalars {
      #expect(try whole.matches(String(scalar).utf8), "\(expression): \(scalar.debugDescription)")
    }
    for scalar in others.unicodeScalars {
      #expect(try !whole.matches(String(scalar).utf8), "\(expression): \(scalar.debugDescription)")
    }
  }

  @Test(arguments: [
    (#"\a"#, "\u{7}"), (#"\f"#, "\u{C}"), (#"\t"#, "\t"), (#"\n"#, "\n"), (#"\r"#, "\r"), (#"\v"#, "\u{B}"),
    (#"\x7e"#, "~"), (#"\x{7E}"#, "~"), (#"\x{00000041}"#, "A"), (#"\x{10FFFF}"#, "\u{10FFFF}"), (#"\x{a}"#, "\n"),
    (#"\."#, "."), (#"\\"#, #"\"#), (#"\-"#, "-"), (#"\*\+\?"#, "*+?"), (#"\[\]\{\}"#, "[]{}"), (#"\^\$\|"#, "^$|"),
    (#"\Q.*\E"#, ".*"), (#"\Q\\E"#, #"\"#), (#"\Qa\b\E"#, #"a\b"#), (#"\Qab\Ec"#, "abc"),
    ("{", "{"), ("a{", "a{"), ("a{}", "a{}"), ("a{x}", "a{x}"), ("a{1", "a{1"), ("a{1,x}", "a{1,x}"), ("}", "}"),
    ("a{,3}", "a{,3}"), ("]", "]"), ("a]", "a]"), ("a-b", "a-b"), ("(?P<abc>x)", "x"), ("(?P<a_1>x)y", "xy"),
    // A count has no zero in front (Go's regexp/syntax, parseInt).
    ("a{00003}", "a{00003}"), ("a{0,01}", "a{0,01}"), ("a{01,}", "a{01,}"), ("a{00}", "a{00}"),
    ("[ab]c", "ac"), ("[ab][cd]e", "bde"), (#"\_[\_]"#, "__"),
  ])
  func standsForItself(_ expression: String, _ text: String) throws {
    try check("\\A\(expression)\\z", text, true)
    try check("\\A\(expression)\\z", text + text, false)
    try check("\\A\(expression)\\z", "", false)
  }

  /// Words are of ASCII, and end with the text; lines end with a line feed.
  @Test(arguments: [
    (#"\ba"#, "a", true), (#"a\b"#, "a", true), (#"\b"#, "", false), (#"\B"#, "", true), (#"a\Bb"#, "ab", true),
    (#"a\B"#, "a", false), (#"a\B"#, "ab", true), (#"\Ba"#, "a", false), (#"\Ba"#, "ba", true), (#"-\B"#, "-", true),
    (#"-\b"#, "-", false), (#"a\bé"#, "aé", true), (#"a\b-"#, "a-", true), (#"_\b"#, "_a", false),
    (#"\B-"#, "a-", false),
    ("^b", "a\nb", false), ("(?m)^b", "a\nb", true), ("a$", "a\nb", false), ("(?m)a$", "a\nb", true),
    ("(?m)a$", "a\r\nb", false), (#"(?m)\Ab"#, "a\nb", false), (#"(?m)a\z"#, "a\nb", false), ("(?m)^$", "a\n\nb", true),
    ("^$", "\n", false), ("$a", "a", false), ("a^", "a", false), ("^^a$$", "a", true), ("(?m:^b)", "a\nb", true),
    ("(?:(?m)x)|^b", "a\nb", false), ("(^a|b$)c?", "ab", true), (#"^\Q[a.$"#, "[a.$", true),
    (#"^\Q[a."#, "[ab", false), (#"\Q"#, "", true),
  ])
  func knowsWhereItIs(_ expression: String, _ text: String, _ isMatch: Bool) throws {
    try check(expression, text, isMatch)
  }

  /// Flags hold to the end of their group, and a minus takes them away.
  @Test(arguments: [
    ("(?i)ab", "AB", true), ("a(?i)b", "aB", true), ("a(?i)b", "AB", false), ("(?i)a(?-i)b", "AB", false),
    ("(?i)a(?-i)b", "Ab", true), ("(?i:a)b", "Ab", true), ("(?i:a)b", "aB", false), ("(a(?i)b)c", "aBC", false),
    ("(a(?i)b)c", "aBc", true), ("(a(?i)b|c)d", "Cd", true), ("(?i)a|b", "B", true), ("(?i:a(?-i:b)c)", "AbC", true),
    ("(?i:a(?-i:b)c)", "ABC", false), ("(?is)a.b", "A\nB", true), ("(?i-s)a.b", "A\nB", false),
    ("(?s-i)a.b", "A\nB", false), ("(?-s)a.b", "a\nb", false), ("(?-m)^b", "a\nb", false), ("(?)a", "a", true),
    ("(?s:a.)b.", "a\nb\n", false),
    ("(?-i)a", "A", false), (#"(?i)\Qa.\E"#, "A.", true), (#"(?i)\x61"#, "A", true),
  ])
  func flagsHoldForTheirGroup(_ expression: String, _ text: String, _ isMatch: Bool) throws {
    try check(expression, text, isMatch)
  }

  @Test(arguments: [
    "a{1,1001}", "a{1001,}", "a{1001,1002}", "a{3,2}", "a{99999999999999999999}", "{2}", "{2,}", "(*)", "|*", "^(+)",
    "a|?", "(?i)*", "(?", "(?i", "(?i:a", "(?P", "(?P<", "(?P<a", "(?P<a)", "(?P<a-b>x)", "(?P<a>x", "(?x)a", "(a",
    "a)", "(a))", "[", "[]", "[^", "[^]", "[a-", "[a-b", #"[\"#, #"[a-\"#, #"[a-\d]"#, "[[:alpha:", "[[:alpha:]",
    "[[:alpha]]", "[[:Alpha:]]", "[[::]]", #"[\y]"#, #"[\b]"#, #"\x"#, #"\x4"#, #"\xg1"#, #"\x1g"#, #"\x{}"#,
    #"\x{41"#, #"\x{4g}"#, #"\x{d800}"#, #"\x{+41}"#, #"\é"#, #"\1"#, #"\E"#, #"\Z"#, "a*+", "a+*", "a??*",
    "a{2}*", "a*{2}", #"a\"#, "(?i-)a", "(?-)a", "(?-:a)", "(?i-:a)", "(?i--s)a", "(?-i-s)a",
  ])
  func refusesWhatRE2HasNotOrThisHasNot(_ expression: String) {
    #expect(throws: RegularExpression.Refusal.self) { try RegularExpression(expression) }
  }

  /// Each group that is closed makes room for another; of those that are open, a hundred.
  @Test(arguments: ["", "()", "(?:)(?:)", "(?i)", "(?i)(?s)", "(?P<a>)"])
  func countsTheParenthesesThatAreOpen(_ before: String) throws {
    func nested(_ count: Int) -> String {
      before + String(repeating: "(", count: count) + "a" + String(repeating: ")", count: count)
    }
    try check(nested(100), "a", true)
    #expect(throws: RegularExpression.Refusal.self) { try RegularExpression(nested(101)) }
    try check(String(repeating: "(?:b)(?i)(a)?", count: 150), String(repeating: "b", count: 150), true)
  }

  @Test func limitsTheProgram() throws {
    try check("^a{1000}a{900}$", String(repeating: "a", count: 1_900), true)
    for text in ["a{1000}a{1000}a{1000}", "(?:a{500}){6}", "(?:aa){1000}b{1000}"] {
      #expect(throws: RegularExpression.Refusal.self, "\(text)") { try RegularExpression(text) }
    }
  }

  /// What has no instructions takes no time, however often it is repeated.
  @Test(arguments: ["()", "(?:)", "(a{0})", "()()", "(a{0}|)", "((?i))"])
  func nothingIsRepeatedAtNoCost(_ nothing: String) throws {
    let all = String(repeating: "(", count: 20) + nothing + String(repeating: "{1000})", count: 20)
    do {
      #expect(try RegularExpression("^\(all)$").matches("".utf8))
    } catch let refusal as RegularExpression.Refusal {
      #expect(refusal.message == "it is too large")
    }
  }

  @Test(arguments: [
    ("*a", "* repeats nothing"), ("a**", "a repetition follows another; put parentheses around the first"),
    ("(a", "a parenthesis is not closed"), ("a)", "a closing parenthesis has no opening one"),
    ("[a", "a bracket is not closed"), ("[b-a]", "the range b-a ends before it begins"),
    ("(?=a)", "(?= is not supported (no look-around, no back-references)"), (#"\y"#, #"\y is not supported"#),
    ("[[:nosuch:]]", "[:nosuch begins no class that is known"), (#"a\"#, "it ends with a backslash"),
    ("{1}", "{ repeats nothing"), ("(?i-)a", "a minus takes no flag away"),
  ])
  func saysWhatIsWrong(_ expression: String, _ message: String) {
    let refusal = #expect(throws: RegularExpression.Refusal.self) { try RegularExpression(expression) }
    #expect(refusal?.message == message)
  }
}
