// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Follows the ways that packets can leave this machine by: all usable interfaces with kinds, addresses and gateways.
///
/// ```swift
/// for await path in PathMonitor().updates {
///   print(path)  // "satisfied via Wi-Fi (wlan0), wired (eth0)"
/// }
/// ```
///
/// It watches from the moment it is made until it, its observations and its sequences have all been released. Making one
/// never blocks; it shares the engine of all other monitors. All of it is for any thread and any isolation.
public final class PathMonitor: StateMonitor, DeliveryOwner {
  /// Which interfaces count.
  public let configuration: PathConfiguration

  private let cell = StateCell(unknown: NetworkPath.unknown)
  private let watch: Watch

  /// The engine that watches, or, while paused, the environment's.
  package var engine: NetworkEngine { watch.engine }

  package var executor: any DeliveryExecutor { engine }

  package func followFork() { watch.followFork() }

  package var subject: String { "the path" }

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - configuration: Which interfaces count, and what they cost.
  ///   - environment: Where the knowledge comes from; the system, but for tests.
  public init(_ configuration: PathConfiguration = .init(), environment: ReachabilityEnvironment = .system) {
    self.configuration = configuration
    watch = Watch(.path(configuration, cell), in: environment)
  }

  /// Begins to watch interfaces of one kind.
  public convenience init(requiring kind: InterfaceKind, environment: ReachabilityEnvironment = .system) {
    var configuration = PathConfiguration()
    configuration.requiredKinds = [kind]
    self.init(configuration, environment: environment)
  }

  /// Begins to watch interfaces of all kinds but these.
  public convenience init(prohibiting kinds: Set<InterfaceKind>, environment: ReachabilityEnvironment = .system) {
    var configuration = PathConfiguration()
    configuration.prohibitedKinds = kinds
    self.init(configuration, environment: environment)
  }

  /// The newest path; `undetermined` without a reason until something is known. Takes a lock for the time of a copy.
  public var current: NetworkPath {
    watch.followFork()
    return cell.current
  }

  /// The paths one after another, as an asynchronous sequence: first the one that is known, then each change.
  public var updates: MonitorUpdates<NetworkPath> { MonitorUpdates(StateFeed(of: self, cell)) }

  // MARK: Pausing

  /// Stops watching until ``resume()``, for a program that goes to the background.
  ///
  /// While paused nothing is known: ``current`` is `undetermined` without a reason, receivers stay registered and are told
  /// nothing, and waits wait. What runs on in a pause of all monitors, ``ReachabilityMonitor/pause()`` says. To pause twice is to
  /// pause once.
  public func pause() { watch.pause() }

  /// Goes on watching after ``pause()``; does nothing where it was not paused.
  ///
  /// Receivers are told of the path once it is known, if it differs from the last that they were given.
  public func resume() { watch.resume() }

  /// Whether it is paused.
  public var isPaused: Bool { watch.isPaused }

  // MARK: Once

  /// Waits until the path is satisfied; returns at once if it is.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for as long as it takes. Zero and less ask only for the present path.
  /// - Returns: The path that ended the wait.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`; `CancellationError` when the task is cancelled.
  @discardableResult
  public func waitUntilSatisfied(timeout: Duration? = nil) async throws -> NetworkPath {
    try await updates.feed.wait(
      until: { $0.status == .satisfied }, timeout: timeout, goal: "the path was not satisfied")
  }

  /// Waits for the first path that receivers are told of: a determined one, or one with a reason why it is not. What
  /// programs ask for is ``StateMonitor/waitUntilDetermined(timeout:)``.
  package func waitUntilKnown(timeout: Duration? = nil) async throws -> NetworkPath {
    try await updates.feed.wait(until: { _ in true }, timeout: timeout, goal: "the path was not known")
  }

  /// Runs `action` once, as soon as the path is satisfied, in a task of its own: never on the caller's thread.
  ///
  /// - Parameter action: What to do.
  /// - Returns: What keeps it waiting: cancelled or released before the action has begun, it never will.
  public func whenSatisfied(_ action: @escaping @Sendable () async -> Void) -> ReachabilityObservation {
    updates.feed.once({ $0.status == .satisfied }) { _ in await action() }
  }
}
