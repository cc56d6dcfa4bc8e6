// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension StateMonitor where State: DeterminableState {
  /// Waits until the state is determined, and returns it; at once if it is.
  ///
  /// A name that cannot be looked up for now is not determined: the wait goes on. If the system denies access to the
  /// network's state, nobody can say how long it would take, and the wait ends with an error.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for as long as it takes. Zero and less ask only for the present state.
  /// - Returns: The first determined state.
  /// - Throws: ``ReachabilityError`` with the code `timedOut` or `denied`; `CancellationError` when the task is cancelled.
  @discardableResult
  public func waitUntilDetermined(timeout: Duration? = nil) async throws -> State {
    let feed = updates.feed
    let state = try await feed.wait(
      until: { $0.isDetermined || $0.isDenied }, timeout: timeout, goal: "\(feed.subject) was not determined")
    if state.isDetermined { return state }
    throw ReachabilityError(.denied, "\(feed.subject) was not determined: \(Reachability.Reason.denied)")
  }

  /// Runs `action` once, as soon as the state is determined, in a task of its own: never on the caller's thread.
  ///
  /// It does not matter when this is called: if the state is determined already, the action is run at once. A state that is
  /// undetermined, whatever the reason, is none to run it for. Any number can be waiting on one monitor. Once the action has begun,
  /// nothing here keeps the monitoring alive.
  ///
  /// ```swift
  /// let once = monitor.whenDetermined { state in
  ///   print("at first", state)
  /// }
  /// ```
  ///
  /// - Parameter action: What to do, with the first determined state. Never called a second time.
  /// - Returns: What keeps it waiting: cancelled or released before the action has begun, it never will.
  public func whenDetermined(
    _ action: @escaping @Sendable (State) async -> Void
  ) -> ReachabilityObservation {
    updates.feed.once({ $0.isDetermined }, action)
  }
}
