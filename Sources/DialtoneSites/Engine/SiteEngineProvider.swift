// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
internal import NIOCore

/// What an environment's engine is made of, and the one that runs, if any.
package final class SiteEngineProvider: Sendable {
  /// A check: its verdict, or `CancellationError`.
  package typealias Perform = @Sendable (SiteURL, SiteCheckConfiguration) async throws -> SiteVerdict

  /// Names are looked up 64 at a time, each for both families. That is more than for all other monitors: here a lookup
  /// that hangs would hold up other sites' checks. Nearly every name server that answers at all does so within half a
  /// second. After that a lookup does not count any more, up to as many as the checks at a time have.
  static func makeNames() -> NameLookupPool {
    NameLookupPool(threads: 128, overdueAfter: .milliseconds(500), atMost: 512)
  }

  private struct Running {
    weak var engine: SiteEngine?
  }

  private struct Monitors {
    var count = 0
    var pacer = CheckPacer()
  }

  package let reachability: ReachabilityEnvironment
  let group: (any EventLoopGroup)?
  let maximumChecks: Int
  let random: @Sendable () -> Double
  /// Further names of an interface. Called on the thread that tells a monitor of its path: it must not wait.
  let alternativeNames: @Sendable (NetworkInterface) -> [String]
  let perform: Perform?
  /// Kept beyond the engine: reading the system's certificates takes longer than a check.
  let trust: TrustStore
  /// Kept beyond the engine, too: lookups that hang are counted until they end.
  let names: NameLookupPool
  private let running = Lock(Running())
  private let monitors = Lock(Monitors())

  init(
    reachability: ReachabilityEnvironment, group: (any EventLoopGroup)?, maximumChecks: Int,
    random: @escaping @Sendable () -> Double, perform: Perform?, trust: TrustStore = TrustStore(),
    names: NameLookupPool = makeNames(),
    alternativeNames: @escaping @Sendable (NetworkInterface) -> [String] = { _ in [] }
  ) {
    self.reachability = reachability
    self.group = group
    self.maximumChecks = maximumChecks
    self.random = random
    self.perform = perform
    self.trust = trust
    self.names = names
    self.alternativeNames = alternativeNames
  }

  /// Checks a site: with what stands in for a check, or else with the engine. Throws only if the task is cancelled.
  func check(_ url: SiteURL, _ configuration: SiteCheckConfiguration) async throws -> SiteVerdict {
    try await inspect(url, configuration).verdict
  }

  /// The same with what the check saw, as its inspection asks for it.
  package func inspect(_ url: SiteURL, _ configuration: SiteCheckConfiguration) async throws -> CheckOutcome {
    if let perform { return CheckOutcome(verdict: try await perform(url, configuration), details: CheckDetails()) }
    do {
      return try await engine().check(url, configuration)
    } catch let error as SiteError {
      return CheckOutcome(verdict: SiteVerdict(of: url, without: error, at: timestamp), details: CheckDetails())
    }
  }

  /// Why no task can be begun for a check while there is no engine yet; `nil` if one can.
  func shortage() -> SiteError? {
    if perform != nil || running.withLock({ $0.engine }) != nil { return nil }
    do throws(SiteError) {
      try SiteResources.prove()
      return nil
    } catch {
      return error
    }
  }

  /// The engine for a monitor to hold; `nil` if something stands in for checks, or if there is none. The check says
  /// why.
  func engineToHold() -> SiteEngine? {
    if perform != nil { return nil }
    do throws(SiteError) {
      return try engine()
    } catch {
      return nil
    }
  }

  /// The engine that runs, or else a new one.
  private func engine() throws(SiteError) -> SiteEngine {
    try running.withLock { running throws(SiteError) in
      if let engine = running.engine { return engine }
      let engine = try SiteEngine(self)
      running.engine = engine
      return engine
    }
  }

  /// The present time, by the environment's clock.
  package var timestamp: UTCTimestamp { reachability.provider.time.timestamp }

  // MARK: Monitors

  /// A monitor watches from now on.
  func monitorBegan() { monitors.withLock { $0.count += 1 } }

  /// A monitor has ended, or is paused.
  func monitorEnded() { monitors.withLock { $0.count -= 1 } }

  /// How long a monitor's check that begins now has to wait, perhaps with many others.
  func checkDelay(now: Int64, random: Double) -> Int64 {
    monitors.withLock { $0.pacer.delay(now: now, monitors: $0.count, random: random) }
  }
}

extension TimeSource {
  /// The time of what happens now, for a verdict.
  package var timestamp: UTCTimestamp { UTCTimestamp(durationSince1970: .nanoseconds(realtime())) }
}

extension SiteVerdict {
  /// The verdict of a check that could not begin: the system is short of something, or the environment no longer names
  /// a usable proxy. It is a verdict like any other, since the machine fails, and not the caller.
  package init(of url: SiteURL, without error: SiteError, at timestamp: UTCTimestamp) {
    self.init(
      url: url, kind: .failed, stage: .connect, error: error, timings: Timings(total: .zero), timestamp: timestamp)
  }
}
