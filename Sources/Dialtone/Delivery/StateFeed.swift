// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// A monitor, as those see it who deliver its states.
package protocol EngineUser: AnyObject, Sendable {
  /// The engine whose threads and timers serve its receivers. Whoever takes it keeps it for as long as it has work there.
  var engine: NetworkEngine { get }

  /// In a child of fork(2): has its states watched anew.
  func followFork()

  /// What it is about, in the words of an error.
  var subject: String { get }
}

extension EngineUser {
  package var subject: String { "the state" }

  package func followFork() {}
}

/// All that a receiver of a monitor's states needs: the monitor, which it keeps alive, the states, and the engine's threads
/// and timers. Every way to listen is built on this, once for all kinds of monitors.
package struct StateFeed<State: Sendable>: Sendable {
  private let monitor: any EngineUser
  private let source: any StateSource<State>

  package init(of monitor: any EngineUser, _ source: any StateSource<State>) {
    self.monitor = monitor
    self.source = source
    monitor.followFork()
  }

  /// What the states are about, in the words of an error.
  var subject: String { monitor.subject }

  // MARK: Handlers

  package func observe(_ handler: @escaping @Sendable (State) -> Void) -> ReachabilityObservation {
    observe(Subscription(source, handler: handler))
  }

  package func observe(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (State) -> Void
  ) -> ReachabilityObservation {
    observe(Subscription(source, queue: queue, handler: handler))
  }

  private func observe(_ subscription: Subscription<State>) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    lease.onEnd { subscription.cancel() }
    source.add(subscription)
    // The state that is known now, if one is.
    if subscription.wake() { monitor.engine.deliver([subscription]) }
    return ReachabilityObservation(lease)
  }

  /// One task for the whole observation, so that calls keep the order of changes. `body` answers whether to go on. With
  /// `takesUnknown` it is also given the state of which nothing is known, at first and where a new epoch begins. With `last` it is
  /// treated as one that has been given this state.
  package func observe(
    takesUnknown: Bool = false, after last: State? = nil,
    _ body: @escaping @Sendable (State, _ isCancelled: @Sendable () -> Bool) async -> Bool
  ) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    let subscription = Subscription(source, takesUnknown: takesUnknown, after: last)
    source.add(subscription)
    lease.onEnd { subscription.cancel() }
    // Detached: what is local to the task that registers is no business of later calls.
    Task.detached {
      while let state = await subscription.next() {
        guard await body(state, { lease.hasEnded }) else { break }
      }
      lease.end()
    }
    return ReachabilityObservation(lease)
  }

  package func observeOnMainActor(_ handler: @escaping @MainActor @Sendable (State) -> Void) -> ReachabilityObservation
  {
    observe { state, isCancelled in
      await MainActor.run {
        if isCancelled() { return false }
        handler(state)
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
      subscription = Subscription(feed.source)
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
    let subscription = Subscription(source)
    source.add(subscription)
    defer { subscription.cancel() }
    if let timeout, timeout <= .zero {
      if let state = source.next(after: nil), isMet(state) { return state }
      throw ReachabilityError(.timedOut, "\(goal()) at once, and there was no time to wait")
    }
    let engine = timeout == nil ? nil : monitor.engine
    let timer = timeout.flatMap { timeout in
      // Ends the subscription, and so the loop below.
      engine?.schedule(after: timeout) { subscription.cancel() }
    }
    defer { timer.map { engine?.cancel($0) } }
    if timeout != nil, timer == nil {
      // Nobody would end the wait.
      if let state = source.next(after: nil), isMet(state) { return state }
      throw ReachabilityError(.timedOut, "\(goal()) at once, and the system has no thread to give to wait with")
    }
    while let state = await subscription.next() {
      if isMet(state) { return state }
    }
    try Task.checkCancellation()
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout ?? .zero)")
  }

  /// Blocks the thread until a state is known. `goal` says in the words of an error what is waited for.
  func block(timeout: Duration, goal: @autoclosure () -> String) throws(ReachabilityError) -> State {
    let lease = subscribe()
    // Not by a timer of the engine's: it may run by another clock, and this thread is to be let go in any case.
    let nanoseconds = Int(clamping: max(0, timeout.nanosecondsClamped))
    let first = withExtendedLifetime(lease) { lease.subscription.first(by: .now() + .nanoseconds(nanoseconds)) }
    if let first { return first }
    throw ReachabilityError(.timedOut, "\(goal()) within \(timeout)")
  }

  /// Runs `action` once, in a task of its own, as soon as a state meets the condition, and with that state.
  package func once(
    _ isMet: @escaping @Sendable (State) -> Bool, _ action: @escaping @Sendable (State) async -> Void
  ) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    let subscription = Subscription(source)
    source.add(subscription)
    lease.onEnd { subscription.cancel() }
    Task.detached {
      while let state = await subscription.next() {
        guard isMet(state) else { continue }
        // Whoever ends it, this or a cancellation, does so alone.
        if lease.end() { await action(state) }
        return
      }
    }
    return ReachabilityObservation(lease)
  }
}
