// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A command that watches targets.
protocol TargetCommand: CheckedCommand {
  var options: TargetOptions { get }

  /// What is to be watched, or an error that says what is wrong with it.
  func request() throws -> TargetRequest
}

extension TargetCommand {
  func request() throws -> TargetRequest { try options.request() }

  func check() throws { _ = try request() }
}
