// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a monitor, its receivers and the engine share: the newest state and who wants to know of it.
///
/// The engine writes, under its own lock; everybody reads. No lock of this type is held while user code runs.
package final class MonitorStorage: Sendable {
  let target: ReachabilityTarget
  let configuration: ReachabilityConfiguration
  private let snapshot = SequenceLock<Reachability>(.unknown)
  private let isHeldBack = Atomic<Bool>(false)
  private let subscriptions = Lock<[Subscription]>([])

  init(_ target: ReachabilityTarget = .internet, _ configuration: ReachabilityConfiguration = .init()) {
    self.target = target
    self.configuration = configuration
  }

  /// The newest state. Lock-free; for any thread.
  package var current: Reachability { snapshot.load() }

  /// The state that a receiver is to be given next: the newest, unless it was given an equal one last, or it is not known
  /// yet, or changes are held back until it has settled.
  func next(after last: Reachability?) -> Reachability? {
    let newest = snapshot.load()
    guard let last else { return newest.isDetermined || newest.reason != nil ? newest : nil }
    return newest == last || isHeldBack.load(ordering: .acquiring) ? nil : newest
  }

  // MARK: For the engine, which calls these under its lock

  func store(_ state: Reachability) { snapshot.store(state) }

  func holdBack(_ isHeldBack: Bool) { self.isHeldBack.store(isHeldBack, ordering: .releasing) }

  // MARK: For receivers and threads that deliver

  func add(_ subscription: Subscription) { subscriptions.withLock { $0.append(subscription) } }

  func remove(_ subscription: Subscription) {
    // The array may hold the last reference; what that releases is released outside the lock.
    let removed = subscriptions.withLock { subscriptions -> Subscription? in
      guard let position = subscriptions.firstIndex(where: { $0 === subscription }) else { return nil }
      return subscriptions.remove(at: position)
    }
    withExtendedLifetime(removed) {}
  }

  /// Lets every receiver look for a newer state; those that wait for a thread of the engine are added to `waiting`.
  func wakeReceivers(waiting: inout [Subscription]) {
    for subscription in subscriptions.withLock({ $0 }) where subscription.wake() {
      waiting.append(subscription)
    }
  }
}
