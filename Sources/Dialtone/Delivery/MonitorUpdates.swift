// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The states of a monitor one after another: the one known when iteration begins, as soon as it is known, then each change.
///
/// It keeps the monitoring alive by itself. Each iterator is a subscription of its own: any number can run, each gets every
/// change that it is quick enough for, and always the last one. It ends only when its task is cancelled.
public struct MonitorUpdates<State: Sendable>: AsyncSequence, Sendable {
  package let feed: StateFeed<State>

  package init(_ feed: StateFeed<State>) { self.feed = feed }

  /// Begins a subscription, which ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(feed.subscribe()) }

  /// Gives the states to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private let lease: StateFeed<State>.Lease

    init(_ lease: StateFeed<State>.Lease) { self.lease = lease }

    /// The next state, as soon as there is one that differs from the last one given; `nil` once the task is cancelled.
    ///
    /// Of states that came since the last call, only the newest is given.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
      await lease.subscription.next()?.state
    }

    /// As ``next(isolation:)``.
    public mutating func next() async -> State? { await lease.subscription.next()?.state }
  }
}

@available(*, unavailable)
extension MonitorUpdates.Iterator: Sendable {}
