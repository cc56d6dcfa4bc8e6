// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneSitesTesting
import DialtoneTesting
import TestSupport
import Testing

@Test(.timeLimit(.minutes(1)))
func eachVerdictOfASite() async throws {
  let sites = ScriptedSites()
  sites.network.set(.wifi)
  let (plain, secure): (SiteURL, SiteURL) = ("http://example.com/", "https://example.com/")
  func kind(of url: SiteURL, _ answer: ScriptedAnswer, _ expectation: SiteExpectation = .answer) async throws
    -> SiteVerdict.Kind
  {
    sites.set(answer, for: url)
    var configuration = SiteCheckConfiguration(timeout: .seconds(15))
    configuration.expectation = expectation
    configuration.minimumCertificateLifetime = .seconds(7 * 86_400)
    return try await SiteCheck(url, configuration: configuration, environment: sites.environment).run().kind
  }
  let soon = UTCTimestamp.now.advanced(by: .seconds(86_400))
  let past = UTCTimestamp.now.advanced(by: .seconds(-1))

  #expect(try await kind(of: secure, .status(204)) == .available)
  #expect(try await kind(of: plain, .portal) == .captivePortal)
  #expect(try await kind(of: plain, .status(200, body: "log in"), .status(204)) == .captivePortal)
  #expect(try await kind(of: secure, .portal) == .intercepted)
  #expect(try await kind(of: plain, .impostor) == .intercepted)
  #expect(try await kind(of: secure, .status(200).certificateExpiring(at: past)) == .intercepted)
  #expect(try await kind(of: secure, .status(404), .success) == .unexpectedResponse)
  #expect(try await kind(of: secure, .status(200).certificateExpiring(at: soon)) == .unexpectedResponse)
  #expect(try await kind(of: secure, .outage) == .failed)
  #expect(try await kind(of: secure, .failure(at: .tls, SiteError(.tlsFailed, "no TLS"))) == .failed)

  // What takes time: wait until the check has begun, and move the clock.
  for answer in [ScriptedAnswer.silence, .status(200).after(.seconds(20))] {
    let count = sites.checkCount(of: secure)
    let check = Task { try await kind(of: secure, answer) }
    try await sites.waitUntilChecked(secure, times: count + 1)
    sites.network.clock.advance(by: .seconds(20))
    #expect(try await check.value == .failed)
  }

  // What a monitor alone says: of two URLs, and before it knows.
  sites.set(.status(200), for: plain)
  sites.set(.outage, for: secure)
  let monitor = try SiteMonitor(http: plain, https: secure, environment: sites.environment)
  #expect(try await monitor.waitUntilDetermined().kind == .partial)
  sites.network.set(.unreachable(.noCarrier))
  #expect(try await kind(of: secure, .status(200)) == .offline)
  sites.network.set(.denied)  // the site may be there all the same, so it is asked
  sites.set(.silence, for: secure)
  #expect(try SiteMonitor(secure, environment: sites.environment).current.kind == .undetermined)
}

/// What the page says is what was tried.
@Test func thePageShowsTheTestOfEachVerdict() throws {
  let test = try sourceText("Tests/SitesTests/Scripted/EachVerdictTests.swift")
  let page = try sourceText("Sources/Dialtone/Dialtone.docc/Testing.md")
  let begin = try #require(test.firstRange(of: "@Test")).lowerBound
  let end = try #require(test.firstRange(of: "\n\n/// What the page")).lowerBound
  #expect(page.contains(test[begin..<end]))
}
