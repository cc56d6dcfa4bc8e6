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
  func add(_ subscription: Subscription<State>)

  func remove(_ subscription: Subscription<State>)

  /// Lets every receiver look for a newer state. Answers with those that wait for a thread of the engine.
  func wakeReceivers() -> [any Deliverable]
}

extension Array {
  /// Takes the receiver out, and answers with it: the array may hold the last reference, and what that releases is to be
  /// released outside the caller's lock.
  mutating func remove<State>(_ subscription: Subscription<State>) -> Subscription<State>?
  where Element == Subscription<State> {
    guard let position = firstIndex(where: { $0 === subscription }) else { return nil }
    return remove(at: position)
  }

  /// Lets every receiver look for a newer state. Answers with those that wait for a thread of the engine.
  func wake<State>() -> [any Deliverable] where Element == Subscription<State> {
    filter { $0.wake() }
  }
}
