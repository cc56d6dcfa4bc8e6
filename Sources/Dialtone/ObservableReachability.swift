// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Observation

/// A target's state for SwiftUI and whatever else follows `Observable` objects, on the main actor.
///
/// It has each state of its monitor, in order, as soon as the main actor has time; also that nothing is known any more, where the
/// monitor is given another target or is paused. A change that settles comes once it has.
///
/// ```swift
/// @State private var network = ObservableReachability(.internet)
/// ```
@MainActor
@Observable
public final class ObservableReachability {
  /// The newest state that has reached the main actor; `undetermined` without a reason until something is known, and again where the
  /// monitor is given another target, until its state is, and while it is paused.
  public private(set) var current: Reachability

  /// Follows the states; keeps the monitor.
  @ObservationIgnored private var observation: ReachabilityObservation?

  /// Follows `monitor`.
  public init(_ monitor: ReachabilityMonitor) {
    current = monitor.current
    observation = monitor.updates.feed.observe(takesUnknown: true) { [weak self] state, isCancelled in
      await MainActor.run {
        if isCancelled() { return false }
        // Assigning an equal state would have views drawn again for nothing.
        if let self, self.current != state { self.current = state }
        return true
      }
    }
  }

  /// Follows a monitor of its own.
  public convenience init(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) {
    self.init(ReachabilityMonitor(target, configuration: configuration, environment: environment))
  }

  /// Whether a packet for the target can leave now.
  public var isReachable: Bool { current.isReachable }

  /// Whether the state is known: `false` until something is, and while the system does not say.
  public var isDetermined: Bool { current.isDetermined }

  /// The state's flags; empty until something is known.
  public var flags: ReachabilityFlags { current.flags }
}
