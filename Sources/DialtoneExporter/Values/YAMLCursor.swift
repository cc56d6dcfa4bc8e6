// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A place in a YAML text, and the moves over what means nothing: blanks, comments, line breaks.
struct YAMLCursor {
  private let scalars: [Unicode.Scalar]
  /// A text that ends before the blanks behind it sets this back, within its line.
  var index = 0
  private(set) var line = 1
  private var lineStart = 0

  /// Each line break becomes one line feed.
  init(_ text: String) throws(ConfigurationError) {
    let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    // A mark of the byte order may stand at the start.
    scalars = Array(lines.unicodeScalars.drop { $0 == "\u{FEFF}" })
    var line = 1
    for scalar in scalars {
      if let error = Self.refusal(of: scalar, line) { throw error }
      if scalar == "\n" { line += 1 }
    }
  }

  /// What YAML does not allow, and what ends a line in YAML 1.1 and not in 1.2.
  private static func refusal(of scalar: Unicode.Scalar, _ line: Int) -> ConfigurationError? {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0xA0...0x2027, 0x202A...0xFEFE, 0xFF00...0xFFFD, 0x10000...: return nil
    default:
      let digits = String(scalar.value, radix: 16, uppercase: true)
      let number = String(repeating: "0", count: 4 - digits.count) + digits
      return ConfigurationError(
        line: line,
        message: "the character U+\(number) cannot stand in a file; write \"\\u\(number)\", in double quotes")
    }
  }

  func refusal(_ message: String) -> ConfigurationError { ConfigurationError(line: line, message: message) }

  // MARK: What stands here

  var next: Unicode.Scalar? { scalar(at: 0) }

  func scalar(at offset: Int) -> Unicode.Scalar? {
    let place = index + offset
    return scalars.indices.contains(place) ? scalars[place] : nil
  }

  func text(from start: Int) -> ArraySlice<Unicode.Scalar> { scalars[start..<index] }

  /// Whether a space, a line break or the end stands there.
  func isGap(at offset: Int) -> Bool {
    guard let scalar = scalar(at: offset) else { return true }
    return scalar == " " || scalar == "\t" || scalar == "\n"
  }

  /// Whether it stands here as a sign of its own: a dash before an item, a question mark before a key.
  func isSign(_ sign: Unicode.Scalar) -> Bool { next == sign && isGap(at: 1) }

  var isComment: Bool { next == "#" && isGap(at: -1) }

  /// Whether nothing more than a comment is left of the line.
  var isLineOver: Bool { next == nil || next == "\n" || isComment }

  func isMarker(_ sign: Unicode.Scalar) -> Bool {
    index == lineStart && next == sign && scalar(at: 1) == sign && scalar(at: 2) == sign && isGap(at: 3)
  }

  var isDocumentOver: Bool { next == nil || isMarker("-") || isMarker(".") }

  /// Counted from 0; -1 where the document is over, so that every block ends there.
  var column: Int { isDocumentOver ? -1 : index - lineStart }

  // MARK: Moves

  mutating func advance() {
    index += 1
    if scalar(at: -1) == "\n" {
      line += 1
      lineStart = index
    }
  }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    if next != scalar { return false }
    advance()
    return true
  }

  mutating func takeMarker(_ sign: Unicode.Scalar) -> Bool {
    if !isMarker(sign) { return false }
    for _ in 0..<3 { advance() }
    return true
  }

  mutating func skipBlanks() {
    while next == " " || next == "\t" { advance() }
  }

  mutating func skipComment() {
    if isComment { while next != nil, next != "\n" { advance() } }
  }

  /// From the start of a line to the next one that says something, or to the end.
  mutating func skipToContent() throws(ConfigurationError) {
    repeat {
      while next == " " { advance() }
      let end = index
      skipBlanks()
      skipComment()
      if next != nil, next != "\n", index > end { throw refusal("a tab indents this line; use spaces") }
    } while take("\n")
  }

  /// From the end of a value to the next line that says something.
  mutating func endLine() throws(ConfigurationError) {
    skipBlanks()
    skipComment()
    if take("\n") { return try skipToContent() }
    if next != nil {
      throw refusal("this is no YAML: the line goes on behind a value; a comment needs a space before its #")
    }
  }

  /// Between brackets lines and their indentation mean nothing.
  mutating func skipBetweenBrackets() {
    repeat {
      skipBlanks()
      skipComment()
    } while take("\n")
  }
}
