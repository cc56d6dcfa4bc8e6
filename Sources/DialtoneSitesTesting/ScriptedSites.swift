// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
public import DialtoneSites
public import DialtoneTesting

/// Sites that answer what a test says, on a scripted network.
///
/// ```swift
/// let network = ScriptedNetwork()
/// let sites = ScriptedSites(on: network)
/// network.set(.wifi)
/// sites.set(.portal, for: "http://example.com/")
///
/// let monitor = try SiteMonitor("http://example.com/", environment: sites.environment)
/// print(try await monitor.waitUntilDetermined())  // "captive portal (302)"
/// ```
///
/// Give ``environment`` to a `SiteCheck`, a `SiteMonitor` or a `SiteGroup`. Nothing is sent, and no file is read: no
/// name server, no certificate, no proxy. The rules are those of real checks:
///
/// - Without a path on the network a check is `offline`. If the network says that the name has no address, or cannot be
///   looked up, it is `failed` at `name`. If the lookup hangs, it is that once the timeout has passed.
/// - An answer's status, its redirect and its body are judged by the check's expectation, and its certificate by
///   `minimumCertificateLifetime`.
/// - With `requiresPublicAddress`, the addresses count that the network has for the name.
/// - A check that takes longer than its timeout is `failed`.
///
/// Three things differ. A site is asked directly, even if the configuration names a proxy, and who may vouch for it
/// does not matter. The first path to the site is taken: addresses are not raced.
///
/// Only the network's clock moves time, also between the checks of a monitor. Pauses that are drawn from a range have
/// its middle: after `network.clock.advance(by: .seconds(300))` a site that is fine is checked again, and over a path
/// that has changed after one and a half times the settling, 750 ms. A pause begins when the monitor has taken in what
/// came before it: wait until `isChecking` is `false`, or until `current` has changed, and then move the clock. You can
/// use it from any thread.
public final class ScriptedSites: Sendable {
  private struct Script {
    /// One for each check; the last one stays.
    var answers: [ScriptedAnswer] = []
    var checkCount = 0
    /// Who waits for that many checks.
    var waiters: [(count: Int, continuation: AsyncStream<Void>.Continuation)] = []

    /// The answer, and who has waited for this check.
    mutating func begin() -> (answer: ScriptedAnswer, due: [AsyncStream<Void>.Continuation]) {
      checkCount += 1
      let due = waiters.filter { $0.count <= checkCount }.map(\.continuation)
      waiters.removeAll { $0.count <= checkCount }
      return (answers.count > 1 ? answers.removeFirst() : answers.first ?? .outage, due)
    }
  }

  /// Holds the scripts apart from the sites, so that the environment does not keep them alive.
  private final class Box: Sendable {
    /// By the identity of the site.
    let scripts = Lock<[String: Script]>([:])
  }

  /// The network that the sites are reached by.
  public let network: ScriptedNetwork

  /// What checks, monitors and groups of these sites are made with.
  public let environment: SiteEnvironment

  private let box = Box()

  /// Creates sites of which none answers: each refuses connections.
  ///
  /// - Parameter network: The network that the sites are reached by. It has no path until a test sets one.
  public init(on network: ScriptedNetwork = ScriptedNetwork()) {
    self.network = network
    let reachability = network.environment
    let clock = network.clock
    environment = SiteEnvironment(
      // A half is the middle of the jitter: checks come neither sooner nor later.
      reachability: reachability, random: { 0.5 },
      perform: { [box] url, configuration in
        let began = clock.now
        let (answer, due) = box.scripts.withLock { $0[url.identity, default: Script()].begin() }
        for waiter in due { waiter.yield() }
        var check = ScriptedCheck(
          of: url, configuration, answer, on: reachability, clock: clock, since: began)
        return try await check.verdict()
      })
  }

  /// Says what a site answers from now on: the first answer for the next check, the second one for the check after
  /// that, and so on. The last answer stays.
  ///
  /// If nothing was said of the site's name, the network finds a public address for it from now on.
  ///
  /// - Parameters:
  ///   - answers: What the site answers; none means that it refuses connections.
  ///   - url: The site. Another path of the same host is another site.
  public func set(_ answers: ScriptedAnswer..., for url: SiteURL) { set(answers, for: url) }

  /// Says what a site answers from now on, with the answers in an array.
  ///
  /// - Parameters:
  ///   - answers: What the site answers; none means that it refuses connections.
  ///   - url: The site. Another path of the same host is another site.
  public func set(_ answers: [ScriptedAnswer], for url: SiteURL) {
    box.scripts.withLock { $0[url.identity, default: Script()].answers = answers }
    if case .name(let name) = url.host { network.provideAddress(forName: name.text) }
  }

  /// How many checks of a site have begun so far. A check that asks by HEAD and then by GET counts once.
  public func checkCount(of url: SiteURL) -> Int { box.scripts.withLock { $0[url.identity]?.checkCount ?? 0 } }

  /// Waits until that many checks of a site have begun; returns at once if they have. If the clock is moved on after
  /// that, the last of them sees it.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func waitUntilChecked(_ url: SiteURL, times count: Int = 1) async throws {
    try Task.checkCancellation()
    let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
    let isReached = box.scripts.withLock { scripts in
      if scripts[url.identity]?.checkCount ?? 0 >= count { return true }
      scripts[url.identity, default: Script()].waiters.append((count, continuation))
      return false
    }
    if isReached { return }
    for await _ in reached { return }
    throw CancellationError()
  }
}
