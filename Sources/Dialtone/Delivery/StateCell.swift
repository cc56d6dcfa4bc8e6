// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A time in which one subject is watched without a pause. A state decided for an earlier epoch is not stored.
package struct Epoch: Equatable, Sendable {
  private var number: UInt32 = 0

  package init() {}

  package mutating func advance() { number &+= 1 }
}

/// What a receiver gets besides known states that differ.
package struct ReceiverOptions: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The unknown state, at first and whenever a new epoch begins.
  package static let unknownStates = ReceiverOptions(rawValue: 1)
  /// The first known state of each further subject, even if it equals the last state of the former subject.
  static let eachSubject = ReceiverOptions(rawValue: 2)
  /// States that differ only in what other receivers are not told of, such as the source.
  static let details = ReceiverOptions(rawValue: 4)
}

/// The newest state of a monitor, and its receivers.
///
/// One thread at a time writes; all threads read. Invariants: `current` is a state of the present epoch, or the unknown
/// one that the epoch began with. A state of an earlier epoch is not stored. No lock of this type is held while user
/// code runs.
///
/// What the states can do is asked for in extensions. If the type itself asked, a program's first state would wait
/// until the runtime has searched all conformances in the program.
package final class StateCell<State: Sendable>: Sendable {
  /// How often the state has changed up to one moment; see ``hasChanged(since:)``.
  package struct Mark {
    fileprivate let revision: UInt64
  }

  struct Registry {
    var epoch = Epoch()
    /// Grows with each stored state, and with each epoch.
    var revision: UInt64 = 0
    var receivers = ObjectBag<Subscription<State>>()
  }

  private let newest: any StateStore<State>
  private let registry = Lock(Registry())

  init(_ store: any StateStore<State>) { newest = store }

  package convenience init(unknown: State) where State: MonitoredState { self.init(State.makeStore(Snapshot(unknown))) }

  /// The newest state. For any thread; never waits longer than another thread takes to copy a state.
  package var current: State { newest.load().state }

  /// What ``hasChanged(since:)`` compares with: the present state, or the first known state if none is known yet.
  package var mark: Mark {
    registry.withLock { registry in
      Mark(revision: newest.load().isKnown ? registry.revision : registry.revision + 1)
    }
  }

  /// Returns whether another epoch or state has begun since the mark, even for a moment. A state counts even if it
  /// differs only in what receivers are not told of.
  package func hasChanged(since mark: Mark) -> Bool { registry.withLock { $0.revision > mark.revision } }

  package var epoch: Epoch { registry.withLock { $0.epoch } }

  /// Stores what `change` makes of the newest snapshot, unless it returns `false`. The engine stores states, other
  /// threads begin epochs: the lock lets one write at a time.
  @discardableResult
  func write(_ change: (inout Registry, inout Snapshot<State>) -> Bool) -> Bool {
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

  package func add(_ receiver: Subscription<State>) { registry.withLock { $0.receivers.insert(receiver) } }

  package func remove(_ receiver: Subscription<State>) { registry.withLock { $0.receivers.remove(receiver) } }
}

extension StateCell where State: DeterminableState {
  /// Returns what to give a receiver next: the newest snapshot, or `nil` if the receiver was given an equal state last,
  /// the state is not known yet, or it is held back for settling. A receiver that gets each subject never gets an
  /// unknown state.
  package func next(after last: Snapshot<State>?, _ options: ReceiverOptions) -> Snapshot<State>? {
    let newest = newest.load()
    guard let last else { return newest.isKnown || options.contains(.unknownStates) ? newest : nil }
    if !newest.isKnown, options.contains(.eachSubject) { return nil }
    if newest.isHeldBack {
      // The unknown state of a new epoch is only for receivers that want it. A state that settles is held back only
      // from receivers that have had a state of the same epoch.
      let isGiven = newest.isKnown ? !last.isKnown : options.contains(.unknownStates)
      if !isGiven { return nil }
    }
    let isOfNewSubject = options.contains(.eachSubject) && newest.subjectNumber != last.subjectNumber
    let hasNewDetail = options.contains(.details) && newest.detailNumber != last.detailNumber
    let isNews = newest.isKnown && (isOfNewSubject || hasNewDetail)
    return newest.state.isSameState(as: last.state) && !isNews ? nil : newest
  }

  /// Has every receiver look for a newer state. What a thread of the engine has to run goes to the queue.
  package func wakeReceivers(_ queue: DeliveryQueue) {
    for receiver in registry.withLock({ $0.receivers.objects }) { receiver.wake(queue) }
  }
}

extension StateCell where State: MonitoredState {
  /// Begins a new epoch with an unknown state. Receivers are told nothing before its first known state, unless they
  /// want the unknown one.
  func beginEpoch(_ unknown: State, ofNewSubject: Bool = false) {
    write { registry, snapshot in
      registry.epoch.advance()
      registry.revision += 1
      snapshot.replaceState(by: unknown)
      snapshot.isHeldBack = true
      if ofNewSubject { snapshot.subjectNumber &+= 1 }
      return true
    }
  }

  // MARK: Storing

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
    snapshot.replaceState(by: state)
    snapshot.isHeldBack = false
    return true
  }

  /// Lets receivers have a state that was held back, if the epoch is the present one. The unknown state that an epoch
  /// begins with stays held back.
  package func release(_ epoch: Epoch) {
    write { registry, snapshot in
      guard registry.epoch == epoch, snapshot.isKnown else { return false }
      snapshot.isHeldBack = false
      return true
    }
  }
}
