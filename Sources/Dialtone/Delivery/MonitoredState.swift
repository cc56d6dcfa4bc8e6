// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state that a monitor tells receivers. Receivers are told of a new state only if it is not `==` to the last one.
package protocol MonitoredState: Sendable, Equatable {
  /// How the newest state is kept.
  associatedtype Store: StateStore<Self> = ValueStore<Self>

  /// Whether it says anything. The state before the first answer does not.
  var isKnown: Bool { get }

  /// Returns whether everything is equal except the time, even what `==` does not compare.
  func isIdentical(to other: Self) -> Bool
}

/// A state that the engine decides, with the time of the events that led to it.
package protocol TimedState: MonitoredState {
  /// Nothing is known.
  static var unknown: Self { get }

  /// Nothing can be known, since the system denies Dialtone what it needs, or lacks it.
  static func denied(for reason: Reachability.Reason) -> Self

  /// Nanoseconds since 1970-01-01T00:00:00Z.
  var realtime: Int64 { get set }
}

extension Reachability: TimedState {
  package typealias Store = BitStore<Reachability>
}

extension NetworkPath: TimedState {}

/// The newest state, with what decides which receivers are told of it. All of it is read together. Otherwise a receiver
/// could mix the state of one store with the permission of the next.
package struct Snapshot<State: Sendable>: Sendable {
  var state: State
  /// Whether receivers that have had a state are not told of this one yet.
  var isHeldBack = false
  /// Grows when the monitor is given something else to watch.
  var subjectNumber: UInt32 = 0
}

extension Snapshot: BitwiseCopyable where State: BitwiseCopyable {}

/// Keeps the snapshot of a ``StateCell``. One thread at a time stores; any thread loads at any time.
package protocol StateStore<State>: AnyObject, Sendable {
  associatedtype State: Sendable

  init(_ snapshot: Snapshot<State>)
  func load() -> Snapshot<State>

  /// Returns what it replaces, if that may hold the last reference to something. A cell releases it outside its lock.
  func store(_ snapshot: Snapshot<State>) -> Snapshot<State>?
}

/// A store for states of plain bits: readers never wait, and take no lock.
package final class BitStore<State: BitwiseCopyable & Sendable>: StateStore {
  private let bits: SequenceLock<Snapshot<State>>

  package init(_ snapshot: Snapshot<State>) { bits = SequenceLock(snapshot) }

  package func load() -> Snapshot<State> { bits.load() }

  /// Bits need no release.
  package func store(_ snapshot: Snapshot<State>) -> Snapshot<State>? {
    bits.store(snapshot)
    return nil
  }
}

/// A store for other states: readers hold a lock while they copy.
package final class ValueStore<State: Sendable>: StateStore {
  private let value: Lock<Snapshot<State>>

  package init(_ snapshot: Snapshot<State>) { value = Lock(snapshot) }

  package func load() -> Snapshot<State> { value.withLock { $0 } }

  package func store(_ snapshot: Snapshot<State>) -> Snapshot<State>? {
    value.withLock { value in
      defer { value = snapshot }
      return value
    }
  }
}
