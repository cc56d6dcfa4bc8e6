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
    network.set(.nonexistent, forName: "example.com")
    sites.set(.status(200), for: "http://example.com/")
    let verdict = try await check("http://example.com/")
    #expect(verdict.kind == .failed && verdict.stage == .name, "\(verdict)")
  }

  @Test func aNameThatCannotBeLookedUpFails() async throws {
    sites.set(.status(200), for: "http://example.com/")
    network.set(.failing, forName: "example.com")
    let verdict = try await check("http://example.com/")
    #expect(verdict.kind == .failed && verdict.stage == .name, "\(verdict)")
    #expect(verdict.error?.code == .nameNotResolved, "\(verdict)")
  }

  /// As for a real check: nobody can say whether the name would be found if there were a path.
  @Test(arguments: [ScriptedNames.failing, .nonexistent])
  func aNameThatIsNotFoundWithoutAPathIsOffline(_ names: ScriptedNames) async throws {
    network.set(names, forName: "example.com")
    network.set(.unreachable(.noCarrier))
    let verdict = try await check("http://example.com/")
    #expect(verdict.kind == .offline && verdict.error?.code == .noPath, "\(verdict)")
  }

  @Test func aNameThatHangsFailsOnceTheTimeoutHasPassed() async throws {
    let url: SiteURL = "http://example.com/"
    sites.set(.status(200), for: url)
    network.set(.hanging, forName: "example.com")
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    network.clock.advance(by: .seconds(15))
    let found = try await verdict
    #expect(found.kind == .failed && found.stage == .name && found.error?.code == .timedOut, "\(found)")
    #expect(found.timings.total == .seconds(15), "\(found)")
  }

  @Test func aNameThatHangsIsFoundOnceItIsAnswered() async throws {
    let url: SiteURL = "http://example.com/"
    sites.set(.status(200), for: url)
    network.set(.hanging, forName: "example.com")
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    network.set(.addresses([try #require(IPAddress("198.51.100.7"))]), forName: "example.com")
    let found = try await verdict
    #expect(found.isAvailable && found.address == IPAddress("198.51.100.7"), "\(found)")
  }

  @Test func aCheckOfANameThatHangsCanBeCancelled() async throws {
    let url: SiteURL = "http://example.com/"
    network.set(.hanging, forName: "example.com")
    let task = Task { try await check(url) }
    try await sites.waitUntilChecked(url)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func anAddressWithoutAPathIsOffline() async throws {
    sites.set(.status(200), for: "http://192.0.2.7/")
    network.set(.unreachable(), for: try #require(IPAddress("192.0.2.7")))
    #expect(try await check("http://192.0.2.7/").kind == .offline)
  }

  @Test func aPublicAddressIsRequiredAsOfARealSite() async throws {
    sites.set(.status(200), for: "http://example.com/")
    #expect(try await check("http://example.com/") { $0.requiresPublicAddress = true }.isAvailable)
    network.set(.addresses([try #require(IPAddress("10.0.0.1"))]), forName: "example.com")
    let hijacked = try await check("http://example.com/") { $0.requiresPublicAddress = true }
    #expect(hijacked.kind == .intercepted && hijacked.error?.code == .privateAddress, "\(hijacked)")
  }

  @Test func aCertificateThatEndsSoonIsTold() async throws {
    let url: SiteURL = "https://example.com/"
    let tomorrow = UTCTimestamp.now.advanced(by: .seconds(86_400))
    sites.set(.status(200).certificateExpiring(at: tomorrow), for: url)
    let available = try await check(url)
    #expect(available.isAvailable && available.certificateExpires == tomorrow, "\(available)")
    let soon = try await check(url) { $0.minimumCertificateLifetime = .seconds(2 * 86_400) }
    #expect(soon.kind == .unexpectedResponse && soon.error?.code == .certificateExpiresSoon, "\(soon)")
    sites.set(.status(200).certificateExpiring(at: .now.advanced(by: .seconds(-1))), for: url)
    let ended = try await check(url)
    #expect(ended.kind == .intercepted && ended.error?.code == .certificateExpired, "\(ended)")
  }

  @Test(arguments: [-1, 0, 100, 101, 1_000])
  func aStatusOfNoFinalAnswerIsMalformed(_ status: Int) async throws {
    sites.set(.status(status), for: "http://example.com/")
    let verdict = try await check("http://example.com/")
    #expect(verdict.kind == .failed && verdict.error?.code == .malformedResponse, "\(verdict)")
  }

  @Test(
    arguments: [
      SiteVerdict.Stage.name, .connect, .tls, .request, .response, .body,
    ], ["http://example.com/", "https://example.com/"] as [SiteURL])
  func aCheckFailsAtTheStageThatTheTestChooses(_ stage: SiteVerdict.Stage, _ url: SiteURL) async throws {
    sites.set(.failure(at: stage, SiteError(.connectionLost, "gone")).after(.seconds(3)), for: url)
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    // However far the clock goes, the check has taken its time.
    network.clock.advance(by: .seconds(300))
    let found = try await verdict
    #expect(found.kind == .failed && found.stage == stage && found.error?.code == .connectionLost, "\(found)")
    #expect(found.timings.total == .seconds(3) && found.interface?.kind == .wifi, "\(found)")
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

  @Test func aGroupChecksAllItsSitesWhenAsked() async throws {
    let group = try SiteGroup(
      ["http://example.com/", "http://example.net/"], quorum: 2, environment: sites.environment)
    for url in group.urls { sites.set(.status(200), for: url) }
    try await eventually("both are known, and none is under way") {
      network.clock.advance(by: .seconds(1))
      return group.current.isOnline && !group.isChecking
    }
    let counts = group.urls.map { sites.checkCount(of: $0) }
    group.checkNow()
    for (url, count) in zip(group.urls, counts) { try await sites.waitUntilChecked(url, times: count + 1) }
    try await eventually("they have ended") { !group.isChecking }
    #expect(group.current.isOnline)
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
