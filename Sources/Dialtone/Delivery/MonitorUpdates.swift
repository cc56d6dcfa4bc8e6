// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The states of a monitor: the known state first, as soon as there is one, then each change.
///
/// The sequence keeps the monitoring alive. Each iterator is a subscription of its own, and any number can run. An iterator
/// gets every change that it is quick enough for, and always the last one. It ends only if its task is cancelled.
public struct MonitorUpdates<State: Sendable>: AsyncSequence, Sendable {
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

    /// As ``next(isolation:)``.
    public mutating func next() async -> State? { await lease.subscription.next()?.state }
  }
}

@available(*, unavailable)
extension MonitorUpdates.Iterator: Sendable {}
