// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// As much of a body as is looked at, whether the text that is expected is in it, and nothing beyond the limit.
///
/// It is looked at as it comes: what its beginning decides does not wait for its end, nor depends on it.
struct BodyCollector {
  private var search: TextSearch
  private(set) var body = VerdictRules.Body()

  /// Looks for `text`; `nil` for nothing.
  init(_ text: String?) { search = TextSearch(text.map { Array($0.utf8) } ?? []) }

  /// Takes in what came.
  mutating func append(_ buffer: ByteBuffer) {
    if body.isComplete { return }
    let part = buffer.readableBytesView.prefix(Limits.body - body.length)
    body.length += part.count
    search.look(at: part)
    body.hasText = search.isFound
    body.isComplete = body.length == Limits.body
  }

  /// There is no more.
  mutating func end() { body.isComplete = true }
}

/// Looks for a text in bytes that come in parts, by Knuth, Morris and Pratt: each byte is looked at once, however small
/// the parts are. So a server that sends them one at a time costs no more than another.
private struct TextSearch {
  private let text: [UInt8]
  /// For each length of what has matched, how much of its end is a beginning of the text too.
  private let borders: [Int]
  /// How much of the text the bytes so far end in.
  private var matched = 0
  /// Whether the text has come; never where it is empty.
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
  mutating func look(at part: some Sequence<UInt8>) {
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
