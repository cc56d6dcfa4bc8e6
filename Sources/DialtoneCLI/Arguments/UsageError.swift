// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Arguments that are well-formed one by one, and wrong together.
struct UsageError: Error, CustomStringConvertible {
  let message: String
  /// The command that they were given to, if that is known.
  let command: String?

  var description: String {
    let help = ["dialtone", command, "--help"].compactMap { $0 }.joined(separator: " ")
    return "Error: \(message)\n  See '\(help)' for more information."
  }
}

/// The parser's whole message about arguments.
struct WholeMessage: Error, CustomStringConvertible {
  let description: String
  let status: ExitCode
}
