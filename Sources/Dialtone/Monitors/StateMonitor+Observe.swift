// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension StateMonitor {
  /// Calls `handler` with the known state, as soon as there is one, and then with each change.
  ///
  /// ```swift
  /// let observation = monitor.observe { state in print(state) }  // keep it
  /// ```
  ///
  /// - Parameter handler: It runs on one of Dialtone's threads, where all such handlers run one at a time. Keep it
  ///   short, or use a queue or an actor. The first call may come before this method returns. While the handler runs,
  ///   states may be skipped, but never the newest. It may call anything of Dialtone. All signals are blocked on its
  ///   thread, except those of faults. If the system has no thread to give, this method calls the handler, or the
  ///   method that pauses, resumes or retargets a monitor does.
  /// - Returns: The registration. The handler is called until you cancel or release it.
  public func observe(_ handler: @escaping @Sendable (State) -> Void) -> ReachabilityObservation {
    updates.feed.observe { handler($0.state) }
  }

  /// Calls `handler` on `queue` with the known state, as soon as there is one, and then with each change.
  ///
  /// - Parameters:
  ///   - queue: The queue for the calls. There is one call at a time, even if the queue is concurrent. The first call
  ///     may come before this method returns.
  ///   - handler: The function to call.
  /// - Returns: The registration. The handler is called until you cancel or release it.
  public func observe(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    updates.feed.observe(on: queue) { handler($0.state) }
  }

  /// Calls `handler` on `actor` with the known state, as soon as there is one, and then with each change.
  ///
  /// - Parameters:
  ///   - actor: The actor for the calls. It is not retained; once it is gone, the observation ends at the next change.
  ///   - handler: The function to call. If you call `cancel()` on the actor, no call begins afterwards.
  /// - Returns: The registration. The handler is called until you cancel or release it.
  public func observe<Isolation: Actor>(
    on actor: Isolation, _ handler: @escaping @Sendable (isolated Isolation, State) -> Void
  ) -> ReachabilityObservation {
    updates.feed.observe(on: actor) { handler($0, $1.state) }
  }

  /// Calls `handler` on the main actor with the known state, as soon as there is one, and then with each change.
  ///
  /// - Parameter handler: The function to call. If you call `cancel()` on the main actor, no call begins afterwards.
  /// - Returns: The registration. The handler is called until you cancel or release it.
  public func observeOnMainActor(
    _ handler: @escaping @MainActor @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    updates.feed.observeOnMainActor { handler($0.state) }
  }
}

extension ReachabilityObservation {
  /// The monitor with which the receiver is registered. The registration keeps it; `nil` once that has ended.
  ///
  /// ```swift
  /// let once = ReachabilityMonitor(.internet).whenReachable { print("go") }
  /// print((once.monitor as? ReachabilityMonitor)?.current ?? "it has run")
  /// ```
  ///
  /// An action that runs once ends its registration when it begins.
  public var monitor: (any StateMonitor)? { lease.monitor as? any StateMonitor }
}
