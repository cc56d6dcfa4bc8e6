// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

struct SiteConfigurationTests {
  static let site: SiteURL = "http://example.com/"

  @Test(
    "refuses what contradicts itself",
    arguments: [
      { (c: inout SiteConfiguration) in c.timeout = .zero },
      { (c: inout SiteConfiguration) in c.timeout = .seconds(-1) },
      { (c: inout SiteConfiguration) in
        c.expectation = .body(containing: "x")
        c.method = .head
      },
      { (c: inout SiteConfiguration) in c.expectation = .body(containing: "") },
      { (c: inout SiteConfiguration) in c.expectation = .body(containing: String(repeating: "x", count: 65_537)) },
      { (c: inout SiteConfiguration) in c.expectation = .statuses([]) },
      { (c: inout SiteConfiguration) in c.expectation = .status(100) },
      { (c: inout SiteConfiguration) in c.expectation = .status(1_000) },
      { (c: inout SiteConfiguration) in c.userAgent = "a\r\nCookie: b" },
      { (c: inout SiteConfiguration) in c.userAgent = "" },
      { (c: inout SiteConfiguration) in c.interval = .zero },
      { (c: inout SiteConfiguration) in c.maximumRetryDelay = .milliseconds(1) },
      { (c: inout SiteConfiguration) in c.failuresBeforeLoss = 0 },
    ] as [@Sendable (inout SiteConfiguration) -> Void])
  func refuses(_ change: @Sendable (inout SiteConfiguration) -> Void) async {
    var configuration = SiteConfiguration()
    change(&configuration)
    #expect(throws: SiteError(.invalidConfiguration, "")) { try configuration.validate(for: Self.site) }
    let check = SiteCheck(Self.site, configuration: configuration)
    await #expect(throws: SiteError(.invalidConfiguration, "")) { try await check.run() }
  }

  @Test func theUsualIsRight() throws {
    try SiteConfiguration().validate(for: Self.site)
    #expect(SiteConfiguration().timeout == .seconds(15))
    #expect(SiteConfiguration(timeout: .seconds(5)).timeout == .seconds(5))
  }

  @Test(arguments: [
    "available", "captive-portal", "intercepted", "unexpected-response", "partial", "failed", "offline",
  ])
  func identifiersOfVerdictsNeverChange(_ identifier: String) {
    #expect(SiteVerdict.Kind(identifier: identifier)?.identifier == identifier)
  }

  @Test(arguments: ["name", "connect", "tls", "request", "response", "body"])
  func identifiersOfStagesNeverChange(_ identifier: String) {
    #expect(SiteVerdict.Stage(identifier: identifier)?.identifier == identifier)
  }
}
