// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The codings that a body is in (RFC 9110, 8.4), in the order in which they were applied. A check asks for none
/// (`Accept-Encoding: identity`), and reads no body that is in one.
package struct ContentCoding: Equatable, Sendable {
  private let names: [String]

  /// Takes the members of the headers Content-Encoding. `identity` is no coding, nor is an empty member.
  package init(_ members: [some StringProtocol] = [] as [String]) {
    names = members.map { $0.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
  }

  /// Whether the body stands as it is.
  var isNone: Bool { names.isEmpty }

  /// The codings of the IANA registry that servers use, in words. Other names are a stranger's text.
  private static let words = [
    "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate", "br": "Brotli", "zstd": "Zstandard",
    "compress": "compress", "x-compress": "compress",
  ]

  /// Why the body is not read.
  var error: SiteError {
    let codings = names.map { Self.words[$0] ?? "an unknown coding" }.joined(separator: ", then ")
    return SiteError(
      .unreadableBody, "the body is compressed (\(codings)), although the request asks for it uncompressed (identity)")
  }
}
