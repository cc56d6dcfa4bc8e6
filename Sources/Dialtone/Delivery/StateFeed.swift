// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// All that a receiver of a monitor's states needs: the monitor, which it keeps alive, the states, and the threads and
/// timers that serve it. Every way to listen is built on this, once for all kinds of monitors.
package struct StateFeed<State: Sendable>: Sendable {
  private let monitor: any DeliveryOwner
  private let source: any StateSource<State>
  private let interest: StateInterest

  /// The `interest` says what receivers are told besides known states that differ.
  package init(of monitor: any DeliveryOwner, _ source: any StateSource<State>, _ interest: StateInterest = []) {
    self.monitor = monitor
    self.source = source
    self.interest = interest
    monitor.followFork()
  }

  /// What the states are about, in the words of an error.
  var subject: String { monitor.subject }

  /// What a new receiver is told now: the newest state, if it is known or the interest includes the unknown one.
  package var newest: Told<State>? { source.next(after: nil, interest) }

  // MARK: Handlers

  package func observe(_ handler: @escaping @Sendable (Told<State>) -> Void) -> ReachabilityObservation {
    observe(Subscription(source, interest, handler: handler))
  }

  package func observe(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (Told<State>) -> Void
  ) -> ReachabilityObservation {
    observe(Subscription(source, interest, queue: queue, handler: handler))
  }

  private func observe(_ subscription: Subscription<State>) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    lease.onEnd { subscription.cancel() }
    source.add(subscription)
    // The present state, if it is known.
    if subscription.wake() { monitor.executor.deliver([subscription]) }
    return ReachabilityObservation(lease)
  }

  /// Calls `body` with each state, in one task for the whole observation, so that calls keep the order of changes.
  /// `body` returns whether to go on. The receiver is treated as if it had been told of `last`.
  package func observe(
    after last: Told<State>? = nil,
    _ body: @escaping @Sendable (Told<State>, _ isCancelled: @Sendable () -> Bool) async -> Bool
  ) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    let subscription = Subscription(source, interest, after: last)
    source.add(subscription)
    lease.onEnd { subscription.cancel() }
    // Detached: task-local values of the caller must not reach later calls.
    Task.detached {
      while let told = await subscription.next() {
        guard await body(told, { lease.hasEnded }) else { break }
      }
      lease.end()
    }
    return ReachabilityObservation(lease)
  }

  package func observeOnMainActor(
    _ handler: @escaping @MainActor @Sendable (Told<State>) -> Void
  ) -> ReachabilityObservation {
    observe { told, isCancelled in
      await MainActor.run {
        if isCancelled() { return false }
        handler(told)
        return true
      }
    }
  }

  // MARK: One by one

  /// Keeps the monitor and the subscription until its last reference is released; then it ends the subscription.
  final class Lease: Sendable {
    private let feed: StateFeed
    let subscription: Subscription<State>

    fileprivate init(_ feed: StateFeed) {
      self.feed = feed
      subscription = Subscription(feed.source, feed.interest)
      feed.source.add(subscription)
    }

    deinit { subscription.cancel() }
  }

  func subscribe() -> Lease { Lease(self) }

  // MARK: Once

  /// Waits for a state that meets the condition. `goal` says what the wait is for, in the words of an error.
  package func wait(
    until isMet: (State) -> Bool, timeout: Duration?, goal: @autoclosure () -> String
  ) async throws -> State {
    try Task.checkCancellation()
    let subscription = Subscription(source, interest)
    source.add(subscription)
    defer { subscription.cancel() }
    // Without time to wait, or a timer to end the wait, only the present state counts.
    func present(_ remark: String) throws -> State {
      if let told = source.next(after: nil, interest), isMet(told.state) { return told.state }
      throw ReachabilityError(.timedOut, "\(goal()) at once, and \(remark)")
    }
    // First, since asking for the executor of a paused monitor may start an engine.
    if let timeout, timeout <= .zero { return try present("there was no time to wait") }
    var timer: DeliveryTimer?
    defer { timer?.cancel() }
    // The executor keeps the time, so it has to live as long as this waits.
    let executor = timeout == nil ? nil : monitor.executor
    defer { withExtendedLifetime(executor) {} }
    if let timeout {
      // Ends the subscription, and so the loop below.
      timer = executor?.schedule(after: timeout) { subscription.cancel() }
      if timer == nil { return try present("the system has no thread to give to wait with") }
    }
    while let told = await subscription.next() {
      if isMet(told.state) { return told.state }
    }
    try Task.checkCancellation()
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout ?? .zero)")
  }

  /// Blocks the thread until a state is known. `goal` says what the wait is for, in the words of an error.
  func block(timeout: Duration, goal: @autoclosure () -> String) throws(ReachabilityError) -> State {
    let lease = subscribe()
    // Not by a timer of the executor: its clock may be a test's, and this thread must be released in any case.
    let nanoseconds = Int(clamping: max(0, timeout.nanosecondsClamped))
    let first = withExtendedLifetime(lease) { lease.subscription.first(by: .now() + .nanoseconds(nanoseconds)) }
    if let first { return first.state }
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout)")
  }

  /// Runs `action` once, in a task of its own, with the first state that meets the condition.
  package func once(
    _ isMet: @escaping @Sendable (State) -> Bool, _ action: @escaping @Sendable (State) async -> Void
  ) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    let subscription = Subscription(source, interest)
    source.add(subscription)
    lease.onEnd { subscription.cancel() }
    Task.detached {
      while let told = await subscription.next() {
        guard isMet(told.state) else { continue }
        // Only one ends the lease, this or a cancellation.
        if lease.end() { await action(told.state) }
        return
      }
    }
    return ReachabilityObservation(lease)
  }
}
