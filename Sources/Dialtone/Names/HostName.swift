// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A host name that has been found well-formed, without its trailing dot.
package struct HostName: Hashable, Sendable {
  package let text: String

  /// The longest name in bytes (RFC 1035, 2.3.4, in text form without the trailing dot).
  static let maximumLength = 253
  /// The longest label in bytes (RFC 1035, 2.3.4).
  static let maximumLabelLength = 63

  /// Takes a name of labels of letters, digits, hyphens and underscores (RFC 1123, 2.1; underscores are common in
  /// practice), and of letters outside ASCII.
  ///
  /// - Throws: ``ReachabilityError`` with the code `invalidHost` and words that say what to do.
  package init(_ text: String) throws(ReachabilityError) {
    func invalid(_ problem: String) -> ReachabilityError {
      ReachabilityError(.invalidHost, "\(HostText.quoted(text)) is not a host name: \(problem)")
    }
    let name = text.utf8.last == UInt8(ascii: ".") ? String(text.dropLast()) : text
    if name.isEmpty { throw invalid("it is empty; give a name such as example.com") }
    // How long letters outside ASCII become as A-labels (RFC 5890), the resolver finds out.
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    if isASCII, name.utf8.count > Self.maximumLength {
      throw invalid("it has \(name.utf8.count) bytes, and \(Self.maximumLength) is the most")
    }
    for label in name.split(separator: ".", omittingEmptySubsequences: false) {
      if label.isEmpty { throw invalid("two dots stand together, or one at the beginning; take one away") }
      if isASCII, label.utf8.count > Self.maximumLabelLength {
        throw invalid("the part \(HostText.quoted(label)) is longer than \(Self.maximumLabelLength) bytes")
      }
      if label.first == "-" || label.last == "-" {
        throw invalid("the part \(HostText.quoted(label)) begins or ends with a hyphen")
      }
      for scalar in label.unicodeScalars where !Self.isAllowed(scalar) {
        throw invalid(
          "it contains \(HostText.named(scalar)); only letters, digits, hyphens and dots can stand in a name")
      }
    }
    self.text = name
  }

  /// A name known to be well-formed.
  init(wellFormed text: String) { self.text = text }

  /// The name in small letters: names are compared without case (RFC 4343).
  package var folded: HostName {
    HostName(wellFormed: String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self))
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
    default: !scalar.isASCII && !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
    }
  }
}
