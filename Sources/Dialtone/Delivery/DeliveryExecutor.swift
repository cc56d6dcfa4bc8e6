// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whose threads run handlers, and call when a time has come.
package protocol DeliveryExecutor: AnyObject, Sendable {
  /// Has receivers' handlers run, soon: the caller has something new for them, and holds no lock. If the system has no
  /// thread to give, they run before this returns.
  func deliver(_ handlers: [any Deliverable])

  /// Calls `action` on a thread of its own after `delay`, unless the timer is cancelled before. Returns `nil`, and
  /// never calls it, if the system has no thread to give that could keep the time.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> DeliveryTimer?
}

/// A monitor, as those see it who deliver its states.
package protocol DeliveryOwner: AnyObject, Sendable {
  /// Whose threads and timers serve its receivers. A caller keeps it for as long as it has work there.
  var executor: any DeliveryExecutor { get }

  /// In a child of fork(2): has its states watched anew.
  func followFork()

  /// What it is about, in the words of an error.
  var subject: String { get }
}

extension DeliveryOwner {
  package var subject: String { "the state" }

  package func followFork() {}
}

/// Something to be done once at a time, by a thread of the executor and outside its lock, unless it is cancelled
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

  package func fire() { take()?() }

  private func take() -> (@Sendable () -> Void)? {
    action.withLock { action in
      defer { action = nil }
      return action
    }
  }
}
