// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import SiteLab
import TestSupport
import Testing

/// Bodies that are compressed although the check did not ask for it.
@Suite(.timeLimit(.minutes(5)))
struct CompressionTests {
  /// Serves nine bytes, which only a decoder could read.
  private func server(_ coding: String, _ transport: Transport = .plain) async throws -> SiteServer {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 9\r\n\r\nscrambled"
    return try await SiteServer(.text(answer), transport)
  }

  /// The codings, and what the error calls them.
  static let codings = [
    ("gzip", "(gzip)"), ("X-GZIP", "(gzip)"), ("deflate", "(deflate)"), ("br", "(Brotli)"), ("zstd", "(Zstandard)"),
    ("gzip, br", "(gzip, then Brotli)"), ("gzip, gzip", "(gzip, then gzip)"), ("GZIP, identity", "(gzip)"),
    ("br\r\nContent-Encoding: gzip", "(Brotli, then gzip)"), ("mystery", "(an unknown coding)"),
    ("foo\u{1B}", "(an unknown coding)"), ("foo\u{7F}\r", "(an unknown coding)"),
  ]

  @Test(arguments: codings)
  func aTextCannotBeFoundInACompressedBody(_ coding: String, _ words: String) async throws {
    for transport in Transport.allCases {
      let server = try await server(coding, transport)
      let verdict = try await check(server.url(transport)) { $0.expectation = .body(containing: "scrambled") }
      #expect(verdict.kind == .failed && verdict.stage == .body && verdict.status == nil, "\(verdict)")
      #expect(verdict.error?.code == .unreadableBody, "\(verdict)")
      #expect(verdict.error?.message.contains(words) == true, "\(verdict)")
    }
  }

  /// curl(1) takes both names for no coding (lib/content_encoding.c).
  @Test(arguments: ["identity", "none", "None"]) func whatIsNotCodedIsRead(_ coding: String) async throws {
    let server = try await server(coding)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .body(containing: "scrambled") }
    #expect(verdict.kind == .available, "\(verdict)")
  }

  @Test(arguments: codings)
  func aPageThatIsCompressedIsJudgedNeitherAPortalsNorTheSites(_ coding: String, _ words: String) async throws {
    let server = try await server(coding)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .status(204) }
    #expect(verdict.kind == .failed && verdict.stage == .body && verdict.status == nil, "\(verdict)")
    #expect(verdict.error?.code == .unreadableBody, "\(verdict)")
    #expect(verdict.error?.message.contains(words) == true, "\(verdict)")
  }

  /// Nobody asked for a transfer coding, and chunks alone are read (RFC 9112, 7.4). curl fails, too.
  @Test(arguments: ["gzip, chunked", "gzip", "foo, chunked"]) func aTransferCodingIsNotRead(_ coding: String)
    async throws
  {
    let body = coding.hasSuffix("chunked") ? "9\r\nscrambled\r\n0\r\n\r\n" : "scrambled"
    let server = try await SiteServer(.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n\(body)"), .plain)
    for expectation in [SiteExpectation.body(containing: "scrambled"), .status(204)] {
      let verdict = try await check(server.url(.plain)) { $0.expectation = expectation }
      #expect(verdict.kind == .failed && verdict.stage == .body, "\(verdict)")
      #expect(verdict.error?.code == .unreadableBody, "\(verdict)")
    }
  }

  @Test(arguments: codings.map(\.0))
  func aBodyThatIsNotNeededMayBeCompressed(_ coding: String) async throws {
    let server = try await server(coding)
    for expectation in [SiteExpectation.answer, .success, .status(200)] {
      let verdict = try await check(server.url(.plain)) {
        $0.expectation = expectation
        $0.method = .get
      }
      #expect(verdict.kind == .available && verdict.error == nil, "\(expectation): \(verdict)")
    }
  }

  @Test(arguments: ["identity", "Identity, ", ""]) func identityIsNoCoding(_ coding: String) async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 11\r\n\r\nhello hello"
    let server = try await SiteServer(.text(answer), .plain)
    let found = try await check(server.url(.plain)) { $0.expectation = .body(containing: "hello hello") }
    #expect(found.kind == .available, "\(found)")
    let missed = try await check(server.url(.plain)) { $0.expectation = .body(containing: "hallo") }
    #expect(missed.kind == .captivePortal && missed.error == nil, "\(missed)")
  }

  /// No byte of the body is waited for.
  @Test func aCompressedBodyNeedNotCome() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9999\r\n\r\n"
    let server = try await SiteServer(SiteBehaviour { _ in [.send(head), .stall] }, .plain)
    let verdict = try await check(server.url(.plain)) {
      $0.expectation = .body(containing: "hello")
      $0.timeout = .seconds(60)
    }
    #expect(verdict.kind == .failed && verdict.stage == .body, "\(verdict)")
    let total = try #require(verdict.timings.total)
    #expect(total < .seconds(30))
  }
}
#endif
