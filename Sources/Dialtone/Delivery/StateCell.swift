// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A time in which one subject is watched without a pause. What is decided for an earlier epoch is not stored.
package struct Epoch: Equatable, Sendable {
  private var number: UInt32 = 0

  package init() {}

  fileprivate mutating func advance() { number &+= 1 }
}

/// A state that a receiver is given, and which of the monitor's subjects it is of.
package struct Told<State: Sendable>: Sendable {
  package let state: State
  /// Grows when the monitor is given something else to watch.
  package let subjectNumber: UInt32
}

/// What a receiver is told of beside known states that differ.
package struct StateInterest: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// That nothing is known: at first, and when a new epoch begins.
  package static let unknown = StateInterest(rawValue: 1)
  /// The first known state of each further subject, also if it equals the last one of the former subject.
  package static let eachSubject = StateInterest(rawValue: 2)
}

/// Where receivers get the states of one monitor from.
package protocol StateSource<State>: AnyObject, Sendable {
  associatedtype State: Sendable

  /// What a receiver is to be told next, if it was told of `last` before; `nil` if there is nothing new for it.
  func next(after last: Told<State>?, _ interest: StateInterest) -> Told<State>?

  /// Has the receiver woken with each new state.
  func add(_ receiver: Subscription<State>)

  func remove(_ receiver: Subscription<State>)
}

/// The newest state of a monitor, and its receivers.
///
/// One thread at a time writes, all read. Invariants: `current` is always a state of the present epoch, or the unknown
/// one that the epoch began with; a state of an earlier epoch is not stored. No lock of this type is held while user
/// code runs.
package final class StateCell<State: MonitoredState>: StateSource {
  /// How often the state has changed up to one moment; see ``hasChanged(since:)``.
  package struct Mark {
    fileprivate let revision: UInt64
  }

  private struct Registry {
    var epoch = Epoch()
    /// Grows with each store of a state that differs in anything, and with each epoch.
    var revision: UInt64 = 0
    var receivers: [Subscription<State>] = []
  }

  private let newest: State.Store
  private let registry = Lock(Registry())

  /// - Parameter unknown: The state before the first answer.
  package init(unknown: State) { newest = State.Store(Snapshot(state: unknown)) }

  /// The newest state. Never waits for more than a copy; for any thread.
  package var current: State { newest.load().state }

  /// What a receiver is to be told next: the newest state, unless it was told of an equal one last, or it is not known
  /// yet, or changes are held back until it has settled.
  package func next(after last: Told<State>?, _ interest: StateInterest) -> Told<State>? {
    let newest = newest.load()
    let told = Told(state: newest.state, subjectNumber: newest.subjectNumber)
    guard let last else { return newest.state.isKnown || interest.contains(.unknown) ? told : nil }
    if newest.isHeldBack {
      // What an epoch begins with is told to few. What settles is held back only from those who had a state of the same
      // epoch.
      let isTold = newest.state.isKnown ? !last.state.isKnown : interest.contains(.unknown)
      if !isTold { return nil }
    }
    let isOfNewSubject = interest.contains(.eachSubject) && newest.subjectNumber != last.subjectNumber
    return newest.state == last.state && !(isOfNewSubject && newest.state.isKnown) ? nil : told
  }

  /// What ``hasChanged(since:)`` compares with: the state of this moment, or, if none is known yet, the one known
  /// first.
  package var mark: Mark {
    registry.withLock { registry in
      Mark(revision: newest.load().state.isKnown ? registry.revision : registry.revision + 1)
    }
  }

  /// Returns whether there has been another state than the marked one, even for a moment, or only in what receivers are
  /// not told of by itself; or another epoch.
  package func hasChanged(since mark: Mark) -> Bool { registry.withLock { $0.revision > mark.revision } }

  // MARK: Epochs

  /// The present epoch.
  package var epoch: Epoch { registry.withLock { $0.epoch } }

  /// Begins a new epoch with a state that is not known: receivers are told of nothing before its first known state.
  package func beginEpoch(_ unknown: State, ofNewSubject: Bool = false) {
    registry.withLock { registry in
      registry.epoch.advance()
      registry.revision += 1
      var snapshot = newest.load()
      snapshot.state = unknown
      snapshot.isHeldBack = true
      if ofNewSubject { snapshot.subjectNumber &+= 1 }
      newest.store(snapshot)
    }
  }

  // MARK: Storing

  /// Stores a state, if `epoch` is the present one. With `holdingBack`, receivers that have had a state are not told of
  /// it before ``release(_:)``. Returns whether it was stored.
  package func store(_ state: State, of epoch: Epoch, holdingBack: Bool) -> Bool {
    // The lock makes one writer at a time of the engine and of who begins an epoch.
    registry.withLock { registry in
      if registry.epoch != epoch { return false }
      registry.revision += 1
      var snapshot = newest.load()
      snapshot.state = state
      snapshot.isHeldBack = snapshot.isHeldBack || holdingBack
      newest.store(snapshot)
      return true
    }
  }

  /// Stores a state, if `epoch` is the present one, and lets receivers have it. Returns whether it was stored.
  package func publish(_ state: State, of epoch: Epoch) -> Bool {
    registry.withLock { registry in
      if registry.epoch != epoch { return false }
      publish(state, &registry)
      return true
    }
  }

  /// Stores a state of the present epoch, and lets receivers have it. One that is not known begins a new epoch.
  package func publish(_ state: State) {
    if !state.isKnown { return beginEpoch(state) }
    registry.withLock { publish(state, &$0) }
  }

  private func publish(_ state: State, _ registry: inout Registry) {
    registry.revision += 1
    var snapshot = newest.load()
    snapshot.state = state
    snapshot.isHeldBack = false
    newest.store(snapshot)
  }

  /// Lets receivers have what was held back, if it is of the present epoch.
  package func release(_ epoch: Epoch) {
    registry.withLock { registry in
      guard registry.epoch == epoch else { return }
      var snapshot = newest.load()
      snapshot.isHeldBack = false
      newest.store(snapshot)
    }
  }

  // MARK: Receivers

  package func add(_ receiver: Subscription<State>) { registry.withLock { $0.receivers.append(receiver) } }

  package func remove(_ receiver: Subscription<State>) {
    let removed = registry.withLock { registry -> Subscription<State>? in
      guard let position = registry.receivers.firstIndex(where: { $0 === receiver }) else { return nil }
      return registry.receivers.remove(at: position)
    }
    // Perhaps the last reference: what it holds is released outside the lock.
    withExtendedLifetime(removed) {}
  }

  /// Lets every receiver look for a newer state. Returns those that wait for a thread of the executor.
  package func wakeReceivers() -> [any Deliverable] {
    // Mostly there is one or none, and no array is made.
    registry.withLock { $0.receivers }.filter { $0.wake() }
  }
}
