// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state that a monitor tells receivers. They are told of a new state only if it is not the same as the last one.
package protocol MonitoredState: DeterminableState {
  /// Whether it says anything. The state before the first answer does not.
  var isKnown: Bool { get }

  /// Returns whether everything is equal except the time, even what `isSameState(as:)` does not compare.
  func isIdentical(to other: Self) -> Bool

  static func makeStore(_ first: Snapshot<Self>) -> any StateStore<Self>
}

extension MonitoredState {
  package static func makeStore(_ first: Snapshot<Self>) -> any StateStore<Self> { LockedStore(first) }
}

/// A state that the engine decides, with the time of the events that led to it.
package protocol TimedState: MonitoredState {
  static var unknown: Self { get }

  /// Nothing can be known, since the system denies Dialtone what it needs, or lacks it.
  static func denied(for reason: Reachability.Reason) -> Self

  /// Nanoseconds since 1970-01-01T00:00:00Z.
  var realtime: Int64 { get set }
}

extension Reachability: TimedState {
  package static func makeStore(_ first: Snapshot<Reachability>) -> any StateStore<Reachability> {
    ReachabilityStore(first)
  }
}

extension NetworkPath: TimedState {}

/// The newest state, with what decides which receivers get it. All of it is read together. Otherwise a receiver could
/// mix the state of one store with the permission of the next.
package struct Snapshot<State: Sendable>: Sendable {
  package internal(set) var state: State
  var isKnown: Bool
  /// Whether receivers that have had a state do not get this one yet.
  var isHeldBack = false
  /// Grows with each state that differs only in what most receivers are not told of.
  var detailNumber: UInt16 = 0
  /// Grows when the monitor is given something else to watch.
  package internal(set) var subjectNumber: UInt32 = 0
}

extension Snapshot: BitwiseCopyable where State: BitwiseCopyable {}

extension Snapshot where State: MonitoredState {
  init(_ state: State) { self.init(state: state, isKnown: state.isKnown) }

  mutating func replaceState(by new: State) {
    state = new
    isKnown = new.isKnown
  }
}

/// Keeps the snapshot of a ``StateCell``. One thread at a time stores; any thread loads at any time.
package protocol StateStore<State>: AnyObject, Sendable {
  associatedtype State: Sendable

  func load() -> Snapshot<State>

  /// Returns what it replaces, if that may hold the last reference to something. A cell releases it outside its lock.
  func store(_ snapshot: Snapshot<State>) -> Snapshot<State>?
}

/// A store for a state of plain bits: readers never wait, and take no lock.
final class ReachabilityStore: StateStore {
  private static let template = Snapshot(Reachability.unknown)

  private let bits: SequenceLock<Snapshot<Reachability>>

  init(_ first: Snapshot<Reachability>) { bits = SequenceLock(first) }

  func load() -> Snapshot<Reachability> { bits.load(over: Self.template) }

  /// Bits need no release.
  func store(_ snapshot: Snapshot<Reachability>) -> Snapshot<Reachability>? {
    bits.store(snapshot)
    return nil
  }
}

/// A store for other states: readers hold a lock while they copy.
final class LockedStore<State: Sendable>: StateStore {
  private let value: Lock<Snapshot<State>>

  init(_ first: Snapshot<State>) { value = Lock(first) }

  func load() -> Snapshot<State> { value.withLock { $0 } }

  func store(_ snapshot: Snapshot<State>) -> Snapshot<State>? { value.exchange(snapshot) }
}
