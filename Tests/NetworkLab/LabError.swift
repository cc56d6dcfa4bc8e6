// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// An error in the lab: of the test's own setup, never of the code under test.
package struct LabError: Error, Sendable, CustomStringConvertible {
  /// The errno, or 0 if no system call failed.
  package let code: Int32
  /// The failed action, and the kernel's own words if it had any.
  package let what: String

  package init(_ what: String, code: Int32 = 0) {
    self.code = code
    self.what = what
  }

  package var description: String { code == 0 ? what : "\(what): \(Self.text(of: code))" }

  private static func text(of code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    // The function writes at most that many bytes, a NUL among them.
    unsafe text.withUnsafeMutableBufferPointer { unsafe lab_describe_errno(code, $0.baseAddress, $0.count) }
    return String(text)
  }
}

extension String {
  /// The text up to the first NUL.
  init(_ characters: [CChar]) {
    self.init(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Turns the negated errno of a C function into an error.
@discardableResult
func check<Number: BinaryInteger>(
  _ result: Number, _ what: @autoclosure () -> String
) throws(LabError) -> Number {
  if result < 0 { throw LabError(what(), code: Int32(clamping: 0 - Int(result))) }
  return result
}
#endif
