// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Arguments that are well-formed one by one, and wrong together.
struct UsageError: Error, CustomStringConvertible {
  let message: String
  /// The command that they were given to.
  let command: String

  var description: String { "Error: \(message)\n  See 'dialtone \(command) --help' for more information." }
}
