// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Limits of names and ports, and how texts of others are shown.
struct HostWordsTests {
  private func problem(_ text: String) -> String? {
    do throws(ReachabilityError) {
      _ = try ReachabilityTarget.host(text)
      return nil
    } catch {
      return error.message
    }
  }

  private func name(_ lengths: [Int]) -> String {
    lengths.map { String(repeating: "a", count: $0) }.joined(separator: ".")
  }

  /// RFC 1035, 2.3.4: 63 bytes a label, and 255 a name, which are 253 as text.
  @Test func lengthsAreThoseOfTheStandard() {
    #expect(problem(name([63])) == nil && problem(name([63, 63, 63, 61])) == nil)
    #expect(problem(name([63, 63, 63, 61]) + ".") == nil, "the trailing dot does not count")
    #expect(problem(name([63, 63, 63, 62]))?.contains("it has 254 bytes, and 253 is the most") == true)
    #expect(problem(name([1, 64]))?.contains("\" is longer than 63 bytes") == true)
    #expect(problem("a." + String(repeating: "ü", count: 31)) == nil)
  }

  @Test(arguments: [
    ("-a", true), ("a-", true), ("a.-b", true), ("a.b-.c", true), ("－a", true), ("a－", true), ("a-b", false),
    ("a--b", false), ("a.b-c", false), ("a_", false), ("_a", false),
  ])
  func aPartNeitherBeginsNorEndsWithAHyphen(text: String, isWrong: Bool) {
    #expect(problem(text)?.contains("begins or ends with a hyphen") == (isWrong ? true : nil))
  }

  /// The part that is wrong is named, whatever else stands there.
  @Test(arguments: [
    (":80", "\":80\" is not a host name: it contains \":\""), ("-a:8", "begins or ends with a hyphen"),
    ("-a:80", "begins or ends with a hyphen"), ("fe80::1%a%b", "\"a%b\" cannot be an interface's name: 1 to 15 bytes"),
    ("%eth0", "\"\" before the % is not an IPv6 address"), ("x%eth0", "\"x\" before the % is not an IPv6 address"),
    ("#x", "begins with what follows a host"), ("?x", "begins with what follows a host"),
    ("/x", "begins with a slash; give the host alone: x"), ("a/b", "has a path; give the host alone: a, or a URL"),
    ("a:1/b", "write a URL with its scheme, such as https://example.com:443/"), ("a:", "no port behind it"),
    ("192.0.2.1/x", "has a path; give the host alone: 192.0.2.1, or a URL"),
    ("a/24", "has a path; give the host alone: a, or a URL"),
    ("[::1]/64", "has a path; give the host alone: ::1, or a URL"),
  ])
  func whatIsWrongIsNamed(text: String, words: String) { #expect(problem(text)?.contains(words) == true) }

  @Test(arguments: ["", "."])
  func anEmptyNameIsNone(text: String) throws {
    let error = #expect(throws: ReachabilityError.self) { try HostName(text) }
    #expect(try #require(error).message.contains("it is empty; give a name such as example.com"))
  }

  /// Eighty characters of a text of somebody else are enough.
  @Test func longTextsAreCut() {
    let text = String(repeating: "x", count: 80)
    #expect(HostText.shown(text) == text && HostText.shown(text + "y") == text + "…")
    #expect(HostText.quoted("a") == "\"a\"" && HostText.quoted("") == "\"\"")
    #expect(HostText.shown("a\u{202E}b\u{7}c\u{AD}") == "a\\u{202E}b\\u{7}c\\u{AD}")
    #expect(HostText.shown("a b-ü") == "a b-ü")
  }

  @Test(arguments: [
    (" ", "a space"), ("\0", "a NUL character"), ("\n", "a line break"), ("\r", "a line break"), ("\t", "a tab"),
    ("\u{7}", "the control character U+0007"), ("\u{85}", "the control character U+0085"),
    ("\u{200B}", "the invisible character U+200B"), ("\u{E0041}", "the invisible character U+E0041"),
    ("\u{A0}", "the space U+00A0"), ("\u{3000}", "the space U+3000"), ("!", "\"!\""), ("~", "\"~\""),
    ("é", "\"é\" (U+00E9)"), ("😀", "\"😀\" (U+1F600)"),
  ])
  func aCharacterHasAName(scalar: Unicode.Scalar, name: String) { #expect(HostText.named(scalar) == name) }

  /// RFC 3490, 3.1: U+002E, U+3002, U+FF0E, U+FF61.
  @Test func fourCharactersSeparateLabels() {
    let separators = (0...0xFFFF).compactMap(Unicode.Scalar.init).filter(\.separatesLabels)
    #expect(separators.map(\.value) == [0x2E, 0x3002, 0xFF0E, 0xFF61])
  }

  /// The forms U+FF01 to U+FF5E are those of the ASCII characters from `!` to `~` (Unicode, Halfwidth and Fullwidth
  /// Forms).
  @Test func fullWidthFormsAreMadeNarrow() {
    let forms: [(wide: Unicode.Scalar, narrow: Unicode.Scalar)] = [
      ("！", "!"), ("０", "0"), ("Ａ", "A"), ("ｚ", "z"), ("～", "~"), ("．", "."),
    ]
    for (wide, narrow) in forms { #expect(wide.narrow == narrow) }
    for scalar: Unicode.Scalar in ["a", "ü", "\u{FF00}", "\u{FF5F}", "ﾃ"] { #expect(scalar.narrow == scalar) }
  }

  @Test(arguments: [
    ("1", UInt16(1)), ("80", 80), ("080", 80), ("65535", 65_535), ("0", nil), ("00", nil), ("65536", nil), ("", nil),
    ("-1", nil), ("+1", nil), (" 1", nil), ("1 ", nil), ("0x1", nil), ("١", nil), ("1.0", nil),
  ])
  func aPortIsANumberOfSixteenBits(text: String, port: UInt16?) { #expect(PortNumber.parse(text) == port) }

  /// RFC 9110, 4.2.1 and 4.2.2.
  @Test(arguments: [
    ("http", UInt16(80)), ("HTTP", 80), ("https", 443), ("hTTpS", 443), ("ftp", nil), ("", nil), ("httpx", nil),
  ])
  func aSchemeHasItsUsualPort(scheme: String, port: UInt16?) {
    #expect(PortNumber.usual(forScheme: scheme[...]) == port)
  }

  @Test func aNameIsLookedUpInOneWay() throws {
    let name = try HostName("BÜCHER.Example.")
    #expect(name.canonical.text == "xn--bcher-kva.example" && name.canonical.ascii == "xn--bcher-kva.example")
    #expect(name.absolute.text == "xn--bcher-kva.example." && name.text == "BÜCHER.Example")
  }

  /// The reference is Python's codec `punycode`. In each of these names the delta that the bias is adapted by comes to
  /// 455, the limit of RFC 3492, 6.1.
  @Test(arguments: [("僘佾伇倴傱γ", "oxa1869agkaqx5sgh"), ("凯停佧佺侥", "erqrbyh73a84d")])
  func theBiasIsAdaptedAtItsLimit(label: String, encoded: String) { #expect(Punycode.encode(label) == encoded) }

  /// Ethiopic and Khmer letters, and Hebrew ones with points: none stands for another (RFC 5892). The reference is
  /// Python's codec `punycode`.
  @Test(arguments: [("አማርኛ", "xn--1xd0bwwra"), ("ខ្មែរ", "xn--j2e0cg3n2c"), ("שָלוֹם", "xn--gdbc7f1ah1e")])
  func lettersAndMarksOfOtherScriptsAreTaken(name: String, ascii: String) throws {
    #expect(try HostName(name).ascii == ascii)
  }

  // MARK: Names of interfaces

  private let longest = String(repeating: "n", count: 15)

  /// IFNAMSIZ is 16 with the terminating zero. A name that cannot be must not become none: that would mean any.
  @Test func theOnlyInterfaceIsNeverAny() {
    #expect(InlineName(ofOnlyInterface: "eth0").text == "eth0" && InlineName(ofOnlyInterface: longest).text == longest)
    for text in ["", longest + "n", "a\0"] {
      let name = InlineName(ofOnlyInterface: text)
      #expect(!name.isEmpty && name.text == "/", "no interface has it")
    }
  }

  @Test(arguments: [
    "", "a", "eth0", "fifteen-bytes-x", "sixteen-bytes-xx", "enp0s31f6-with-an-alternative-name", "a\0b",
  ])
  func aNameOfALinkMayBeLonger(text: String) {
    let name = LinkName(text)
    #expect(name.text == text && name.isEmpty == text.isEmpty)
    #expect(name == LinkName(text[...]) && name != LinkName(text + "x"))
    if let short = InlineName(text) { #expect(LinkName(short) == name && LinkName(short).isEmpty == text.isEmpty) }
  }

  /// ALTIFNAMSIZ (linux/if.h) is 128, with the terminating zero.
  @Test func theLongestNamesAreTheKernels() { #expect(LinkName.capacity == 127 && InlineName.capacity == 15) }

  @Test func eightBytesAreNoBorder() {
    for count in 0...15 {
      let text = String("abcdefghijklmno".prefix(count))
      #expect(InlineName(text)?.text == text && InlineName(truncating: text).text == text)
      for other in 0..<count { #expect(InlineName("abcdefghijklmno".prefix(other)) != InlineName(text)) }
    }
  }
}
