// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The looks of text on a terminal; none if there is no terminal, or if colours are not wanted.
struct Style: Equatable, Sendable {
  /// What a text is, and so how it looks (SGR, ECMA-48, 8.3.117).
  enum Look: String, Sendable {
    case good = "32"
    case middling = "33"
    case bad = "31"
    case faint = "2"
  }

  let isColoured: Bool

  /// Whether text on a terminal is coloured. It is not if `NO_COLOR` is set and not empty (no-color.org), nor if `TERM`
  /// says that the terminal is dumb.
  static func isColoured(isTerminal: Bool, noColor: String?, term: String?) -> Bool {
    isTerminal && (noColor ?? "").isEmpty && term != "dumb"
  }

  func text(_ text: String, _ look: Look) -> String {
    isColoured && !text.isEmpty ? "\u{1B}[\(look.rawValue)m\(text)\u{1B}[0m" : text
  }
}
