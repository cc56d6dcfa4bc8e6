// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Follows whether one target can be reached.
///
/// ```swift
/// let monitor = ReachabilityMonitor(.internet)
/// for await reachability in monitor.updates {
///   print(reachability)  // "reachable via Wi-Fi (wlan0)"
/// }
/// ```
///
/// It watches from the moment it is made until it, its observations and its sequences have all been released. Making one
/// never blocks; any number of them share one engine. All of it is for any thread and any isolation.
public final class ReachabilityMonitor: Sendable {
  /// One monitor of ``ReachabilityTarget/internet`` for the whole program, made when it is first used.
  public static let shared = ReachabilityMonitor(.internet)

  /// What is watched.
  public var target: ReachabilityTarget { storage.target }

  /// How it is looked at.
  public var configuration: ReachabilityConfiguration { storage.configuration }

  let storage: MonitorStorage
  let engine: NetworkEngine

  /// Begins to watch `target`.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable.
  ///   - configuration: Interface, mark, family and settling.
  ///   - environment: Where the knowledge comes from; the system, but for tests.
  public init(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) {
    storage = MonitorStorage(target, configuration)
    engine = environment.slot.engine()
    engine.add(storage)
  }

  deinit { engine.remove(storage) }

  /// The newest state. Never blocks and takes no lock; `undetermined` without a reason until something is known.
  public var current: Reachability { storage.current }

  /// The states one after another, as an asynchronous sequence: first the one that is known, then each change.
  public var updates: ReachabilityUpdates { ReachabilityUpdates(self) }
}
