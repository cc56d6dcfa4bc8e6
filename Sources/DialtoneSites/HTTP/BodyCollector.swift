// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The part of a body that is looked at, within the limit, and whether the expected text is in it.
///
/// It is looked at as it comes: what its beginning decides neither waits for its end nor depends on it.
struct BodyCollector {
  private var searches: [TextSearch]
  private(set) var body = VerdictRules.Body()

  init(_ texts: [[UInt8]]) { searches = texts.map(TextSearch.init) }

  /// Takes in what came.
  mutating func append(_ buffer: ByteBuffer) {
    if body.isComplete { return }
    let part = Array(buffer.readableBytesView.prefix(Limits.body - body.length))
    body.length += part.count
    for index in searches.indices { searches[index].look(at: part) }
    body.hasText = searches.contains(where: \.isFound)
    body.isComplete = body.length == Limits.body
  }

  /// Notes that there is no more.
  mutating func end() {
    body.isComplete = true
    body.hasEnded = true
  }
}

extension VerdictRules.Body {
  /// A body that has come to its end, as far as it is read, and whether `text` is in it.
  package init(whole text: String, lookingFor expected: String?) {
    var collector = BodyCollector(expected.map { [Array($0.utf8)] } ?? [])
    collector.append(ByteBuffer(string: text))
    collector.end()
    self = collector.body
  }
}

/// Looks for a text in bytes that come in parts, by Knuth, Morris and Pratt. Each byte is looked at once, however small
/// the parts are. So a server that sends them one at a time costs no more than another.
private struct TextSearch {
  private let text: [UInt8]
  /// For each length of a match, how much of its end is also a beginning of the text.
  private let borders: [Int]
  /// How much of the text is at the end of the bytes so far.
  private var matched = 0
  /// Whether the text has come; never if it is empty.
  private(set) var isFound = false

  init(_ text: [UInt8]) {
    self.text = text
    var borders = [Int](repeating: 0, count: text.count + 1)
    var border = 0
    for position in text.indices.dropFirst() {
      while border > 0, text[position] != text[border] { border = borders[border] }
      if text[position] == text[border] { border += 1 }
      borders[position + 1] = border
    }
    self.borders = borders
  }

  /// Takes in what came next.
  mutating func look(at part: [UInt8]) {
    if isFound || text.isEmpty { return }
    for byte in part {
      while matched > 0, byte != text[matched] { matched = borders[matched] }
      if byte == text[matched] { matched += 1 }
      if matched == text.count {
        isFound = true
        return
      }
    }
  }
}
