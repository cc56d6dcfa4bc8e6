// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a stream is written to, and the one rule of all commands for what is cut there and where lines break.
///
/// - In a pipe or a file, nothing is cut and no line is broken.
/// - On a terminal, no line takes more columns than there are. A line breaks at a space, and goes on with an indent. A
///   word that has no room in a line of its own breaks behind a punctuation mark, or where it must if it has none.
/// - Only the name of a target is cut, and only in a column of names (`TerminalLine`) and in the line of progress,
///   which is one line.
struct Screen: Equatable, Sendable {
  /// Some of the text of a line, and its look. Text of strangers is made visible before (`TerminalText.visible`).
  struct Span: Equatable, Sendable {
    let text: String
    var look: Style.Look?

    init(_ text: String, _ look: Style.Look? = nil) {
      self.text = text
      self.look = look
    }
  }

  /// How many columns the terminal has; `nil` if there is none.
  var columns: Int?
  var style = Style(isColoured: false)

  /// What standard output is written to, as it is now.
  static var output: Screen {
    let isTerminal = StandardStream.output.isTerminal
    return Screen(
      columns: isTerminal ? StandardStream.output.columns : nil, style: Environment.style(isTerminal: isTerminal))
  }

  /// What standard error is written to, as it is now; without colours.
  static var error: Screen { Screen(columns: StandardStream.error.isTerminal ? StandardStream.error.columns : nil) }

  /// The spans as one line, or several if the terminal is narrow. Those after the first are indented by `hanging`, or
  /// by less if that would take more than half of the terminal.
  func paragraph(_ spans: [Span], hanging: Int = 2) -> String {
    guard let columns, spans.reduce(0, { $0 + TerminalText.columns($1.text) }) > columns else {
      return spans.map(styled).joined()
    }
    var wrapping = Wrapping(columns: columns, indent: hanging > columns / 2 ? min(2, columns / 8) : hanging)
    for span in spans { wrapping.append(span) }
    return wrapping.finished.map { $0.map(styled).joined() }.joined(separator: "\n")
  }

  func paragraph(_ text: String, _ look: Style.Look? = nil, hanging: Int = 2) -> String {
    paragraph([Span(text, look)], hanging: hanging)
  }

  /// Text that has lines of its own: each that is too long goes on with an indent below its first word.
  func paragraphs(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in paragraph(String(line), hanging: Self.indent(line) + 2) }
      .joined(separator: "\n")
  }

  /// The least columns that help of two columns has room in.
  static let leastHelpColumns = 60

  /// Help. Where its two columns have no room, the second one goes below the first.
  func help(_ text: String) -> String {
    guard let columns, columns < Self.leastHelpColumns else { return paragraphs(text) }
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      // It goes on in the second column.
      if Self.indent(line) > 10, let last = lines.popLast() {
        let isSecond = last.dropFirst(Self.indent(last)).contains("  ")
        lines.append(last + (isSecond ? " " : "  ") + line.drop { $0 == " " })
      } else {
        lines.append(line)
      }
    }
    return lines.map { line in
      let indent = Self.indent(line)
      if indent == 0 { return paragraph(String(line), hanging: line.hasPrefix("USAGE:") ? 2 : 0) }
      let first = line[..<(line.dropFirst(indent).firstRange(of: "  ")?.lowerBound ?? line.endIndex)]
      let second = line[first.endIndex...].drop { $0 == " " }
      let position = line.distance(from: line.startIndex, to: second.startIndex)
      if position * 3 <= columns { return paragraph(String(line), hanging: position) }
      let rest = second.isEmpty ? "" : "\n" + paragraph("    " + second, hanging: 4)
      return paragraph(String(first), hanging: indent + 2) + rest
    }.joined(separator: "\n")
  }

  private static func indent(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }

  private func styled(_ span: Span) -> String { span.look.map { style.text(span.text, $0) } ?? span.text }
}

/// Breaks spans into lines.
private struct Wrapping {
  private let columns: Int
  private let indent: Int
  private var lines: [[Screen.Span]] = []
  private var line: [Screen.Span] = []
  private var used = 0
  /// The spaces before the next word, which are left out where the line breaks.
  private var spaces: [Screen.Span] = []
  /// Whether nothing was put yet; so spaces indent the text.
  private var isAtStart = true

  init(columns: Int, indent: Int) {
    self.columns = max(1, columns)
    self.indent = indent
  }

  var finished: [[Screen.Span]] { line.isEmpty ? lines : lines + [line] }

  mutating func append(_ span: Screen.Span) {
    var rest = span.text[...]
    while !rest.isEmpty {
      let gap = rest.prefix { $0 == " " }
      if !gap.isEmpty { spaces.append(Screen.Span(String(gap), span.look)) }
      let word = rest.dropFirst(gap.count).prefix { $0 != " " }
      rest = rest[word.endIndex...]
      if !word.isEmpty { append(word: String(word), span.look) }
    }
  }

  private mutating func append(word: String, _ look: Style.Look?) {
    let gap = spaces.reduce(0) { $0 + TerminalText.columns($1.text) }
    var word = word
    if used + gap + TerminalText.columns(word) <= columns || isAtStart && gap < columns / 2 {
      for span in spaces { put(span) }
    } else if !isAtStart {
      breakLine()
    }
    spaces = []
    while used + TerminalText.columns(word) > columns {
      let part = Self.beginning(of: word, columns: columns - used)
      // A character that is wider than the line.
      if part.isEmpty { break }
      put(Screen.Span(part, look))
      word.removeFirst(part.count)
      if !word.isEmpty { breakLine() }
    }
    if !word.isEmpty { put(Screen.Span(word, look)) }
  }

  private mutating func put(_ span: Screen.Span) {
    isAtStart = false
    used += TerminalText.columns(span.text)
    if let last = line.last, last.look == span.look {
      line[line.count - 1] = Screen.Span(last.text + span.text, span.look)
    } else {
      line.append(span)
    }
  }

  private mutating func breakLine() {
    lines.append(line)
    line = indent > 0 ? [Screen.Span(String(repeating: " ", count: indent))] : []
    used = indent
  }

  /// As much of a word as has room: up to a punctuation mark, if one stands in its second half.
  private static func beginning(of word: String, columns: Int) -> String {
    let most = TerminalText.taken(word, columns: columns)
    guard let mark = most.lastIndex(where: { "/.,;:-_?&=@".contains($0) }) else { return most }
    let beginning = String(most[...mark])
    return TerminalText.columns(beginning) * 2 > columns ? beginning : most
  }
}
