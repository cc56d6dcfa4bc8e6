// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Observation

/// A target's state for SwiftUI and other observers of `Observable` objects, on the main actor.
///
/// ```swift
/// @State private var network = ObservableReachability(.internet)
/// ```
///
/// The object takes each state of its monitor, in order, as soon as the main actor has time. If the monitor gets
/// another target or is paused, the object becomes `undetermined`. A change that settles comes once it has settled.
///
/// Observation is per property: a view that shows ``isReachable`` is not drawn again if only the interface changes. An
/// observer of ``current`` sees every change.
@MainActor
@Observable
public final class ObservableReachability {
  /// The monitor that the object follows, to pause it and to set its target. You can use it from any isolation.
  public nonisolated let monitor: ReachabilityMonitor

  /// The newest state that has reached the main actor.
  ///
  /// It is `undetermined` without a reason until something is known. It is so again while the monitor is paused, and
  /// until the state of another target is known.
  public private(set) var current: Reachability

  // These are stored beside the state, since observers are told property by property.

  /// What is known of the target.
  public private(set) var status: Reachability.Status

  /// Whether a packet for the target can leave now.
  public private(set) var isReachable: Bool

  /// Whether the state is known: `false` until something is, and while the system does not say.
  public private(set) var isDetermined: Bool

  /// The state's flags; empty until something is known.
  public private(set) var flags: ReachabilityFlags

  /// Whether the target can be reached over a cellular link alone; see ``ReachabilityFlags/isCellularOnly``.
  public private(set) var isCellularOnly: Bool

  /// The interface that the packets leave by; `nil` if none is known.
  public private(set) var interface: NetworkInterface?

  /// The router that the packets go to first; `nil` if the target is on the link or local.
  public private(set) var gateway: IPAddress?

  /// Why the target is not reachable; `nil` if it is, or if nothing is known yet.
  public private(set) var reason: Reachability.Reason?

  /// Follows the states.
  @ObservationIgnored private var observation: ReachabilityObservation?

  /// Follows `monitor`.
  public init(_ monitor: ReachabilityMonitor) {
    let feed = StateFeed(of: monitor, monitor.cell, .unknownStates)
    let newest = feed.newest
    let state = newest?.state ?? .unknown
    self.monitor = monitor
    current = state
    status = state.status
    isReachable = state.isReachable
    isDetermined = state.isDetermined
    flags = state.flags
    isCellularOnly = state.flags.isCellularOnly
    interface = state.interface
    gateway = state.gateway
    reason = state.reason
    observation = feed.observe(after: newest) { [weak self] given, lease in
      await MainActor.run {
        if lease.hasEnded { return false }
        self?.take(given.state)
        return true
      }
    }
  }

  /// Follows a monitor of its own, which is ``monitor``.
  public convenience init(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) {
    self.init(ReachabilityMonitor(target, configuration: configuration, environment: environment))
  }

  private func take(_ state: Reachability) {
    set(\.current, state)
    set(\.status, state.status)
    set(\.isReachable, state.isReachable)
    set(\.isDetermined, state.isDetermined)
    set(\.flags, state.flags)
    set(\.isCellularOnly, state.flags.isCellularOnly)
    set(\.interface, state.interface)
    set(\.gateway, state.gateway)
    set(\.reason, state.reason)
  }

  /// Assigns only another value: an equal one would have views drawn again for nothing.
  private func set<Value: Equatable>(
    _ property: ReferenceWritableKeyPath<ObservableReachability, Value>, _ value: Value
  ) {
    if self[keyPath: property] != value { self[keyPath: property] = value }
  }
}
