// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// The verdict for each kind of answer: the rules of the page "Sites".
struct VerdictRulesTests {
  typealias Decision = VerdictRules.Decision

  private func rules(
    _ url: SiteURL, _ expectation: SiteExpectation, method: SiteCheckConfiguration.Method? = nil
  ) -> VerdictRules {
    var configuration = SiteCheckConfiguration()
    configuration.expectation = expectation
    configuration.method = method
    return VerdictRules(url: url, configuration: configuration)
  }

  struct Line: Sendable, CustomTestStringConvertible {
    var url: SiteURL = "http://example.com/"
    var expectation: SiteExpectation
    var method: SiteCheckConfiguration.Method = .head
    var isFixed = false
    var status: Int
    var location: String?
    var length: Int?
    var decision: VerdictRules.Decision

    var testDescription: String { "\(url) \(expectation) \(method) \(status) \(location ?? "") → \(decision)" }
  }

  private static let secure: SiteURL = "https://example.com/"
  static let elsewhere = "http://login.example/"
  private static func kind(_ kind: SiteVerdict.Kind, _ location: String? = nil) -> Decision {
    .verdict(kind, location: location)
  }

  @Test(arguments: [
    // answer
    Line(expectation: .answer, status: 200, decision: kind(.available)),
    Line(expectation: .answer, status: 404, decision: kind(.available)),
    Line(expectation: .answer, status: 500, decision: kind(.available)),
    Line(expectation: .answer, status: 511, decision: kind(.captivePortal)),
    Line(url: secure, expectation: .answer, status: 511, decision: kind(.captivePortal)),
    Line(expectation: .answer, status: 302, location: elsewhere, decision: kind(.captivePortal, elsewhere)),
    Line(url: secure, expectation: .answer, status: 302, location: elsewhere, decision: kind(.available)),
    Line(expectation: .answer, status: 301, location: "https://example.com/", decision: kind(.available)),
    Line(expectation: .answer, status: 301, location: "https://WWW.Example.com./x", decision: kind(.available)),
    Line(expectation: .answer, status: 302, location: "/login", decision: kind(.available)),
    Line(expectation: .answer, status: 302, location: "file:///etc/passwd", decision: kind(.captivePortal)),
    Line(expectation: .answer, status: 302, location: "javascript:alert(1)", decision: kind(.captivePortal)),
    Line(expectation: .answer, status: 302, decision: kind(.available)),
    Line(expectation: .answer, status: 304, location: elsewhere, decision: kind(.available)),
    Line(expectation: .answer, status: 200, location: elsewhere, decision: kind(.available)),
    // GET follows HEAD
    Line(expectation: .answer, status: 405, decision: .askAgain),
    Line(expectation: .answer, status: 501, decision: .askAgain),
    Line(expectation: .answer, isFixed: true, status: 405, decision: kind(.available)),
    Line(expectation: .answer, method: .get, status: 405, decision: kind(.available)),
    Line(expectation: .success, method: .get, status: 405, decision: kind(.unexpectedResponse)),
    Line(expectation: .status(405), status: 405, decision: kind(.available)),
    // success
    Line(expectation: .success, status: 200, decision: kind(.available)),
    Line(expectation: .success, status: 299, decision: kind(.available)),
    Line(expectation: .success, status: 404, decision: kind(.unexpectedResponse)),
    Line(expectation: .success, status: 511, decision: kind(.captivePortal)),
    Line(expectation: .success, status: 302, location: elsewhere, decision: kind(.captivePortal, elsewhere)),
    Line(
      expectation: .success, status: 302, location: "/x",
      decision: kind(.unexpectedResponse, "http://example.com/x")),
    Line(
      url: secure, expectation: .success, status: 302, location: elsewhere,
      decision: kind(.unexpectedResponse, elsewhere)),
    // statuses
    Line(expectation: .status(204), status: 204, decision: kind(.available)),
    Line(expectation: .status(204), status: 200, decision: .askAgain),
    Line(expectation: .status(204), method: .get, status: 200, decision: .readBody),
    Line(expectation: .status(204), isFixed: true, status: 200, length: 5, decision: kind(.captivePortal)),
    Line(expectation: .status(204), isFixed: true, status: 200, length: 4, decision: kind(.unexpectedResponse)),
    Line(expectation: .status(204), isFixed: true, status: 200, decision: kind(.unexpectedResponse)),
    Line(url: secure, expectation: .status(204), status: 200, decision: kind(.unexpectedResponse)),
    Line(expectation: .status(200), status: 204, decision: kind(.unexpectedResponse)),
    Line(expectation: .status(204), status: 404, decision: kind(.unexpectedResponse)),
    Line(expectation: .status(204), status: 302, location: elsewhere, decision: kind(.captivePortal, elsewhere)),
    // A listed status comes before every other rule.
    Line(expectation: .statuses([200, 511]), status: 511, decision: kind(.available)),
    Line(expectation: .status(302), status: 302, location: elsewhere, decision: kind(.available)),
    // body
    Line(expectation: .body(containing: "x"), method: .get, status: 200, decision: .readBody),
    Line(expectation: .body(containing: "x"), method: .get, status: 204, decision: kind(.unexpectedResponse)),
    Line(expectation: .body(containing: "x"), method: .get, status: 404, decision: kind(.unexpectedResponse)),
    Line(expectation: .body(containing: "x"), method: .get, status: 511, decision: kind(.captivePortal)),
    Line(
      expectation: .body(containing: "x"), method: .get, status: 302, location: elsewhere,
      decision: kind(.captivePortal, elsewhere)),
  ])
  func judgesAHead(_ line: Line) {
    let rules = rules(line.url, line.expectation, method: line.isFixed ? line.method : nil)
    let head = VerdictRules.Head(
      method: line.method, status: line.status, locations: line.location.map { [$0] } ?? [], contentLength: line.length)
    #expect(rules.judge(head) == line.decision)
  }

  @Test(arguments: [
    ["/a", elsewhere], [elsewhere, "/a"], ["/a", "http://example.com/", elsewhere, "http://a.example/"],
  ])
  func ofSeveralTargetsTheOneElsewhereCounts(_ locations: [String]) {
    for status in [300, 302, 308] {
      let head = VerdictRules.Head(method: .head, status: status, locations: locations)
      #expect(rules("http://example.com/", .answer).judge(head) == Self.kind(.captivePortal, Self.elsewhere))
      #expect(rules(Self.secure, .answer).judge(head) == Self.kind(.available))
    }
    let own = VerdictRules.Head(method: .head, status: 302, locations: ["/a", "/b"])
    #expect(rules("http://example.com/", .answer).judge(own) == Self.kind(.available))
    #expect(
      rules("http://example.com/", .success).judge(own) == Self.kind(.unexpectedResponse, "http://example.com/a"))
  }

  @Test(arguments: [
    ("http://a/", SiteExpectation.status(204), VerdictRules.Body(length: 4, isComplete: false), Decision.readBody),
    ("http://a/", .status(204), .init(length: 5, isComplete: false), kind(.captivePortal)),
    ("http://a/", .status(204), .init(length: 4, isComplete: true), kind(.unexpectedResponse)),
    ("http://a/", .status(204), .init(length: 0, isComplete: true), kind(.unexpectedResponse)),
    ("http://a/", .body(containing: "x"), .init(length: 9, hasText: true), kind(.available)),
    ("http://a/", .body(containing: "x"), .init(length: 9), .readBody),
    ("http://a/", .body(containing: "x"), .init(length: 9, isComplete: true), kind(.captivePortal)),
    ("http://a/", .body(containing: "x"), .init(length: 4, isComplete: true), kind(.unexpectedResponse)),
    ("https://a/", .body(containing: "x"), .init(length: 9, isComplete: true), kind(.unexpectedResponse)),
  ])
  func judgesABody(
    _ url: String, _ expectation: SiteExpectation, _ body: VerdictRules.Body, _ decision: Decision
  ) throws {
    let head = VerdictRules.Head(method: .get, status: 200)
    #expect(rules(try SiteURL(url), expectation).judge(head, body) == decision)
  }

  @Test(arguments: [SiteExpectation.body(containing: "x"), .status(204)])
  func aBodyInACodingIsUnreadableWhereverItIsNeeded(_ expectation: SiteExpectation) {
    let coding = ContentCoding(["gzip"])
    let head = VerdictRules.Head(method: .get, status: 200, coding: coding)
    #expect(rules("http://a/", expectation).judge(head) == .unreadableBody(coding.error))
  }

  /// "Within" the least lifetime is less than it.
  @Test(arguments: [(99, true), (100, false), (101, false)]) func aCertificateMayEndAsSoonAsIsAllowed(
    _ seconds: Int, _ isTooSoon: Bool
  ) {
    var configuration = SiteCheckConfiguration()
    configuration.minimumCertificateLifetime = .seconds(100)
    let rules = VerdictRules(url: "https://a/", configuration: configuration)
    let error = rules.lifetimeError(
      certificateExpires: UTCTimestamp(durationSince1970: .seconds(1_000 + seconds)),
      now: UTCTimestamp(durationSince1970: .seconds(1_000)))
    #expect((error?.code == .certificateExpiresSoon) == isTooSoon)
  }

  @Test func asksByHeadUnlessABodyIsNeeded() {
    #expect(rules("http://a/", .answer).firstMethod == .head)
    #expect(rules("http://a/", .success).firstMethod == .head)
    #expect(rules("http://a/", .body(containing: "x")).firstMethod == .get)
    #expect(rules("http://a/", .answer, method: .get).firstMethod == .get)
  }
}
