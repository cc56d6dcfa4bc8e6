// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// One line to be: the state of a target, and the one before.
struct Report: Equatable, Sendable {
  /// The state that ended with this one, and how long it had lasted.
  struct Former: Equatable, Sendable {
    let state: Reachability
    let lasted: Duration
  }

  /// The target's position among those watched.
  let target: Int
  let state: Reachability
  var former: Former?
}
