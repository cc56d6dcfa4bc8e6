// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An action that a thread of the engine performs at a deadline, once and outside its lock, unless it is cancelled
/// before.
package final class DeliveryTimer: Sendable {
  /// In nanoseconds of the engine's clock.
  package let deadline: Int64
  private let action: Lock<(@Sendable () -> Void)?>
  private let whenCancelled: @Sendable () -> Void

  /// `whenCancelled` is called when it is cancelled, so that the engine can forget it.
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
