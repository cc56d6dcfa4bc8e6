// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension StateMonitor {
  /// Calls `handler` with the state that is known, as soon as one is, and then with each change.
  ///
  /// - Parameter handler: Called on a thread of Dialtone's, one call at a time among all such handlers: be short, or use a
  ///   queue or an actor. The first call may come before this method has returned. While it runs, states may be skipped, but
  ///   never the newest. It may call anything of Dialtone. Signals are blocked on its thread, but for those of faults.
  ///   If the system has no thread to give, it is called by this method, or by one that pauses, resumes or retargets a
  ///   monitor.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observe(_ handler: @escaping @Sendable (State) -> Void) -> ReachabilityObservation {
    updates.feed.observe { handler($0.state) }
  }

  /// Calls `handler` on `queue` with the state that is known, as soon as one is, and then with each change.
  ///
  /// - Parameters:
  ///   - queue: Where to call it; one call at a time, also where the queue is concurrent. The first call may come before this
  ///     method has returned.
  ///   - handler: What to call.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observe(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    updates.feed.observe(on: queue) { handler($0.state) }
  }

  /// Calls `handler` on `actor` with the state that is known, as soon as one is, and then with each change.
  ///
  /// - Parameters:
  ///   - actor: Where to call it. It is not retained; once it has gone, the observation ends at the next change.
  ///   - handler: What to call. After `cancel()` was called on the actor, no call begins.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observe<Isolation: Actor>(
    on actor: Isolation, _ handler: @escaping @Sendable (isolated Isolation, State) -> Void
  ) -> ReachabilityObservation {
    updates.feed.observe { [weak actor] told, isCancelled in
      guard let actor else { return false }
      return await Self.call(on: actor) { actor in
        if isCancelled() { return false }
        handler(actor, told.state)
        return true
      }
    }
  }

  /// Calls `handler` on the main actor with the state that is known, as soon as one is, and then with each change.
  ///
  /// - Parameter handler: What to call. After `cancel()` was called on the main actor, no call begins.
  /// - Returns: What keeps the handler registered: it is called until that is cancelled or released.
  public func observeOnMainActor(
    _ handler: @escaping @MainActor @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    updates.feed.observeOnMainActor { handler($0.state) }
  }

  private static func call<Isolation: Actor>(
    on actor: isolated Isolation, _ body: @Sendable (isolated Isolation) -> Bool
  ) async -> Bool {
    body(actor)
  }
}

extension ReachabilityObservation {
  /// The monitor that it receives from or waits for, which it keeps; `nil` once it has ended.
  ///
  /// ```swift
  /// let once = ReachabilityMonitor(.internet).whenReachable { print("go") }
  /// print((once.monitor as? ReachabilityMonitor)?.current ?? "it has run")
  /// ```
  ///
  /// An action that runs once ends its observation when it begins.
  public var monitor: (any StateMonitor)? { lease.monitor as? any StateMonitor }
}
