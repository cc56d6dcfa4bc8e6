// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A number that any thread can change.
final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .sequentiallyConsistent) }

  /// Adds, and returns the new value.
  @discardableResult
  func add(_ difference: Int = 1) -> Int { number.add(difference, ordering: .sequentiallyConsistent).newValue }
}
