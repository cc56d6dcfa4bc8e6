// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What the shell tells of itself.
enum Environment {
  static func value(of name: String) -> String? { EnvironmentVariable[name] }

  /// Whether the terminal understands no escape sequences.
  static var isDumb: Bool { value(of: "TERM") == "dumb" }

  /// The looks of what is written to standard output.
  static func style(isTerminal: Bool) -> Style {
    Style(
      isColoured: Style.isColoured(
        isTerminal: isTerminal, noColor: value(of: "NO_COLOR"), term: value(of: "TERM")))
  }
}
