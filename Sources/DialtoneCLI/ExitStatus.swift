// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What the command tells the shell when it ends by itself.
enum ExitStatus: Int32, Sendable {
  /// What was asked holds.
  case holds = 0
  /// It does not hold.
  case fails = 1
  /// It cannot be told: still undetermined at the time-out, or the system refuses to say.
  case undetermined = 2
  /// Wrong usage (EX_USAGE, sysexits.h).
  case usage = 64
  /// The output could not be written (EX_IOERR, sysexits.h).
  case inputOutput = 74
}
