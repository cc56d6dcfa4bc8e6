// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import Dispatch
import NIOConcurrencyHelpers
import TestSupport
import Testing

/// Monitors on a scripted network, with scripted checks and a clock that is moved by hand.
@Suite(.timeLimit(.minutes(5)), .fewAtATime) struct SiteMonitorTests {
  /// What the checks answer, and which are waiting for it.
  private actor Site {
    private var answers: [CheckedContinuation<SiteVerdict.Kind, Never>] = []
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// A check, as the environment performs it; ends at once where it is cancelled.
    func check() async -> SiteVerdict.Kind {
      await withCheckedContinuation { answer in
        answers.append(answer)
        waiters.forEach { $0.resume() }
        waiters = []
      }
    }

    /// Answers the oldest check, as soon as there is one.
    func answer(_ kind: SiteVerdict.Kind) async {
      while answers.isEmpty { await withCheckedContinuation { waiters.append($0) } }
      answers.removeFirst().resume(returning: kind)
    }

    /// Returns once a check has begun.
    func begun() async {
      while answers.isEmpty { await withCheckedContinuation { waiters.append($0) } }
    }
  }

  private let network = ScriptedNetwork()
  private let site = Site()

  private var environment: SiteEnvironment {
    SiteEnvironment(
      reachability: network.environment, random: { 0.5 },
      perform: { [site] url, _ in SiteVerdict(url: url, kind: await site.check()) })
  }

  private func monitor(_ url: SiteURL = "http://192.0.2.1/") -> SiteMonitor {
    SiteMonitor(url, environment: environment)
  }

  @Test func isOfflineWithoutAPathAndAsksNobody() async throws {
    let monitor = monitor()
    let verdict = try await monitor.waitUntilKnown(timeout: nil)
    #expect(verdict.kind == .offline && verdict.error?.code == .noPath)
    #expect(!monitor.isChecking)
  }

  @Test func isUndeterminedUntilTheFirstVerdict() async throws {
    network.set(.wifi)
    let monitor = monitor()
    #expect(monitor.current.kind == .undetermined)
    await site.answer(.available)
    #expect(try await monitor.waitUntilAvailable().kind == .available)
  }

  @Test func aLateAnswerChangesNothing() async throws {
    network.set(.wifi)
    let monitor = monitor()
    await site.begun()
    network.set(.unreachable(.noCarrier))
    #expect(try await monitor.waitUntilKnown().kind == .offline)
    await site.answer(.available)
    try await network.settle()
    #expect(monitor.current.kind == .offline)
  }

  @Test func beginsAnewWithAnotherURL() async throws {
    network.set(.wifi)
    let monitor = monitor()
    await site.answer(.failed)
    #expect(try await monitor.waitUntilKnown().kind == .failed)
    monitor.url = "http://192.0.2.2/"
    #expect(monitor.current.kind == .undetermined && monitor.current.url == "http://192.0.2.2/")
    await site.answer(.available)
    #expect(try await monitor.waitUntilAvailable().url == "http://192.0.2.2/")
  }

  @Test func whatTwoThreadsSetAtTheSameTimeIsBothSet() async throws {
    let monitor = monitor()
    // Paused, it takes in what it is told and does nothing else.
    monitor.pause()
    // Texts that take long to compare: the longer one thread takes, the more the other does meanwhile.
    let urls = try ["2", "3"].map { try SiteURL("http://192.0.2.2/" + String(repeating: "ä", count: 3_900) + $0) }
    let rounds = 5_000
    let (hasBegun, isOver) = (NIOLockedValueBox(false), NIOLockedValueBox(false))
    async let urlsLost = Self.losses { number in
      while !hasBegun.withLockedValue(\.self) {}
      monitor.url = urls[number % 2]
      if number < rounds { return { monitor.url != urls[number % 2] } }
      isOver.withLockedValue { $0 = true }
      return nil
    }
    async let configurationsLost = Self.losses { number in
      monitor.configuration = SiteConfiguration(timeout: .seconds(number))
      hasBegun.withLockedValue { $0 = true }
      return isOver.withLockedValue(\.self) ? nil : { monitor.configuration.timeout != .seconds(number) }
    }
    #expect(await urlsLost.count == 0)
    let (lost, last) = await configurationsLost
    #expect(lost == 0)
    #expect(monitor.url == urls[0] && monitor.configuration.timeout == .seconds(last))
  }

  /// Sets a value again and again on a thread of its own, until `set` does not say how to find out whether it was lost. Answers how often it was
  /// before the next was set, and the last number.
  private static func losses(
    _ set: @escaping @Sendable (Int) -> (() -> Bool)?
  ) async -> (count: Int, last: Int) {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "sites-tests.losses", qos: .utility).async {
        var lost = 0
        var number = 1
        while let isLost = set(number) {
          number += 1
          if isLost() { lost += 1 }
        }
        continuation.resume(returning: (lost, number))
      }
    }
  }

  @Test func beginsAnewWithAnotherExpectation() async throws {
    network.set(.wifi)
    let monitor = monitor()
    await site.answer(.failed)
    #expect(try await monitor.waitUntilKnown().kind == .failed)
    monitor.configuration.expectation = .success
    #expect(monitor.current.kind == .undetermined)
    await site.answer(.available)
    try await monitor.waitUntilAvailable()
    monitor.configuration.expectation = .success
    #expect(monitor.current.kind == .available, "what is there already changes nothing")
  }

  @Test func checksByTheClock() async throws {
    network.set(.wifi)
    let monitor = monitor()
    await site.answer(.failed)
    try await monitor.waitUntilKnown()
    // Jitter stands still in the middle: 1 s after the first failure, 2 s after the second, 300 s once it is available.
    for (delay, kind) in [(1, SiteVerdict.Kind.failed), (2, .available), (300, .captivePortal), (1, .captivePortal)] {
      try await settle(monitor)
      network.clock.advance(by: .seconds(delay) - .nanoseconds(1))
      try await network.settle()
      #expect(!monitor.isChecking, "not before \(delay) s")
      network.clock.advance(by: .nanoseconds(1))
      await site.answer(kind)
    }
    var updates = monitor.updates.makeAsyncIterator()
    while let verdict = await updates.next(), verdict.kind != .captivePortal {}
  }

  /// The path changes, and works; the site does not.
  @Test func aFailOverBetweenTwoFailuresDoesNotHideALoss() async throws {
    network.set(.wifi)
    let monitor = monitor()
    var updates = monitor.updates.makeAsyncIterator()
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available)
    for path in [ScriptedPath.wired, .wifi] {
      network.set(path)
      try await settle(monitor)
      while !monitor.isChecking {
        network.clock.advance(by: .milliseconds(100))
        try await network.settle()
      }
      await site.answer(.failed)
      try await settle(monitor)
    }
    #expect(await updates.next()?.kind == .failed)
  }

  @Test func isNoLongerOfflineWhileItIsCheckedAfterThePathsReturn() async throws {
    let monitor = monitor()
    var updates = monitor.updates.makeAsyncIterator()
    #expect(await updates.next()?.kind == .offline)
    network.set(.wifi)
    try await settle(monitor)
    while !monitor.isChecking {
      network.clock.advance(by: .milliseconds(100))
      try await network.settle()
    }
    #expect(monitor.current.kind == .undetermined)
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available, "receivers are told of verdicts alone")
  }

  /// Returns once no check is under way and the next is due at a time of the clock's.
  private func settle(_ monitor: SiteMonitor) async throws {
    while monitor.isChecking { await Task.yield() }
    try await network.settle()
  }

  @Test func pausedItAsksNobodyAndKnowsNothing() async throws {
    network.set(.wifi)
    let monitor = monitor()
    var updates = monitor.updates.makeAsyncIterator()
    await site.answer(.failed)
    #expect(await updates.next()?.kind == .failed)
    monitor.pause()
    monitor.pause()
    #expect(monitor.isPaused && !monitor.isChecking && monitor.current.kind == .undetermined)
    monitor.check()
    network.clock.advance(by: .seconds(1_000))
    network.set(.unreachable())
    try await network.settle()
    #expect(!monitor.isChecking && monitor.current.kind == .undetermined)
    network.set(.wifi)
    monitor.resume()
    monitor.resume()
    #expect(!monitor.isPaused)
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available, "whoever listened goes on listening")
  }

  @Test func aCheckUnderWayWhenItIsPausedChangesNothing() async throws {
    network.set(.wifi)
    let monitor = monitor()
    await site.begun()
    monitor.pause()
    monitor.url = "http://192.0.2.2/"
    await site.answer(.available)
    try await network.settle()
    #expect(monitor.current.kind == .undetermined && monitor.current.url == "http://192.0.2.2/")
    monitor.resume()
    await site.answer(.captivePortal)
    #expect(try await monitor.waitUntilKnown().kind == .captivePortal)
  }

  @Test func runsWhatWaitsForTheSiteOnce() async throws {
    network.set(.wifi)
    let monitor = monitor()
    let (runs, run) = AsyncStream<Void>.makeStream()
    let waiting = monitor.whenAvailable { run.yield() }
    await site.answer(.failed)
    try await monitor.waitUntilKnown()
    await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilAvailable(timeout: .zero) }
    monitor.check()
    await site.answer(.available)
    var iterator = runs.makeAsyncIterator()
    await iterator.next()
    waiting.cancel()
    run.finish()
    #expect(await iterator.next() == nil)
  }

  @Test func aConfigurationThatContradictsItselfIsAVerdict() async throws {
    network.set(.wifi)
    let monitor = SiteMonitor("http://192.0.2.1/", configuration: .init(timeout: .zero), environment: environment)
    let verdict = try await monitor.waitUntilKnown()
    #expect(verdict.kind == .failed && verdict.error?.code == .invalidConfiguration)
  }

  @Test func receiversAreToldOfEachChangeInOrder() async throws {
    network.set(.wifi)
    let monitor = monitor()
    var updates = monitor.updates.makeAsyncIterator()
    await site.answer(.captivePortal)
    #expect(await updates.next()?.kind == .captivePortal)
    monitor.check()
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available)
    network.set(.unreachable())
    #expect(await updates.next()?.kind == .offline)
  }

  @Test func refusesTwoURLsThatAreNotOfOneSite() {
    #expect(throws: SiteError(.invalidURL, "")) { try SiteMonitor(http: "http://a/", https: "https://b/") }
    #expect(throws: SiteError(.invalidURL, "")) { try SiteMonitor(http: "https://a/", https: "http://a/") }
  }

  @Test func endsWithItsLastReference() async throws {
    network.set(.wifi)
    weak var ended: SiteMonitor?
    do {
      let monitor = monitor()
      ended = monitor
      await site.begun()
    }
    #expect(ended == nil)
    await site.answer(.available)
  }

  @Test func aGroupRefusesAConfigurationThatContradictsItself() {
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteGroup(["http://a/"], quorum: 1, configuration: .init(timeout: .zero), environment: environment)
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
