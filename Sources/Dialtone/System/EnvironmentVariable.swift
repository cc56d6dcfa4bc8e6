// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// The variables of the process's environment (environ(7)).
package enum EnvironmentVariable {
  /// The variable's text; `nil` if it is not set, or empty.
  package static subscript(_ name: String) -> String? {
    // getenv(3) returns a text of the environment, which is copied at once.
    guard let text = unsafe getenv(name) else { return nil }
    let copy = unsafe String(cString: text)
    return copy.isEmpty ? nil : copy
  }
}
