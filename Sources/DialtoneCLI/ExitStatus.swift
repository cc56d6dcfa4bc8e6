// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

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
}
