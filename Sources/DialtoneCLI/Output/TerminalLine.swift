// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A line about a target: time, name, status, details, and how long the former state lasted.
///
/// On a terminal it takes no more columns than there are: the name is cut first, then the former state is left out.
/// What is said of the present is never cut: if it has no room, it goes on in lines of its own.
struct TerminalLine {
  /// The details and the former state, from the longest to the shortest.
  typealias Wording = (details: String, former: String?)

  let time: String?
  let target: Int
  let status: String
  let look: Style.Look
  /// How many columns the widest status has.
  let statusColumns: Int
  let wordings: [Wording]
  /// The fewest columns that a name is cut to, before something else is left out.
  let leastName: Int

  /// The text, for a terminal of this many columns, or for a file.
  func text(names: ShortenedNames, columns: Int?, style: Style) -> String {
    guard let columns else { return line(names.name(target, to: nil), names.widest, wordings[0], style).styled }
    let usual = Self.nameLimit(names, columns)
    for wording in wordings {
      let full = line(names.name(target, to: usual), usual, wording, style)
      if full.columns <= columns { return full.styled }
      // In steps of two: for each width of a name, all of them are told apart.
      let room = (usual - (full.columns - columns)) & ~1
      if room < min(leastName, names.widest) { continue }
      return line(names.name(target, to: room), room, wording, style).styled
    }
    return lines(names, usual, columns, style)
  }

  /// How many columns a name has at most, if nothing asks for less: three tenths of the line.
  private static func nameLimit(_ names: ShortenedNames, _ columns: Int) -> Int { min(names.widest, columns * 3 / 10) }

  private func line(
    _ name: String, _ nameColumns: Int, _ wording: Wording, _ style: Style
  ) -> (styled: String, columns: Int) {
    var parts: [(text: String, look: Style.Look?)] = []
    if let time { parts.append((time, .faint)) }
    parts.append((TerminalText.padded(name, to: nameColumns), nil))
    parts.append((status, look))
    let padding = String(repeating: " ", count: max(0, statusColumns - status.count))
    if !wording.details.isEmpty { parts.append((padding + wording.details, nil)) }
    if let former = wording.former { parts.append((former, .faint)) }
    let styled = parts.map { part in part.look.map { style.text(part.text, $0) } ?? part.text }.joined(separator: "  ")
    return (styled, TerminalText.columns(parts.map(\.text).joined(separator: "  ")))
  }

  /// All of it, with the details below.
  private func lines(_ names: ShortenedNames, _ usual: Int, _ columns: Int, _ style: Style) -> String {
    let head = (time.map { TerminalText.columns($0) + 2 } ?? 0) + status.count + 2
    let room = max(1, min(usual, columns - head))
    let first = line(names.name(target, to: room), room, ("", nil), style).styled
    let rest = TerminalText.wrapped(wordings[0].details, to: columns, indent: 2)
    return ([first] + rest).joined(separator: "\n")
  }
}
