// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// Follows whether a site answers.
///
/// ```swift
/// let monitor = try SiteMonitor("https://example.com/health")
/// for await verdict in monitor.updates {
///   print(verdict)  // "available (200)"
/// }
/// ```
///
/// The path to the site drives it. Without a path the site is offline, at once and without a request. When the path has
/// changed and settled, the site is checked. Apart from that it is checked every five minutes, and after a failure
/// again after 1 s, 2 s, 4 s and so on. <doc:Sites> has the rules.
///
/// It works from the moment it is made until it, its observations and its sequences have all been released. Making one
/// never blocks. You can use it from any thread and any isolation.
public final class SiteMonitor: StateMonitor {
  private let core: SiteMonitorCore

  /// Begins to watch a site.
  ///
  /// - Parameters:
  ///   - url: The URL that is asked.
  ///   - configuration: How the site is checked, and how often.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidConfiguration` if the configuration contradicts itself, or if it
  ///   asks for the proxy of the process's environment, and that cannot be read.
  public init(
    _ url: SiteURL, configuration: SiteMonitorConfiguration = .init(), environment: SiteEnvironment = .system
  ) throws(SiteError) {
    try configuration.validate(for: url)
    core = SiteMonitorCore(SitePair(primary: url), configuration, environment.provider)
    core.start()
  }

  /// Begins to watch the site with this URL, as text.
  ///
  /// - Parameters:
  ///   - url: The URL that is asked: an absolute http or https one.
  ///   - configuration: How the site is checked, and how often.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidURL` if the text is no such URL, or `invalidConfiguration`, as for
  ///   a ``SiteURL``.
  public convenience init(
    _ url: String, configuration: SiteMonitorConfiguration = .init(), environment: SiteEnvironment = .system
  ) throws(SiteError) {
    try self.init(SiteURL(url), configuration: configuration, environment: environment)
  }

  /// Begins to watch a site by both of its URLs: if http is fine and https is not, the verdict is `partial`.
  ///
  /// Both are asked at the same time. The verdict is that of https, unless a captive portal answered over http.
  ///
  /// - Parameters:
  ///   - http: The http URL.
  ///   - https: The https URL of the same host.
  ///   - configuration: How both are checked, and how often.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidURL` if the schemes are not http and https, or if the hosts differ;
  ///   with the code `invalidConfiguration`, as for one URL.
  public init(
    http: SiteURL, https: SiteURL, configuration: SiteMonitorConfiguration = .init(),
    environment: SiteEnvironment = .system
  ) throws(SiteError) {
    guard !http.isSecure, https.isSecure else {
      throw SiteError(.invalidURL, "the first URL has to be http, and the second https")
    }
    guard http.host == https.host else {
      throw SiteError(.invalidURL, "the two URLs have to be of one host: \(http.hostText) is not \(https.hostText)")
    }
    for url in [http, https] { try configuration.validate(for: url) }
    core = SiteMonitorCore(SitePair(primary: https, plain: http), configuration, environment.provider)
    core.start()
  }

  /// Begins to watch a site by both of its URLs, as text.
  ///
  /// - Parameters:
  ///   - http: The http URL.
  ///   - https: The https URL of the same host.
  ///   - configuration: How both are checked, and how often.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidURL` if a text is no such URL, or as for two ``SiteURL`` values.
  public convenience init(
    http: String, https: String, configuration: SiteMonitorConfiguration = .init(),
    environment: SiteEnvironment = .system
  ) throws(SiteError) {
    try self.init(http: SiteURL(http), https: SiteURL(https), configuration: configuration, environment: environment)
  }

  deinit { core.stop() }

  /// The newest verdict. It is `undetermined` until one is found, and again from the return of a path until the site
  /// has been checked over it. Takes a lock while it is copied.
  public var current: SiteVerdict { core.current }

  /// The verdicts one after another, as an asynchronous sequence: first the one that is known, then each change.
  public var updates: MonitorUpdates<SiteVerdict> { MonitorUpdates(StateFeed(of: self, core.cell)) }

  /// The URL that is asked; the https URL if there are two.
  public var url: SiteURL { core.sites.primary }

  /// Asks another URL from now on, and that alone. Begins anew: nothing is known until it has been checked, and
  /// ``current`` is never again a verdict on the former. Does nothing if the URL is the present one.
  ///
  /// - Parameter url: What is asked.
  /// - Throws: ``SiteError`` with the code `invalidConfiguration` if the URL would be asked by the proxy of the
  ///   process's environment, and that cannot be read. The monitor then goes on as before.
  public func setURL(_ url: SiteURL) throws(SiteError) {
    try configuration.validate(for: url)
    core.change { sites, _ in sites = url == sites.primary ? sites : SitePair(primary: url) }
  }

  /// How the site is checked, and how often.
  public var configuration: SiteMonitorConfiguration { core.configuration }

  /// Checks the site in another way from now on, and begins anew, as for ``setURL(_:)``. Does nothing if the
  /// configuration is the present one.
  ///
  /// - Parameter configuration: How the site is checked, and how often.
  /// - Throws: ``SiteError`` with the code `invalidConfiguration` if the configuration contradicts itself, or if it
  ///   asks for the proxy of the process's environment, and that cannot be read. The monitor then goes on as before.
  public func reconfigure(_ configuration: SiteMonitorConfiguration) throws(SiteError) {
    let sites = core.sites
    for url in [sites.primary, sites.plain].compactMap({ $0 }) { try configuration.validate(for: url) }
    core.change { $1 = configuration }
  }

  /// Whether a check is under way.
  public var isChecking: Bool { core.isChecking }

  /// Checks the site now, if there is a path to it and no check is under way.
  public func checkNow() { core.check() }

  // MARK: Pausing

  /// Stops watching and checking until ``resume()``, for a program that goes to the background.
  ///
  /// A second after the last monitor has been paused, Dialtone has no thread, no socket and no wake-up, unless a wait
  /// with a timeout is under way. A check under way is cancelled. A name lookup that hangs cannot be stopped
  /// (getaddrinfo(3)): its thread ends when the resolver gives up.
  ///
  /// While paused, nothing is known: ``current`` is `undetermined`. Receivers stay registered and are told nothing, and
  /// waits go on. To pause twice is to pause once.
  public func pause() { core.stop() }

  /// Goes on after ``pause()``, with a check. Does nothing if it was not paused. Receivers are told of the verdict if
  /// it differs from the last that they were given.
  public func resume() { core.start() }

  /// Whether it is paused.
  public var isPaused: Bool { core.isPaused }

  // MARK: Once

  /// Waits until the site is available; returns at once if it is.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for no limit. Zero or less asks only for the present verdict.
  /// - Returns: The verdict that ended the wait.
  /// - Throws: `ReachabilityError` with the code `timedOut`; `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitUntilAvailable(timeout: Duration? = nil) async throws -> SiteVerdict {
    try await updates.feed.wait(until: { $0.isAvailable }, timeout: timeout, goal: "\(url) was not available")
  }

  /// Runs `action` once, as soon as the site is available, in a task of its own: never on the caller's thread.
  ///
  /// - Parameter action: What to do.
  /// - Returns: What keeps it waiting. If you cancel or release it before the action has begun, the action never runs.
  public func whenAvailable(_ action: @escaping @Sendable @isolated(any) () async -> Void) -> ReachabilityObservation {
    updates.feed.once({ $0.isAvailable }, in: action.isolation) { _ in await action() }
  }
}

extension SiteMonitor: DeliveryOwner {
  package var engine: NetworkEngine { core.engine }
  package var subject: String { "\(url)" }
}

extension SiteVerdict: MonitoredState {
  /// Whether a verdict has been found.
  package var isKnown: Bool { kind != .undetermined }

  /// Whether they are equal, also in what receivers are not told of by itself, except for the times.
  package func isIdentical(to other: SiteVerdict) -> Bool {
    isSameState(as: other) && interface == other.interface && location == other.location && error == other.error
      && address == other.address
  }
}

extension SiteVerdict: DeterminableState {
  /// Whether a verdict has been found, or there is no path to check over.
  public var isDetermined: Bool { kind != .undetermined }
}
