// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The states of a monitor: the known state first, as soon as there is one, then each change.
///
/// The sequence keeps the monitoring alive. Each iterator is a subscription of its own, and any number can run. An
/// iterator gets every change that it is quick enough for, and always the last one. It ends only if its task is
/// cancelled.
public struct MonitorUpdates<State: DeterminableState>: AsyncSequence, Sendable {
  package let feed: StateFeed<State>

  package init(_ feed: StateFeed<State>) { self.feed = feed }

  /// Begins a subscription. It ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(feed.subscribe()) }

  /// Gives the states to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private let lease: StateFeed<State>.Lease

    init(_ lease: StateFeed<State>.Lease) { self.lease = lease }

    /// Returns the next state, as soon as one differs from the last one returned; `nil` once the task is cancelled.
    ///
    /// Of the states that came since the last call, it returns only the newest.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
      await lease.subscription.next()?.state
    }

    /// Like ``next(isolation:)``.
    public mutating func next() async -> State? { await lease.subscription.next()?.state }
  }
}

@available(*, unavailable)
extension MonitorUpdates.Iterator: Sendable {}

/// The values of one property of a monitor's states: first the value in the known state, as soon as there is one, then
/// each change of the property.
///
/// Like ``MonitorUpdates``, it keeps the monitoring alive, and each iterator is a subscription of its own. An iterator
/// ends only if its task is cancelled.
public struct PropertyUpdates<State: DeterminableState, Value: Equatable & Sendable>: AsyncSequence, Sendable {
  private let updates: MonitorUpdates<State>
  private let property: any KeyPath<State, Value> & Sendable

  init(_ updates: MonitorUpdates<State>, _ property: any KeyPath<State, Value> & Sendable) {
    self.updates = updates
    self.property = property
  }

  /// Begins a subscription. It ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(updates.makeAsyncIterator(), property) }

  /// Gives the values to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: MonitorUpdates<State>.Iterator
    private let property: any KeyPath<State, Value> & Sendable
    private var last: Value?

    init(_ states: MonitorUpdates<State>.Iterator, _ property: any KeyPath<State, Value> & Sendable) {
      self.states = states
      self.property = property
    }

    /// Returns the next value, as soon as one differs from the last one returned; `nil` once the task is cancelled.
    ///
    /// Of the values that came since the last call, it returns only the newest.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      while let state = await states.next(isolation: actor) {
        let value = state[keyPath: property]
        if value == last { continue }
        last = value
        return value
      }
      return nil
    }

    /// Like ``next(isolation:)``.
    public mutating func next() async -> Value? { await next(isolation: #isolation) }
  }
}

@available(*, unavailable)
extension PropertyUpdates.Iterator: Sendable {}
