// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import Dispatch
import NIOConcurrencyHelpers
import TestSupport
import Testing

/// Monitors on a scripted network, with scripted checks and a manual clock.
@Suite(.timeLimit(.minutes(5))) struct SiteMonitorTests {
  private let network = ScriptedNetwork()
  private let site = AskedSite()

  private var environment: SiteEnvironment { site.environment(network) }

  private func monitor(_ url: SiteURL = "http://192.0.2.1/") throws -> SiteMonitor {
    try SiteMonitor(url, environment: environment)
  }

  @Test func isOfflineWithoutAPathAndSendsNothing() async throws {
    let monitor = try monitor()
    let verdict = try await monitor.waitUntilKnown(timeout: nil)
    #expect(verdict.kind == .offline && verdict.error?.code == .noPath)
    #expect(!monitor.isChecking)
  }

  /// A site is not told offline again because another interface fails.
  @Test func isToldOnceToBeOfflineWhateverFails() async throws {
    let lost = try #require(NetworkInterface(name: "eth0", index: 3, kind: .wired))
    network.set(.unreachable(.noCarrier, over: lost))
    let monitor = try monitor()
    var updates = monitor.updates.makeAsyncIterator()
    #expect(await updates.next()?.interface == lost)
    network.set(.unreachable())
    try await eventually("it names no interface") { monitor.current.interface == nil }
    network.set(.wifi)
    network.clock.advance(by: .seconds(10))
    let answer = Task { await site.answer(.available) }
    try await eventually("the path has settled") {
      network.clock.advance(by: .seconds(1))
      return monitor.current.isAvailable
    }
    await answer.value
    #expect(await updates.next()?.kind == .available)
  }

  @Test func isUndeterminedUntilTheFirstVerdict() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    #expect(monitor.current.kind == .undetermined)
    await site.answer(.available)
    #expect(try await monitor.waitUntilAvailable().kind == .available)
  }

  @Test func aLateAnswerChangesNothing() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    await site.begun()
    network.set(.unreachable(.noCarrier))
    #expect(try await monitor.waitUntilKnown().kind == .offline)
    await site.answer(.available)
    try await network.settle()
    #expect(monitor.current.kind == .offline)
  }

  @Test func beginsAnewWithAnotherURL() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    await site.answer(.failed)
    #expect(try await monitor.waitUntilKnown().kind == .failed)
    try monitor.setURL("http://192.0.2.2/")
    #expect(monitor.current.kind == .undetermined && monitor.current.url == "http://192.0.2.2/")
    await site.answer(.available)
    #expect(try await monitor.waitUntilAvailable().url == "http://192.0.2.2/")
  }

  @Test func valuesSetByTwoThreadsAtTheSameTimeAreBothSet() async throws {
    let monitor = try monitor()
    // While it is paused it takes new values, and does nothing else.
    monitor.pause()
    // Texts that take long to compare: while one thread compares, the other can do more.
    let urls = try ["2", "3"].map { try SiteURL("http://192.0.2.2/" + String(repeating: "ä", count: 3_900) + $0) }
    let rounds = 5_000
    let (hasBegun, isOver) = (NIOLockedValueBox(false), NIOLockedValueBox(false))
    async let urlsLost = Self.losses { number in
      while !hasBegun.withLockedValue(\.self) {}
      #expect(throws: Never.self) { try monitor.setURL(urls[number % 2]) }
      if number < rounds { return { monitor.url != urls[number % 2] } }
      isOver.withLockedValue { $0 = true }
      return nil
    }
    async let configurationsLost = Self.losses { number in
      #expect(throws: Never.self) {
        try monitor.reconfigure(SiteMonitorConfiguration(check: .init(timeout: .seconds(number))))
      }
      hasBegun.withLockedValue { $0 = true }
      return isOver.withLockedValue(\.self) ? nil : { monitor.configuration.check.timeout != .seconds(number) }
    }
    #expect(await urlsLost.count == 0)
    let (lost, last) = await configurationsLost
    #expect(lost == 0)
    #expect(monitor.url == urls[0] && monitor.configuration.check.timeout == .seconds(last))
  }

  /// Sets a value again and again on a thread of its own, until `set` returns no way to find out whether it was lost.
  /// Returns how often it was lost before the next was set, and the last number.
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

  /// What is told of the path to the former site comes late, when the monitor asks about the next one.
  @Test func aPathOfAFormerSiteChangesNothing() async throws {
    let latch = Latch()
    let environment = SiteEnvironment(
      reachability: network.environment,
      alternativeNames: { _ in
        latch.wait()
        return []
      }, perform: { [site] url, _ in SiteVerdict(url: url, kind: await site.check()) })
    let lost = try #require(NetworkInterface(name: "eth0", index: 3, kind: .wired))
    network.set(.unreachable(.noCarrier, over: lost))
    var configuration = SiteMonitorConfiguration()
    // Without any, nobody asks for an interface's further names.
    configuration.meteredInterfaces = ["wwan0"]
    let monitor = try SiteMonitor("http://192.0.2.1/", configuration: configuration, environment: environment)
    var updates = monitor.updates.makeAsyncIterator()
    try await eventually("it is told of the path") { latch.count == 1 }
    network.set(.wifi)
    try monitor.setURL("http://192.0.2.2/")
    latch.open()
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available, "the first that is known")
  }

  @Test func beginsAnewWithAnotherExpectation() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    await site.answer(.failed)
    #expect(try await monitor.waitUntilKnown().kind == .failed)
    var configuration = monitor.configuration
    configuration.check.expectation = .success
    try monitor.reconfigure(configuration)
    #expect(monitor.current.kind == .undetermined)
    await site.answer(.available)
    try await monitor.waitUntilAvailable()
    try monitor.reconfigure(configuration)
    #expect(monitor.current.kind == .available, "what is there already changes nothing")
  }

  @Test func checksByTheClock() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    await site.answer(.failed)
    try await monitor.waitUntilKnown()
    // Jitter is constant, in the middle: 1 s after the first failure, 2 s after the second, 300 s once it is available.
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

  /// The path changes and works, but the site does not.
  @Test func aFailOverBetweenTwoFailuresDoesNotHideALoss() async throws {
    network.set(.wifi)
    let monitor = try monitor()
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

  /// The one check that failed before the path was lost is told with that, and since when.
  @Test func tellsWhatFailedBeforeThePathWasLost() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var updates = monitor.updates.makeAsyncIterator()
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available)
    try await settle(monitor)
    network.clock.advance(by: .seconds(300))
    await site.answer(.failed)
    try await settle(monitor)
    network.clock.advance(by: .milliseconds(900))
    network.set(.unreachable(.noCarrier))
    let offline = try #require(await updates.next())
    #expect(offline.kind == .offline && offline.failureBefore?.kind == .failed)
    let (since, told) = try (#require(offline.failingSince), #require(offline.timestamp))
    #expect(since.duration(to: told) == .milliseconds(900))
  }

  @Test func isNoLongerOfflineWhileItIsCheckedAfterThePathsReturn() async throws {
    let monitor = try monitor()
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

  /// Returns once no check is under way, and the next is due at a time of the clock.
  private func settle(_ monitor: SiteMonitor) async throws {
    while monitor.isChecking { await Task.yield() }
    try await network.settle()
  }

  @Test func whilePausedItSendsNothingAndKnowsNothing() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var updates = monitor.updates.makeAsyncIterator()
    await site.answer(.failed)
    #expect(await updates.next()?.kind == .failed)
    monitor.pause()
    monitor.pause()
    #expect(monitor.isPaused && !monitor.isChecking && monitor.current.kind == .undetermined)
    monitor.checkNow()
    network.clock.advance(by: .seconds(1_000))
    network.set(.unreachable())
    try await network.settle()
    #expect(!monitor.isChecking && monitor.current.kind == .undetermined)
    network.set(.wifi)
    monitor.resume()
    monitor.resume()
    #expect(!monitor.isPaused)
    await site.answer(.available)
    #expect(await updates.next()?.kind == .available, "what listened goes on listening")
  }

  @Test func aCheckUnderWayWhenItIsPausedChangesNothing() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    await site.begun()
    monitor.pause()
    try monitor.setURL("http://192.0.2.2/")
    await site.answer(.available)
    try await network.settle()
    #expect(monitor.current.kind == .undetermined && monitor.current.url == "http://192.0.2.2/")
    monitor.resume()
    await site.answer(.captivePortal)
    #expect(try await monitor.waitUntilKnown().kind == .captivePortal)
  }

  @Test func runsWhatWaitsForTheSiteOnce() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    let (runs, run) = AsyncStream<Void>.makeStream()
    let waiting = monitor.whenAvailable { run.yield() }
    await site.answer(.failed)
    try await monitor.waitUntilKnown()
    await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilAvailable(timeout: .zero) }
    monitor.checkNow()
    await site.answer(.available)
    var iterator = runs.makeAsyncIterator()
    await iterator.next()
    waiting.cancel()
    run.finish()
    #expect(await iterator.next() == nil)
  }

  @Test func aConfigurationThatContradictsItselfIsRefused() throws {
    let wrong = SiteMonitorConfiguration(check: .init(timeout: .zero))
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteMonitor("http://192.0.2.1/", configuration: wrong, environment: environment)
    }
    #expect(throws: SiteError(.invalidConfiguration, "")) {
      try SiteMonitor(
        http: "http://192.0.2.1/", https: "https://192.0.2.1/", configuration: wrong, environment: environment)
    }
    let monitor = try monitor()
    #expect(throws: SiteError(.invalidConfiguration, "")) { try monitor.reconfigure(wrong) }
    #expect(monitor.configuration == SiteMonitorConfiguration(), "it goes on as before")
  }

  @Test func aURLMayBeALiteralATextOrAURL() throws {
    let text = String("http://192.0.2.1/")
    let url = try SiteURL(text)
    #expect(try SiteMonitor("http://192.0.2.1/", environment: environment).url == url)
    #expect(try SiteMonitor(text, environment: environment).url == url)
    #expect(try SiteMonitor(url, environment: environment).url == url)
    #expect(try SiteCheck("http://192.0.2.1/").url == url)
    #expect(try SiteCheck(text).url == url)
    #expect(try SiteCheck(url).url == url)
    #expect(try SiteGroup(["http://192.0.2.1/"], quorum: 1, environment: environment).urls == [url])
    #expect(try SiteGroup([text], quorum: 1, environment: environment).urls == [url])
    #expect(try SiteGroup([url], quorum: 1, environment: environment).urls == [url])
    let (plain, secure) = (String("http://192.0.2.1/"), String("https://192.0.2.1/"))
    #expect(try SiteMonitor(http: plain, https: secure, environment: environment).url == SiteURL(secure))
    #expect(throws: SiteError(.invalidURL, "")) {
      try SiteMonitor(http: secure, https: plain, environment: environment)
    }
    let other = String("ftp://192.0.2.1/")
    #expect(throws: SiteError(.invalidURL, "")) { try SiteMonitor(other, environment: environment) }
    #expect(throws: SiteError(.invalidURL, "")) { try SiteCheck(other) }
    #expect(throws: SiteError(.invalidURL, "")) { try SiteGroup([text, other], quorum: 1, environment: environment) }
  }

  @Test func receiversAreToldOfEachChangeInOrder() async throws {
    network.set(.wifi)
    let monitor = try monitor()
    var updates = monitor.updates.makeAsyncIterator()
    await site.answer(.captivePortal)
    #expect(await updates.next()?.kind == .captivePortal)
    monitor.checkNow()
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
      let monitor = try monitor()
      ended = monitor
      await site.begun()
    }
    // The check has no answer yet. What tells it of the network may hold it for a moment.
    try await eventually("it is released") { ended == nil }
    await site.answer(.available)
  }
}
