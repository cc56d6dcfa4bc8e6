// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites

extension LabSites {
  /// A monitor that retries soon, so that a test need not wait long, and seldom checks by itself, so that only what the
  /// test does causes a check.
  func monitor(
    _ url: String, _ configure: (inout SiteMonitorConfiguration) -> Void = { _ in }
  ) throws -> SiteMonitor {
    try SiteMonitor(url, configuration: try Self.configuration(configure), environment: environment)
  }

  /// The same for a site with two URLs.
  func monitor(
    _ plain: String, _ secure: String, _ configure: (inout SiteMonitorConfiguration) -> Void = { _ in }
  ) throws -> SiteMonitor {
    try SiteMonitor(
      http: SiteURL(plain), https: SiteURL(secure), configuration: try Self.configuration(configure),
      environment: environment)
  }

  private static func configuration(_ configure: (inout SiteMonitorConfiguration) -> Void) throws
    -> SiteMonitorConfiguration
  {
    var configuration = SiteMonitorConfiguration()
    configuration.check.trust = try Trust.trust()
    configuration.check.timeout = .seconds(30)
    configuration.retryDelay = .milliseconds(200)
    configuration.maximumRetryDelay = .seconds(1)
    configuration.settling = .milliseconds(100)
    configure(&configuration)
    return configuration
  }
}
#endif
