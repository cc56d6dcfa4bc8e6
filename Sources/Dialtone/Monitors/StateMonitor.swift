// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What all monitors have in common: a newest state, ways to receive the next ones, and pauses.
///
/// ``ReachabilityMonitor`` and ``PathMonitor`` are monitors, and so are those of sites in `DialtoneSites`. A receiver
/// gets the first known state, then each change; <doc:Delivery> says what it can rely on. You can call everything from
/// any thread and any isolation.
public protocol StateMonitor<State>: AnyObject, Sendable {
  /// What is monitored.
  associatedtype State: DeterminableState

  /// The newest state. Never blocks.
  var current: State { get }

  /// The states as an asynchronous sequence: the known state first, then each change.
  var updates: MonitorUpdates<State> { get }

  /// Stops watching until ``resume()``, for a program that goes to the background.
  ///
  /// While the monitor is paused, nothing is known: ``current`` is not determined, receivers stay registered and get
  /// nothing, and waits wait. Once all monitors are paused, Dialtone has no thread, no socket and no wake-up, unless a
  /// wait with a timeout is under way. Such a wait keeps the engine's two threads until it ends; cancel it before the
  /// pause if you want none. Pausing a paused monitor does nothing. Never blocks.
  func pause()

  /// Goes on watching after ``pause()``; does nothing if the monitor is not paused.
  ///
  /// Receivers get the state once it is known, if it differs from the last one that they got. Never blocks.
  func resume()

  /// Whether the monitor is paused.
  var isPaused: Bool { get }
}

extension StateMonitor {
  /// Waits until the state is determined; returns at once if it already is.
  ///
  /// While a name cannot be looked up, the wait goes on. If the system denies access to the network's state, nobody can
  /// say how long the wait would take, so it ends with an error.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for as long as it takes. With zero or less, only the present
  ///   state counts.
  /// - Returns: The first determined state.
  /// - Throws: ``ReachabilityError`` with the code `timedOut` or `denied`; `CancellationError` if the task is
  ///   cancelled.
  @discardableResult
  public func waitUntilDetermined(timeout: Duration? = nil) async throws -> State {
    let feed = updates.feed
    let state = try await feed.wait(
      until: { $0.isDetermined || $0.isDenied }, timeout: timeout, goal: "\(feed.subject) was not determined")
    if state.isDetermined { return state }
    throw ReachabilityError(.denied, "\(feed.subject): \(state)")
  }

  /// Runs `action` once, as soon as the state is determined: at once if it already is.
  ///
  /// ```swift
  /// let once = monitor.whenDetermined { state in
  ///   print("at first", state)
  /// }
  /// ```
  ///
  /// The action runs in a task of its own, never on the caller's thread. Any number of actions can wait on one monitor.
  /// An action keeps the monitoring alive until it begins.
  ///
  /// - Parameter action: What to do with the first determined state. It never runs twice.
  /// - Returns: The registration. If you cancel or release it before the action has begun, the action never runs.
  public func whenDetermined(
    _ action: @escaping @Sendable @isolated(any) (State) async -> Void
  ) -> ReachabilityObservation {
    updates.feed.once({ $0.isDetermined }, in: action.isolation) { await action($0) }
  }
}
