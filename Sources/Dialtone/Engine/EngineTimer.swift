// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Something to be done once at a time, by a thread of the engine and outside its lock, unless it is cancelled before.
package final class EngineTimer: Sendable {
  let deadline: Int64
  private let action: Lock<(@Sendable () -> Void)?>

  init(at deadline: Int64, _ action: @escaping @Sendable () -> Void) {
    self.deadline = deadline
    self.action = Lock(action)
  }

  var isCancelled: Bool { action.withLock { $0 == nil } }

  func cancel() {
    let action = take()
    withExtendedLifetime(action) {}
  }

  func fire() { take()?() }

  private func take() -> (@Sendable () -> Void)? {
    action.withLock { action in
      defer { action = nil }
      return action
    }
  }
}
