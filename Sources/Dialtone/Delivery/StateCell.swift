// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A time in which one subject is watched without a pause. A state decided for an earlier epoch is not stored.
package struct Epoch: Equatable, Sendable {
  private var number: UInt32 = 0

  package init() {}

  package mutating func advance() { number &+= 1 }
}

/// A state that a receiver is given, with the number of its subject.
package struct Told<State: Sendable>: Sendable {
  package let state: State
  /// Grows when the monitor is given something else to watch.
  package let subjectNumber: UInt32
}

/// What a receiver is told besides states that differ.
package struct StateInterest: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The unknown state, at first and whenever a new epoch begins.
  package static let unknown = StateInterest(rawValue: 1)
  /// The first known state of each further subject, even if it equals the last state of the former subject.
  static let eachSubject = StateInterest(rawValue: 2)
}

/// The source of one monitor's states for its receivers.
package protocol StateSource<State>: AnyObject, Sendable {
  associatedtype State: Sendable

  /// Returns what to tell a receiver next that was told of `last` before, or `nil` if there is nothing new for it.
  func next(after last: Told<State>?, _ interest: StateInterest) -> Told<State>?

  /// Has the receiver woken with each new state.
  func add(_ receiver: Subscription<State>)

  func remove(_ receiver: Subscription<State>)
}

/// The newest state of a monitor, and its receivers.
///
/// One thread at a time writes; all threads read. Invariants: `current` is a state of the present epoch, or the unknown
/// one that the epoch began with. A state of an earlier epoch is not stored. No lock of this type is held while user
/// code runs.
package final class StateCell<State: MonitoredState>: StateSource {
  /// How often the state has changed up to one moment; see ``hasChanged(since:)``.
  package struct Mark {
    fileprivate let revision: UInt64
  }

  private struct Registry {
    var epoch = Epoch()
    /// Grows with each stored state, and with each epoch.
    var revision: UInt64 = 0
    var receivers: [Subscription<State>] = []
  }

  private let newest: State.Store
  private let registry = Lock(Registry())

  /// - Parameter unknown: The state before the first answer.
  package init(unknown: State) { newest = State.Store(Snapshot(state: unknown)) }

  /// The newest state. For any thread; never waits longer than another thread takes to copy a state.
  package var current: State { newest.load().state }

  /// Returns what to tell a receiver next: the newest state, or `nil` if the receiver was told of an equal one last,
  /// the state is not known yet, or it is held back for settling. A receiver that is told of each subject is never told
  /// of an unknown state.
  @_specialize(where State == Reachability)
  package func next(after last: Told<State>?, _ interest: StateInterest) -> Told<State>? {
    let newest = newest.load()
    let told = Told(state: newest.state, subjectNumber: newest.subjectNumber)
    guard let last else { return newest.state.isKnown || interest.contains(.unknown) ? told : nil }
    if !newest.state.isKnown, interest.contains(.eachSubject) { return nil }
    if newest.isHeldBack {
      // The unknown state of a new epoch is told only to receivers that want it. A state that settles is held back
      // only from receivers that have had a state of the same epoch.
      let isTold = newest.state.isKnown ? !last.state.isKnown : interest.contains(.unknown)
      if !isTold { return nil }
    }
    let isOfNewSubject = interest.contains(.eachSubject) && newest.subjectNumber != last.subjectNumber
    return newest.state == last.state && !(isOfNewSubject && newest.state.isKnown) ? nil : told
  }

  /// What ``hasChanged(since:)`` compares with: the present state, or the first known state if none is known yet.
  package var mark: Mark {
    registry.withLock { registry in
      Mark(revision: newest.load().state.isKnown ? registry.revision : registry.revision + 1)
    }
  }

  /// Returns whether another epoch or state has begun since the mark, even for a moment. A state counts even if it
  /// differs only in what receivers are not told of.
  package func hasChanged(since mark: Mark) -> Bool { registry.withLock { $0.revision > mark.revision } }

  // MARK: Epochs

  /// The present epoch.
  package var epoch: Epoch { registry.withLock { $0.epoch } }

  /// Begins a new epoch with an unknown state. Receivers are told nothing before its first known state, unless they
  /// want the unknown one.
  func beginEpoch(_ unknown: State, ofNewSubject: Bool = false) {
    write { registry, snapshot in
      registry.epoch.advance()
      registry.revision += 1
      snapshot.state = unknown
      snapshot.isHeldBack = true
      if ofNewSubject { snapshot.subjectNumber &+= 1 }
      return true
    }
  }

  // MARK: Storing

  /// Stores a state, if `epoch` is the present one. With `holdingBack`, receivers that have had a state are not told of
  /// it before ``release(_:)``. Returns whether it was stored.
  package func store(_ state: State, of epoch: Epoch, holdingBack: Bool) -> Bool {
    write { registry, snapshot in
      if registry.epoch != epoch { return false }
      registry.revision += 1
      snapshot.state = state
      snapshot.isHeldBack = snapshot.isHeldBack || holdingBack
      return true
    }
  }

  /// Stores a state, if `epoch` is the present one, and lets receivers have it. Returns whether it was stored.
  package func publish(_ state: State, of epoch: Epoch) -> Bool {
    write { registry, snapshot in registry.epoch == epoch && publish(state, &registry, &snapshot) }
  }

  /// Stores a state of the present epoch, and lets receivers have it. An unknown state begins a new epoch.
  package func publish(_ state: State) {
    if !state.isKnown { return beginEpoch(state) }
    write { registry, snapshot in publish(state, &registry, &snapshot) }
  }

  private func publish(_ state: State, _ registry: inout Registry, _ snapshot: inout Snapshot<State>) -> Bool {
    registry.revision += 1
    snapshot.state = state
    snapshot.isHeldBack = false
    return true
  }

  /// Lets receivers have a state that was held back, if the epoch is the present one. The unknown state that an epoch
  /// begins with stays held back.
  package func release(_ epoch: Epoch) {
    write { registry, snapshot in
      guard registry.epoch == epoch, snapshot.state.isKnown else { return false }
      snapshot.isHeldBack = false
      return true
    }
  }

  /// Stores what `change` makes of the newest snapshot, unless it returns `false`. The engine stores states, other
  /// threads begin epochs: the lock lets one write at a time.
  @discardableResult
  private func write(_ change: (inout Registry, inout Snapshot<State>) -> Bool) -> Bool {
    var former: Snapshot<State>?
    let isStored = registry.withLock { registry in
      var snapshot = newest.load()
      guard change(&registry, &snapshot) else { return false }
      former = newest.store(snapshot)
      return true
    }
    // What only the former state holds is released here, outside the lock.
    withExtendedLifetime(former) {}
    return isStored
  }

  // MARK: Receivers

  package func add(_ receiver: Subscription<State>) { registry.withLock { $0.receivers.append(receiver) } }

  package func remove(_ receiver: Subscription<State>) {
    let removed = registry.withLock { registry -> Subscription<State>? in
      guard let position = registry.receivers.firstIndex(where: { $0 === receiver }) else { return nil }
      return registry.receivers.remove(at: position)
    }
    // This may be the last reference: what it holds is released outside the lock.
    withExtendedLifetime(removed) {}
  }

  /// Has every receiver look for a newer state. Returns those that need a thread of the executor.
  package func wakeReceivers() -> [any Deliverable] {
    var woken: [any Deliverable] = []
    wakeReceivers { woken.append($0) }
    return woken
  }

  /// Has every receiver look for a newer state. Calls `deliver` with those that need a thread of the executor.
  func wakeReceivers(_ deliver: (any Deliverable) -> Void) {
    for receiver in registry.withLock({ $0.receivers }) where receiver.wake() { deliver(receiver) }
  }
}
