// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import DialtoneCLI

/// How any text gets onto a terminal: safe, in columns, broken into lines, in colours.
struct TerminalTextTests {
  @Test(arguments: [
    ("example.com", "example.com"), ("a\u{1B}[31m", "a\\u{1B}[31m"), ("a\u{202E}b", "a\\u{202E}b"),
    ("\r\n", "\\u{D}\\u{A}"),
    ("\u{9B}", "\\u{9B}"), ("é漢", "é漢"), ("\u{200B}", "\\u{200B}"), ("\u{E000}", "\\u{E000}"),
  ])
  func letsNothingInvisibleOntoATerminal(text: String, shown: String) {
    #expect(TerminalText.visible(text) == shown)
  }

  @Test(arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("ｱ", 1), ("Ａ", 2), ("👍", 2), ("", 0)])
  func countsColumns(text: String, columns: Int) {
    #expect(TerminalText.columns(text) == columns)
  }

  @Test func cutsInTheMiddle() {
    #expect(TerminalText.fitted("abcdefghij", to: 10) == "abcdefghij")
    #expect(TerminalText.fitted("abcdefghijk", to: 10) == "abcd…ghijk")
    #expect(TerminalText.columns(TerminalText.fitted(String(repeating: "漢", count: 30), to: 10)) <= 10)
  }

  @Test(arguments: [12, 16, 24, 40])
  func tellsNamesApartThatAreCutAlike(limit: Int) {
    let hosts = (1...20).map { "a-very-long-host-name-number-\($0)-of-many.in-one-and-the-same.example.com" }
    let pages = ["x", "y"].map { "https://example.com/a/very/long/path/to/one/thing/\($0)/index.html" }
    let names = hosts + pages
    let shortened = ShortenedNames(names)
    let cut = names.indices.map { shortened.name($0, to: limit) }
    #expect(Set(cut).count == names.count, "\(cut)")
    #expect(cut.allSatisfy { TerminalText.columns($0) <= limit }, "\(cut)")
    for (page, letter) in zip(cut.dropFirst(hosts.count), ["x", "y"]) { #expect(page.contains(letter), "\(page)") }
  }

  @Test func breaksLinesAtSpaces() {
    #expect(TerminalText.wrapped("one two three", to: 9, indent: 2) == ["  one two", "  three"])
    #expect(TerminalText.wrapped("abcdefgh i", to: 5, indent: 2) == ["  abc", "  def", "  gh", "  i"])
    #expect(TerminalText.wrapped("", to: 5, indent: 2).isEmpty)
    let screen = Screen(columns: 20, style: Style(isColoured: true))
    #expect(screen.paragraph("try:   look at the gateway", hanging: 7) == "try:   look at the\n       gateway")
    // A word without room of its own breaks behind a punctuation mark.
    #expect(
      screen.paragraph("see https://example.com/a/long/path") == "see\n  https://example.\n  com/a/long/path")
    #expect(
      screen.paragraph([.init("all is fine and well, is it not", .good)])
        == "\u{1B}[32mall is fine and\u{1B}[0m\n  \u{1B}[32mwell, is it not\u{1B}[0m")
    #expect(screen.paragraphs("  a b\n  one two three four five") == "  a b\n  one two three four\n    five")
    let help = """
      one two three four five

      USAGE: one two three four
        64  one two three four
        -x, --long            One
        --longer <name>
                              two, three and
                              four.
      """
    let narrow = """
      one two three four
      five

      USAGE: one two three
        four
        64  one two three
            four
        -x, --long
          One
        --longer <name>
          two, three and
          four.
      """
    #expect(screen.help(help) == narrow)
  }

  /// Whatever is written, no line is too long, no word that has room is broken, and nothing is lost.
  @Test(arguments: 0..<20)
  func keepsWordsWhole(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    let letters = Array("abcdef0123456789.-/:漢é👍")
    for _ in 0..<8 {
      let columns = Int.random(in: 20...200, using: &numbers)
      let words = (0..<Int.random(in: 1...20, using: &numbers)).map { _ in
        String((0..<Int.random(in: 1...60, using: &numbers)).map { _ in letters.randomElement(using: &numbers) ?? "a" })
      }
      let hanging = Int.random(in: 0...30, using: &numbers)
      let lines = Screen(columns: columns).paragraph(words.joined(separator: " "), hanging: hanging)
        .split(separator: "\n", omittingEmptySubsequences: false)
      for line in lines { #expect(TerminalText.columns(line) <= columns, "\(line)") }
      #expect(lines.joined().filter { $0 != " " } == words.joined())
      let shown = Set(lines.flatMap { $0.split(separator: " ").map(String.init) })
      for word in words where TerminalText.columns(word) <= columns / 2 { #expect(shown.contains(word), "\(lines)") }
    }
  }

  @Test(arguments: [
    ("internet", "internet"), ("[2001:db8::1]:443", "'[2001:db8::1]:443'"), ("http://a/?b&c", "'http://a/?b&c'"),
    ("it's", #"'it'\''s'"#), ("bücher.example", "bücher.example"), ("", "''"),
  ])
  func quotesForAShell(word: String, quoted: String) { #expect(ShellWord.quoted(word) == quoted) }

  @Test func coloursOnlyOnATerminal() {
    #expect(Style.isColoured(isTerminal: true, noColor: nil, term: "xterm"))
    #expect(Style.isColoured(isTerminal: true, noColor: "", term: nil))
    #expect(!Style.isColoured(isTerminal: false, noColor: nil, term: "xterm"))
    #expect(!Style.isColoured(isTerminal: true, noColor: "1", term: "xterm"))
    #expect(!Style.isColoured(isTerminal: true, noColor: nil, term: "dumb"))
  }
}
