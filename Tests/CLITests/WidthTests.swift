// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneCLI

/// How wide text is, and where it is cut and broken: at each limit, one below it, and one above.
struct WidthTests {
  // MARK: Columns

  /// The first of each wide block, and what is beside the blocks (EastAsianWidth.txt: W and F are two columns).
  @Test(arguments: [
    ("\u{1100}", 2), ("\u{2E80}", 2), ("\u{3042}", 2), ("\u{A960}", 2), ("\u{AC00}", 2), ("\u{F900}", 2),
    ("\u{FE30}", 2), ("\u{FF01}", 2), ("\u{FFE0}", 2), ("\u{1F300}", 2), ("\u{20000}", 2), ("\u{30000}", 2),
    ("\u{1E9E}", 1), ("\u{303F}", 1), ("\u{A4D0}", 1), ("\u{A984}", 1), ("\u{D7B0}", 1), ("\u{FB01}", 1),
    ("\u{FE70}", 1), ("\u{FF71}", 1), ("\u{FFE8}", 1), ("\u{1FB00}", 1), ("\u{40000}", 1), ("\u{301}", 0),
    ("a b", 3), ("é b", 3), ("\u{20DD}", 0), ("漢a字b", 6),
  ])
  func knowsTheWideBlocks(text: String, columns: Int) { #expect(TerminalText.columns(text) == columns) }

  @Test(arguments: [
    ("ab", 0, ""), ("ab", 1, "…"), ("ab", 2, "ab"), ("abc", 2, "…c"), ("abcd", 3, "a…d"), ("abcde", 4, "a…de"),
    ("漢字漢字", 7, "漢…字"), ("", 0, ""), ("abcdefgh", -1, ""),
  ])
  func cutsToALimit(text: String, limit: Int, cut: String) { #expect(TerminalText.fitted(text, to: limit) == cut) }

  @Test(arguments: [("abc", 4, "abc "), ("abc", 3, "abc"), ("abc", 2, "abc"), ("漢", 3, "漢 "), ("", 2, "  ")])
  func fillsUp(text: String, width: Int, padded: String) { #expect(TerminalText.padded(text, to: width) == padded) }

  @Test(arguments: [
    ("abc", 2, "ab"), ("abc", 3, "abc"), ("abc", 0, ""), ("漢a", 2, "漢"), ("漢a", 1, ""), ("漢a", 3, "漢a"),
  ])
  func takesWhatHasRoom(text: String, limit: Int, taken: String) {
    #expect(TerminalText.taken(text, columns: limit) == taken)
  }

  @Test func wrapsWhereThereIsNextToNoRoom() {
    #expect(TerminalText.wrapped("abc", to: 3, indent: 2) == ["  a", "  b", "  c"])
    #expect(TerminalText.wrapped("abc", to: 2, indent: 2) == ["  a", "  b", "  c"])
    #expect(TerminalText.wrapped("abc", to: 5, indent: 2) == ["  abc"])
    #expect(TerminalText.wrapped("one two", to: 6, indent: 1) == [" one", " two"])
  }

  @Test func keepsLineBreaksIfTold() {
    #expect(TerminalText.visible("a\n\u{1B}b", keepingLineBreaks: true) == "a\n\\u{1B}b")
    #expect(TerminalText.visible("a\nb") == "a\\u{A}b")
  }

  @Test func nothingHasNoLook() {
    #expect(Style(isColoured: true).text("", .good) == "")
    #expect(Style(isColoured: true).text("a", .faint) == "\u{1B}[2ma\u{1B}[0m")
    #expect(Style(isColoured: false).text("a", .faint) == "a")
    #expect(Screen(columns: 20).paragraph("a", .bad) == "a")
  }

  // MARK: Paragraphs

  /// What is broken at some width, with how much indent.
  @Test(arguments: [
    // It has just room, blanks at its end among it; one column less breaks it.
    ("one two", 7, 2, "one two"), ("one two", 6, 2, "one\n  two"), ("abc ", 4, 2, "abc "),
    // An indent of half the terminal is the most; beyond, an eighth, and two columns at most.
    ("aaaa bbbb cccc dddd eeee", 20, 10, "aaaa bbbb cccc dddd\n          eeee"),
    ("aaaa bbbb cccc dddd eeee", 20, 11, "aaaa bbbb cccc dddd\n  eeee"),
    ("aaaa bbbb cccc dddd", 16, 9, "aaaa bbbb cccc\n  dddd"),
    ("aaaa bbbb cccc dddd eeee ffff", 24, 13, "aaaa bbbb cccc dddd eeee\n  ffff"),
    ("aaaa bbbb", 8, 1, "aaaa\n bbbb"), ("aaaa bbbb", 8, 0, "aaaa\nbbbb"), ("aa bb", 4, 3, "aa\nbb"),
    // Blanks at the beginning indent the text, up to half of the terminal.
    ("  abcdefghijklm", 10, 2, "  abcdefgh\n  ijklm"), ("     abcdefghij", 12, 0, "     abcdefg\nhij"),
    ("      abcdefghij", 12, 0, "abcdefghij"),
    // A punctuation mark in the second half of the room.
    ("abcd-efghijklmno", 12, 0, "abcd-efghijk\nlmno"), ("abcdef-ghijklmno", 12, 0, "abcdef-\nghijklmno"),
    // No room at all.
    ("ab", 0, 0, "a\nb"), ("漢", 1, 0, "漢"), ("a  b", 3, 0, "a\nb"), ("a  b", 4, 0, "a  b"),
  ])
  func breaksAtTheEdge(text: String, columns: Int, hanging: Int, broken: String) {
    #expect(Screen(columns: columns).paragraph(text, hanging: hanging) == broken)
  }

  @Test func breaksNothingInAFile() {
    let long = String(repeating: "word ", count: 100)
    #expect(Screen(columns: nil).paragraph(long) == long)
    #expect(Screen(columns: nil).help(long) == long)
  }

  @Test func keepsLooksApart() {
    let screen = Screen(columns: 7, style: Style(isColoured: true))
    let text = screen.paragraph([.init("aaa", .good), .init(" bbb", .bad), .init(" ccc"), .init(" d")], hanging: 0)
    #expect(text == "\u{1B}[32maaa\u{1B}[0m\u{1B}[31m bbb\u{1B}[0m\nccc d")
  }

  @Test func keepsEmptyLines() {
    #expect(Screen(columns: 20).paragraphs("a\n\nb\n") == "a\n\nb\n")
    #expect(Screen(columns: 8).paragraphs("a\n\n bb cc dd") == "a\n\n bb cc\n   dd")
  }

  /// Help has two columns from 60 columns on.
  @Test(arguments: [
    (60, "  -x, --long            One", "  -x, --long            One"),
    (59, "  -x, --long            One", "  -x, --long\n    One"),
    (20, "  -x, --long            One two three four five", "  -x, --long\n    One two three\n    four five"),
    // What goes on below is indented by more than ten columns.
    (20, "  -a  One\n           two", "  -a  One two"), (20, "  -a  One\n          two", "  -a  One\n          two"),
    // A first column that takes no more than a third stays.
    (18, "  64  one two three", "  64  one two\n      three"),
    (17, "  64  one two three", "  64\n    one two three"), (20, "a\n\nb", "a\n\nb"),
    (20, "  --a-long-one --and-another", "  --a-long-one\n    --and-another"),
  ])
  func laysOutHelp(columns: Int, help: String, shown: String) { #expect(Screen(columns: columns).help(help) == shown) }

  // MARK: Names

  @Test func cutsNamesWhereTheyDiffer() {
    #expect(ShortenedNames([]).widest == 0)
    func names(_ first: String, _ second: String, to limit: Int) -> [String] {
      let names = ShortenedNames([first, second])
      return [names.name(0, to: limit), names.name(1, to: limit)]
    }
    // A quarter from the beginning, then from where they differ: to the end if that has room.
    #expect(
      names("aaaaaaaaaaaaaaaX-bbbbbbbbbb", "aaaaaaaaaaaaaaaY-bbbbbbbbbb", to: 16)
        == ["aaaa…X-bbbbbbbb…", "aaaa…Y-bbbbbbbb…"])
    #expect(
      names("aaaaaaaaaaaaaaaX-bbbbbbbbb", "aaaaaaaaaaaaaaaY-bbbbbbbbb", to: 16)
        == ["aaaa…X-bbbbbbbbb", "aaaa…Y-bbbbbbbbb"])
    #expect(names("abz", "acz", to: 2) == ["a…", "a…"])
    // Two that are the same need not be told apart.
    #expect(names("abcdefghijkl", "abcdefghijkl", to: 8) == ["abc…ijkl", "abc…ijkl"])
    let whole = ShortenedNames(["abcdef", "abc"])
    #expect(whole.name(0, to: 6) == "abcdef" && whole.name(0, to: nil) == "abcdef" && whole.name(1, to: 3) == "abc")
    #expect(whole.widest == 6)
  }
}
