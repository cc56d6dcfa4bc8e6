// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// How a command ended, and what it wrote.
package struct LabOutput: Sendable {
  package let status: Int32
  package let output: String
  package let error: String
}
#endif
