// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A command whose arguments have to be right together before anything is begun.
protocol CheckedCommand: ParsableCommand {
  /// Throws what is wrong with them.
  func check() throws
}
