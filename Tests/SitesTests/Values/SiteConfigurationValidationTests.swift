// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import Testing

struct SiteConfigurationValidationTests {
  static let site: SiteURL = "http://example.com/"

  @Test(
    arguments: [
      { (c: inout SiteCheckConfiguration) in c.timeout = .zero },
      { (c: inout SiteCheckConfiguration) in c.timeout = .seconds(-1) },
      { (c: inout SiteCheckConfiguration) in
        c.expectation = .body(containing: "x")
        c.method = .head
      },
      { (c: inout SiteCheckConfiguration) in c.expectation = .body(containing: "") },
      { (c: inout SiteCheckConfiguration) in c.expectation = .body(containing: String(repeating: "x", count: 65_537)) },
      { (c: inout SiteCheckConfiguration) in c.expectation = .statuses([]) },
      { (c: inout SiteCheckConfiguration) in c.expectation = .status(100) },
      { (c: inout SiteCheckConfiguration) in c.expectation = .status(1_000) },
      { (c: inout SiteCheckConfiguration) in c.userAgent = "a\r\nCookie: b" },
      { (c: inout SiteCheckConfiguration) in c.userAgent = "" },
    ] as [@Sendable (inout SiteCheckConfiguration) -> Void])
  func refusesACheckConfigurationThatContradictsItself(_ change: @Sendable (inout SiteCheckConfiguration) -> Void) {
    var configuration = SiteCheckConfiguration()
    change(&configuration)
    #expect(throws: SiteError(.invalidConfiguration, "")) { try configuration.validate(for: Self.site) }
    #expect(throws: SiteError(.invalidConfiguration, "")) { try SiteCheck(Self.site, configuration: configuration) }
    Self.expectRefusal(SiteMonitorConfiguration(check: configuration))
  }

  @Test(
    arguments: [
      { (c: inout SiteMonitorConfiguration) in c.interval = .zero },
      { (c: inout SiteMonitorConfiguration) in c.expensiveInterval = .zero },
      { (c: inout SiteMonitorConfiguration) in c.retryDelay = .zero },
      { (c: inout SiteMonitorConfiguration) in c.maximumRetryDelay = .milliseconds(1) },
      { (c: inout SiteMonitorConfiguration) in c.failuresBeforeLoss = 0 },
    ] as [@Sendable (inout SiteMonitorConfiguration) -> Void])
  func refusesAMonitorConfigurationThatContradictsItself(_ change: @Sendable (inout SiteMonitorConfiguration) -> Void) {
    var configuration = SiteMonitorConfiguration()
    change(&configuration)
    Self.expectRefusal(configuration)
  }

  /// Monitors and groups refuse alike.
  private static func expectRefusal(_ configuration: SiteMonitorConfiguration) {
    let environment = SiteEnvironment(reachability: ScriptedNetwork().environment)
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteMonitor(site, configuration: configuration, environment: environment)
    }
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteGroup([site], quorum: 1, configuration: configuration, environment: environment)
    }
  }

  @Test func theDefaultsAreValid() throws {
    try SiteMonitorConfiguration().validate(for: Self.site)
    try SiteCheckConfiguration().validate(for: Self.site)
    #expect(SiteCheckConfiguration().timeout == .seconds(15))
    #expect(SiteCheckConfiguration(timeout: .seconds(5)).timeout == .seconds(5))
  }
}
