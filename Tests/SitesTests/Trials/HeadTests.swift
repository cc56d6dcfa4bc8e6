// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import Foundation
import SiteLab
import TestSupport
import Testing

/// Answers that are well-formed but that not every parser accepts.
@Suite(.timeLimit(.minutes(5)))
struct HeadTests {
  /// Texts of answers to a GET, with "hello" in their bodies. HEAD gets the same without the body.
  private static let answers = [
    "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "HTTP/1.0 200 OK\nServer: x\n\nhello",
    "HTTP/1.1 200 OK\r\nServer: x,\r\n y\r\n\tz\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "HTTP/1.1 103 Early\nLink: a,\n b\n\nHTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "HTTP/1.1 200 OK\r\nServer : x\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nX-Gr\u{F6}\u{DF}e: 1\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nX: a\u{1}b\u{7F}c\rd\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nX(y) z: a\r\n: b\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1  200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200OK\u{1}\u{F6}\r\nContent-Length: 5\r\n\r\nhello",
    "http/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5  \r\nhello\r\n0 \r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"b\"\t; c\nhe\n3\t\nllo\n0\n\n",
  ]

  /// Texts that neither curl nor a check accepts.
  private static let malformed = [
    "RTSP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "ICE/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "ICY 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.10 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1\t200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello",
    " HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nnothing\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n",
  ]

  /// curl accepts the same texts, and gets the same page.
  @Test(.enabled(if: Curl.path != nil, "curl is not installed"), arguments: answers + malformed)
  func takesWhatCurlTakes(_ answer: String) async throws {
    let server = try await SiteServer(.text(answer), .plain)
    let url = try server.url(.plain)
    let judge = try await Curl.get(url.text)
    let verdict = try await check(url) { $0.expectation = .body(containing: "hello") }
    #expect((verdict.kind == .available) == (judge.status == 0 && judge.body == "hello"), "\(verdict), \(judge)")
    #expect((judge.status == 0) == Self.answers.contains(answer), "\(judge)")
  }

  @Test(arguments: malformed)
  func whatIsMalformedFails(_ answer: String) async throws {
    let server = try await SiteServer(.text(answer), .plain)
    let verdict = try await check(server.url(.plain)) {
      $0.method = .get; $0.expectation = .body(containing: "hello")
    }
    #expect(verdict.kind == .failed && verdict.error?.code == .malformedResponse, "\(verdict)")
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "a NUL"), ("HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "no colon"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "Content-Length"),
    ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "Content-Length"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", "chunks"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chun\u{1B}ked\r\n\r\nhello", "Transfer-Encoding"),
    ("HTTP/1.1 20 OK\r\n\r\n", "status"), ("ICY 200 OK\r\n\r\n", "not HTTP/1"),
  ])
  func saysWhatIsMalformed(_ answer: String, _ words: String) async throws {
    let server = try await SiteServer(.text(answer), .plain)
    let verdict = try await check(server.url(.plain)) {
      $0.method = .get
      $0.expectation = .body(containing: "hello")
    }
    #expect(verdict.kind == .failed && verdict.error?.code == .malformedResponse, "\(verdict)")
    #expect(verdict.error?.message.contains(words) == true, "\(verdict)")
  }

  /// No URL has control characters (RFC 3986, 2), and curl -L goes to none of these.
  @Test(
    arguments: [
      ("/\u{1B}", nil), ("/a\u{7F}b", nil), ("?\u{7}", nil), ("http://127.0.0.1\u{1}/", "http://127.0.0.1%01/"),
      ("http://login.example/\u{1B}[2J", "http://login.example/%1B[2J"),
      ("http://login.example/\u{7F}", "http://login.example/%7F"),
    ] as [(String, String?)], [302, 307])
  func aRedirectThatCannotBeReadLeadsElsewhere(_ redirect: (String, String?), _ status: Int) async throws {
    let server = try await SiteServer(.redirect(status, to: redirect.0), .plain)
    let verdict = try await check(server.url(.plain))
    #expect(verdict.kind == .captivePortal && verdict.status == status, "\(verdict)")
    #expect(verdict.location == redirect.1)
  }

  /// CR alone is a space (RFC 9112, 2.2), also for curl -L.
  @Test(
    arguments: [
      ("/here\r", nil), ("/he\rre", nil), ("http://login.example/\r", "http://login.example/"),
      ("http://login.example/a\rb", "http://login.example/a%20b"),
    ] as [(String, String?)])
  func aCarriageReturnInARedirectIsASpace(_ target: String, _ location: String?) async throws {
    let server = try await SiteServer(.redirect(to: target), .plain)
    let verdict = try await check(server.url(.plain))
    #expect(
      verdict.kind == (location == nil ? .available : .captivePortal) && verdict.location == location, "\(verdict)")
  }

  @Test(
    arguments: [
      ("text/html; charset=ISO-8859-1", .isoLatin1, "Grüße", .available),
      ("text/html;Charset=\"windows-1252\"", .windowsCP1252, "„Grüße“: 5 €", .available),
      ("text/plain; charset=utf-8", .utf8, "Grüße, 日本", .available),
      ("text/plain; charset=utf-16", .utf16, "Grüße, 日本", .available),
      ("text/plain; charset=utf-16be", .utf16BigEndian, "OK", .available),
      ("text/html", .isoLatin1, "Grüße", .available),
      ("text/html", .utf8, "Grüße", .available), ("text/html; charset=shift_jis", .shiftJIS, "OK", .available),
      // What cannot be looked for says nothing.
      ("text/html; charset=shift_jis", .shiftJIS, "日本", .failed),
      // There is no such character in it.
      ("text/html; charset=iso-8859-1", .utf8, "日本", .captivePortal),
      ("text/html; charset=utf-8", .isoLatin1, "Grüße", .captivePortal),
    ] as [(String, String.Encoding, String, SiteVerdict.Kind)])
  func theCharsetOfAnAnswerCounts(
    _ type: String, _ encoding: String.Encoding, _ text: String, _ kind: SiteVerdict.Kind
  ) async throws {
    let body = Array(try #require("<html>\(text)</html>".data(using: encoding)))
    let server = try await SiteServer(
      SiteBehaviour { request in [.answer(200, to: request, fields: ["Content-Type: \(type)"], body: body), .close] },
      .plain)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .body(containing: text) }
    #expect(verdict.kind == kind && (kind == .failed) == (verdict.error?.code == .unreadableBody), "\(verdict)")
  }

  /// Of two redirects, one that can be read is told.
  @Test func anUnreadableFieldIsLeftOut() async throws {
    let server = try await SiteServer(
      .text("HTTP/1.1 302 Found\r\nLocation: /\u{1}\r\nLocation : http://login.example/\r\n\r\n"), .plain)
    let verdict = try await check(server.url(.plain))
    #expect(verdict.kind == .captivePortal && verdict.location == "http://login.example/", "\(verdict)")
  }

  @Test(arguments: answers, Transport.allCases)
  func takesWhatIsWellFormed(_ answer: String, _ transport: Transport) async throws {
    let server = try await SiteServer(.text(answer), transport)
    let found = try await check(server.url(transport)) { $0.expectation = .body(containing: "hello") }
    #expect(found.kind == .available && found.status == 200, "\(found)")
    for expectation in [SiteExpectation.answer, .success] {
      let verdict = try await check(server.url(transport)) { $0.expectation = expectation }
      #expect(verdict.kind == .available && verdict.status == 200, "\(verdict)")
    }
  }

  @Test(arguments: answers)
  func takesAnswersByteByByte(_ answer: String) async throws {
    let server = try await SiteServer(
      SiteBehaviour { _ in answer.utf8.map { .send([$0]) } + [.close] }, .plain)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .body(containing: "hello") }
    #expect(verdict.kind == .available && verdict.status == 200, "\(verdict)")
  }

  @Test(arguments: [
    "HTTP/1.1 302 Found\nLocation: http://login.example/\nContent-Length: 0\n\n",
    "HTTP/1.0 302 Found\nLocation: http://login.example/\n\n",
    "HTTP/1.1 302 Found\r\nX: a\r\n b\r\nLocation:\r\n http://login.example/\r\n\r\n",
    "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://login.example/\r\nContent-Length: 0\r\n\r\n",
  ])
  func seesAPortal(_ answer: String) async throws {
    let server = try await SiteServer(.text(answer), .plain)
    let verdict = try await check(server.url(.plain))
    #expect(verdict.kind == .captivePortal && verdict.location == "http://login.example/", "\(verdict)")
  }

  @Test(arguments: [400, 403, 404, 410, 500], [SiteCheckConfiguration.Method?.none, .head, .get])
  func saysIfGETMayHelp(_ status: Int, _ method: SiteCheckConfiguration.Method?) async throws {
    let server = try await SiteServer(.answer(status), .plain)
    let verdict = try await check(server.url(.plain)) {
      $0.expectation = .success
      $0.method = method
    }
    #expect(verdict.kind == .unexpectedResponse && verdict.status == status, "\(verdict)")
    let isHint = method != .get && [400, 403, 404].contains(status)
    #expect(verdict.error?.code == (isHint ? .headRefused : nil), "\(verdict)")
    #expect(verdict.error.map { $0.message.contains("GET") } ?? !isHint, "\(verdict)")
  }

  @Test func aFoldedLineBeforeTheFirstFieldIsMalformed() async throws {
    let server = try await SiteServer(.text("HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 0\r\n\r\n"), .plain)
    let verdict = try await check(server.url(.plain))
    #expect(verdict.kind == .failed && verdict.error?.code == .malformedResponse, "\(verdict)")
  }
}
#endif
