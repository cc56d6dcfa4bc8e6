// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The newest state of a monitor whose states are not plain bits, and who wants to know of it. As ``MonitorStorage``, but readers
/// take a lock for the moment that a copy takes. No lock is held while user code runs.
package final class ValueStorage<State: MonitoredState>: StateSource {
  private struct Book {
    var state: State
    var epoch = Epoch()
    var isHeldBack = false
    var receivers: [any StateReceiver] = []
  }

  private let unknown: State
  private let book: Lock<Book>

  /// - Parameter unknown: The state before the first answer.
  package init(unknown: State) {
    self.unknown = unknown
    book = Lock(Book(state: unknown))
  }

  /// The newest state.
  package var current: State { book.withLock { $0.state } }

  package func next(after last: State?) -> State? {
    book.withLock { book in
      guard let last else { return book.state.isKnown ? book.state : nil }
      return !book.state.isKnown || book.isHeldBack || book.state == last ? nil : book.state
    }
  }

  package func newest(unlike last: State?) -> State? {
    book.withLock { book in
      guard let last else { return book.state }
      // It is held back from those alone who have had one of the same epoch.
      let isHeldBack = book.isHeldBack && book.state.isKnown && last.isKnown
      return book.state == last || isHeldBack ? nil : book.state
    }
  }

  /// Stores a state.
  package func store(_ state: State) { _ = store(state, of: nil) }

  // MARK: Epochs

  /// Which epoch states belong to now.
  var epoch: Epoch { book.withLock { $0.epoch } }

  /// Begins a new epoch: nothing is known until its first state is stored, and receivers are told of none before.
  func beginEpoch() {
    let old = book.withLock { book in
      defer {
        book.epoch.advance()
        book.state = unknown
        book.isHeldBack = true
      }
      return book.state
    }
    withExtendedLifetime(old) {}
  }

  /// Stores a state of the epoch, if that is the present one or none is given; answers whether it is. With `holdingBack`, receivers
  /// that have had a state are not told of it before `release`.
  func store(_ state: State, of epoch: Epoch?, holdingBack: Bool = false) -> Bool {
    let old = book.withLock { book -> State? in
      if let epoch, epoch != book.epoch { return nil }
      let old = book.state
      book.state = state
      if holdingBack { book.isHeldBack = true }
      return old
    }
    // What it held is released outside the lock.
    return withExtendedLifetime(old) { old != nil }
  }

  /// Lets receivers have what was held back, if it is of the present epoch.
  func release(_ epoch: Epoch) {
    book.withLock { book in
      if book.epoch == epoch { book.isHeldBack = false }
    }
  }

  // MARK: For receivers and threads that deliver

  package func add(_ receiver: any StateReceiver) { book.withLock { $0.receivers.append(receiver) } }

  package func remove(_ receiver: any StateReceiver) {
    let removed = book.withLock { $0.receivers.remove(receiver) }
    withExtendedLifetime(removed) {}
  }

  package func wakeReceivers() -> [any Deliverable] { book.withLock { $0.receivers }.wake() }
}
