// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// The bytes that leave the machine: one request, with nothing in it that identifies the sender.
@Suite(.timeLimit(.minutes(5)))
struct RequestTests {
  @Test(arguments: Transport.allCases)
  func sendsExactlyTheseBytes(_ transport: Transport) async throws {
    let server = try await SiteServer(.answer(204), transport)
    let verdict = try await check(server.url(transport, "/path/to?a=b&c=%20#fragment"))
    #expect(verdict.kind == .available)
    let connection = try #require(server.connections.first)
    #expect(server.connectionCount == 1)
    let lines = String(decoding: connection.received, as: UTF8.self)
    #expect(
      lines == """
        HEAD /path/to?a=b&c=%20 HTTP/1.1\r
        Host: 127.0.0.1:\(server.port)\r
        Accept: */*\r
        Accept-Encoding: identity\r
        Cache-Control: no-cache\r
        Connection: close\r
        \r

        """)
  }

  /// Neither what an answer sets nor what the environment says is ever sent.
  @Test(arguments: Transport.allCases)
  func nothingIsKeptOfAnAnswer(_ transport: Transport) async throws {
    let fields = [
      "Set-Cookie: id=secret; Path=/", "WWW-Authenticate: Basic realm=\"x\"", "ETag: \"secret\"",
      "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT", "Strict-Transport-Security: max-age=1000", "Alt-Svc: h3=\":443\"",
      "Refresh: 0; url=/other", "Authentication-Info: nextnonce=\"secret\"",
    ]
    let server = try await SiteServer(.answer(401, fields: fields), transport)
    let verdicts = [
      try await check(server.url(transport)), try await check(server.url(transport)),
      try await check(server.url(transport)) { $0.expectation = .body(containing: "x") },
    ]
    #expect(verdicts.map(\.kind) == [.available, .available, .unexpectedResponse])
    let allowed: Set = ["Host", "Accept", "Accept-Encoding", "Cache-Control", "Connection"]
    for request in server.requests {
      #expect(Set(request.fields.map(\.name)).subtracting(allowed).isEmpty, "\(request)")
      #expect(request.target == "/")
    }
    #expect(server.connections.allSatisfy { !$0.received.contains(bytesOf: "secret") })
  }

  @Test(arguments: Transport.allCases)
  func sendsTheGivenUserAgent(_ transport: Transport) async throws {
    let server = try await SiteServer(.answer(204), transport)
    _ = try await check(server.url(transport)) { $0.userAgent = "trial/1" }
    #expect(server.requests.first?.values(of: "User-Agent") == ["trial/1"])
  }

  @Test(arguments: Transport.allCases, [405, 501])
  func getFollowsIfHeadIsRefused(_ transport: Transport, status: Int) async throws {
    let server = try await SiteServer(
      .head(.answer(status, fields: ["Allow: GET"]), otherwise: .answer(200, body: "well")), transport)
    let verdict = try await check(server.url(transport)) { $0.expectation = .success }
    #expect(verdict.kind == .available, "\(verdict)")
    #expect(verdict.status == 200)
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
    #expect(Set(server.requests.map(\.fields)).count == 1)
  }

  /// HEAD cannot tell whether a 200 instead of a 204 has a page.
  @Test func getFollowsIfOnlyABodyTells() async throws {
    let server = try await SiteServer(.answer(200, body: "<html>log in</html>"), .plain)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .status(204) }
    #expect(verdict.kind == .captivePortal, "\(verdict)")
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
  }

  @Test(arguments: Transport.allCases, [404, 302, 500, 511, 200])
  func oneRequestIsEnoughIfHeadTells(_ transport: Transport, status: Int) async throws {
    let server = try await SiteServer(.answer(status, fields: ["Location: http://login.example/"]), transport)
    _ = try await check(server.url(transport))
    #expect(server.requests.map(\.method) == ["HEAD"])
  }

  @Test(arguments: Transport.allCases, [SiteCheckConfiguration.Method.head, .get])
  func sendsOnlyTheGivenMethod(_ transport: Transport, _ method: SiteCheckConfiguration.Method) async throws {
    let server = try await SiteServer(.answer(405), transport)
    let verdict = try await check(server.url(transport)) {
      $0.expectation = .success
      $0.method = method
    }
    #expect(verdict.kind == .unexpectedResponse)
    #expect(server.requests.map(\.method) == [method.rawValue])
  }

  @Test func aBodyIsAskedForOnlyWithGet() async throws {
    let server = try await SiteServer(.answer(200, body: "well"), .plain)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .body(containing: "well") }
    #expect(verdict.kind == .available)
    #expect(server.requests.map(\.method) == ["GET"])
  }

  /// With `answer` the body is not read, however long it is.
  @Test func theBodyIsNotReadUnlessNeeded() async throws {
    let server = try await SiteServer(
      SiteBehaviour { _ in
        [.send("HTTP/1.1 200 OK\r\n\r\n"), .sendForEver([UInt8](repeating: 0, count: 4096))]
      }, .plain)
    let verdict = try await check(server.url(.plain)) { $0.method = .get }
    #expect(verdict.kind == .available, "\(verdict)")
    try await eventually(within: .seconds(30), "the connection is closed") { server.openCount == 0 }
    #expect(try #require(server.connections.first).sentCount < 1 << 20)
  }

  /// Host has the port if it is not the scheme's own, and the host as it was given, in small letters and with its
  /// trailing dot (RFC 9110, 7.2).
  @Test func sendsTheHostAsItWasGiven() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    _ = try await check(try SiteURL("http://LOCALHOST.:\(server.port)"))
    let request = try #require(server.requests.first)
    #expect(request.values(of: "Host") == ["localhost.:\(server.port)"])
    #expect(request.target == "/")
  }
}
#endif
