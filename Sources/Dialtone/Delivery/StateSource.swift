// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Where the receivers of one monitor get its states from.
package protocol StateSource<State>: AnyObject, Sendable {
  associatedtype State: Sendable

  /// The state that a receiver is to be given next, where it was given `last`; `nil` where there is nothing new for it.
  func next(after last: State?) -> State?

  /// As `next(after:)`, for a receiver that is also told that nothing is known: at first, and where a new epoch begins.
  func newest(unlike last: State?) -> State?

  /// Has the receiver woken with each new state.
  func add(_ receiver: any StateReceiver)

  func remove(_ receiver: any StateReceiver)

  /// Lets every receiver look for a newer state. Answers with those that wait for a thread of the engine.
  func wakeReceivers() -> [any Deliverable]
}

/// What is woken with each new state, whatever it makes of it.
package protocol StateReceiver: Deliverable {
  /// Looks for a newer state. Answers whether a thread of the engine has to call `deliver()`.
  func wake() -> Bool
}

extension [any StateReceiver] {
  /// Takes the receiver out, and answers with it: the array may hold the last reference, and what that releases is to be
  /// released outside the caller's lock.
  mutating func remove(_ receiver: any StateReceiver) -> (any StateReceiver)? {
    guard let position = firstIndex(where: { $0 === receiver }) else { return nil }
    return remove(at: position)
  }

  /// Lets every receiver look for a newer state. Answers with those that wait for a thread of the engine.
  func wake() -> [any Deliverable] { filter { $0.wake() } }
}
