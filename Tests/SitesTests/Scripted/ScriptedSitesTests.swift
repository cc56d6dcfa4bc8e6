// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneSitesTesting
import DialtoneTesting
import TestSupport
import Testing

/// Scripted sites in a user's test.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedSitesTests {
  private let network = ScriptedNetwork()
  private let sites: ScriptedSites

  init() {
    sites = ScriptedSites(on: network)
    network.set(.wifi)
  }

  private func check(
    _ url: SiteURL, _ configure: (inout SiteCheckConfiguration) -> Void = { _ in }
  ) async throws -> SiteVerdict {
    var configuration = SiteCheckConfiguration()
    configure(&configuration)
    return try await SiteCheck(url, configuration: configuration, environment: sites.environment).run()
  }

  @Test func aSiteThatIsNotScriptedRefuses() async throws {
    let verdict = try await check("http://192.0.2.7/")
    #expect(verdict.kind == .failed && verdict.stage == .connect && verdict.error?.code == .cannotConnect)
    #expect(verdict.interface?.kind == .wifi)
  }

  @Test func aPortalAnswersInTheSitesPlace() async throws {
    sites.set(.portal, for: "http://example.com/")
    sites.set(.portal, for: "https://example.com/")
    let plain = try await check("http://example.com/")
    #expect(plain.kind == .captivePortal && plain.status == 302 && plain.location == "http://login.example/")
    #expect(try await check("https://example.com/").kind == .intercepted)
  }

  @Test(arguments: [
    (ScriptedAnswer.status(200), SiteExpectation.success, SiteVerdict.Kind.available),
    (.status(404), .answer, .available), (.status(404), .success, .unexpectedResponse),
    (.status(200, body: "all is well"), .body(containing: "well"), .available),
    (.status(200, body: "a login page"), .body(containing: "well"), .captivePortal),
    (.status(200, body: "a login page"), .status(204), .captivePortal), (.status(511), .answer, .captivePortal),
    (.status(302, location: "/elsewhere"), .answer, .available), (.status(405), .success, .unexpectedResponse),
    (.impostor, .answer, .intercepted), (.failure(at: .tls, SiteError(.tlsFailed, "no TLS")), .answer, .failed),
  ])
  func answersAreJudgedAsRealOnes(
    _ answer: ScriptedAnswer, _ expectation: SiteExpectation, _ kind: SiteVerdict.Kind
  ) async throws {
    sites.set(answer, for: "http://example.com/")
    let verdict = try await check("http://example.com/") { $0.expectation = expectation }
    #expect(verdict.kind == kind, "\(verdict)")
  }

  @Test func withoutAPathNothingIsAsked() async throws {
    sites.set(.status(200), for: "http://example.com/")
    network.set(.unreachable(.noCarrier))
    let verdict = try await check("http://example.com/")
    #expect(verdict.kind == .offline && verdict.error?.code == .noPath, "\(verdict)")
    #expect(verdict.error?.message.contains("\(Reachability.Reason.noCarrier)") == true, "\(verdict)")
  }

  @Test func aNameThatTheTestTakesAwayIsNotFound() async throws {
    network.set(.none, forName: "example.com")
    sites.set(.status(200), for: "http://example.com/")
    let verdict = try await check("http://example.com/")
    #expect(verdict.kind == .failed && verdict.stage == .name, "\(verdict)")
  }

  @Test func aSlowSiteTakesItsTime() async throws {
    let url: SiteURL = "http://example.com/"
    sites.set(.status(200).after(.seconds(4)), for: url)
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    network.clock.advance(by: .seconds(4))
    let found = try await verdict
    #expect(found.isAvailable && found.timings.total == .seconds(4), "\(found)")
  }

  @Test(arguments: [ScriptedAnswer.silence, .status(200).after(.seconds(15)), .status(200).after(.seconds(Int64.max))])
  func aSiteThatIsTooSlowTimesOut(_ answer: ScriptedAnswer) async throws {
    let url: SiteURL = "http://example.com/"
    sites.set(answer, for: url)
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    network.clock.advance(by: .seconds(15))
    let found = try await verdict
    #expect(found.kind == .failed && found.stage == .response && found.error?.code == .timedOut, "\(found)")
  }

  @Test func aCheckOfASlowSiteCanBeCancelled() async throws {
    let url: SiteURL = "http://example.com/"
    sites.set(.silence, for: url)
    let task = Task { try await check(url) }
    try await sites.waitUntilChecked(url)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let waiting = Task { try await sites.waitUntilChecked(url, times: 9) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  /// There is no jitter, so the test knows when checks are due.
  @Test func aMonitorIsToldASequence() async throws {
    let url: SiteURL = "http://example.com/"
    sites.set(.status(200), .outage, .outage, .status(200), for: url)
    let monitor = try SiteMonitor(url, environment: sites.environment)
    var verdicts = monitor.updates.makeAsyncIterator()
    #expect(await verdicts.next()?.kind == .available)
    network.clock.advance(by: .seconds(300))
    try await sites.waitUntilChecked(url, times: 2)
    try await eventually("the first failure is not told") { !monitor.isChecking }
    network.clock.advance(by: .seconds(1))
    #expect(await verdicts.next()?.kind == .failed)
    network.clock.advance(by: .seconds(2))
    #expect(await verdicts.next()?.kind == .available)
    #expect(sites.checkCount(of: url) == 4)
    network.set(.unreachable())
    #expect(await verdicts.next()?.kind == .offline)
  }

  @Test func aGroupIsOnlineWithItsQuorum() async throws {
    let group = try SiteGroup(
      ["http://example.com/", "http://example.net/", "http://example.org/"], quorum: 2, environment: sites.environment)
    try await eventually("all are known") { group.current.isDetermined }
    #expect(!group.current.isOnline)
    for url in group.urls.prefix(2) { sites.set(.status(200), for: url) }
    let online = Task { try await group.waitUntilOnline() }
    try await eventually("they are tried again") {
      network.clock.advance(by: .seconds(1))
      return group.current.isOnline
    }
    #expect(try await online.value.availableCount == 2)
  }

  /// Its environment does not keep it.
  @Test func endsWithItsLastReference() async throws {
    weak var ended: ScriptedSites?
    do {
      let sites = ScriptedSites()
      ended = sites
      _ = sites.environment
    }
    #expect(ended == nil)
  }
}
