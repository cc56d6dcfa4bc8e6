// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import SiteLab
import TestSupport
import Testing

/// Bodies that come compressed, though nobody asked for it.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct CompressionTests {
  /// `printf 'hello hello hello hello\n' | gzip -9n`
  private static let gzip: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0xB9, 0, 0, 0x88, 0x59,
    0x0B, 0x18, 0, 0, 0,
  ]

  private func verdict(
    on body: [UInt8], then step: SiteStep = .close, length: Int? = nil, expecting text: String
  ) async throws -> SiteVerdict {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(length ?? body.count)\r\n\r\n"
    let server = try await SiteServer(SiteBehaviour { _ in [.send(head), .send(body), step] }, .plain)
    return try await check(server.url(.plain)) {
      $0.expectation = .body(containing: text)
      $0.timeout = .seconds(60)
    }
  }

  @Test(arguments: [[], [UInt8](repeating: 0, count: 512), [10], gzip, Array(gzip.dropLast(3))])
  func whatFollowsAWholeMemberDoesNotMatter(_ rest: [UInt8]) async throws {
    let found = try await verdict(on: Self.gzip + rest, expecting: "hello hello\n")
    #expect(found.kind == .available, "\(found)")
    let missed = try await verdict(on: Self.gzip + rest, expecting: "hallo")
    #expect(missed.kind == .captivePortal, "\(missed)")
  }

  /// Nobody can say what is in it: neither the text nor a portal's page.
  @Test(arguments: ["br", "zstd", "gzip, br", "gzip, gzip", "br\r\nContent-Encoding: gzip"])
  func aBodyThatCannotBeReadIsNoPortal(_ coding: String) async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 9\r\n\r\nscrambled"
    let server = try await SiteServer(.text(answer), .plain)
    for expectation in [SiteExpectation.body(containing: "hello"), .status(204)] {
      let verdict = try await check(server.url(.plain)) { $0.expectation = expectation }
      #expect(verdict.kind == .unexpectedResponse && verdict.status == 200, "\(verdict)")
      #expect(verdict.error?.code == .unreadableBody, "\(verdict)")
    }
  }

  @Test(arguments: ["identity", "Identity, ", ""]) func noCodingIsNone(_ coding: String) async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 11\r\n\r\nhello hello"
    let server = try await SiteServer(.text(answer), .plain)
    let found = try await check(server.url(.plain)) { $0.expectation = .body(containing: "hello hello") }
    #expect(found.kind == .available, "\(found)")
    let missed = try await check(server.url(.plain)) { $0.expectation = .body(containing: "hallo") }
    #expect(missed.kind == .captivePortal && missed.error == nil, "\(missed)")
  }

  @Test func acodingBesideNoneIsOne() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: GZIP, identity\r\nContent-Length: \(Self.gzip.count)\r\n\r\n"
    let server = try await SiteServer(SiteBehaviour { _ in [.send(head), .send(Self.gzip), .close] }, .plain)
    let found = try await check(server.url(.plain)) { $0.expectation = .body(containing: "hello hello\n") }
    #expect(found.kind == .available, "\(found)")
  }

  /// As for what is not compressed: the deadline has nothing to do with it.
  @Test(arguments: [SiteStep.stall, .close])
  func aTextThatHasComeIsEnough(_ step: SiteStep) async throws {
    let verdict = try await verdict(on: Self.gzip.dropLast(8), then: step, length: 9_999, expecting: "hello hello\n")
    #expect(verdict.kind == .available, "\(verdict)")
    let total = try #require(verdict.timings.total)
    #expect(total < .seconds(30))
  }

  @Test func aWrongCheckSumIsNoAnswer() async throws {
    var body = Self.gzip
    body[21] ^= 1
    let verdict = try await verdict(on: body, expecting: "hallo")
    #expect(verdict.kind == .failed && verdict.stage == .body, "\(verdict)")
  }
}
#endif
