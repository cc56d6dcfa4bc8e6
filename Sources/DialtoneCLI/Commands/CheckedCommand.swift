// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A command whose arguments have to be right together before anything is begun.
protocol CheckedCommand: ParsableCommand {
  /// The targets or URLs among its arguments.
  var typed: [String] { get set }

  /// Checks the arguments, and reads the files that they name. Returns what is to be done.
  ///
  /// Call it once: standard input can be read only once.
  func prepare() throws -> Work
}

/// What a command does once its arguments have been found right.
typealias Work = () throws -> ExitStatus
