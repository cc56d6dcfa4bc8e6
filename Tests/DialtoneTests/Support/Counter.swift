// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Synchronization

/// A number that any thread can change.
final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .sequentiallyConsistent) }

  /// Adds, and returns the new value.
  @discardableResult
  func add(_ difference: Int = 1) -> Int { number.add(difference, ordering: .sequentiallyConsistent).newValue }
}

/// A value that any thread can replace.
final class Box<Value: Sendable>: Sendable {
  private let content: Lock<Value>

  init(_ value: Value) { content = Lock(value) }

  var value: Value {
    get { content.withLock { $0 } }
    set {
      // The old value is released outside the lock.
      let old = content.withLock { content in
        defer { content = newValue }
        return content
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Changes the value; no other thread changes it meanwhile.
  func update(_ change: @Sendable (inout Value) -> Void) { content.withLock { change(&$0) } }
}
