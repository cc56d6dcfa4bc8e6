// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Waits until packets for a target can leave; returns at once if they can.
///
/// ```swift
/// let server = try ReachabilityTarget.host("example.com:443")
/// try await waitForPath(to: server, timeout: .seconds(30))
/// ```
///
/// It asks ``PathGate/shared``, whose method of this name says more.
@discardableResult
public func waitForPath(
  to target: ReachabilityTarget = .internet, timeout: Duration? = nil
) async throws -> Reachability {
  try await PathGate.shared.waitForPath(to: target, timeout: timeout)
}

/// A gate in front of work that needs the network: it lets work pass as long as there is a path to its target.
///
/// No attempt is made that has to fail, so no client begins to wait longer after each failure. Waiters for the same
/// target share one monitor, which ends half a minute after the last use. You can use a gate from any thread and any
/// isolation.
public final class PathGate: Sendable {
  /// How a gate lets waiters pass.
  public struct Policy: Hashable, Sendable {
    /// Within what time those that have waited go on, evenly spread in the order in which they came. The default is
    /// 50 ms; a single waiter goes on at once.
    public var spread: Duration = .milliseconds(50)

    /// Whether a wait ends at once if somebody has to act before there can be a path. The default is `false`.
    ///
    /// That is so if a route or a rule forbids it, the interface is switched off, or a radio is blocked.
    public var failsFast = false

    /// Creates a policy with the defaults.
    public init() {}
  }

  /// There was no path.
  public struct Unavailable: Error, Hashable, Sendable {
    /// Why a wait ended.
    public enum Cause: Hashable, Sendable {
      /// The timeout passed.
      case timedOut
      /// Somebody has to act first, and the policy asks to fail fast.
      case needsIntervention
      /// The gate was closed.
      case closed
    }

    /// Why the wait ended.
    public let cause: Cause
    /// What could not be reached.
    public let target: ReachabilityTarget
    /// Why not, when the wait ended; `nil` if that was not known.
    public let reason: Reachability.Reason?
    /// How long the wait took.
    public let waited: Duration
    /// How long it was to take at most, and over which interface, in words.
    let timeout: Duration?
    let interface: String
  }

  /// A gate for the whole program, with the default policy.
  public static let shared = PathGate()

  private struct Entry {
    let monitor: ReachabilityMonitor
    /// How many wait now, and how many came since the path was there last.
    var waiters = 0
    var arrivals = 0
    var lastUse = ContinuousClock.now
  }

  private struct State {
    var entries: [ReachabilityTarget: Entry] = [:]
    /// What ends each wait.
    var waits: [UInt64: @Sendable () -> Void] = [:]
    var nextWait: UInt64 = 0
    var isClosed = false
    var isPurging = false
  }

  /// Sets how waiters pass.
  public let policy: Policy
  private let configuration: ReachabilityConfiguration
  private let environment: ReachabilityEnvironment
  private let state = Lock(State())
  private static let lifetime = Duration.seconds(30)

  /// Creates an open gate.
  ///
  /// - Parameters:
  ///   - policy: How waiters pass.
  ///   - configuration: How targets are looked at.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  public init(
    policy: Policy = .init(), configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) {
    self.policy = policy
    self.configuration = configuration
    self.environment = environment
  }

  /// How many wait now.
  public var waiterCount: Int { state.withLock { $0.waits.count } }

  /// Ends all waits with ``Unavailable/Cause/closed``, and those to come.
  public func close() {
    let waits = state.withLock { state in
      state.isClosed = true
      state.entries = [:]
      return Array(state.waits.values)
    }
    for end in waits { end() }
  }

  /// Waits until packets for `target` can leave; returns at once if they can.
  ///
  /// If the system denies access to the network's state, nobody can say: then it returns at once, too, with an
  /// undetermined state.
  ///
  /// - Parameters:
  ///   - target: What the work needs.
  ///   - timeout: How long to wait at most; `nil` for as long as it takes. With zero or less, only the present state
  ///     counts, as ``Reachability/now(_:configuration:environment:)`` asks for it.
  /// - Returns: The state that let the work pass.
  /// - Throws: ``Unavailable``; `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitForPath(
    to target: ReachabilityTarget = .internet, timeout: Duration? = nil
  ) async throws -> Reachability {
    let start = now
    // So long that no difference overflows.
    let timeout = timeout.map { Duration.nanoseconds($0.nanosecondsClamped) }
    let monitor = try self.monitor(of: target)
    try Task.checkCancellation()
    var state = monitor.current
    // There is no time to wait for the monitor's first state.
    if !state.isKnown, let timeout, timeout <= .zero {
      state = .now(target, configuration: configuration, environment: environment)
    }
    while true {
      if passes(state) { return state }
      if policy.failsFast, state.reason?.needsIntervention == true {
        throw unavailable(.needsIntervention, target, state, timeout: timeout, since: start)
      }
      state = try await wait(for: monitor, target, timeout: timeout, since: start, knowing: state)
    }
  }

  // MARK: Waiting

  /// The time of the environment's clock, which is also that of timeouts.
  private var now: Int64 { environment.provider.time.now() }

  private func waited(since start: Int64) -> Duration { .nanoseconds(now - start) }

  private func passes(_ state: Reachability) -> Bool { state.isReachable || state.isDenied }

  private func unavailable(
    _ cause: Unavailable.Cause, _ target: ReachabilityTarget, _ state: Reachability?, timeout: Duration?,
    since start: Int64
  ) -> Unavailable {
    Unavailable(
      cause: cause, target: target, reason: state?.reason, waited: waited(since: start), timeout: timeout,
      interface: configuration.words)
  }

  /// Waits for a state that ends the wait, and for the turn among those who waited, in which it may have changed.
  private func wait(
    for monitor: ReachabilityMonitor, _ target: ReachabilityTarget, timeout: Duration?, since start: Int64,
    knowing known: Reachability
  ) async throws -> Reachability {
    let (number, arrival) = state.withLock { state in
      state.nextWait += 1
      let arrival = state.entries[target]?.arrivals ?? 0
      state.entries[target]?.waiters += 1
      state.entries[target]?.arrivals += 1
      return (state.nextWait, arrival)
    }
    defer { state.withLock { $0.waits[number] = nil } }
    do {
      let left = timeout.map { $0 - waited(since: start) }
      let (end, place) = try await path(to: target, monitor, timeout: left, number, arrival, knowing: known)
      guard place > 0, policy.spread > .zero, passes(end) else { return end }
      let pause = policy.spread * place
      let rest = timeout.map { min(pause, max($0 - waited(since: start), .zero)) } ?? pause
      return try await turn(monitor, in: rest, number)
    } catch {
      if Task.isCancelled { throw CancellationError() }
      let isClosed = state.withLock { $0.isClosed }
      guard isClosed || (error as? ReachabilityError)?.code == .timedOut else { throw error }
      let end = monitor.current
      throw unavailable(
        isClosed ? .closed : .timedOut, target, end.isKnown ? end : known, timeout: timeout, since: start)
    }
  }

  /// The state that ended a wait, and the place among those who waited, from 0 to 1.
  private func path(
    to target: ReachabilityTarget, _ monitor: ReachabilityMonitor, timeout: Duration?, _ number: UInt64,
    _ arrival: Int, knowing known: Reachability
  ) async throws -> (Reachability, Double) {
    defer { leave(target) }
    // Who learns first of all that there is a path has not waited for one.
    var hasWaited = known.isKnown
    let end = try await monitor.wait("reachable", timeout: timeout, begun: { note($0, of: number) }) { state in
      if passes(state) || policy.failsFast && state.reason?.needsIntervention == true { return true }
      hasWaited = true
      return false
    }
    let all = state.withLock { $0.entries[target]?.arrivals ?? 1 }
    return (end, hasWaited ? Double(arrival) / Double(max(all, 1)) : 0)
  }

  /// Keeps those that waited together apart, by the clock of the environment. Returns the state at the end.
  private func turn(_ monitor: ReachabilityMonitor, in time: Duration, _ number: UInt64) async throws -> Reachability {
    do {
      return try await monitor.wait("its turn", timeout: time, begun: { note($0, of: number) }) { _ in false }
    } catch let error as ReachabilityError where error.code == .timedOut && !state.withLock({ $0.isClosed }) {
      return monitor.current
    }
  }

  /// Notes what ends a wait. If the gate is closed, the wait ends at once.
  private func note(_ end: @escaping @Sendable () -> Void, of number: UInt64) {
    let isClosed = state.withLock { state in
      state.waits[number] = end
      return state.isClosed
    }
    if isClosed { end() }
  }

  /// The monitor that waiters for `target` share.
  package func monitor(of target: ReachabilityTarget) throws(Unavailable) -> ReachabilityMonitor {
    let (monitor, purges) = state.withLock { state -> (ReachabilityMonitor?, Bool) in
      if state.isClosed { return (nil, false) }
      let new = { ReachabilityMonitor(target, configuration: self.configuration, environment: self.environment) }
      var entry = state.entries[target] ?? Entry(monitor: new())
      entry.lastUse = .now
      state.entries[target] = entry
      defer { state.isPurging = true }
      return (entry.monitor, !state.isPurging)
    }
    if purges { purgeLater() }
    guard let monitor else { throw unavailable(.closed, target, nil, timeout: nil, since: now) }
    return monitor
  }

  private func leave(_ target: ReachabilityTarget) {
    state.withLock { state in
      guard var entry = state.entries[target] else { return }
      entry.waiters -= 1
      entry.lastUse = .now
      if entry.waiters == 0 { entry.arrivals = 0 }
      state.entries[target] = entry
    }
  }

  /// Ends monitors that nobody has used for a while: a name would be looked up for ever.
  private func purgeLater() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(Self.lifetime.components.seconds))) {
      [weak self] in self?.purge()
    }
  }

  private func purge() {
    // Released outside of the lock: with its last monitor an engine ends.
    let (unused, goesOn) = state.withLock { state in
      let limit = ContinuousClock.now - Self.lifetime
      let unused = state.entries.filter { $0.value.waiters == 0 && $0.value.lastUse <= limit }
      for target in unused.keys { state.entries[target] = nil }
      state.isPurging = !state.entries.isEmpty
      return (unused, state.isPurging)
    }
    withExtendedLifetime(unused) {}
    if goesOn { purgeLater() }
  }
}

extension PathGate.Unavailable: CustomStringConvertible {
  /// What was awaited, for how long, and why there is no path.
  public var description: String {
    let why = reason.map { ": \($0)" } ?? ""
    let path = "path to \(target)\(interface)"
    return switch cause {
    case .timedOut: "no \(path) within \(timeout ?? waited)\(why)"
    case .needsIntervention: "no \(path) until somebody acts\(why)"
    case .closed: "the wait for a \(path) was ended: the gate is closed\(why)"
    }
  }
}
