// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension YAMLCursor {
  typealias Text = [Unicode.Scalar]

  /// A text on one line and the colon behind it; `nil` if there is no colon.
  mutating func takeKey(in parent: Int?) throws(ConfigurationError) -> String? {
    let line = self.line
    let isQuoted = next == "\"" || next == "'"
    let key = isQuoted ? try takeQuoted(in: parent) : Self.string(try takePlainLine(in: parent, isFirst: true))
    skipBlanks()
    guard isColon(in: parent) || isQuoted && parent == nil && next == ":" else { return nil }
    if self.line > line { throw refusal("a key stands on one line; this one begins in line \(line)") }
    if key == "<<", !isQuoted { throw refusal("merge keys (<<) are not read; write out what they stand for") }
    advance()
    return key
  }

  // MARK: Plain

  /// A text without quotes, in a block whose column is `parent`; between brackets that is `nil`.
  mutating func takePlain(in parent: Int?) throws(ConfigurationError) -> String {
    var text = try takePlainLine(in: parent, isFirst: true)
    while let breaks = takeBreaks(ofPlainIn: parent) {
      text += Self.folded(breaks)
      text += try takePlainLine(in: parent, isFirst: false)
    }
    if parent != nil, isColon(in: parent) {
      throw refusal("a second key stands in a value; give it a line of its own, or put quotes around the value")
    }
    return Self.string(text)
  }

  private mutating func takePlainLine(in parent: Int?, isFirst: Bool) throws(ConfigurationError) -> Text {
    if isFirst, let problem = problem(ofPlainIn: parent) { throw refusal(problem) }
    let start = index
    var end = index
    while !isPlainOver(in: parent), !isComment || index == start {
      let isBlank = isGap(at: 0)
      advance()
      if !isBlank { end = index }
    }
    index = end
    return Array(text(from: start))
  }

  private func isPlainOver(in parent: Int?) -> Bool {
    next == nil || next == "\n" || isColon(in: parent) || parent == nil && isBracketOrComma(at: 0)
  }

  private func isColon(in parent: Int?) -> Bool {
    next == ":" && (isGap(at: 1) || parent == nil && isBracketOrComma(at: 1))
  }

  private func isBracketOrComma(at offset: Int) -> Bool {
    switch scalar(at: offset) {
    case ",", "[", "]", "{", "}": true
    default: false
    }
  }

  /// Why no text without quotes begins here.
  private func problem(ofPlainIn parent: Int?) -> String? {
    switch next {
    case "&", "*": "anchors and aliases (&, *) are not read; write out what they stand for, or put quotes around a text"
    case "!": "tags (!) are not read; remove it, or put quotes around a text"
    case "?" where isGap(at: 1): "a key after a question mark is not read; write it before a colon"
    case "-" where isGap(at: 1): "this is no YAML: a list begins on a line of its own"
    case ":" where isColon(in: parent): "this is no YAML: a key is missing before the colon"
    case "-" where parent == nil && isBracketOrComma(at: 1), "?" where parent == nil, ":" where parent == nil, ",", "[",
      "]", "{", "}", "#", "|", ">", "%", "@", "`":
      "this is no YAML: no text begins with \(next.map(String.init) ?? ""); put quotes around it"
    case nil: "this is no YAML: it ends too early"
    default: nil
    }
  }

  /// Goes on to the next line of a text, and says how many line breaks lie between; `nil` if the text is over.
  private mutating func takeBreaks(ofPlainIn parent: Int?) -> Int? {
    let start = self
    skipBlanks()
    var breaks = 0
    var hasTab = false
    while take("\n") {
      breaks += 1
      let place = index
      skipBlanks()
      hasTab = text(from: place).contains("\t")
    }
    let goesOn = parent.map { column > $0 && !hasTab } ?? !isDocumentOver
    if breaks > 0, goesOn, next != "#", !isPlainOver(in: parent) { return breaks }
    self = start
    return nil
  }

  /// One line break between words is a space; of more than one, the first counts for nothing.
  static func folded(_ breaks: Int) -> Text { breaks == 1 ? [" "] : Text(repeating: "\n", count: breaks - 1) }

  static func string(_ text: Text) -> String { String(String.UnicodeScalarView(text)) }

  // MARK: In quotes

  mutating func takeQuoted(in parent: Int?) throws(ConfigurationError) -> String {
    let opening = self
    let quote = next
    advance()
    var text = Text()
    // Blanks behind this do not count if the line ends.
    var kept = 0
    while let scalar = next, !isDocumentOver {
      switch scalar {
      case "\n":
        text.removeSubrange(kept...)
        text += Self.folded(try takeBreaks(ofQuotedIn: parent, opening))
        kept = text.count
      case "\\" where quote == "\"":
        advance()
        if next == "\n" {
          text += Text(repeating: "\n", count: try takeBreaks(ofQuotedIn: parent, opening) - 1)
        } else {
          text.append(try takeEscaped())
        }
        kept = text.count
      case quote where quote == "\"" || self.scalar(at: 1) != "'":
        advance()
        return Self.string(text)
      default:
        advance()
        if scalar == quote { advance() }
        text.append(scalar)
        if scalar != " ", scalar != "\t" { kept = text.count }
      }
    }
    throw unclosed(opening)
  }

  private mutating func takeBreaks(ofQuotedIn parent: Int?, _ opening: YAMLCursor) throws(ConfigurationError) -> Int {
    var breaks = 0
    while take("\n") {
      breaks += 1
      skipBlanks()
    }
    // YAML wants it indented; rather a quote is missing.
    if let parent, column <= parent { throw unclosed(opening) }
    return breaks
  }

  /// What is open where the text, or its part, ends.
  func unclosed(_ opening: YAMLCursor) -> ConfigurationError {
    refusal(
      "this is no YAML: the \(opening.next.map(String.init) ?? "") of line \(opening.line) is not closed before this")
  }

  private static let escaped: [Unicode.Scalar: Unicode.Scalar] = [
    "0": "\0", "a": "\u{7}", "b": "\u{8}", "t": "\t", "\t": "\t", "n": "\n", "v": "\u{B}", "f": "\u{C}", "r": "\r",
    "e": "\u{1B}", " ": " ", "\"": "\"", "/": "/", "\\": "\\", "N": "\u{85}", "_": "\u{A0}", "L": "\u{2028}",
    "P": "\u{2029}",
  ]

  private mutating func takeEscaped() throws(ConfigurationError) -> Unicode.Scalar {
    guard let letter = next else { throw refusal("this is no YAML: it ends too early") }
    if let scalar = Self.escaped[letter] {
      advance()
      return scalar
    }
    let count = ["x": 2, "u": 4, "U": 8][letter] ?? 0
    let digits = Self.string((0..<count).compactMap { scalar(at: 1 + $0) })
    guard digits.utf8.count == count, digits.utf8.allSatisfy(ASCII.isHexDigit) else {
      throw refusal("this is no YAML: after \\\(letter), \(count) digits are expected")
    }
    guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
      throw refusal("this is no YAML: a backslash before \(letter); write two, or single quotes around the text")
    }
    for _ in 0...count { advance() }
    return scalar
  }
}
