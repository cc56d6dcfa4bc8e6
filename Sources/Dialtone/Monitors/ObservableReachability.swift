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
/// another target or is paused, the object becomes `undetermined`. A change that settles comes once it has settled. A
/// change of the source or the destination alone, which receivers are not told of, comes with the next other change.
///
/// It has every property of a ``Reachability``, such as `network.isReachable`, and each is observed by itself: a view
/// that shows `isReachable` is not drawn again if only the interface changes. An observer of ``current`` sees every
/// change.
@MainActor
@dynamicMemberLookup
public final class ObservableReachability: Observable {
  /// The monitor that the object follows, to pause it and to set its target. You can use it from any isolation.
  public nonisolated let monitor: ReachabilityMonitor

  private var state: Reachability
  private let registrar = ObservationRegistrar()
  /// What observers have read, and how to tell that it has changed.
  private var observed: [PartialKeyPath<Reachability>: Property] = [:]
  private var observation: ReachabilityObservation?

  private struct Property {
    let differs: (Reachability, Reachability) -> Bool
    let willChange: () -> Void
    let didChange: () -> Void
  }

  /// Follows `monitor`.
  public init(_ monitor: ReachabilityMonitor) {
    let feed = StateFeed(of: monitor, monitor.cell, .unknownStates)
    let newest = feed.newest
    self.monitor = monitor
    state = newest?.state ?? .unknown
    observation = feed.observeOnMainActor(after: newest) { [weak self] in self?.take($0.state) }
  }

  /// Follows a monitor of its own, which is ``monitor``.
  public convenience init(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) {
    self.init(ReachabilityMonitor(target, configuration: configuration, environment: environment))
  }

  /// The newest state that has reached the main actor.
  ///
  /// It is `undetermined` without a reason until something is known. It is so again while the monitor is paused, and
  /// until the state of another target is known.
  public var current: Reachability { self[dynamicMember: \.self] }

  /// Whether the target can be reached over a cellular link alone; see ``ReachabilityFlags/isCellularOnly``.
  public var isCellularOnly: Bool { self[dynamicMember: \.flags.isCellularOnly] }

  /// A property of the ``current`` state. Its observers are told when it changes, and of no other change.
  public subscript<Value: Equatable>(
    dynamicMember property: any KeyPath<Reachability, Value> & Sendable
  ) -> Value {
    let own: KeyPath<ObservableReachability, Value> = \.[dynamicMember: property]
    registrar.access(self, keyPath: own)
    if observed[property] == nil {
      observed[property] = Property(
        differs: { $0[keyPath: property] != $1[keyPath: property] },
        willChange: { [unowned self] in registrar.willSet(self, keyPath: own) },
        didChange: { [unowned self] in registrar.didSet(self, keyPath: own) })
    }
    return state[keyPath: property]
  }

  private func take(_ new: Reachability) {
    // An equal value would have views drawn again for nothing.
    let changed = observed.values.filter { $0.differs(state, new) }
    for property in changed { property.willChange() }
    state = new
    for property in changed { property.didChange() }
  }
}
