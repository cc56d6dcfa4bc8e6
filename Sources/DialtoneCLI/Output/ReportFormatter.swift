// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// What one line says: the state of a target, and the one before.
struct StateReport<State: Equatable & Sendable>: Equatable, Sendable {
  /// The state that ended with this one, and how long it had lasted.
  struct Former: Equatable, Sendable {
    let state: State
    let lasted: Duration
  }

  /// The target's position among those watched.
  let target: Int
  let state: State
  var former: Former?
}

/// A line about a target that packets can reach, or cannot.
typealias Report = StateReport<Reachability>

protocol ReportFormatter<State> {
  associatedtype State: Equatable & Sendable

  /// The line without its end.
  func line(for report: StateReport<State>) -> String
}
