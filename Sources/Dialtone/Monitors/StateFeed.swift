// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// What a feed needs of a monitor.
package protocol DeliveryOwner: AnyObject, Sendable {
  /// Its threads and timers serve the receivers. A caller keeps it as long as it has work there.
  var engine: NetworkEngine { get }

  /// Has its states watched anew, if this process was forked since.
  func followFork()

  /// What the monitor is about, in the words of an error.
  var subject: String { get }

  /// Whether nothing is known because nothing is watched.
  var isPaused: Bool { get }
}

extension DeliveryOwner {
  package var subject: String { "the state" }

  package func followFork() {}
}

/// All that a receiver of a monitor's states needs: the monitor, which it keeps alive, the states, and the threads and
/// timers that serve it. Every way to listen is built on this, once for all kinds of monitors.
package struct StateFeed<State: DeterminableState>: Sendable {
  private let monitor: any DeliveryOwner
  private let cell: StateCell<State>
  private let options: ReceiverOptions

  /// The `options` say what receivers get besides known states that differ.
  package init(of monitor: any DeliveryOwner, _ cell: StateCell<State>, _ options: ReceiverOptions = []) {
    self.monitor = monitor
    self.cell = cell
    self.options = options
    monitor.followFork()
  }

  /// What the states are about, in the words of an error.
  var subject: String { monitor.subject }

  /// What a new receiver is given now: the newest state, if it is known or the options include the unknown one.
  package var newest: Snapshot<State>? { cell.next(after: nil, options) }

  // MARK: Handlers

  package func observe(_ handler: @escaping @Sendable (Snapshot<State>) -> Void) -> ReachabilityObservation {
    observe(Subscription(cell, options, handler: handler))
  }

  package func observe(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (Snapshot<State>) -> Void
  ) -> ReachabilityObservation {
    observe(Subscription(cell, options, queue: queue, handler: handler))
  }

  private func observe(_ subscription: Subscription<State>) -> ReachabilityObservation {
    let lease = begin(subscription)
    // The present state, if it is known. Asking for the engine of a paused monitor may start one.
    if newest != nil { monitor.engine.deliver(subscription.wake) }
    return ReachabilityObservation(lease)
  }

  /// Calls `body` with each state, in one task for the whole observation, so that calls keep the order of changes.
  /// `body` returns whether to go on; the lease says whether the observation has ended. The receiver is treated as if
  /// it had been given `last`.
  package func observe(
    after last: Snapshot<State>? = nil,
    _ body: @escaping @Sendable (Snapshot<State>, ReachabilityObservation.Lease) async -> Bool
  ) -> ReachabilityObservation {
    let subscription = Subscription(cell, options, after: last)
    let lease = begin(subscription)
    // Detached: task-local values of the caller must not reach later calls.
    Task.detached {
      while let given = await subscription.next() {
        guard await body(given, lease) else { break }
      }
      lease.end()
    }
    return ReachabilityObservation(lease)
  }

  private func begin(_ subscription: Subscription<State>) -> ReachabilityObservation.Lease {
    let lease = ReachabilityObservation.Lease(monitor)
    cell.add(subscription)
    lease.onEnd { subscription.cancel() }
    return lease
  }

  package func observeOnMainActor(
    _ handler: @escaping @MainActor @Sendable (Snapshot<State>) -> Void
  ) -> ReachabilityObservation {
    observe { given, lease in
      await MainActor.run {
        if lease.hasEnded { return false }
        handler(given)
        return true
      }
    }
  }

  // MARK: One by one

  /// Returns a subscription for a task or a thread that asks for each state. It ends when the registration is released.
  func subscribe() -> (registration: ReachabilityObservation, subscription: Subscription<State>) {
    let subscription = Subscription(cell, options)
    return (ReachabilityObservation(begin(subscription)), subscription)
  }

  // MARK: Once

  /// Waits for a state that meets the condition. `goal` says what the wait is for, in the words of an error. `begun`
  /// gets what ends the wait as its timeout would.
  package func wait(
    until isMet: (State) -> Bool, timeout: Duration?, goal: @autoclosure () -> String,
    begun: (_ end: @escaping @Sendable () -> Void) -> Void = { _ in }
  ) async throws -> State {
    try Task.checkCancellation()
    let subscription = Subscription(cell, options)
    cell.add(subscription)
    defer { subscription.cancel() }
    begun { subscription.cancel() }
    // Without time to wait, or a timer to end the wait, only the present state counts.
    func present(_ remark: String) throws -> State {
      if let given = cell.next(after: nil, options), isMet(given.state) { return given.state }
      throw ReachabilityError(.timedOut, "\(goal()) at once, and \(remark)\(newestInWords)")
    }
    // First, since asking for the engine of a paused monitor may start an engine.
    if let timeout, timeout <= .zero { return try present("there was no time to wait") }
    var timer: DeliveryTimer?
    defer { timer?.cancel() }
    // The engine keeps the time, so it has to live as long as this waits.
    let engine = timeout == nil ? nil : monitor.engine
    defer { withExtendedLifetime(engine) {} }
    if let timeout {
      // Ends the subscription, and so the loop below.
      timer = engine?.schedule(after: timeout) { subscription.cancel() }
      if timer == nil { return try present("the system has no thread to give to wait with") }
    }
    while let given = await subscription.next() {
      if isMet(given.state) { return given.state }
    }
    try Task.checkCancellation()
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout ?? .zero)\(newestInWords)")
  }

  /// The newest state, or why there is none, at the end of an error; empty if the reason is not known.
  private var newestInWords: String {
    newest.map { "; now: \($0.state)" } ?? (monitor.isPaused ? "; the monitor is paused" : "")
  }

  /// Blocks the thread until a state is known. `goal` says what the wait is for, in the words of an error.
  func block(timeout: Duration, goal: @autoclosure () -> String) throws(ReachabilityError) -> State {
    let (registration, subscription) = subscribe()
    // Not by a timer of the engine: its clock may be a test's, and this thread must be released in any case.
    let nanoseconds = Int(clamping: max(0, timeout.nanosecondsClamped))
    let first = withExtendedLifetime(registration) { subscription.first(by: .now() + .nanoseconds(nanoseconds)) }
    if let first { return first.state }
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout)")
  }

  /// Runs `action` once, in a task of its own, with the first state that meets the condition.
  package func once(
    _ isMet: @escaping @Sendable (State) -> Bool, _ action: @escaping @Sendable (State) async -> Void
  ) -> ReachabilityObservation {
    observe { given, lease in
      guard isMet(given.state) else { return true }
      // Only one ends the lease, this or a cancellation.
      if lease.end() { await action(given.state) }
      return false
    }
  }
}
