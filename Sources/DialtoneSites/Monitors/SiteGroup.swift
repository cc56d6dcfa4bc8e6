// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// Follows several sites, and whether enough of them answer. Use it to ask about the Internet in general.
///
/// ```swift
/// let group = try SiteGroup(["https://example.com", "https://example.net", "https://example.org"], quorum: 2)
/// for await summary in group.updates {
///   print(summary.isOnline)
/// }
/// ```
///
/// It asks no sites by default: your program decides whose they are, and knows what their owners think of it. Receivers
/// are told once the answer is known, then of each change of the answer or of a verdict. You can use it from any thread
/// and any isolation.
public final class SiteGroup: StateMonitor {
  /// How many of the sites have to be available.
  public let quorum: Int

  private let monitors: [SiteMonitor]
  private let verdicts: Verdicts

  /// Begins to watch the sites.
  ///
  /// - Parameters:
  ///   - urls: The sites that are asked; none twice, however it is written.
  ///   - quorum: How many have to be available; from 1 to the number of sites.
  ///   - configuration: How the sites are checked, and how often.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidConfiguration` if the quorum cannot be reached, if a URL is given
  ///   twice, if the configuration contradicts itself, or if it asks for the proxy of the process's environment, and
  ///   that cannot be read.
  public init(
    _ urls: [SiteURL], quorum: Int, configuration: SiteMonitorConfiguration = .init(),
    environment: SiteEnvironment = .system
  ) throws(SiteError) {
    guard (1...max(1, urls.count)).contains(quorum), !urls.isEmpty else {
      throw SiteError(.invalidConfiguration, "a quorum of \(quorum) cannot be had of \(urls.count) sites")
    }
    guard Set(urls.map(\.identity)).count == urls.count else {
      throw SiteError(.invalidConfiguration, "a site is given twice; its answer would count twice")
    }
    // All of them are checked before the first is watched.
    for url in urls { try configuration.validate(for: url) }
    monitors = try urls.map { url throws(SiteError) in
      try SiteMonitor(url, configuration: configuration, environment: environment)
    }
    self.quorum = quorum
    verdicts = Verdicts(urls, quorum: quorum)
    follow()
  }

  /// Begins to watch the sites of these URLs, as text.
  ///
  /// - Parameters:
  ///   - urls: The sites that are asked, as absolute http or https URLs; none twice, however it is written.
  ///   - quorum: How many have to be available; from 1 to the number of sites.
  ///   - configuration: How the sites are checked, and how often.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidURL` if a text is no such URL, or `invalidConfiguration`, as for
  ///   ``SiteURL`` values.
  public convenience init(
    _ urls: [String], quorum: Int, configuration: SiteMonitorConfiguration = .init(),
    environment: SiteEnvironment = .system
  ) throws(SiteError) {
    let parsed = try urls.map { url throws(SiteError) in try SiteURL(url) }
    try self.init(parsed, quorum: quorum, configuration: configuration, environment: environment)
  }

  deinit { verdicts.end() }

  /// The newest summary; not determined until enough verdicts are found. Takes a lock while it is copied.
  public var current: Summary { verdicts.cell.current }

  /// The summaries one after another, as an asynchronous sequence: first the one that is known, then each change.
  public var updates: MonitorUpdates<Summary> { MonitorUpdates(StateFeed(of: self, verdicts.cell)) }

  /// The sites that are asked.
  public var urls: [SiteURL] { monitors.map(\.url) }

  // MARK: Pausing

  /// Stops watching and checking all sites until ``resume()``; see ``SiteMonitor/pause()``.
  ///
  /// While paused, nothing is known: ``current`` is not determined. Receivers stay registered and are told nothing, and
  /// waits go on. To pause twice is to pause once.
  public func pause() { if verdicts.setPaused(true) { follow() } }

  /// Goes on after ``pause()``, with a check of each site. Does nothing if it was not paused. Receivers are told of the
  /// summary if it differs from the last that they were given.
  public func resume() { if verdicts.setPaused(false) { follow() } }

  /// Whether it is paused.
  public var isPaused: Bool { verdicts.isPaused }

  /// Makes the monitors do what is wanted. If another thread wants something else meanwhile, this one does that, too.
  /// So the last to return has done what was wanted last.
  private func follow() {
    while true {
      let (isPaused, epoch) = verdicts.wanted
      for monitor in monitors {
        if isPaused { monitor.pause() } else { monitor.resume() }
      }
      if !isPaused { observe(epoch) }
      if verdicts.wanted.epoch == epoch { return }
    }
  }

  private func observe(_ epoch: Epoch) {
    guard let round = verdicts.beginRound(in: epoch) else { return }
    let observations = monitors.enumerated().map { position, monitor in
      let engine = monitor.engine
      return monitor.observe { [verdicts] verdict in
        verdicts.set(verdict, at: position, of: round)
        engine.deliver(verdicts.cell.wakeReceivers)
      }
    }
    verdicts.keep(observations, of: round)
  }

  // MARK: Checking

  /// Whether a check of one of the sites is under way.
  public var isChecking: Bool { monitors.contains { $0.isChecking } }

  /// Checks all sites now, except those without a path and those that are being checked; see
  /// ``SiteMonitor/checkNow()``.
  public func checkNow() { for monitor in monitors { monitor.checkNow() } }

  // MARK: Once

  /// Waits until enough sites are available; returns at once if they are.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for no limit. Zero or less asks only for the present summary.
  /// - Returns: The summary that ended the wait.
  /// - Throws: `ReachabilityError` with the code `timedOut`; `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitUntilOnline(timeout: Duration? = nil) async throws -> Summary {
    try await updates.feed.wait(until: { $0.isOnline }, timeout: timeout, goal: "the group was not online")
  }

  /// Runs `action` once, as soon as enough sites are available, in a task of its own: never on the caller's thread.
  ///
  /// - Parameter action: What to do.
  /// - Returns: What keeps it waiting. If you cancel or release it before the action has begun, the action never runs.
  public func whenOnline(_ action: @escaping @Sendable @isolated(any) () async -> Void) -> ReachabilityObservation {
    updates.feed.once({ $0.isOnline }, in: action.isolation) { _ in await action() }
  }
}

extension SiteGroup: DeliveryOwner {
  package var engine: NetworkEngine { monitors[0].engine }
}

extension SiteGroup {
  /// What is known of the sites of a group, and whether it is wanted.
  ///
  /// Two threads that pause and resume at the same time may each make the monitors begin anew. So each begins a round
  /// of observing them.
  ///
  /// Invariants: a verdict of another round changes nothing. A round begins with nothing known, and so does a pause.
  /// Observations are released outside the lock: what they hold ends with them.
  final class Verdicts: Sendable {
    private struct State {
      var newest: [SiteVerdict]
      var isPaused = false
      /// Begins with each pause, and with its end.
      var epoch = Epoch()
      /// Begins each time that the monitors are observed, and with a pause.
      var round = Epoch()
      var observations: [ReachabilityObservation] = []
    }

    let cell: StateCell<Summary>
    private let unknown: Summary
    private let state: Lock<State>

    init(_ urls: [SiteURL], quorum: Int) {
      unknown = Summary(urls.map { SiteVerdict(url: $0, kind: .undetermined) }, quorum: quorum)
      cell = StateCell(unknown: unknown)
      state = Lock(State(newest: unknown.verdicts))
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    var wanted: (isPaused: Bool, epoch: Epoch) { state.withLock { ($0.isPaused, $0.epoch) } }

    func set(_ verdict: SiteVerdict, at position: Int, of round: Epoch) {
      state.withLock { state in
        if state.round != round { return }
        state.newest[position] = verdict
        cell.publish(Summary(state.newest, quorum: unknown.quorum))
      }
    }

    /// Says whether it is to be paused. Returns whether this changes anything.
    func setPaused(_ isPaused: Bool) -> Bool {
      let ended = state.withLock { state -> [ReachabilityObservation]? in
        if state.isPaused == isPaused { return nil }
        state.isPaused = isPaused
        state.epoch.advance()
        return forget(&state)
      }
      ended?.forEach { $0.cancel() }
      return ended != nil
    }

    /// Begins a round, if the epoch is the present one. What former rounds still tell changes nothing.
    func beginRound(in epoch: Epoch) -> Epoch? {
      let begun = state.withLock { state -> (round: Epoch, ended: [ReachabilityObservation])? in
        if state.epoch != epoch { return nil }
        let ended = forget(&state)
        return (state.round, ended)
      }
      begun?.ended.forEach { $0.cancel() }
      return begun?.round
    }

    /// Keeps the observations of a round, or ends them if it is no longer the present one.
    func keep(_ observations: [ReachabilityObservation], of round: Epoch) {
      let ended = state.withLock { state in
        if state.round != round { return observations }
        defer { state.observations = observations }
        return state.observations
      }
      for observation in ended { observation.cancel() }
    }

    func end() {
      let ended = state.withLock { forget(&$0) }
      for observation in ended { observation.cancel() }
    }

    /// Begins a round in which nothing is known. Returns the observations of the former one, to be ended outside the
    /// lock.
    private func forget(_ state: inout State) -> [ReachabilityObservation] {
      state.round.advance()
      state.newest = unknown.verdicts
      cell.publish(unknown)
      defer { state.observations = [] }
      return state.observations
    }
  }
}
