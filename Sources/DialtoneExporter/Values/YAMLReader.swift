// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Reads the part of YAML 1.2 (https://yaml.org/spec/1.2.2/) that people write configurations in. What it does not know
/// it refuses, with the line and the remedy: anchors, aliases, tags, directives, several documents, keys that are no
/// texts. It reads nothing otherwise than a reader of the whole language would.
///
/// Each text is looked at a fixed number of times, and the depth is bounded.
struct YAMLReader {
  private var cursor: YAMLCursor
  private var depth = 0

  private static let depthLimit = 32

  init(_ text: String) throws(ConfigurationError) { cursor = try YAMLCursor(text) }

  /// The only document; `nil` if there is none.
  mutating func document() throws(ConfigurationError) -> YAMLValue? {
    try cursor.skipToContent()
    if cursor.column == 0, cursor.next == "%" { throw cursor.refusal("directives (%) are not read; remove the line") }
    var node: YAMLValue?
    if cursor.takeMarker("-") {
      node = try value(in: -1, line: cursor.line)
    } else if !cursor.isDocumentOver {
      node = try block(in: -1)
    }
    if cursor.takeMarker(".") { try cursor.endLine() }
    if cursor.isMarker("-") { throw cursor.refusal("a second document begins here; a configuration is one document") }
    if cursor.next != nil { throw misaligned }
    return node
  }

  private var misaligned: ConfigurationError {
    cursor.refusal(
      "this is no YAML: the line is indented like none above that it can belong to; indent it like one of them")
  }

  private mutating func deeper(
    _ read: (inout YAMLReader) throws(ConfigurationError) -> YAMLValue.Content
  ) throws(ConfigurationError) -> YAMLValue {
    let line = cursor.line
    if depth == Self.depthLimit { throw cursor.refusal("more than \(Self.depthLimit) levels lie in each other") }
    depth += 1
    defer { depth -= 1 }
    return YAMLValue(line: line, content: try read(&self))
  }

  // MARK: By indentation

  /// What stands here as the first of its line, or after a dash, in a block of this column. Ends at the next content.
  private mutating func block(in parent: Int) throws(ConfigurationError) -> YAMLValue {
    if cursor.isSign("-") { return try deeper { reader throws(ConfigurationError) in .items(try reader.sequence()) } }
    if let next = cursor.next, !"|>[{".unicodeScalars.contains(next) {
      var ahead = cursor
      if try ahead.takeKey(in: parent) != nil {
        return try deeper { reader throws(ConfigurationError) in .entries(try reader.mapping()) }
      }
    }
    return try leaf(in: parent)
  }

  private mutating func sequence() throws(ConfigurationError) -> [YAMLValue] {
    let column = cursor.column
    var items: [YAMLValue] = []
    repeat {
      let line = cursor.line
      cursor.advance()
      while cursor.next == " " { cursor.advance() }
      if cursor.next == "\t" { throw cursor.refusal("a tab follows a dash; use a space") }
      items.append(cursor.isLineOver ? try value(in: column, line: line) : try block(in: column))
    } while cursor.column == column && cursor.isSign("-")
    if cursor.column > column { throw misaligned }
    return items
  }

  private mutating func mapping() throws(ConfigurationError) -> [(key: YAMLKey, value: YAMLValue)] {
    let column = cursor.column
    var entries: [(key: YAMLKey, value: YAMLValue)] = []
    var lines: [String: Int] = [:]
    repeat {
      if cursor.isSign("-") { throw misaligned }
      let key = try key(in: column, &lines)
      entries.append((key, try value(in: column, line: key.line, isOfKey: true)))
    } while cursor.column == column
    if cursor.column > column { throw misaligned }
    return entries
  }

  /// `lines` has those of the keys before it.
  private mutating func key(
    in parent: Int?, _ lines: inout [String: Int]
  ) throws(ConfigurationError) -> YAMLKey {
    let line = cursor.line
    let isBracket = cursor.next == "[" || cursor.next == "{"
    guard !(isBracket && parent == nil), let text = try cursor.takeKey(in: parent) else {
      throw cursor.refusal("this is no YAML: a key is expected here, a text with a colon and a space behind it")
    }
    if let first = lines.updateValue(line, forKey: text) {
      throw YAMLKey(text: text, line: first).refusal("it is there twice, again in line \(line); remove one of them")
    }
    return YAMLKey(text: text, line: line)
  }

  /// What follows a key, a dash or the mark of a document, on this line or below it.
  private mutating func value(
    in parent: Int, line: Int, isOfKey: Bool = false
  ) throws(ConfigurationError) -> YAMLValue {
    cursor.skipBlanks()
    if !cursor.isLineOver { return try leaf(in: parent) }
    try cursor.endLine()
    // The list of a key may begin in the column of the key.
    if cursor.column > parent || isOfKey && cursor.column == parent && cursor.isSign("-") {
      return try block(in: parent)
    }
    return YAMLValue(line: line, content: .text("", isPlain: true))
  }

  private mutating func leaf(in parent: Int) throws(ConfigurationError) -> YAMLValue {
    let line = cursor.line
    if cursor.next == "|" || cursor.next == ">" {
      return YAMLValue(line: line, content: .text(try cursor.takeBlock(in: parent), isPlain: false))
    }
    let node = try flow(in: parent)
    if cursor.isSign(":") { throw cursor.refusal("a key has to be a text on one line") }
    try cursor.endLine()
    return node
  }

  // MARK: Between brackets

  /// A text or what stands in brackets. Its block's column is `nil` if there are brackets around it.
  private mutating func flow(in parent: Int?) throws(ConfigurationError) -> YAMLValue {
    let line = cursor.line
    switch cursor.next {
    case "[": return try deeper { reader throws(ConfigurationError) in .items(try reader.items()) }
    case "{": return try deeper { reader throws(ConfigurationError) in .entries(try reader.entries()) }
    case "\"", "'": return YAMLValue(line: line, content: .text(try cursor.takeQuoted(in: parent), isPlain: false))
    default: return YAMLValue(line: line, content: .text(try cursor.takePlain(in: parent), isPlain: true))
    }
  }

  private mutating func items() throws(ConfigurationError) -> [YAMLValue] {
    let opening = cursor
    var items: [YAMLValue] = []
    while try hasMore(before: "]", opening) { items.append(try flow(in: nil)) }
    return items
  }

  private mutating func entries() throws(ConfigurationError) -> [(key: YAMLKey, value: YAMLValue)] {
    let opening = cursor
    var entries: [(key: YAMLKey, value: YAMLValue)] = []
    var lines: [String: Int] = [:]
    while try hasMore(before: "}", opening) {
      let key = try key(in: nil, &lines)
      try skip(in: opening)
      let isEmpty = cursor.next == "," || cursor.next == "}"
      entries.append((key, isEmpty ? YAMLValue(line: key.line, content: .text("", isPlain: true)) : try flow(in: nil)))
    }
    return entries
  }

  private mutating func skip(in opening: YAMLCursor) throws(ConfigurationError) {
    cursor.skipBetweenBrackets()
    if cursor.isDocumentOver { throw cursor.unclosed(opening) }
  }

  /// Goes over the opening bracket, or the comma behind a part. Returns whether another part follows, or else goes over
  /// the closing bracket.
  private mutating func hasMore(
    before bracket: Unicode.Scalar, _ opening: YAMLCursor
  ) throws(ConfigurationError) -> Bool {
    try skip(in: opening)
    if cursor.index == opening.index || cursor.next == "," {
      cursor.advance()
      try skip(in: opening)
    } else if cursor.next != bracket {
      throw cursor.refusal(
        cursor.next == ":"
          ? "a colon stands where none can; put braces around a pair, {key: value}, or quotes around a text"
          : "this is no YAML: a comma or \(bracket) is missing")
    }
    return !cursor.take(bracket)
  }
}
