// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import SiteLab

/// Checks the site once, trusting the trials' own authority.
func check(
  _ url: SiteURL, in environment: SiteEnvironment = .system,
  _ configure: (inout SiteCheckConfiguration) -> Void = { _ in }
) async throws -> SiteVerdict {
  var configuration = SiteCheckConfiguration()
  configuration.trust = try Trust.trust()
  // Long enough for a busy machine. A check that must end sooner ends sooner.
  configuration.timeout = .seconds(30)
  configure(&configuration)
  return try await SiteCheck(url, configuration: configuration, environment: environment).run()
}
#endif
