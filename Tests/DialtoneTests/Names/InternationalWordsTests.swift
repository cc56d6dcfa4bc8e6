// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Why a name with letters outside ASCII is refused, and what characters are (Unicode 15, RFC 5892).
struct InternationalWordsTests {
  private static let apart = "has a letter with a combining mark apart"
  private static let mark = "has a part that begins with a combining mark"
  private static let pieces = "has a letter in pieces"
  private static let form = "has a compatibility form of a letter"
  private static let sign = "has a part that begins with a sign"
  private static let other = "has a character that is no letter and no digit"

  @Test(arguments: [
    ("cafe\u{301}.example", apart), ("a\u{300}.example", apart), ("a\u{36F}.example", apart),
    ("ü.a\u{301}", apart), ("\u{5B8}א.example", mark), ("ü.\u{5B8}א", mark), ("\u{93E}क.example", mark),
    // Conjoining Jamo, and their extensions A and B.
    ("\u{1100}\u{1161}.kr", pieces), ("가\u{11FF}.kr", pieces), ("\u{A960}.kr", pieces), ("\u{A97C}.kr", pieces),
    ("\u{D7B0}.kr", pieces), ("\u{D7FB}.kr", pieces),
    ("ﬀ.example", form), ("ﾃｽﾄ.jp", form), ("ĳ.nl", form), ("·l.cat", sign), ("ü.·l", sign), ("・ア.jp", sign),
    ("😀.example", other), ("ü☃.example", other),
  ])
  func aNameIsRefusedForAReason(name: String, reason: String) throws {
    let error = #expect(throws: ReachabilityError.self) { try HostName(name) }
    let message = try #require(error).message
    #expect(error?.code == .invalidHost && message.contains("\" \(reason); write"))
    // By scalars: a mark at the beginning of a name joins the quotation mark before it.
    #expect(message.unicodeScalars.starts(with: "the host \"".unicodeScalars))
  }

  /// In the middle they are part of a word; ß and ς stand for themselves.
  @Test(arguments: ["אָ.example", "का.example", "l·l.cat", "ア・ア.jp", "ß.example", "ας.gr", "ü٣.example"])
  func theSameCharactersAreTakenInTheirPlace(name: String) throws {
    #expect(try HostName(name).text == name)
  }

  private static let plain: [(scalar: Unicode.Scalar, mayBecomeASCII: Bool)] = [
    ("a", true), ("7", true), ("²", true), ("①", true), ("ª", true), ("º", true), ("ａ", true), ("Ａ", true), ("ⅹ", true),
    ("𝟏", true), ("ß", false), ("ς", false), ("é", false), ("É", false), ("ア", false), ("ﾃ", false), ("א", false),
    ("ﬡ", false),
  ]

  /// Those that a lookup might write in ASCII, as UTS 46 maps them.
  @Test(arguments: plain)
  func someCharactersMayBecomeASCII(scalar: Unicode.Scalar, expected: Bool) {
    #expect(scalar.mayBecomeASCII == expected)
  }

  private static let invisible: [(scalar: Unicode.Scalar, isInvisible: Bool)] = [
    ("\0", true), ("\u{1F}", true), ("\u{7F}", true), ("\u{85}", true), ("\u{AD}", true), ("\u{200B}", true),
    ("\u{202E}", true), ("\u{2028}", true), ("\u{2029}", true), ("\u{34F}", true), ("\u{FE0F}", true),
    ("\u{3164}", true), ("\u{E0041}", true), (" ", false), ("\u{A0}", false), ("\u{3000}", false), ("a", false),
    ("é", false), ("\u{301}", false), ("😀", false),
  ]

  @Test(arguments: invisible)
  func someCharactersAreInvisible(scalar: Unicode.Scalar, expected: Bool) {
    #expect(scalar.isInvisible == expected)
  }

  private static let numbers: [(scalar: Unicode.Scalar, number: String)] = [
    ("\0", "U+0000"), ("a", "U+0061"), ("\u{FFF}", "U+0FFF"), ("\u{1000}", "U+1000"), ("\u{1F600}", "U+1F600"),
    ("\u{10FFFF}", "U+10FFFF"),
  ]

  @Test(arguments: numbers)
  func aCharacterHasItsNumber(scalar: Unicode.Scalar, number: String) { #expect(scalar.codePoint == number) }
}
