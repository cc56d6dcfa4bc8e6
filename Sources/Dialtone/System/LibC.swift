// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// A failed system call, with its errno(3).
package struct SystemError: Error, CustomStringConvertible {
  package let call: String
  package let errno: CInt

  /// Takes the errno that the call just left.
  package init(_ call: String) {
    self.call = call
    self.errno = csystem_errno()
  }

  package var description: String { "\(call): \(Self.text(of: errno))" }

  /// The system's words for an error number, such as "Connection refused".
  package static func text(of errno: CInt) -> String {
    // strerror(3) returns a text that stays valid until the thread calls it again; it is copied at once.
    unsafe String(cString: strerror(errno))
  }
}

/// The variables of the process's environment (environ(7)).
package enum EnvironmentVariable {
  /// The variable's text; `nil` if it is not set or empty.
  package static subscript(_ name: String) -> String? {
    // getenv(3) returns a text of the environment, which is copied at once.
    guard let text = unsafe getenv(name) else { return nil }
    let copy = unsafe String(cString: text)
    return copy.isEmpty ? nil : copy
  }
}
