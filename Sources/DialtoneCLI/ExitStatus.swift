// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone

/// What the command tells the shell when it ends by itself.
enum ExitStatus: Int32, Sendable {
  /// What was asked holds.
  case holds = 0
  /// It does not hold.
  case fails = 1
  /// It cannot be told: still undetermined at the timeout, or the system refuses to say.
  case undetermined = 2
  /// Wrong usage (EX_USAGE, sysexits.h).
  case usage = 64
  /// A file that was named could not be read (EX_NOINPUT, sysexits.h).
  case noInput = 66
  /// The system had nothing left: no descriptor, no thread, no memory (EX_OSERR, sysexits.h).
  case system = 71
  /// The output could not be written (EX_IOERR, sysexits.h).
  case inputOutput = 74

  /// What a call that failed means.
  init(for error: SystemError) { self = error.call == StandardStream.outputName ? .inputOutput : .system }

  /// Says what failed, and ends the process.
  static func end(for error: SystemError) -> Never {
    Output.note("dialtone: \(error)\(Shortage.remedy(for: error).map { "; \($0)" } ?? "")")
    CDialtoneSystem.exit(ExitStatus(for: error).rawValue)
  }
}

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

/// A file that was named and cannot be read (EX_NOINPUT, sysexits.h).
struct InputError: Error, CustomStringConvertible {
  let description: String
}
