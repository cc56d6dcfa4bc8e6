// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Makes the form of international host names that DNS, the Host header and certificates use: A-labels (RFC 5890).
///
/// They are made nowhere else, since what a resolver makes of other letters depends on its libraries and on the locale.
enum InternationalName {
  /// Returns the name in lower case, with every label outside ASCII as an A-label (RFC 5891, 4.4).
  ///
  /// Letters are mapped to lower case as RFC 5895 says. A label has to be in normalization form C. A combining mark of
  /// the first block is refused: it is mostly part of a letter in two pieces. So is a piece of a Hangul syllable.
  ///
  /// - Throws: ``ReachabilityError`` with the code `invalidHost` and words that say what to write instead.
  static func ascii(_ name: String) throws(ReachabilityError) -> String {
    var labels: [String] = []
    for label in name.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: \.separatesLabels) {
      labels.append(try aLabel(String(String.UnicodeScalarView(label)), of: name))
    }
    return labels.joined(separator: ".")
  }

  private static func aLabel(_ label: String, of name: String) throws(ReachabilityError) -> String {
    var mapped = String.UnicodeScalarView()
    for scalar in label.unicodeScalars { mapped.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars) }
    var previous: Unicode.Scalar?
    for scalar in mapped {
      defer { previous = scalar }
      guard let problem = problem(with: scalar, after: previous) else { continue }
      throw ReachabilityError(
        .invalidHost,
        """
        the host \(HostText.quoted(name)) \(problem); write it with plain letters in normalization form C, or as it \
        stands in DNS (xn--…)
        """
      )
    }
    let text = String(mapped)
    return text.utf8.allSatisfy { $0 < 0x80 } ? text : "xn--" + Punycode.encode(text)
  }

  /// Returns what RFC 5892 disallows, in words, or `nil` for a letter, a mark or a digit.
  private static func problem(with scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> String? {
    if scalar.isASCII { return nil }
    let isFirst = previous == nil
    switch scalar.properties.generalCategory {
    case .nonspacingMark where (0x300...0x36F).contains(scalar.value):
      return "has a letter with a combining mark apart"
    case .nonspacingMark, .spacingMark: return isFirst ? "has a part that begins with a combining mark" : nil
    // Pieces of a Hangul syllable: in form C they are one letter, and pieces without one are disallowed (RFC 5892,
    // 2.9).
    case .otherLetter
    where (0x1100...0x11FF).contains(scalar.value) || (0xA960...0xA97F).contains(scalar.value)
      || (0xD7B0...0xD7FF).contains(scalar.value):
      return "has a letter in pieces"
    // Full-width and other forms stand for other letters (RFC 5892, 2.2: Unstable). Capitals are in lower case by now.
    // ß and ς stand for themselves (2.6).
    case .lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber:
      let standsForItself = scalar.value == 0xDF || scalar.value == 0x3C2
      return scalar.properties.changesWhenNFKCCaseFolded && !standsForItself
        ? "has a compatibility form of a letter" : nil
    default:
      // ZERO WIDTH JOINER and NON-JOINER (RFC 5892, A.1 and A.2), MIDDLE DOT and KATAKANA MIDDLE DOT (A.3, A.7).
      switch scalar.value {
      case 0x200D where previous?.properties.canonicalCombiningClass != .virama:
        return "has a joiner that joins nothing"
      case 0x200C, 0x200D, 0xB7, 0x30FB, 0x375, 0x5F3, 0x5F4:
        return isFirst ? "has a part that begins with a sign" : nil
      default: return "has a character that is no letter and no digit"
      }
    }
  }
}
