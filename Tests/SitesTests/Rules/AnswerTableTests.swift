// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import Testing

@testable import DialtoneSites

/// Edges of what an answer means: statuses at the ends of their classes, bodies, charsets, codings.
struct AnswerTableTests {
  private func rules(
    _ expectation: SiteExpectation, of url: SiteURL = "http://a/", method: SiteCheckConfiguration.Method? = nil
  ) -> VerdictRules {
    var configuration = SiteCheckConfiguration()
    configuration.expectation = expectation
    configuration.method = method
    return VerdictRules(url: url, configuration: configuration)
  }

  // MARK: Statuses

  /// RFC 9110, 15.4: 300 to 399 lead elsewhere; 304 is about a copy.
  @Test(arguments: [
    (299, false), (300, true), (303, true), (304, false), (305, true), (399, true), (400, false), (404, false),
    (500, false), (999, false),
  ])
  func onlyARedirectLeadsElsewhere(_ status: Int, _ isRedirect: Bool) {
    let head = VerdictRules.Head(method: .get, status: status, locations: ["http://login.example/"])
    let elsewhere = VerdictRules.Decision.verdict(.captivePortal, location: "http://login.example/")
    #expect(rules(.answer).judge(head) == (isRedirect ? elsewhere : .verdict(.available, location: nil)))
  }

  /// RFC 9110, 15.3.
  @Test(arguments: [(199, false), (200, true), (206, true), (299, true), (300, false), (400, false)])
  func aSuccessIsFrom200To299(_ status: Int, _ isSuccess: Bool) {
    let head = VerdictRules.Head(method: .get, status: status)
    let kind: SiteVerdict.Kind = isSuccess ? .available : .unexpectedResponse
    #expect(rules(.success, of: "https://a/").judge(head) == .verdict(kind, location: nil))
    // A text is looked for in a success alone.
    let text = rules(.body(containing: "x"), of: "https://a/").judge(head)
    #expect(text == (isSuccess ? .readBody : .verdict(.unexpectedResponse, location: nil)))
  }

  /// RFC 9112, 6.3, and RFC 9110, 15.3.6: 204 and 205 have no body to read.
  @Test(arguments: [(203, true), (204, false), (205, false), (206, true)])
  func someAnswersHaveNoBody(_ status: Int, _ hasBody: Bool) {
    let head = VerdictRules.Head(method: .get, status: status)
    let without = VerdictRules.Decision.verdict(.unexpectedResponse, location: nil)
    #expect(rules(.body(containing: "x")).judge(head) == (hasBody ? .readBody : without))
    #expect(rules(.status(299)).judge(head) == (hasBody ? .readBody : without))
  }

  /// RFC 9110, 15.5.8 and 15.6; RFC 6585, 6: what a proxy says of itself.
  @Test(arguments: [
    (407, true), (406, false), (408, false), (499, false), (500, true), (502, true), (511, false), (510, true),
    (512, true), (599, true), (600, false), (200, false), (404, false),
  ])
  func aProxysErrorIsNoSignOfTheSite(_ status: Int, _ isProxys: Bool) {
    #expect((rules(.answer).proxyError(status)?.code == .proxyFailed) == isProxys)
    // What is listed is the site's, except that the proxy itself refuses.
    let listed = rules(.statuses([407, 500, 502, 510, 512, 599])).proxyError(status)
    #expect((listed != nil) == (status == 407))
  }

  @Test func aProxysErrorHasItsStatus() {
    #expect(rules(.answer).proxyError(407)?.message == "the proxy refused to connect to the site (407)")
    #expect(rules(.answer).proxyError(503)?.message == "the proxy answered 503: no sign that the site did")
  }

  /// HEAD is followed by GET if it is not known (RFC 9110, 15.5.6 and 15.6.2), unless a method was asked for.
  @Test(arguments: [(405, true), (501, true), (404, false), (406, false), (500, false), (502, false)])
  func getFollowsAHeadThatIsNotKnown(_ status: Int, _ isAsked: Bool) {
    let head = VerdictRules.Head(method: .head, status: status)
    for expectation in [SiteExpectation.answer, .success] {
      #expect((rules(expectation).judge(head) == .askAgain) == isAsked)
      #expect(rules(expectation, method: .head).judge(head) != .askAgain)
      #expect(rules(expectation).judge(.status(status, .get)) != .askAgain)
    }
  }

  @Test(arguments: [(400, true), (401, false), (402, false), (403, true), (404, true), (405, false), (410, false)])
  func aHintIsForHeadAlone(_ status: Int, _ isHinted: Bool) {
    #expect((rules(.success).hint(.status(status))?.code == .headRefused) == isHinted)
    #expect(rules(.success).hint(.status(status, .get)) == nil)
  }

  /// A stray page over http is a portal's; a few bytes, such as a line break, are none.
  @Test(arguments: [(nil, false), (0, false), (4, false), (5, true), (1_000, true)] as [(Int?, Bool)])
  func aHeadOfAFixedMethodTellsByItsLength(_ length: Int?, _ isPage: Bool) {
    let head = VerdictRules.Head(method: .head, status: 200, contentLength: length)
    let kind: SiteVerdict.Kind = isPage ? .captivePortal : .unexpectedResponse
    #expect(rules(.status(204), method: .head).judge(head) == .verdict(kind, location: nil))
    #expect(rules(.status(204)).judge(head) == .askAgain)
    let secure = rules(.status(204), of: "https://a/", method: .head).judge(head)
    #expect(secure == .verdict(.unexpectedResponse, location: nil))
  }

  @Test func withoutALifetimeNoCertificateEndsTooSoon() {
    let rules = rules(.answer, of: "https://a/")
    let now = UTCTimestamp(durationSince1970: .seconds(1_000))
    #expect(rules.lifetimeError(certificateExpires: now, now: now) == nil)
    var configuration = SiteCheckConfiguration()
    configuration.minimumCertificateLifetime = .seconds(1)
    let asking = VerdictRules(url: "https://a/", configuration: configuration)
    #expect(asking.lifetimeError(certificateExpires: nil, now: now) == nil)
    let message = asking.lifetimeError(certificateExpires: now, now: now)?.message
    #expect(message == "the certificate expires at 1970-01-01T00:16:40Z")
  }

  // MARK: Codings

  @Test(arguments: [
    (["gzip"], "gzip"), (["x-gzip"], "gzip"), (["deflate"], "deflate"), (["br"], "Brotli"), (["zstd"], "Zstandard"),
    (["compress"], "compress"), (["x-compress"], "compress"), (["evil"], "an unknown coding"),
    (["gzip", "br"], "gzip, then Brotli"), (["identity", "gzip"], "gzip"), (["x", "identity"], "an unknown coding"),
  ])
  func aCodingIsNamed(_ members: [String], _ words: String) {
    let coding = ContentCoding(members)
    #expect(!coding.isNone && coding.error.code == .unreadableBody)
    #expect(
      coding.error.message
        == "the body is compressed (\(words)), although the request asks for it uncompressed (identity)")
  }

  @Test func identityIsNoCoding() {
    for members in [[], ["identity"], ["identity", "identity"]] { #expect(ContentCoding(members).isNone) }
    let head = VerdictRules.Head(method: .get, status: 200, coding: ContentCoding(["identity"]))
    #expect(rules(.body(containing: "x")).judge(head) == .readBody)
  }

  /// A coding or a charset that cannot be read matters only if the body does.
  @Test func whatIsNotReadMayBeInAnything() {
    let head = VerdictRules.Head(method: .get, status: 200, coding: ContentCoding(["br"]), charset: "koi8-r")
    #expect(rules(.success).judge(head) == .verdict(.available, location: nil))
    var text = VerdictRules.Head(method: .get, status: 200, charset: "koi8-r")
    guard case .unreadableBody(let error) = rules(.body(containing: "\u{44F}")).judge(text) else {
      Issue.record("A text that is not ASCII was looked for")
      return
    }
    #expect(error.code == .unreadableBody)
    #expect(rules(.body(containing: "x")).judge(text) == .readBody)
    text.charset = "utf-8"
    #expect(rules(.body(containing: "\u{44F}")).judge(text) == .readBody)
  }

  // MARK: Charsets

  /// WHATWG Encoding: index windows-1252, and what names mean.
  @Test(
    arguments: [
      ("x", nil, [[0x78], [0x78]]), ("\u{E9}", nil, [[0xC3, 0xA9], [0xE9]]), ("\u{44F}", nil, [[0xD1, 0x8F]]),
      ("\u{E9}", "utf-8", [[0xC3, 0xA9]]), ("\u{E9}", "utf8", [[0xC3, 0xA9]]), ("\u{E9}", "iso-8859-1", [[0xE9]]),
      ("\u{20AC}", "windows-1252", [[0x80]]), ("\u{178}", "latin1", [[0x9F]]), ("\u{2122}", "cp1252", [[0x99]]),
      ("\u{81}", "windows-1252", [[0x81]]), ("\u{FF}", "us-ascii", [[0xFF]]), ("\u{100}", "latin1", []),
      ("\u{80}", "latin1", []),
      ("\u{A0}", "ascii", [[0xA0]]), ("\u{BF}", "iso8859-1", [[0xBF]]), ("\u{44F}", "windows-1252", []),
      ("x", "utf-16", [[0x78, 0], [0, 0x78]]), ("\u{44F}", "utf-16le", [[0x4F, 0x04], [0x04, 0x4F]]),
      ("\u{1F600}", "utf-16be", [[0x3D, 0xD8, 0x00, 0xDE], [0xD8, 0x3D, 0xDE, 0x00]]),
      ("\u{FFFF}", "utf-16", [[0xFF, 0xFF], [0xFF, 0xFF]]),
      ("\u{7F}x", "koi8-r", [[0x7F, 0x78]]), ("\u{80}", "koi8-r", nil), ("\u{44F}", "shift_jis", nil), ("", "x", [[]]),
    ] as [(String, String?, [[UInt8]]?)])
  func aTextHasBytesInEachCharset(_ text: String, _ charset: String?, _ bytes: [[UInt8]]?) {
    #expect(TextEncoding.encodings(of: text, charset: charset) == bytes)
  }

  // MARK: Bodies

  private func collected(_ texts: [String], _ parts: [Int], _ end: String) -> VerdictRules.Body {
    var collector = BodyCollector(texts.map { Array($0.utf8) })
    for count in parts { collector.append(ByteBuffer(repeating: 0x61, count: count)) }
    collector.append(ByteBuffer(string: end))
    return collector.body
  }

  /// 64 KiB are looked at: a text that ends there is found, one that ends a byte later is not.
  @Test(
    arguments: [
      ([65_534], true), ([65_535], false), ([40_000, 25_534], true), ([40_000, 25_535], false), ([65_536], false),
      ([70_000], false), ([40_000, 40_000], false), ([1], true), ([], true),
    ] as [([Int], Bool)])
  func aTextIsLookedForWithinTheLimit(_ parts: [Int], _ isFound: Bool) {
    let body = collected(["xy"], parts, "xy")
    #expect(body.hasText == isFound && !body.hasEnded)
    #expect(body.length == min(65_536, parts.reduce(2, +)))
    #expect(body.isComplete == (body.length == 65_536))
  }

  @Test func anyOfTheTextsIsEnough() {
    #expect(collected(["b", "xy"], [3], "xy").hasText && collected(["xy", "b"], [3], "xy").hasText)
    #expect(!collected(["b", "c"], [3], "xy").hasText && !collected([], [3], "xy").hasText)
    #expect(!collected([""], [3], "xy").hasText, "an empty text is never found")
    #expect(collected(["aa"], [2], "x").hasText && !collected(["aaa"], [2], "xa").hasText)
  }

  @Test func anEndIsAnEnd() {
    var collector = BodyCollector([Array("a".utf8)])
    #expect(!collector.body.isComplete && !collector.body.hasEnded && collector.body.length == 0)
    collector.append(ByteBuffer(string: "b"))
    #expect(!collector.body.isComplete && !collector.body.hasEnded && !collector.body.hasText)
    collector.end()
    #expect(collector.body.isComplete && collector.body.hasEnded)
    collector.append(ByteBuffer(string: "a"))
    #expect(collector.body.length == 1 && !collector.body.hasText, "nothing comes after it")
    let whole = VerdictRules.Body(whole: "abc", lookingFor: "bc")
    #expect(whole.length == 3 && whole.hasText && whole.isComplete && whole.hasEnded)
    #expect(!VerdictRules.Body(whole: "abc", lookingFor: "d").hasText)
    #expect(!VerdictRules.Body(whole: "abc", lookingFor: nil).hasText)
    #expect(!VerdictRules.Body().hasEnded && !VerdictRules.Body().isComplete && VerdictRules.Body().length == 0)
  }
}
