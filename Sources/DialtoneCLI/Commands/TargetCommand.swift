// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A command that watches targets.
protocol TargetCommand: CheckedCommand {
  var options: TargetOptions { get set }
}

extension TargetCommand {
  var typed: [String] {
    get { options.targets }
    set { options.targets = newValue }
  }
}
