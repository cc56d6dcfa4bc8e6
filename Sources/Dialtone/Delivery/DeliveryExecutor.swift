// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Runs receivers' handlers on its threads, and keeps their timers.
package protocol DeliveryExecutor: AnyObject, Sendable {
  /// Has receivers' handlers run soon, since the caller has something new for them. The caller holds no lock. If the
  /// system has no thread to give, they run before this returns.
  func deliver(_ handlers: [any Deliverable])

  /// Calls `action` on a thread of its own after `delay`, unless the timer is cancelled before. Returns `nil`, and
  /// never calls `action`, if the system has no thread to keep the time.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer?
}

/// What delivery knows of a monitor.
package protocol DeliveryOwner: AnyObject, Sendable {
  /// Its threads and timers serve the receivers. A caller keeps it as long as it has work there.
  var executor: any DeliveryExecutor { get }

  /// Has its states watched anew, if this process was forked since.
  func followFork()

  /// What the monitor is about, in the words of an error.
  var subject: String { get }
}

extension DeliveryOwner {
  package var subject: String { "the state" }

  package func followFork() {}
}

/// An action that a thread of the executor performs at a deadline, once and outside its lock, unless it is cancelled
/// before.
package final class DeliveryTimer: Sendable {
  /// In nanoseconds of the executor's clock.
  package let deadline: Int64
  private let action: Lock<(@Sendable () -> Void)?>
  private let whenCancelled: @Sendable () -> Void

  /// `whenCancelled` is called when it is cancelled, so that the executor can forget it.
  package init(
    at deadline: Int64, _ action: @escaping @Sendable () -> Void,
    whenCancelled: @escaping @Sendable () -> Void = {}
  ) {
    self.deadline = deadline
    self.action = Lock(action)
    self.whenCancelled = whenCancelled
  }

  package var isCancelled: Bool { action.withLock { $0 == nil } }

  package func cancel() {
    let action = take()
    if action != nil { whenCancelled() }
  }

  func fire() { take()?() }

  private func take() -> (@Sendable () -> Void)? {
    action.withLock { action in
      defer { action = nil }
      return action
    }
  }
}
