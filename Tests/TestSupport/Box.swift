// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that any thread can replace.
package final class Box<Value: Sendable>: Sendable {
  private let content: Mutex<Value>

  package init(_ value: Value) { content = Mutex(value) }

  package var value: Value {
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
  package func update(_ change: @Sendable (inout Value) -> Void) {
    content.withLock { content in
      var value = content
      change(&value)
      content = value
    }
  }
}
