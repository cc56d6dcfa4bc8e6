// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import TestSupport
import Testing

/// What LFSiteReachability did, and what it did wrong, with a site monitor.
@Suite(.timeLimit(.minutes(5)))
struct SiteReachabilityTests {
  private let network = ScriptedNetwork()
  private let site = ScriptedSite()

  /// The monitor of an address, so that no name is looked up. A path counts at once.
  private func monitor(_ url: SiteURL = "https://192.0.2.7/health") throws -> SiteMonitor {
    var configuration = SiteMonitorConfiguration()
    configuration.settling = .zero
    return try SiteMonitor(url, configuration: configuration, environment: site.environment(network))
  }

  @Test func isCheckedAtTheStartAndWheneverThePathChanges() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var verdicts = monitor.updates.makeAsyncIterator()
    let first = try await site.request(0)
    #expect(monitor.isChecking)
    #expect(monitor.current.kind == .undetermined)
    first.answer(.available, 200, over: NetworkInterface(name: "wlan0", index: 2, kind: .wifi))
    let overWiFi = try #require(await verdicts.next())
    #expect(overWiFi.isAvailable)
    #expect(overWiFi.interface?.kind == .wifi)
    #expect(!monitor.isChecking)

    network.set(.cellular)
    try await site.request(1).answer(
      .available, 200, over: NetworkInterface(name: "wwan0", index: 4, kind: .cellular))
    let overCellular = try #require(await verdicts.next())
    #expect(overCellular.isAvailable)
    #expect(overCellular.interface?.kind == .cellular)

    network.set(.unreachable())
    #expect(await verdicts.next()?.kind == .offline)
    try await network.settle()
    #expect(site.count == 2, "nothing is sent without a path")
  }

  @Test func nothingIsSentAtTheStartWithoutAPath() async throws {
    let monitor = try monitor()
    #expect(try await monitor.waitUntilKnown().kind == .offline)
    #expect(!monitor.isChecking)
    monitor.checkNow()
    try await network.settle()
    #expect(site.count == 0)
  }

  /// LFSiteReachability sent its HEAD even if a connection had to be made first.
  @Test func aConnectionThatTrafficMakesIsCheckedOverIfAccepted() async throws {
    let link = try #require(NetworkInterface(name: "wlan0", index: 2, kind: .wifi))
    network.set(.requiresConnection(.dormant, over: link))
    let monitor = try monitor()
    #expect(try await monitor.waitUntilDetermined().kind == .offline)
    #expect(site.count == 0)
    var configuration = monitor.configuration
    configuration.check.acceptsConnectionOnDemand = true
    try monitor.reconfigure(configuration)
    try await site.request(0).answer(.available, 204)
    #expect(try await monitor.waitUntilAvailable().status == 204)
    // No packet unblocks a radio.
    network.set(.requiresConnection(.radioBlocked, over: link))
    try await eventually("offline") { monitor.current.kind == .offline }
    #expect(site.count == 1)
  }

  @Test func onlyChangesAreReported() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var verdicts = monitor.updates.makeAsyncIterator()
    for number in 0..<4 { try await site.request(number, passing: network.clock).answer(.available, 200) }
    // The fifth check has begun, so the results of the others have been stored.
    _ = try await site.request(4, passing: network.clock)
    #expect(await verdicts.next()?.kind == .available)
    network.set(.unreachable())
    #expect(await verdicts.next()?.kind == .offline)
  }

  /// After a SIM is inserted again, the interface exists a dozen seconds before HTTP works.
  @Test func aSiteThatFailsWhenThePathHasComeIsTriedAgainUntilItAnswers() async throws {
    let monitor = try monitor()
    var verdicts = monitor.updates.makeAsyncIterator()
    #expect(await verdicts.next()?.kind == .offline)
    network.set(.cellular)
    // The path does not change again.
    for number in 0..<6 { try await site.request(number, passing: network.clock).answer(.failed) }
    #expect(await verdicts.next()?.kind == .failed)
    let last = try await site.request(6, passing: network.clock)
    #expect(monitor.current.kind == .failed)
    last.answer(.available, 200)
    #expect(await verdicts.next()?.kind == .available)
  }

  @Test func aLateAnswerChangesNothingOnceThePathHasGone() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var verdicts = monitor.updates.makeAsyncIterator()
    let late = try await site.request(0)
    network.set(.unreachable())
    #expect(await verdicts.next()?.kind == .offline)
    try await eventually("the check is cancelled") { late.wasCancelled }
    late.answer(.available, 299)
    try await network.settle()
    #expect(monitor.current.kind == .offline)
    network.set(.wired)
    try await site.request(1).answer(.available, 200)
    #expect(await verdicts.next()?.status == 200)
  }

  @Test func anotherURLIsCheckedAtOnceAndTheFormerCountsNoMore() async throws {
    network.set(.wifi)
    let monitor = try monitor("https://192.0.2.7/former")
    var verdicts = monitor.updates.makeAsyncIterator()
    let former = try await site.request(0)
    #expect(former.configuration.timeout == .seconds(15))
    try monitor.setURL("https://192.0.2.7/new")
    let new = try await site.request(1)
    #expect(new.url == "https://192.0.2.7/new")
    try await eventually("the former check is cancelled") { former.wasCancelled }
    former.answer(.available, 299)
    new.answer(.available, 200)
    let verdict = try #require(await verdicts.next())
    #expect(verdict.url == "https://192.0.2.7/new")
    #expect(verdict.status == 200)

    var configuration = monitor.configuration
    configuration.check.timeout = .seconds(5)
    try monitor.reconfigure(configuration)
    #expect(monitor.current.kind == .undetermined)
    #expect(try await site.request(2).configuration.timeout == .seconds(5))
  }

  @Test func isWatchedAsLongAsThereIsAListener() async throws {
    network.set(.wifi)
    var token: ReachabilityObservation? = try monitor().observe { _ in }
    try await site.request(0).answer(.available, 200)
    let second = try await site.request(1, passing: network.clock)
    withExtendedLifetime(token) {}
    token = nil
    try await eventually("the check is cancelled") { second.wasCancelled }
    network.set(.wired)
    network.clock.advance(by: .seconds(3_600))
    try await network.settle()
    #expect(site.count == 2)
  }

  @Test func anAvailableSiteIsLostOnlyAfterFailuresInARow() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var verdicts = monitor.updates.makeAsyncIterator()
    // One failure, which must not count alone; then two in a row.
    let answers: [SiteVerdict.Kind] = [.available, .failed, .available, .failed, .failed]
    for (number, kind) in answers.enumerated() {
      let request = try await site.request(number, passing: network.clock)
      if number > 0 { #expect(monitor.current.isAvailable, "before answer \(number)") }
      request.answer(kind)
      // The verdict is read now: states coalesce, and the next one might replace it.
      if number == 0 { #expect(await verdicts.next()?.kind == .available) }
    }
    #expect(await verdicts.next()?.kind == .failed)
  }

  /// Neither one site's operator nor a network that blocks it decides.
  @Test func aGroupIsOnlineIfEnoughOfItsSitesAnswer() async throws {
    network.set(.wifi)
    let group = try SiteGroup(
      ["https://192.0.2.1/", "https://192.0.2.2/", "https://192.0.2.3/"], quorum: 2,
      environment: site.environment(network))
    var requests: [SiteURL: ScriptedSite.Request] = [:]
    for number in 0..<3 {
      let request = try await site.request(number)
      requests[request.url] = request
    }
    requests["https://192.0.2.1/"]?.answer(.failed)
    requests["https://192.0.2.2/"]?.answer(.available, 200)
    try await eventually("two are known") { group.current.verdicts.count { $0.kind != .undetermined } == 2 }
    #expect(!group.current.isOnline)
    #expect(!group.current.isDetermined)
    requests["https://192.0.2.3/"]?.answer(.available, 200)
    let summary = try await group.waitUntilOnline()
    #expect(summary.availableCount == 2)
  }

  @Test func canBeUsedFromAnyThread() async throws {
    network.set(.wifi)
    let site = ScriptedSite(answersAtOnce: true)
    let monitor = try SiteMonitor("https://192.0.2.7/0", environment: site.environment(network))
    await withTaskGroup { group in
      for worker in 1...8 {
        group.addTask {
          for round in 0..<100 {
            switch (worker + round) % 5 {
            case 0:
              #expect(throws: Never.self) {
                try monitor.setURL(worker % 2 == 0 ? "https://192.0.2.7/even" : "https://192.0.2.7/odd")
              }
            case 1:
              #expect(throws: Never.self) {
                try monitor.reconfigure(SiteMonitorConfiguration(check: .init(timeout: .seconds(1 + round))))
              }
            case 2: monitor.checkNow()
            case 3: withExtendedLifetime(monitor.observe { _ in }) {}
            default: #expect(monitor.current.url.text.hasPrefix("https://192.0.2.7/"))
            }
          }
        }
      }
    }
    try monitor.setURL("https://192.0.2.7/last")
    let verdict = try await monitor.waitUntilAvailable()
    #expect(verdict.url == "https://192.0.2.7/last")
  }
}
