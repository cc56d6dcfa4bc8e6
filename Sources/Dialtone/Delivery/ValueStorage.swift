// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The newest state of a monitor whose states are not plain bits, and who wants to know of it. As ``MonitorStorage``, but readers
/// take a lock for the moment that a copy takes. No lock is held while user code runs.
package final class ValueStorage<State: MonitoredState>: StateSource {
  private struct Book {
    var state: State
    var isHeldBack = false
    var subscriptions: [Subscription<State>] = []
  }

  private let book: Lock<Book>

  /// - Parameter unknown: The state before the first answer.
  package init(unknown: State) { book = Lock(Book(state: unknown)) }

  /// The newest state.
  package var current: State { book.withLock { $0.state } }

  package func next(after last: State?) -> State? {
    book.withLock { book in
      guard let last else { return book.state.isKnown ? book.state : nil }
      return !book.state.isKnown || book.isHeldBack || book.state == last ? nil : book.state
    }
  }

  /// Stores a state. With `holdingBack`, receivers that have had a state are not told of it before `release`.
  package func store(_ state: State, holdingBack: Bool = false) {
    let old = book.withLock { book in
      let old = book.state
      book.state = state
      if holdingBack { book.isHeldBack = true }
      return old
    }
    // What it held is released outside the lock.
    withExtendedLifetime(old) {}
  }

  /// Lets receivers have what was held back.
  package func release() { book.withLock { $0.isHeldBack = false } }

  package func add(_ subscription: Subscription<State>) { book.withLock { $0.subscriptions.append(subscription) } }

  package func remove(_ subscription: Subscription<State>) {
    let removed = book.withLock { $0.subscriptions.remove(subscription) }
    withExtendedLifetime(removed) {}
  }

  package func wakeReceivers() -> [any Deliverable] { book.withLock { $0.subscriptions }.wake() }
}
