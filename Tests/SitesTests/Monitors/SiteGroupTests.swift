// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import TestSupport
import Testing

/// Groups on a scripted network, with scripted checks and a manual clock.
@Suite(.timeLimit(.minutes(5))) struct SiteGroupTests {
  private let network = ScriptedNetwork()
  private let site = AskedSite()

  private var environment: SiteEnvironment { site.environment(network) }

  @Test func aGroupRefusesAConfigurationThatContradictsItself() {
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteGroup(
        ["http://a/"], quorum: 1, configuration: .init(check: .init(timeout: .zero)), environment: environment)
    }
  }

  @Test func aGroupIsOnlineWithItsQuorum() async throws {
    network.set(.wifi)
    network.set(.unreachable(), for: try #require(IPAddress("192.0.2.3")))
    let urls: [SiteURL] = ["http://192.0.2.1/", "http://192.0.2.2/", "http://192.0.2.3/"]
    let group = try SiteGroup(urls, quorum: 2, environment: environment)
    #expect(!group.current.isDetermined)
    await site.answer(.available)
    await site.answer(.available)
    let summary = try await group.waitUntilOnline()
    #expect(summary.isOnline && summary.isDetermined && summary.availableCount == 2)
    network.set(.unreachable())
    var updates = group.updates.makeAsyncIterator()
    while let summary = await updates.next(), summary.isOnline {}
    #expect(!group.current.isOnline && group.current.isDetermined)
  }

  @Test func aGroupThatIsPausedKnowsNothingAndSendsNothing() async throws {
    network.set(.wifi)
    let group = try SiteGroup(["http://192.0.2.1/", "http://192.0.2.2/"], quorum: 2, environment: environment)
    var updates = group.updates.makeAsyncIterator()
    for _ in 0..<2 { await site.answer(.available) }
    #expect(await updates.next()?.isOnline == true)
    group.pause()
    group.pause()
    #expect(group.isPaused && !group.current.isDetermined)
    #expect(group.current.verdicts.allSatisfy { $0.kind == .undetermined })
    network.set(.unreachable())
    network.clock.advance(by: .seconds(3_600))
    try await network.settle()
    let isAsked = await site.isAsked
    #expect(!group.current.isDetermined && !isAsked)
    group.resume()
    #expect(!group.isPaused)
    #expect(await updates.next()?.isOnline == false)
    network.set(.wifi)
    let answers = Task { for _ in 0..<2 { await site.answer(.available) } }
    try await eventually("online, once the path has settled") {
      network.clock.advance(by: .seconds(1))
      return group.current.isOnline
    }
    await answers.value
  }

  /// Receivers are not told again of what they know, but the group must find it out.
  @Test func aGroupFindsOutAnewWhatItKnewBeforeItsPause() async throws {
    network.set(.wifi)
    let group = try SiteGroup(["http://192.0.2.1/"], quorum: 1, environment: environment)
    for _ in 0..<3 {
      await site.answer(.available)
      try await group.waitUntilOnline()
      group.pause()
      group.resume()
    }
    await site.answer(.failed)
    #expect(try await !group.waitUntilDetermined().isOnline)
  }

  @Test func aGroupMayBePausedAndResumedByManyThreads() async throws {
    network.set(.wifi)
    let site = ScriptedSite(answersAtOnce: true)
    let group = try SiteGroup(
      ["http://192.0.2.1/", "http://192.0.2.2/"], quorum: 2, environment: site.environment(network))
    await withTaskGroup { tasks in
      for worker in 0..<4 {
        tasks.addTask {
          for round in 0..<50 {
            if (worker + round).isMultiple(of: 2) { group.pause() } else { group.resume() }
          }
        }
      }
    }
    group.pause()
    #expect(group.isPaused && !group.current.isDetermined)
    group.resume()
    #expect(try await group.waitUntilOnline().availableCount == 2)
  }

  @Test(arguments: [0, 3, -1]) func aQuorumHasToBePossible(_ quorum: Int) {
    #expect(throws: SiteError(.invalidConfiguration, "")) { try SiteGroup(["http://a/", "http://b/"], quorum: quorum) }
  }

  @Test(arguments: ["http://a/", "http://a", "HTTP://A:80/#x", "http://a.", "http://a:/"] as [SiteURL])
  func aSiteCountsOnceHoweverItIsWritten(_ url: SiteURL) {
    #expect(throws: SiteError(.invalidConfiguration, "")) { try SiteGroup(["http://a/", url], quorum: 1) }
  }

  @Test(arguments: ["https://a/", "http://a/x", "http://a:81/", "http://www.a/"] as [SiteURL])
  func anotherURLOfAHostIsAnotherSite(_ url: SiteURL) throws {
    _ = try SiteGroup(["http://a/", url], quorum: 2, environment: environment)
  }
}
