// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Netlink

/// A failed system call, with its errno(3).
package struct SystemError: Error, CustomStringConvertible {
  package let call: String
  package let errno: CInt

  /// - Parameters:
  ///   - call: What failed, in words or by its name.
  ///   - errno: Why; if `nil`, what the call has just left.
  package init(_ call: String, errno: CInt? = nil) {
    self.errno = errno ?? csystem_errno()
    self.call = call
  }

  package var description: String { "\(call): \(Self.text(of: errno))" }

  /// The system's words for an error number, such as "Connection refused".
  package static func text(of errno: CInt) -> String { ErrorNumber.text(of: errno) }
}
