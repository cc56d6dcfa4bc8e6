// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// When a site is checked, and which verdicts receivers are told of. Pure: event in, actions out.
///
/// Invariants: no check is under way without a path. The loss of the path is told at once, even while something is
/// under way. An available site is told to be lost only after several failures in a row (`failuresBeforeLoss`); so is
/// one that fails when its path has just come. However often a working path changes, checks come to their end and
/// failures are counted. A check whose number is not the present one's changes nothing.
struct SiteMonitorStateMachine {
  enum Action: Equatable {
    /// Begin a check with this number, which its end carries.
    case startCheck(UInt64)
    /// The check under way is of no use any more.
    case cancelCheck
    /// Tell receivers.
    case report(SiteVerdict)
    /// Tell receivers that there is no path, and which check had failed before, and for how long.
    case reportOffline(Reachability.Reason?, after: Failure? = nil)
    /// What was told last no longer holds, and nothing else is known yet: there is nothing to tell.
    case forget

    /// Whether receivers are to be told something.
    var isReport: Bool {
      switch self {
      case .report, .reportOffline: true
      case .startCheck, .cancelCheck, .forget: false
      }
    }
  }

  /// What the last of the checks has found that have failed in a row, and for how long they have.
  struct Failure: Equatable {
    let verdict: SiteVerdict
    let time: Duration
  }

  /// What receivers were told last.
  private enum Told {
    case nothing, available, unavailable
    /// There was no path; no verdict on the site has been told since.
    case offline
  }

  /// For how long a path is new, in nanoseconds: its neighbours and name servers may need a moment.
  private static let newPath: Int64 = 1_000_000_000

  private let configuration: SiteMonitorConfiguration
  private(set) var path: Reachability?
  /// Further names of the path's interface.
  private var alternativeNames: [String] = []
  private var told = Told.nothing
  /// How many checks have failed since one found the site available, or since the path came.
  private var failures = 0
  /// How many of those came since the path last changed, of which those over a new path are one. The pauses grow by
  /// these.
  private var retries = 0
  private var pathBegan: Int64 = 0
  /// When the first of them began, and what the last one found. A path that is lost later is not what began it.
  private var failing: (since: Int64, last: SiteVerdict)?
  private var serial: UInt64 = 0
  /// Whether the check with the number `serial` is under way.
  private(set) var isChecking = false
  /// When the check with the number `serial` began.
  private var checkBegan: Int64 = 0
  /// When the first check began after the last that came to an end. Others may have been cancelled since.
  private var checkingSince: Int64?
  /// The interface that the path led over when the check under way began; `nil` if the system does not say.
  private var checkedInterface: UInt32?
  /// Whether the path has changed, and settled, while the check was under way: another has to follow.
  private var isCheckOutdated = false
  /// When the next check is due, by the environment's clock; `nil` if none is. To be read after each event.
  private(set) var deadline: Int64?
  /// While the path settles: when it has in any case, and how long after that the check comes. The latter is drawn
  /// once. If each change drew it anew, a path that never rests would put the check off for ever.
  private var settling: (end: Int64, spread: Int64)?

  init(_ configuration: SiteMonitorConfiguration) { self.configuration = configuration }

  // MARK: Events

  /// The path to the site has been found, or has changed. `random` is from 0 up to 1, as everywhere here. `delay` is
  /// how long this monitor's check has to wait behind those of others that learn of the path at the same time. It is
  /// called only if a check follows.
  mutating func pathChanged(
    _ new: Reachability, alternativeNames: [String] = [], now: Int64, random: Double, delay: () -> Int64 = { 0 }
  ) -> [Action] {
    let old = path
    if let old, old.isSameState(as: new) { return [] }
    path = new
    self.alternativeNames = alternativeNames
    (retries, pathBegan) = (0, now)
    guard leadsToSite(new) else {
      let failure = failing.map { Failure(verdict: $0.last, time: .nanoseconds(now - $0.since)) }
      failures = 0
      failing = nil
      checkingSince = nil
      deadline = nil
      settling = nil
      told = .offline
      return stopCheck() + [.reportOffline(new.reason, after: failure)]
    }
    var actions = told == .offline ? [Action.forget] : []
    if isOverAnotherInterface(new), !isLongUnderWay(now) { actions += stopCheck() }
    if old == nil {
      // If the path was there before anybody asked, there is nothing to settle.
      let delay = delay()
      if delay == 0 { return actions + startCheck(now) }
      deadline = now.addingClamped(delay)
      return actions
    }
    // Waits until the path is quiet for `settling`, at most four times that after the first change. Then not all
    // monitors of a path check at once.
    let quiet = max(0, configuration.settling.nanosecondsClamped)
    let (end, spread) =
      settling
      ?? (
        now.addingClamped(quiet.multipliedClamped(by: 4)),
        max(Int64(exactly: (Double(quiet) * random).rounded()) ?? .max, delay())
      )
    settling = (end, spread)
    deadline = min(now.addingClamped(quiet), end).addingClamped(spread)
    return actions
  }

  /// The time that `deadline` said has come.
  mutating func timePassed(now: Int64) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    return startCheck(now)
  }

  mutating func checkWasAskedFor(now: Int64) -> [Action] {
    !isChecking && path.map(leadsToSite) ?? false ? startCheck(now) : []
  }

  mutating func checkEnded(_ number: UInt64, _ verdict: SiteVerdict, now: Int64, random: Double) -> [Action] {
    guard isChecking, number == serial else { return [] }
    isChecking = false
    checkingSince = nil
    // The path has changed since it began: one more check, once that has settled.
    let due = isCheckOutdated ? now : deadline ?? .max
    isCheckOutdated = false
    if verdict.isAvailable {
      failures = 0
      failing = nil
      retries = 0
      told = .available
      deadline = min(due, now.addingClamped(Backoff.interval(interval, random: random)))
      return [.report(verdict)]
    }
    if verdict.error?.code == .invalidConfiguration {
      // It stays wrong, and its delays are not to be trusted: retries by them might never rest.
      deadline = nil
      told = .unavailable
      return [.report(verdict)]
    }
    failures += 1
    retries = now - pathBegan < Self.newPath ? 1 : retries + 1
    let since = failing?.since ?? checkBegan
    let isOffline = verdict.kind == .offline
    let earlier = isOffline ? failing?.last : nil
    failing = (since, earlier ?? verdict)
    let retryDelay = Backoff.retryDelay(failure: retries, configuration: configuration, random: random)
    deadline = min(due, now.addingClamped(min(retryDelay, Backoff.interval(interval, random: random))))
    let isTolerated = failures < configuration.failuresBeforeLoss && !isOffline
    if isTolerated, told == .available || told == .offline { return [] }
    told = isOffline ? .offline : .unavailable
    return [.report(verdict.failing(for: .nanoseconds(now - since), at: earlier))]
  }

  // MARK: Checks

  /// Whether a check over this path can tell more than the path itself. It cannot if it is known that no packet leaves.
  /// The check finds out why a name has no address, and whether a server could have been asked for it.
  private func leadsToSite(_ path: Reachability) -> Bool {
    configuration.check.isUsable(path) || path.reason == .nameNotResolved
  }

  private var interval: Duration { isExpensive ? configuration.expensiveInterval : configuration.interval }

  /// Whether what is sent is likely to cost money.
  private var isExpensive: Bool {
    if path?.flags.contains(.isWWAN) ?? false { return true }
    guard let interface = path?.interface else { return false }
    if interface.kind == .cellular { return true }
    return ([interface.name] + alternativeNames).contains(where: configuration.meteredInterfaces.contains)
  }

  private mutating func startCheck(_ now: Int64) -> [Action] {
    deadline = nil
    settling = nil
    if isChecking {
      isCheckOutdated = true
      return []
    }
    isChecking = true
    isCheckOutdated = false
    checkBegan = now
    checkingSince = checkingSince ?? now
    checkedInterface = path?.interface?.index
    serial += 1
    return [.startCheck(serial)]
  }

  private mutating func stopCheck() -> [Action] {
    guard isChecking else { return [] }
    isChecking = false
    return [.cancelCheck]
  }

  /// Whether the path leads over another interface than when the check began. Its connection is then of no use.
  private func isOverAnotherInterface(_ new: Reachability) -> Bool {
    guard let old = checkedInterface, let new = new.interface?.index else { return false }
    return old != new
  }

  /// Whether no check has come to its end for half of the time that a check may take. Then the one under way may
  /// finish, no matter what the path does. Otherwise a path that changes faster than that would hide how the site is.
  private func isLongUnderWay(_ now: Int64) -> Bool {
    guard let checkingSince else { return false }
    return now - checkingSince >= configuration.check.timeout.nanosecondsClamped / 2
  }
}
