// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// What a command did.
package struct LabOutput: Sendable {
  package let status: Int32
  package let output: String
  package let error: String
}
#endif
