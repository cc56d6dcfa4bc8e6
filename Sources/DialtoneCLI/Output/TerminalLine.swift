// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A line about a target: time, name, status, details, and how long the former state lasted.
///
/// On a terminal, columns stay where they are: that of names is as wide as the longest, if that is at most half of the
/// line, else a quarter of it, to which a longer name is cut in its middle. If a line has no room, the former state is
/// said in fewer words, then left out; then the details stand below, and the name has the rest of the first line.
struct TerminalLine {
  typealias Wording = (details: String, former: String?)

  let time: String?
  let target: Int
  let status: String
  let look: Style.Look
  /// How many columns the usual statuses have; a longer one moves what follows it, in its line alone.
  let statusColumns: Int
  /// The first says everything, and each says less than the one before.
  let wordings: [Wording]

  /// The fewest columns to which a name is cut.
  private static let leastName = 8
  /// The fewest to which it is cut so that the details stand in the same line.
  private static let legibleName = 12

  func text(names: ShortenedNames, on screen: Screen) -> String {
    guard let columns = screen.columns else {
      return screen.paragraph(spans(names.name(target, to: nil), names.widest, wordings[0]))
    }
    let timeColumns = time.map { TerminalText.columns($0) + 2 } ?? 0
    let room = columns - timeColumns
    let nameColumns = names.widest <= room / 2 ? names.widest : max(Self.leastName, room / 4)
    let name = names.name(target, to: nameColumns)
    // To a few letters no name is cut for the sake of one line.
    let isLegible = nameColumns >= Self.legibleName || name == names.name(target, to: nil)
    for wording in wordings where isLegible {
      let spans = spans(name, nameColumns, wording)
      if spans.reduce(0, { $0 + TerminalText.columns($1.text) }) <= columns { return screen.paragraph(spans) }
    }
    let rest = room - status.count - 2
    let whole = names.name(target, to: rest < Self.leastName ? nil : rest)
    // The status stays in its column if the name has room in front of it.
    let isInColumn = isLegible && TerminalText.columns(whole) <= nameColumns
    let head = screen.paragraph(spans(whole, isInColumn ? nameColumns : 0, ("", nil)))
    let indent = "  "
    return head + "\n" + screen.paragraph(indent + wordings[0].details, hanging: indent.count)
  }

  private func spans(_ name: String, _ nameColumns: Int, _ wording: Wording) -> [Screen.Span] {
    var parts: [[Screen.Span]] = []
    if let time { parts.append([Screen.Span(time, .faint)]) }
    parts.append([Screen.Span(TerminalText.padded(name, to: nameColumns))])
    var state = [Screen.Span(status, look)]
    if !wording.details.isEmpty {
      state.append(Screen.Span(String(repeating: " ", count: max(0, statusColumns - status.count) + 2)))
      state.append(Screen.Span(wording.details))
    }
    parts.append(state)
    if let former = wording.former { parts.append([Screen.Span(former, .faint)]) }
    return Array(parts.joined(separator: [Screen.Span("  ")]))
  }
}
