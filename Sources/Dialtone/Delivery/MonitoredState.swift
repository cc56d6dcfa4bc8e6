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
