// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The states of a target one after another: the one known when iteration begins, as soon as it is known, then each change.
///
/// It keeps the monitoring alive by itself. Each iterator is a subscription of its own: any number can run, each gets every
/// change that it is quick enough for, and always the last one. It ends only when its task is cancelled.
public struct ReachabilityUpdates: AsyncSequence, Sendable {
  private let monitor: ReachabilityMonitor

  init(_ monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Begins a subscription, which ends when the iterator is released.
  public func makeAsyncIterator() -> Iterator { Iterator(monitor) }

  /// Gives the states to one task.
  public struct Iterator: AsyncIteratorProtocol {
    /// Ends the subscription with the last copy of the iterator, and keeps the monitor until then.
    private final class Lease: Sendable {
      let monitor: ReachabilityMonitor
      let subscription: Subscription

      init(_ monitor: ReachabilityMonitor) {
        self.monitor = monitor
        subscription = Subscription(monitor.storage)
        monitor.storage.add(subscription)
      }

      deinit { subscription.cancel() }
    }

    private let lease: Lease

    init(_ monitor: ReachabilityMonitor) { lease = Lease(monitor) }

    /// The next state, as soon as there is one that differs from the last one given; `nil` once the task is cancelled.
    ///
    /// Of states that came since the last call, only the newest is given.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Reachability? {
      await lease.subscription.next()
    }

    /// As ``next(isolation:)``.
    public mutating func next() async -> Reachability? { await lease.subscription.next() }
  }
}

@available(*, unavailable)
extension ReachabilityUpdates.Iterator: Sendable {}
