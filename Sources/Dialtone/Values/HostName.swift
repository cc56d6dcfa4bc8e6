// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A well-formed host name, without its trailing dot.
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
    // By scalars: as Characters, a combining mark would hide the full stop that it follows.
    var scalars = text.unicodeScalars[...]
    if scalars.last?.separatesLabels ?? false { scalars.removeLast() }
    let name = String(Substring(scalars))
    if name.isEmpty { throw invalid("it is empty; give a name such as example.com") }
    // The lookup finds out how long letters outside ASCII become as A-labels (RFC 5890).
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    if isASCII, name.utf8.count > Self.maximumLength {
      throw invalid("it has \(name.utf8.count) bytes, and \(Self.maximumLength) is the most")
    }
    for part in scalars.split(omittingEmptySubsequences: false, whereSeparator: \.separatesLabels) {
      let label = Substring(part)
      if label.isEmpty { throw invalid("two dots stand together, or one at the beginning; take one away") }
      if isASCII, label.utf8.count > Self.maximumLabelLength {
        throw invalid("the part \(HostText.quoted(label)) is longer than \(Self.maximumLabelLength) bytes")
      }
      if part.first?.narrow == "-" || part.last?.narrow == "-" {
        throw invalid("the part \(HostText.quoted(label)) begins or ends with a hyphen")
      }
      var previous: Unicode.Scalar?
      for scalar in part {
        if !Self.isAllowed(scalar, after: previous) {
          throw invalid(
            "it contains \(HostText.named(scalar)); only letters, digits, hyphens and dots can stand in a name")
        }
        previous = scalar
      }
    }
    self.text = name
  }

  /// A name known to be well-formed.
  init(wellFormed text: String) { self.text = text }

  /// The name with ASCII letters in lower case: names are compared without case (RFC 4343).
  package var folded: HostName {
    HostName(wellFormed: ASCII.folded(text))
  }

  /// The name with a trailing dot. It tells a resolver to append no other domain (resolv.conf(5), `search`).
  package var absolute: HostName { HostName(wellFormed: text + ".") }

  private static func isAllowed(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
    switch scalar.narrow {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_": return true
    case let narrow where narrow.isASCII: return false
    case "\u{200C}", "\u{200D}": return previous.map { joins($0, by: scalar) } ?? false
    default: break
    }
    if scalar.isInvisible || scalar.properties.isWhitespace { return false }
    switch scalar.properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
      .finalPunctuation, .otherPunctuation, .mathSymbol, .modifierSymbol, .currencySymbol:
      // A lookup would replace it by its plain form, which may be the colon of an IPv6 address (`﹕`).
      return !scalar.mayBecomeASCII
    default: return true
    }
  }

  /// Returns whether ZERO WIDTH JOINER or NON-JOINER has a meaning behind the letter, as in scripts whose letters join
  /// (RFC 5892, A.1 and A.2).
  private static func joins(_ letter: Unicode.Scalar, by joiner: Unicode.Scalar) -> Bool {
    if letter.properties.canonicalCombiningClass == .virama { return true }
    switch letter.properties.generalCategory {
    case .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark: return joiner == "\u{200C}"
    default: return false
    }
  }
}
