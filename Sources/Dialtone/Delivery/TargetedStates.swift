// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state, and which of a monitor's targets it is of. Equal where neither the target has been changed nor a receiver would be
/// told of a difference.
package struct TargetedState: Equatable, Sendable {
  package let state: Reachability
  /// Grows with each change of the target.
  package let targetNumber: UInt32
}

/// The states of one monitor for receivers that are told of each further target, also where its first state is equal to the
/// former target's last one.
final class TargetedStates: StateSource {
  private let storage: MonitorStorage

  init(_ storage: MonitorStorage) { self.storage = storage }

  func next(after last: TargetedState?) -> TargetedState? { storage.next(after: last) }

  func newest(unlike last: TargetedState?) -> TargetedState? { storage.next(after: last) }

  func add(_ receiver: any StateReceiver) { storage.add(receiver) }

  func remove(_ receiver: any StateReceiver) { storage.remove(receiver) }

  func wakeReceivers() -> [any Deliverable] { storage.wakeReceivers() }
}
