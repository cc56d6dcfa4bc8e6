// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// All that a receiver of a monitor's states needs: the monitor, which it keeps alive, the states, and whose threads
/// and timers serve it. Every way to listen is built on this, once for all kinds of monitors.
package struct StateFeed<State: Sendable>: Sendable {
  private let monitor: any DeliveryOwner
  private let source: any StateSource<State>
  private let interest: StateInterest

  /// The `interest` says what receivers are told of beside known states that differ.
  package init(of monitor: any DeliveryOwner, _ source: any StateSource<State>, _ interest: StateInterest = []) {
    self.monitor = monitor
    self.source = source
    self.interest = interest
    monitor.followFork()
  }

  /// What the states are about, in the words of an error.
  var subject: String { monitor.subject }

  /// What a receiver without a past is told of now: the newest state, if it is known or the interest is in the unknown,
  /// too.
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
    // The state that is known now, if one is.
    if subscription.wake() { monitor.executor.deliver([subscription]) }
    return ReachabilityObservation(lease)
  }

  /// One task for the whole observation, so that calls keep the order of changes. `body` returns whether to go on. The
  /// receiver is treated as if it had been told of `last`.
  package func observe(
    after last: Told<State>? = nil,
    _ body: @escaping @Sendable (Told<State>, _ isCancelled: @Sendable () -> Bool) async -> Bool
  ) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    let subscription = Subscription(source, interest, after: last)
    source.add(subscription)
    lease.onEnd { subscription.cancel() }
    // Detached: what is local to the task that registers is no business of later calls.
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

  /// Ends the subscription with the last reference, and keeps the monitor until then.
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

  /// Waits for a state that meets the condition. `goal` says in the words of an error what is waited for.
  package func wait(
    until isMet: (State) -> Bool, timeout: Duration?, goal: @autoclosure () -> String
  ) async throws -> State {
    try Task.checkCancellation()
    let subscription = Subscription(source, interest)
    source.add(subscription)
    defer { subscription.cancel() }
    // Without a time to wait, or a timer that would end the wait, only the present state counts.
    func present(_ remark: String) throws -> State {
      if let told = source.next(after: nil, interest), isMet(told.state) { return told.state }
      throw ReachabilityError(.timedOut, "\(goal()) at once, and \(remark)")
    }
    var timer: DeliveryTimer?
    defer { timer?.cancel() }
    // It keeps the time as long as this waits.
    let executor = timeout == nil ? nil : monitor.executor
    defer { withExtendedLifetime(executor) {} }
    if let timeout {
      if timeout <= .zero { return try present("there was no time to wait") }
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

  /// Blocks the thread until a state is known. `goal` says in the words of an error what is waited for.
  func block(timeout: Duration, goal: @autoclosure () -> String) throws(ReachabilityError) -> State {
    let lease = subscribe()
    // Not by a timer of the executor's: it may run by another clock, and this thread is to be let go in any case.
    let nanoseconds = Int(clamping: max(0, timeout.nanosecondsClamped))
    let first = withExtendedLifetime(lease) { lease.subscription.first(by: .now() + .nanoseconds(nanoseconds)) }
    if let first { return first.state }
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout)")
  }

  /// Runs `action` once, in a task of its own, as soon as a state meets the condition, and with that state.
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
        // Whoever ends it, this or a cancellation, does so alone.
        if lease.end() { await action(told.state) }
        return
      }
    }
    return ReachabilityObservation(lease)
  }
}
