// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state, and the one that was given before it.
public struct ReachabilityChange: Sendable, Hashable {
  /// The new state.
  public let state: Reachability

  /// The state that the same iterator gave before; `nil` at first.
  ///
  /// If the program was slow, there may have been others between the two.
  public let former: Reachability?

  /// Creates a change, for tests and previews.
  public init(to state: Reachability, from former: Reachability? = nil) {
    self.state = state
    self.former = former
  }

  /// How long it was from the beginning of the former state to that of the new one; `nil` at first, if one of them is
  /// not known, or if the system's clock was set back between the two.
  ///
  /// It is the time between two timestamps of the system's clock: setting that clock forward adds to it.
  public var lasted: Duration? {
    guard let start = former?.timestamp, let end = state.timestamp, start <= end else { return nil }
    return start.duration(to: end)
  }
}

/// The states of a monitor, each with the one before it: the known state first, as soon as there is one, then each
/// change.
///
/// Like ``MonitorUpdates``, it keeps the monitoring alive, and each iterator is a subscription of its own. An iterator
/// ends only if its task is cancelled.
public struct ReachabilityChanges: AsyncSequence, Sendable {
  private let updates: MonitorUpdates<Reachability>

  init(_ updates: MonitorUpdates<Reachability>) { self.updates = updates }

  /// Begins a subscription. It ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(updates.makeAsyncIterator()) }

  /// Gives the changes to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: MonitorUpdates<Reachability>.Iterator
    private var former: Reachability?

    init(_ states: MonitorUpdates<Reachability>.Iterator) { self.states = states }

    /// Returns the next change, as soon as a state differs from the last one returned; `nil` once the task is
    /// cancelled.
    ///
    /// Of the states that came since the last call, it returns only the newest.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityChange? {
      guard let state = await states.next(isolation: actor) else { return nil }
      defer { former = state }
      return ReachabilityChange(to: state, from: former)
    }

    /// Like ``next(isolation:)``.
    public mutating func next() async -> ReachabilityChange? { await next(isolation: #isolation) }
  }
}

@available(*, unavailable)
extension ReachabilityChanges.Iterator: Sendable {}

extension ReachabilityMonitor {
  /// The states, each with the one before it and how long that lasted.
  ///
  /// ```swift
  /// for await change in monitor.changes {
  ///   if change.state.isReachable, let lasted = change.lasted { print("back after", lasted) }
  /// }
  /// ```
  public var changes: ReachabilityChanges { ReachabilityChanges(updates) }
}
