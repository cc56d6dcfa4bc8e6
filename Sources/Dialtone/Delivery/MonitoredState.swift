// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a monitor tells of. `==` says whether a receiver would not be told of a difference.
package protocol MonitoredState: Sendable, Equatable {
  /// Whether it says anything: the state before the first answer does not.
  var isKnown: Bool { get }

  /// Whether it is equal also in what receivers are not told of by itself, but for the time.
  func isIdentical(to other: Self) -> Bool
}
