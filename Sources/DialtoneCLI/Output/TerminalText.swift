// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Text from elsewhere, made fit for a terminal. A name may contain what moves the cursor or turns the line around.
enum TerminalText {
  /// `text` with control, format and other invisible characters written out, such as `\u{1B}`.
  static func visible(_ text: some StringProtocol, keepingLineBreaks: Bool = false) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isVisible(scalar) || keepingLineBreaks && scalar == "\n" {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return shown
  }

  /// How many columns `text` takes on a terminal: wide East Asian characters take two, combining marks none.
  static func columns(_ text: some StringProtocol) -> Int {
    // Most text is ASCII, and targets can be many.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
  }

  /// `text` cut in the middle to at most `limit` columns: the beginning and the end tell hosts apart.
  static func fitted(_ text: String, to limit: Int) -> String {
    if columns(text) <= limit { return text }
    if limit < 1 { return "" }
    let front = (limit - 1) / 2
    return taken(text, columns: front) + "…" + String(taken(text.reversed(), columns: limit - 1 - front).reversed())
  }

  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columns(text)))
  }

  /// `text` in lines of at most `limit` columns, each indented, broken as `Screen` says.
  static func wrapped(_ text: String, to limit: Int, indent: Int) -> [String] {
    if text.isEmpty { return [] }
    return Screen(columns: max(1, limit - indent)).paragraph(text, hanging: 0).split(separator: "\n")
      .map { String(repeating: " ", count: indent) + $0 }
  }

  /// As many characters from the beginning of `text` as take at most `limit` columns.
  static func taken(_ text: some Sequence<Character>, columns limit: Int) -> String {
    var taken = ""
    var used = 0
    for character in text {
      used += columns(character)
      if used > limit { break }
      taken.append(character)
    }
    return taken
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  private static func columns(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
  }

  /// The blocks of wide and full-width characters (Unicode Standard Annex 11), coarsely.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
  ]
}

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
