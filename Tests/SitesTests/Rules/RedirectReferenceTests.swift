// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

/// References and how they are read: the examples of RFC 3986, 5.4, and what browsers do beyond it.
struct RedirectReferenceTests {
  private static let base: SiteURL = "http://a/b/c/d;p?q"

  /// RFC 3986, 5.4.1 and 5.4.2, except those of other schemes.
  @Test(arguments: [
    ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
    ("#s", "/b/c/d;p?q#s"), ("g#s", "/b/c/g#s"), ("g?y#s", "/b/c/g?y#s"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
    ("g;x?y#s", "/b/c/g;x?y#s"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"),
    ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"),
    ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("g..", "/b/c/g.."),
    ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
    ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"),
    ("g#s/./x", "/b/c/g#s/./x"), ("g#s/../x", "/b/c/g#s/../x"), ("http:g", "/b/c/g"),
    // Empty segments stay (5.2.4).
    ("/g//h", "/g//h"), ("//a/g//h/", "/g//h/"), ("/g/..", "/"), ("/.", "/"), ("/..", "/"), ("/g//..", "/g/"),
  ])
  func isResolvedAsInTheStandard(_ reference: String, _ target: String) {
    let redirect = RedirectTarget(reference, from: Self.base)
    #expect(redirect.location == "http://a\(target)" && redirect.wholeLocation == redirect.location)
    #expect(!redirect.isOtherHost)
  }

  @Test(arguments: [
    ("http://b", "http://b/"), ("http://b?y", "http://b/?y"), ("http://b#s", "http://b/#s"), ("//g", "http://g/"),
    ("http:////b/x", "http://b/x"), ("https:b/x", "https://b/x"), ("https:/b", "https://b/"),
    ("http://b:81/x?y#z", "http://b:81/x?y#z"), ("HTTP://b/", "http://b/"), ("HtTpS://b/", "https://b/"),
    ("http://[::1]:81", "http://[::1]:81/"), ("http://u@b@c/", "http://u@b@c/"), ("http://a@[::1]/", "http://a@[::1]/"),
    ("http:\\\\b\\x?y\\z", "http://b/x?y\\z"), ("\\\\b#y\\z", "http://b/#y\\z"), ("http://www./", "http://www./"),
    ("http://ab/", "http://ab/"), ("http://www.b/", "http://www.b/"), ("http://a.b/", "http://a.b/"),
  ])
  func leadsToAnotherHost(_ header: String, _ location: String) {
    let redirect = RedirectTarget(header, from: Self.base)
    #expect(redirect.location == location && redirect.isOtherHost)
  }

  /// Without case, trailing dot, user, port and `www.`, an address however it is written.
  @Test(arguments: [
    ("http://A./", "http://a/"), ("http://www.a/", "http://a/"), ("http://u:p@a:81/", "http://a/"),
    ("https://WWW.A./", "http://a/"), ("//a", "http://www.a/"), ("http://a/", "http://a./"),
    ("http://[2001:DB8:0::1]:81/", "http://[2001:db8::1]/"),
    ("https://xn--bcher-kva.example", "http://b\u{FC}cher.example/"),
    ("http://b\u{FC}cher.example/", "https://www.xn--bcher-kva.example/"),
    ("http://b%C3%BCcher.example/", "http://b\u{FC}cher.example/"),
    ("https://192.0.2.1:1/", "http://192.0.2.1/"),
  ])
  func leadsToTheSameHost(_ header: String, _ site: String) throws {
    let redirect = RedirectTarget(header, from: try SiteURL(site))
    #expect(redirect.location != nil && !redirect.isOtherHost)
  }

  /// A host in Unicode may be followed, percent-encoded (RFC 3986, 3.2.2) or not.
  @Test(arguments: [
    "http://b\u{FC}cher.example/\u{E4}", "https://b%C3%BCcher.example", "//B%c3%bccher.example:81/x y",
  ])
  func aHostsLettersMayBeEncoded(_ header: String) throws {
    let whole = try #require(RedirectTarget(header, from: Self.base).wholeLocation)
    #expect(try SiteURL(whole).hostText == "xn--bcher-kva.example")
  }

  /// Go's net/url refuses encoded ASCII in a host, and what is no UTF-8 is no name.
  @Test(arguments: ["http://a%2F.b/", "http://u%40a/", "http://%61/", "http://a%C3/", "http://a%FC/", "http://a%8/"])
  func nothingElseInAHostMayBeEncoded(_ header: String) throws {
    let redirect = RedirectTarget(header, from: Self.base)
    #expect(redirect.isOtherHost && redirect.location == header)
    let whole = try #require(redirect.wholeLocation)
    #expect(throws: SiteError.self) { try SiteURL(whole) }
  }

  /// WHATWG URL, 4.4: spaces around it, and tabs and line breaks in it, do not count.
  @Test(arguments: [
    ("/x\ty", "/xy"), ("/x\ny", "/xy"), ("/x\ry", "/xy"), ("/x\r\ny", "/xy"), (" \t /x \n", "/x"), ("/x y", "/x%20y"),
    (" ", "/b/c/d;p?q"), ("\t", "/b/c/d;p?q"), ("/x\\y", "/x/y"), ("\\x", "/x"), ("/x?a\\b", "/x?a\\b"),
    ("/x#a\\b", "/x#a\\b"), ("/x\\..\\y?a", "/y?a"), ("/\u{E4}~!", "/%C3%A4~!"), ("/\u{A0}", "/%C2%A0"),
  ])
  func isReadAsABrowserReadsIt(_ header: String, _ target: String) {
    let redirect = RedirectTarget(header, from: Self.base)
    #expect(redirect.location == "http://a\(target)" && !redirect.isOtherHost)
  }

  /// RFC 3986, 2: no URL has control characters. Where it leads is told only if it is no page of the site.
  @Test(arguments: ["\u{1}", "\u{0}", "\u{8}", "\u{B}", "\u{1B}", "\u{1F}", "\u{7F}"])
  func withControlCharactersItIsNoPageOfTheSite(_ control: String) {
    for header in ["/x\(control)", "\(control)/x", "http://a/\(control)x", "x?y=\(control)"] {
      let redirect = RedirectTarget(header, from: Self.base)
      #expect(redirect.isOtherHost && redirect.location == nil && redirect.wholeLocation == nil)
    }
    let redirect = RedirectTarget("http://b/x\(control)y", from: Self.base)
    let encoded = control.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16, uppercase: true) }.joined()
    #expect(redirect.isOtherHost && redirect.location == "http://b/x\(encoded)y")
  }

  @Test(arguments: ["ftp://a/", "mailto:a@a", "g:h", "about:blank", "HTTPX://a/", "http://", "https:", "//?x"])
  func whatIsNoSiteIsElsewhere(_ header: String) {
    let redirect = RedirectTarget(header, from: Self.base)
    #expect(redirect.isOtherHost && redirect.location == nil && redirect.wholeLocation == nil)
  }

  /// No scheme begins with a digit, and none has a slash before its colon (RFC 3986, 3.1 and 4.2).
  @Test(arguments: [
    ("1a:b", "/b/c/1a:b"), ("./g:h", "/b/c/g:h"), (":80", "/b/c/:80"), ("?u=http://b/", "/b/c/d;p?u=http://b/"),
  ])
  func aColonAloneMakesNoScheme(_ header: String, _ target: String) {
    let redirect = RedirectTarget(header, from: Self.base)
    #expect(redirect.location == "http://a\(target)" && !redirect.isOtherHost)
  }

  /// "http://b/" has 9 characters.
  @Test(arguments: [2_039, 2_040, 3_000]) func isCutAfter2048Characters(_ count: Int) throws {
    let text = "http://b/" + String(repeating: "x", count: count)
    let redirect = RedirectTarget(text, from: Self.base)
    #expect(redirect.location?.utf8.count == min(2_048, 9 + count) && redirect.wholeLocation == text)
    #expect(text.hasPrefix(try #require(redirect.location)))
  }

  /// An encoded byte is never cut.
  @Test(arguments: [(2_036, 2_048), (2_037, 2_046), (2_038, 2_047), (2_039, 2_048)])
  func isCutBetweenBytes(_ count: Int, _ length: Int) {
    let text = "http://b/" + String(repeating: "x", count: count) + " y"
    #expect(RedirectTarget(text, from: Self.base).location?.utf8.count == length)
  }
}
