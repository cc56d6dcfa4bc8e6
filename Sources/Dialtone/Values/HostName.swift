// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A well-formed host name, without its trailing dot.
package struct HostName: Hashable, Sendable {
  /// The name as it was written.
  package let text: String
  /// The name as it is looked up: in lower case (RFC 4343), with A-labels (RFC 5890).
  package let ascii: String

  /// The longest name in bytes (RFC 1035, 2.3.4, in text form without the trailing dot).
  static let maximumLength = 253
  /// The longest label in bytes (RFC 1035, 2.3.4).
  static let maximumLabelLength = 63

  /// Takes a name of labels of letters, digits, hyphens and underscores (RFC 1123, 2.1; underscores are common in
  /// practice), and of letters outside ASCII, if they have A-labels.
  ///
  /// - Throws: ``ReachabilityError`` with words that say what to do. Its code is `invalidAddress` if the name would be
  ///   taken for an IPv4 address, otherwise `invalidHost`.
  package init(_ text: String) throws(ReachabilityError) {
    func invalid(_ problem: String) -> ReachabilityError {
      ReachabilityError(.invalidHost, "\(HostText.quoted(text)) is not a host name: \(problem)")
    }
    // By scalars: as Characters, a combining mark would hide the full stop that it follows.
    var scalars = text.unicodeScalars[...]
    if scalars.last?.separatesLabels ?? false { scalars.removeLast() }
    let name = String(Substring(scalars))
    if name.isEmpty { throw invalid("it is empty; give a name such as example.com") }
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
    try Self.checkIPv4Shape(text)
    self.text = name
    // As a name of its own, since lengths are those of the A-labels.
    ascii = isASCII ? ASCII.folded(name) : try HostName(InternationalName.ascii(name)).text
  }

  /// A name known to be well-formed and in lower case, with A-labels.
  init(wellFormed text: String) {
    self.text = text
    ascii = text
  }

  /// The name as it is looked up; see ``ascii``.
  package var canonical: HostName { HostName(wellFormed: ascii) }

  /// The name with a trailing dot. It tells a resolver to append no other domain (resolv.conf(5), `search`).
  package var absolute: HostName { HostName(wellFormed: ascii + ".") }

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

extension HostName {
  /// Throws if the name would be taken for an IPv4 address. A text whose last part is a number is such an address or
  /// nothing (RFC 1123, 2.1). Without this check, getaddrinfo(3) would take `10.1` for 10.0.0.1.
  ///
  /// Other programs would take even `１０。１` for it, since they first write names in ASCII as UTS 46 says.
  private static func checkIPv4Shape(_ text: String) throws(ReachabilityError) {
    let labels = text.unicodeScalars.split(whereSeparator: \.separatesLabels)
    guard let last = labels.last, isNumber(last) else { return }
    let remedy =
      text.utf8.allSatisfy { $0 < 0x80 }
      ? "write four numbers from 0 to 255, such as 192.0.2.1"
      : "write an address with full stops and digits of ASCII, such as 192.0.2.1"
    throw ReachabilityError(.invalidAddress, "\(HostText.quoted(text)) is not an IPv4 address; \(remedy)")
  }

  /// Returns whether inet_aton(3) would take the label for a number: decimal, octal, or hexadecimal after `0x`.
  private static func isNumber(_ label: Substring.UnicodeScalarView) -> Bool {
    let label = label.map(\.narrow)
    guard label.allSatisfy(\.mayBecomeASCII) else { return false }
    let known = label.filter(\.isASCII).map(Character.init)
    if known.count < label.count {
      // The others are taken for digits, since they may become some.
      return known.allSatisfy { $0.isHexDigit || $0 == "x" || $0 == "X" }
    }
    let isHexadecimal = known.starts(with: "0x") || known.starts(with: "0X")
    return known.dropFirst(isHexadecimal ? 2 : 0).allSatisfy { isHexadecimal ? $0.isHexDigit : $0.isNumber }
  }
}
