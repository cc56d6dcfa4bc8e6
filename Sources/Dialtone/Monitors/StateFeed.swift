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
    let subscription = Subscription(cell, options, handler: handler)
    let registration = register(subscription)
    // The present state, if it is known. Asking for the engine of a paused monitor may start one.
    if newest != nil { monitor.engine.deliver(subscription.wake) }
    return registration
  }

  package func observe(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (Snapshot<State>) -> Void
  ) -> ReachabilityObservation {
    register(Subscription(cell, options, by: { queue.async(execute: $0) }, handler: handler))
  }

  /// The actor is not retained. The receiver is treated as if it had been given `last`.
  package func observe<Isolation: Actor>(
    on actor: Isolation, after last: Snapshot<State>? = nil,
    _ handler: @escaping @Sendable (isolated Isolation, Snapshot<State>) -> Void
  ) -> ReachabilityObservation {
    let lease = ReachabilityObservation.Lease(monitor)
    let schedule: Subscription<State>.Scheduler = { [weak actor] block in
      guard let actor else { return lease.end() }
      // Detached: task-local values of the caller must not reach the call.
      Task.detached { if !lease.hasEnded { await actor.run(block) } }
    }
    let subscription = Subscription(cell, options, after: last, by: schedule) { [weak actor] given in
      actor?.assumeIsolated { handler($0, given) }
    }
    return register(subscription, lease)
  }

  package func observeOnMainActor(
    after last: Snapshot<State>? = nil, _ handler: @escaping @MainActor @Sendable (Snapshot<State>) -> Void
  ) -> ReachabilityObservation {
    observe(on: MainActor.shared, after: last) { _, given in MainActor.assumeIsolated { handler(given) } }
  }

  // MARK: One by one

  /// Returns a subscription for a task or a thread that asks for each state. It ends when the registration is released.
  func subscribe() -> (registration: ReachabilityObservation, subscription: Subscription<State>) {
    let subscription = Subscription(cell, options)
    return (register(subscription), subscription)
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

  /// Runs `action` once, in a task of its own and in its isolation, with the first state that meets the condition.
  package func once(
    _ isMet: @escaping @Sendable (State) -> Bool, in isolation: (any Actor)?,
    _ action: @escaping @Sendable (State) async -> Void
  ) -> ReachabilityObservation {
    let (subscription, kept) = (Subscription(cell, options), OneShot(action))
    let registration = register(subscription) { _ = kept.action.exchange(nil) }
    let lease = registration.lease
    @Sendable func run(in isolation: isolated (any Actor)?) async {
      while let given = await subscription.next() {
        guard isMet(given.state) else { continue }
        let action = kept.action.exchange(nil)
        lease.end()
        await action?(given.state)
      }
    }
    // Detached: task-local values of the caller must not reach the action.
    Task.detached { await run(in: isolation) }
    return registration
  }

  private func register(
    _ subscription: Subscription<State>, _ lease: ReachabilityObservation.Lease? = nil,
    onEnd: @escaping @Sendable () -> Void = {}
  ) -> ReachabilityObservation {
    let lease = lease ?? ReachabilityObservation.Lease(monitor)
    cell.add(subscription)
    lease.onEnd {
      subscription.cancel()
      onEnd()
    }
    subscription.look()
    return ReachabilityObservation(lease)
  }
}

extension Actor {
  fileprivate func run(_ block: @Sendable () -> Void) { block() }
}

/// An action that runs at most once. Who takes it first runs it, or lets go of it.
private final class OneShot<State>: Sendable {
  let action: Lock<(@Sendable (State) async -> Void)?>

  init(_ action: @escaping @Sendable (State) async -> Void) { self.action = Lock(action) }
}
