// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// As much of a body as is looked at, whether the text that is expected is in it, and nothing beyond the limit.
///
/// It is looked at as it comes: what its beginning decides does not wait for its end, nor depends on it.
struct BodyCollector {
  private var search: TextSearch
  /// Decodes what comes; `nil` where there is no coding.
  private var decoder: Inflate?
  /// How many bytes came, before they are decoded.
  private var count = 0
  private(set) var body = VerdictRules.Body()
  /// Why no more of it can be read, where it is not what its headers say. What has been read before counts.
  private(set) var failure: SiteError?

  /// - Parameters:
  ///   - text: What is looked for; `nil` for nothing.
  ///   - codings: What the headers Content-Encoding list (RFC 9110, 8.4). Nothing was asked for but `identity`, which is no coding.
  init(_ text: String?, codings: [some StringProtocol]) {
    search = TextSearch(text.map { Array($0.utf8) } ?? [])
    let applied = codings.map { $0.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
    switch applied.first {
    case nil: break
    case "gzip" where applied.count == 1, "x-gzip" where applied.count == 1:
      decoder = Inflate(.gzip, limit: Limits.body)
    case "deflate" where applied.count == 1: decoder = Inflate(.deflate, limit: Limits.body)
    // Several on top of each other, or one that is not known.
    default: body.isUnreadable = true
    }
  }

  /// Takes in what came.
  mutating func append(_ buffer: ByteBuffer) {
    if body.isComplete || body.isUnreadable || failure != nil { return }
    let part = buffer.readableBytesView.prefix(Limits.body - count)
    count += part.count
    if decoder == nil {
      look(at: part)
    } else {
      decode { decoder throws(Inflate.Malformed) in try decoder.decode(part) }
    }
    if failure == nil { body.isComplete = count == Limits.body || decoder?.isComplete ?? false }
  }

  /// There is no more.
  mutating func end() {
    if body.isComplete || body.isUnreadable || failure != nil { return }
    decode { decoder throws(Inflate.Malformed) in try decoder.end() }
    body.isComplete = failure == nil
  }

  /// Has the decoder do something, and looks at what that decoded, malformed or not.
  private mutating func decode(_ step: (inout Inflate) throws(Inflate.Malformed) -> Void) {
    guard var decoder else { return }
    // Not copied: it is changed while nobody else holds it.
    self.decoder = nil
    do throws(Inflate.Malformed) {
      try step(&decoder)
    } catch {
      failure = SiteError(.malformedResponse, "the body is not in the coding that its headers name")
    }
    look(at: decoder.output[body.length...])
    self.decoder = decoder
  }

  private mutating func look(at part: some Collection<UInt8>) {
    body.length += part.count
    search.look(at: part)
    body.hasText = search.isFound
  }
}
