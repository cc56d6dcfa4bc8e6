// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
  /// Whether it separates the labels of a name: the full stop and its substitutes (RFC 3490, 3.1; RFC 5895, 2).
  package var separatesLabels: Bool { [0x2E, 0x3002, 0xFF0E, 0xFF61].contains(value) }

  /// Whether it is not visible by itself: control and format characters, such as those that reverse the direction of
  /// writing, and what Unicode says to ignore.
  var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// Its number, such as `U+202E`.
  var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The ASCII character of a full-width form; otherwise the character itself.
  var narrow: Unicode.Scalar {
    guard (0xFF01...0xFF5E).contains(value) else { return self }
    return Unicode.Scalar(UInt8(value - 0xFEE0))
  }

  /// Whether a lookup might write it in ASCII: `²`, `①`, `𝟏`, `ⅹ`, `ﬀ`. A lookup writes a name as UTS 46 says, which
  /// replaces compatibility forms. The standard library does not tell by what.
  var mayBecomeASCII: Bool {
    if isASCII { return true }
    // ß and ς stay as they are there.
    if value == 0xDF || value == 0x3C2 { return false }
    // Forms of letters without case are not ASCII, except the ordinal indicators of Latin-1.
    if properties.generalCategory == .otherLetter, value > 0xFF { return false }
    return properties.lowercaseMapping.unicodeScalars.contains { $0.properties.changesWhenNFKCCaseFolded }
  }
}
