// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a monitor tells of. `==` says whether receivers would not be told of a difference.
package protocol MonitoredState: Sendable, Equatable {
  /// How the newest one is kept.
  associatedtype Store: StateStore<Self> = ValueStore<Self>

  /// Whether it says anything: the state before the first answer does not.
  var isKnown: Bool { get }

  /// Whether it is equal also in what receivers are not told of by itself, except the time.
  func isIdentical(to other: Self) -> Bool
}

/// A state that the engine decides, with the time of the events that it was decided by.
package protocol TimedState: MonitoredState {
  /// Nothing is known.
  static var unknown: Self { get }

  /// Nothing can be known, since the system denies it.
  static var denied: Self { get }

  /// Nanoseconds since 1970-01-01T00:00:00Z.
  var realtime: Int64 { get set }
}

extension Reachability: TimedState {
  package typealias Store = BitStore<Reachability>
}

extension NetworkPath: TimedState {}

/// The newest state, with what decides who is told of it. All of it is read together: else a receiver could take what
/// one store left for what the next one lets it have.
package struct Snapshot<State: Sendable>: Sendable {
  var state: State
  /// Receivers that have had a state are not told of this one yet.
  var isHeldBack = false
  /// Grows when the monitor is given something else to watch.
  var subjectNumber: UInt32 = 0
}

extension Snapshot: BitwiseCopyable where State: BitwiseCopyable {}

/// Where a ``StateCell`` keeps its snapshot: one thread at a time stores, any thread loads at any time.
package protocol StateStore<State>: AnyObject, Sendable {
  associatedtype State: Sendable

  init(_ snapshot: Snapshot<State>)
  func load() -> Snapshot<State>
  func store(_ snapshot: Snapshot<State>)
}

/// A store for states of plain bits: readers never wait, and take no lock.
package final class BitStore<State: BitwiseCopyable & Sendable>: StateStore {
  private let bits: SequenceLock<Snapshot<State>>

  package init(_ snapshot: Snapshot<State>) { bits = SequenceLock(snapshot) }

  package func load() -> Snapshot<State> { bits.load() }

  package func store(_ snapshot: Snapshot<State>) { bits.store(snapshot) }
}

/// A store for other states: readers take a lock for the moment that a copy takes.
package final class ValueStore<State: Sendable>: StateStore {
  private let value: Lock<Snapshot<State>>

  package init(_ snapshot: Snapshot<State>) { value = Lock(snapshot) }

  package func load() -> Snapshot<State> { value.withLock { $0 } }

  package func store(_ snapshot: Snapshot<State>) {
    let old = value.withLock { value in
      defer { value = snapshot }
      return value
    }
    // What the old state held is released outside the lock.
    withExtendedLifetime(old) {}
  }
}
