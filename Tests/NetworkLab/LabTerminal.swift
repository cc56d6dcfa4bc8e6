// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// The size of the terminal that a process gets.
package struct LabTerminal: Sendable {
  let rows: UInt16
  let columns: UInt16

  package init(rows: UInt16 = 24, columns: UInt16 = 80) {
    self.rows = rows
    self.columns = columns
  }
}
#endif
