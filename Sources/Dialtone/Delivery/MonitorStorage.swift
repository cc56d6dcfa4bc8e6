// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a monitor, its receivers and the engine share: the target, its newest state and who wants to know of it.
///
/// The engine writes, everybody reads. Invariant: `current` is always a state of the present target. What the engine still
/// decides for an earlier one, or from before a pause, carries an earlier epoch and is not stored. No lock of this type is held while
/// user code runs.
package final class MonitorStorage: StateSource {
  /// The newest state, and whether receivers are told of it. Read together: else a receiver could take what one store left for
  /// what the next one lets it have.
  private struct Snapshot: BitwiseCopyable, Sendable {
    var state = Reachability.unknown
    /// Receivers that have had a state are not told of this one yet.
    var isHeldBack = false
    /// Grows with each change of the target.
    var targetNumber: UInt32 = 0
  }

  /// How often the state has changed up to one moment; see ``hasChanged(since:)``.
  struct Mark {
    fileprivate let revision: UInt64
  }

  private struct Book {
    var target: ReachabilityTarget
    var epoch = Epoch()
    /// Grows with each store of a state that differs in anything, and with each epoch.
    var revision: UInt64 = 0
    var receivers: [any StateReceiver] = []
  }

  let configuration: ReachabilityConfiguration
  private let snapshot = SequenceLock(Snapshot())
  private let book: Lock<Book>

  init(_ target: ReachabilityTarget = .internet, _ configuration: ReachabilityConfiguration = .init()) {
    self.configuration = configuration
    book = Lock(Book(target: target))
  }

  /// What is watched now.
  var target: ReachabilityTarget { book.withLock { $0.target } }

  /// What is watched now, and which epoch its states belong to.
  var assignment: (target: ReachabilityTarget, epoch: Epoch) { book.withLock { ($0.target, $0.epoch) } }

  /// The newest state. Lock-free; for any thread.
  package var current: Reachability { snapshot.load().state }

  /// The state that a receiver is to be given next: the newest, unless it was given an equal one last, or it is not known
  /// yet, or changes are held back until it has settled.
  package func next(after last: Reachability?) -> Reachability? {
    let newest = snapshot.load()
    guard let last else { return newest.state.isKnown ? newest.state : nil }
    return newest.state == last || newest.isHeldBack ? nil : newest.state
  }

  package func newest(unlike last: Reachability?) -> Reachability? {
    let newest = snapshot.load()
    guard let last else { return newest.state }
    // It is held back from those alone who have had one of the same epoch.
    let isHeldBack = newest.isHeldBack && newest.state.isKnown && last.isKnown
    return newest.state == last || isHeldBack ? nil : newest.state
  }

  /// As ``next(after:)``, and again with the first known state of each further target, also where that is an equal one.
  func next(after last: TargetedState?) -> TargetedState? {
    let newest = snapshot.load()
    let targeted = TargetedState(state: newest.state, targetNumber: newest.targetNumber)
    guard newest.state.isKnown else { return nil }
    guard let last else { return targeted }
    return newest.isHeldBack || last == targeted ? nil : targeted
  }

  /// What ``hasChanged(since:)`` compares with: the state of this moment, or, where none is known yet, the one known first.
  var mark: Mark {
    book.withLock { book in Mark(revision: snapshot.load().state.isKnown ? book.revision : book.revision + 1) }
  }

  /// Whether there has been another state than the one marked, be it only for a while or only in what receivers are not told
  /// of by itself; or another target, or a pause.
  func hasChanged(since mark: Mark) -> Bool { book.withLock { $0.revision > mark.revision } }

  /// Begins a new epoch: nothing is known until its first state is stored, and receivers are told of none before.
  func beginEpoch() { book.withLock { beginEpoch(&$0) } }

  /// Begins a new epoch, of `target`. Answers `false`, and does nothing, where that is the target already.
  func retarget(_ target: ReachabilityTarget) -> Bool {
    book.withLock { book in
      if target == book.target { return false }
      book.target = target
      beginEpoch(&book, ofNewTarget: true)
      return true
    }
  }

  private func beginEpoch(_ book: inout Book, ofNewTarget: Bool = false) {
    book.epoch.advance()
    book.revision += 1
    var new = Snapshot(isHeldBack: true, targetNumber: snapshot.load().targetNumber)
    if ofNewTarget { new.targetNumber &+= 1 }
    snapshot.store(new)
  }

  // MARK: For the engine

  /// Stores a state of the epoch, if that is the present one; answers whether it is. With `holdingBack`, receivers that
  /// have had a state are not told of it before `release`.
  func store(_ state: Reachability, of epoch: Epoch, holdingBack: Bool = false) -> Bool {
    // The lock makes one writer at a time of the engine and whoever begins an epoch.
    book.withLock { book in
      if book.epoch != epoch { return false }
      book.revision += 1
      var new = snapshot.load()
      new.state = state
      if holdingBack { new.isHeldBack = true }
      snapshot.store(new)
      return true
    }
  }

  /// Lets receivers have what was held back, if it is of the present epoch.
  func release(_ epoch: Epoch) {
    book.withLock { book in
      guard book.epoch == epoch else { return }
      var new = snapshot.load()
      new.isHeldBack = false
      snapshot.store(new)
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

extension MonitorStorage: Watched {
  func begin(on engine: NetworkEngine) { engine.add(self) }

  func end(on engine: NetworkEngine) { engine.remove(self) }
}
