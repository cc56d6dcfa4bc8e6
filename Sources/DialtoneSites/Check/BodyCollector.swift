// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// As much of a body as is looked at, whether the text that is expected is in it, and nothing beyond the limit.
struct BodyCollector {
  private var search: TextSearch
  private let coding: Inflate.Format?
  /// As they came, where there is a coding.
  private var bytes: [UInt8] = []
  private(set) var body = VerdictRules.Body()

  /// - Parameters:
  ///   - text: What is looked for; `nil` for nothing.
  ///   - coding: The header Content-Encoding. One that was not asked for and is not known is no coding: the bytes stand for themselves.
  init(_ text: String?, coding: String?) {
    search = TextSearch(text.map { Array($0.utf8) } ?? [])
    self.coding =
      switch coding?.lowercased() {
      case "gzip", "x-gzip": .gzip
      case "deflate": .deflate
      default: nil
      }
  }

  /// Takes in what came.
  mutating func append(_ buffer: ByteBuffer) throws(SiteError) {
    if coding == nil {
      look(at: buffer.readableBytesView.prefix(Limits.body - body.length))
      body.isComplete = body.length == Limits.body
    } else {
      bytes += buffer.readableBytesView.prefix(Limits.body - bytes.count)
      if bytes.count == Limits.body { try decode(isWhole: false) }
    }
  }

  /// There is no more.
  mutating func end() throws(SiteError) {
    if body.isComplete { return }
    if coding != nil { return try decode(isWhole: true) }
    body.isComplete = true
  }

  private mutating func decode(isWhole: Bool) throws(SiteError) {
    if let coding, !bytes.isEmpty {
      do {
        bytes = try Inflate.decode(bytes, coding, limit: Limits.body, isWhole: isWhole)
      } catch {
        throw SiteError(.malformedResponse, "the body is not in the coding that its headers name")
      }
    }
    look(at: bytes)
    body.isComplete = true
  }

  private mutating func look(at part: some Collection<UInt8>) {
    body.length += part.count
    search.look(at: part)
    body.hasText = search.isFound
  }
}
