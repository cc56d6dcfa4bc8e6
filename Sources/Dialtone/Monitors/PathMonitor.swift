// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Follows the ways by which packets can leave this machine: all usable interfaces with kinds, addresses and gateways.
///
/// ```swift
/// for await path in PathMonitor().updates {
///   print(path)  // "satisfied via Wi-Fi (wlan0), wired (eth0)"
/// }
/// ```
///
/// A monitor watches from the moment you make it until it, its observations and its sequences have all been released.
/// Making one never blocks, since it shares the engine of all other monitors. You can use it from any thread and any
/// isolation.
public final class PathMonitor: StateMonitor, DeliveryOwner {
  /// Which interfaces count.
  public let configuration: PathConfiguration

  private let cell = StateCell(unknown: NetworkPath.unknown)
  private let watch: Watch

  /// The engine that watches; while paused, the environment's.
  package var engine: NetworkEngine { watch.engine }

  package func followFork() { watch.followFork() }

  package var subject: String { "the path" }

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - configuration: Which interfaces count, and what they cost.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  public init(configuration: PathConfiguration = .init(), environment: ReachabilityEnvironment = .system) {
    self.configuration = configuration
    watch = Watch(.path(configuration, cell), in: environment, by: environment.provider.engine())
  }

  /// Begins to watch interfaces of one kind.
  public convenience init(requiring kind: InterfaceKind, environment: ReachabilityEnvironment = .system) {
    var configuration = PathConfiguration()
    configuration.requiredKinds = [kind]
    self.init(configuration: configuration, environment: environment)
  }

  /// Begins to watch interfaces of all kinds except these.
  public convenience init(prohibiting kinds: Set<InterfaceKind>, environment: ReachabilityEnvironment = .system) {
    var configuration = PathConfiguration()
    configuration.prohibitedKinds = kinds
    self.init(configuration: configuration, environment: environment)
  }

  /// The newest path; `undetermined` without a reason until something is known. Reading it holds a lock only while it
  /// copies.
  public var current: NetworkPath {
    watch.followFork()
    return cell.current
  }

  /// The paths as an asynchronous sequence: the known path first, then each change.
  public var updates: MonitorUpdates<NetworkPath> { MonitorUpdates(StateFeed(of: self, cell)) }

  // MARK: Pausing

  /// Stops watching until ``resume()``; see ``StateMonitor/pause()``.
  public func pause() { watch.pause() }
  /// Goes on watching after ``pause()``; see ``StateMonitor/resume()``.
  public func resume() { watch.resume() }
  /// Whether the monitor is paused.
  public var isPaused: Bool { watch.isPaused }

  // MARK: Once

  /// Waits until the path is satisfied; returns at once if it is.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for as long as it takes. With zero or less, only the present
  ///   path counts.
  /// - Returns: The path that ended the wait.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`; `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitUntilSatisfied(timeout: Duration? = nil) async throws -> NetworkPath {
    try await updates.feed.wait(
      until: { $0.status == .satisfied }, timeout: timeout, goal: "the path was not satisfied")
  }

  /// Runs `action` once, as soon as the path is satisfied: at once if it already is.
  ///
  /// - Parameter action: What to do. It runs in a task of its own, never on the caller's thread.
  /// - Returns: The registration. If you cancel or release it before the action has begun, the action never runs.
  public func whenSatisfied(_ action: @escaping @Sendable @isolated(any) () async -> Void) -> ReachabilityObservation {
    updates.feed.once({ $0.status == .satisfied }, in: action.isolation) { _ in await action() }
  }
}
