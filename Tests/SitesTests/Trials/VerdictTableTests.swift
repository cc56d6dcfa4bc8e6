// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import SiteLab
import TestSupport
import Testing

/// Trial 50 of Sites.md, and every row of the table of verdicts (<doc:Sites>), against real servers.
@Suite(.timeLimit(.minutes(5)))
struct VerdictTableTests {
  struct Row: CustomTestStringConvertible {
    let transport: Transport
    let expectation: SiteExpectation
    let answer: String
    let behaviour: SiteBehaviour
    let verdict: SiteVerdict.Kind

    init(
      _ transport: Transport, _ expectation: SiteExpectation, _ answer: String, _ behaviour: SiteBehaviour,
      _ verdict: SiteVerdict.Kind
    ) {
      self.transport = transport
      self.expectation = expectation
      self.answer = answer
      self.behaviour = behaviour
      self.verdict = verdict
    }

    var testDescription: String { "\(transport), \(expectation) expected: \(answer): \(verdict)" }
  }

  static let page = "<html>please log in</html>"
  static let elsewhere = "http://login.example/here"

  /// The rows that are the same with and without TLS.
  static let both: [Row] = Transport.allCases.flatMap { transport in
    [
      Row(transport, .answer, "200", .answer(200, body: page), .available),
      Row(transport, .answer, "204", .answer(204), .available),
      Row(transport, .answer, "401", .answer(401, fields: ["WWW-Authenticate: Basic realm=\"x\""]), .available),
      Row(transport, .answer, "404", .answer(404, body: page), .available),
      Row(transport, .answer, "500", .answer(500, body: page), .available),
      Row(transport, .answer, "503", .answer(503), .available),
      Row(transport, .answer, "511", .answer(511, body: page), .captivePortal),
      Row(transport, .answer, "302 to the same host", .redirect(to: "/login"), .available),
      Row(transport, .answer, "302 without a target", .answer(302), .available),
      Row(transport, .success, "200", .answer(200, body: page), .available),
      Row(transport, .success, "200, empty", .answer(200), .available),
      Row(transport, .success, "204", .answer(204), .available),
      Row(transport, .success, "299", .answer(299), .available),
      Row(transport, .success, "302 to the same host", .redirect(to: "/login"), .unexpectedResponse),
      Row(transport, .success, "404", .answer(404, body: page), .unexpectedResponse),
      Row(transport, .success, "500", .answer(500), .unexpectedResponse),
      Row(transport, .success, "511", .answer(511), .captivePortal),
      Row(transport, .status(204), "204", .answer(204), .available),
      Row(transport, .status(204), "200, empty", .answer(200), .unexpectedResponse),
      Row(transport, .status(204), "200, four stray bytes", .answer(200, body: "\r\n\r\n"), .unexpectedResponse),
      Row(transport, .status(204), "302 to the same host", .redirect(to: "/login"), .unexpectedResponse),
      Row(transport, .status(204), "404, a page", .answer(404, body: page), .unexpectedResponse),
      Row(transport, .status(204), "511", .answer(511, body: page), .captivePortal),
      Row(transport, .statuses([200, 404]), "404", .answer(404), .available),
      Row(transport, .statuses([200, 404]), "200", .answer(200, body: page), .available),
      Row(transport, .statuses([302]), "302 to another host", .redirect(to: elsewhere), .available),
      Row(transport, .statuses([511]), "511", .answer(511), .available),
      Row(transport, .body(containing: "log in"), "200, the text", .answer(200, body: page), .available),
      Row(transport, .body(containing: "log in"), "200, empty", .answer(200), .unexpectedResponse),
      Row(transport, .body(containing: "log in"), "404, the text", .answer(404, body: page), .unexpectedResponse),
      Row(transport, .body(containing: "log in"), "511, the text", .answer(511, body: page), .captivePortal),
    ]
  }

  /// The rows in which only a certificate makes the answer the site's own.
  static let different: [Row] = [
    (
      SiteExpectation.answer, "302 to another host", SiteBehaviour.redirect(to: elsewhere),
      SiteVerdict.Kind.captivePortal, SiteVerdict.Kind.available
    ),
    (.answer, "301 to another host", .redirect(301, to: elsewhere), .captivePortal, .available),
    (.answer, "303 to another host", .redirect(303, to: elsewhere), .captivePortal, .available),
    (.answer, "307 to another host", .redirect(307, to: elsewhere), .captivePortal, .available),
    (.answer, "308 to another host", .redirect(308, to: elsewhere), .captivePortal, .available),
    (.success, "302 to another host", .redirect(to: elsewhere), .captivePortal, .unexpectedResponse),
    (.status(204), "302 to another host", .redirect(to: elsewhere), .captivePortal, .unexpectedResponse),
    (.status(204), "200, a page", .answer(200, body: page), .captivePortal, .unexpectedResponse),
    (.status(204), "200, five bytes", .answer(200, body: "login"), .captivePortal, .unexpectedResponse),
    (.status(204), "203, a page", .answer(203, body: page), .captivePortal, .unexpectedResponse),
    (.body(containing: "welcome"), "200, another page", .answer(200, body: page), .captivePortal, .unexpectedResponse),
    (
      .body(containing: "welcome"), "302 to another host", .redirect(to: elsewhere), .captivePortal, .unexpectedResponse
    ),
  ].flatMap { expectation, answer, behaviour, plain, secure in
    [
      Row(.plain, expectation, answer, behaviour, plain), Row(.secure, expectation, answer, behaviour, secure),
    ]
  }

  @Test(arguments: both + different)
  func givesTheVerdictOfTheTable(_ row: Row) async throws {
    let server = try await SiteServer(row.behaviour, row.transport)
    let verdict = try await check(server.url(row.transport)) { $0.expectation = row.expectation }
    #expect(verdict.kind == row.verdict, "\(verdict)")
    #expect(verdict.stage == nil)
    // HEAD was answered so, but GET may be answered differently. A check that expects a text sends a GET.
    let isHint = row.expectation.bodyText == nil && row.verdict == .unexpectedResponse && verdict.status == 404
    #expect(verdict.error?.code == (isHint ? .headRefused : nil))
    #expect(verdict.status != nil)
    #expect(verdict.address == IPAddress("127.0.0.1"))
    #expect(verdict.interface?.name == "lo")
    let mayLead = row.verdict == .captivePortal || row.verdict == .unexpectedResponse
    #expect(mayLead || verdict.location == nil)
    #expect(server.connections.allSatisfy { $0.requests.count <= 1 })
  }

  /// The text crosses the border of two packets, and of two chunks.
  @Test(arguments: Transport.allCases)
  func findsTextAcrossChunks(_ transport: Transport) async throws {
    let server = try await SiteServer(
      SiteBehaviour { _ in
        [
          .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n4\r\nall \r\n"),
          .pause(.milliseconds(20)), .send("7\r\nis well\r\n0\r\n\r\n"),
        ]
      }, transport)
    let verdict = try await check(server.url(transport)) { $0.expectation = .body(containing: "l is w") }
    #expect(verdict.kind == .available, "\(verdict)")
  }

  /// A body that ends with the connection is whole. Interim answers are not the answer.
  @Test(arguments: Transport.allCases)
  func readsABodyUntilTheConnectionEnds(_ transport: Transport) async throws {
    let server = try await SiteServer(
      .text("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\nHTTP/1.0 200 OK\r\n\r\nall is well"), transport)
    let verdict = try await check(server.url(transport)) { $0.expectation = .body(containing: "all is well") }
    #expect(verdict.kind == .available, "\(verdict)")
  }

  /// Embedded portals answer HEAD with a body, which RFC 9110, 9.3.2, forbids. It is no answer by itself, and GET
  /// follows nevertheless.
  @Test(arguments: Transport.allCases, [Duration.zero, .milliseconds(20)])
  func aBodyToHeadIsPassedOver(_ transport: Transport, pause: Duration) async throws {
    func server(_ head: String, body: String, get: SiteBehaviour? = nil) async throws -> SiteServer {
      let forHead = SiteBehaviour { _ in
        pause == .zero ? [.send(head + body), .close] : [.send(head), .pause(pause), .send(body), .close]
      }
      return try await SiteServer(.head(forHead, otherwise: get ?? forHead), transport)
    }
    let length = "Content-Length: \(Self.page.utf8.count)\r\n"
    for fields in [length, length + "Connection: close\r\n", ""] {
      let portal = try await server("HTTP/1.1 200 OK\r\n\(fields)\r\n", body: Self.page)
      let verdict = try await check(portal.url(transport)) { $0.expectation = .status(204) }
      #expect(verdict.kind == (transport == .plain ? .captivePortal : .unexpectedResponse), "\(verdict)")
      #expect(portal.requests.map(\.method) == (transport == .plain ? ["HEAD", "GET"] : ["HEAD"]))
    }
    let site = try await server(
      "HTTP/1.1 405 Not Allowed\r\nContent-Length: 3\r\n\r\n", body: "no\n", get: .answer(200))
    let verdict = try await check(site.url(transport))
    #expect(verdict.kind == .available, "\(verdict)")
    #expect(site.requests.map(\.method) == ["HEAD", "GET"])
  }

  /// 64 KiB are read, and nothing after them counts.
  @Test(arguments: [(65_536 - 4, true), (65_536 - 3, false), (200_000, false)])
  func readsSixtyFourKibibytes(before: Int, isFound: Bool) async throws {
    let server = try await SiteServer(
      .answer(200, body: String(repeating: "a", count: before) + "well" + String(repeating: "b", count: 100_000)),
      .plain)
    let verdict = try await check(server.url(.plain)) { $0.expectation = .body(containing: "well") }
    #expect(verdict.kind == (isFound ? .available : .captivePortal), "\(verdict)")
  }

  /// Without a listener the connection is refused at once, in the stage of connecting.
  @Test(arguments: Transport.allCases)
  func aRefusedConnectionFailsWhileConnecting(_ transport: Transport) async throws {
    let server = try await SiteServer(.answer(200), transport)
    try await server.stopListening()
    let verdict = try await check(server.url(transport))
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.stage == .connect)
    #expect(verdict.error?.code == .cannotConnect)
    #expect(verdict.status == nil)
    #expect(verdict.timings.tls == nil && verdict.timings.firstByte == nil)
  }

  /// A stage that was not reached has no time, and the times of the stages are parts of the whole.
  @Test(arguments: Transport.allCases)
  func theTimesOfTheStagesArePartsOfTheWhole(_ transport: Transport) async throws {
    let server = try await SiteServer(
      SiteBehaviour { request in [.pause(.seconds(1)), .answer(200, to: request), .close] }, transport)
    let timings = try await check(server.url(transport)).timings
    let total = try #require(timings.total)
    let firstByte = try #require(timings.firstByte)
    // A busy machine may notice late that it is connected, and so count a part of the pause to that.
    #expect((timings.connect ?? .zero) + (timings.tls ?? .zero) + firstByte >= .milliseconds(950))
    #expect(timings.name == nil)
    #expect((timings.tls != nil) == (transport == .secure))
    #expect((timings.connect ?? .zero) + (timings.tls ?? .zero) + firstByte <= total)
  }
}
#endif
