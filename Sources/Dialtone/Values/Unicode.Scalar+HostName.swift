// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
  /// Whether it parts the labels of a name: the full stop, and those that may stand for it (RFC 3490, 3.1; RFC 5895,
  /// 2).
  package var separatesLabels: Bool {
    switch value {
    case 0x2E, 0x3002, 0xFF0E, 0xFF61: true
    default: false
    }
  }

  /// Whether it is not seen, or only in how others are shown: control and format characters, such as those that turn
  /// the direction of writing around, and what Unicode says to ignore.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// Its number, such as `U+202E`.
  package var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The character of ASCII that this is the full-width form of; else itself.
  var narrow: Unicode.Scalar {
    guard (0xFF01...0xFF5E).contains(value) else { return self }
    return Unicode.Scalar(UInt8(value - 0xFEE0))
  }

  /// Whether a look-up might write it in ASCII: `²`, `①`, `𝟏`, `ⅹ`, `ﬀ`. It writes a name as UTS 46 says, which
  /// replaces what is another form of something. Which other, the standard library does not tell.
  var mayBecomeASCII: Bool {
    if isASCII { return true }
    switch value {
    // They stand for themselves there: ß and ς.
    case 0xDF, 0x3C2: return false
    default: break
    }
    // Forms of letters without case are none of ASCII, but for the ordinal indicators of Latin-1.
    if properties.generalCategory == .otherLetter, value > 0xFF { return false }
    return properties.lowercaseMapping.unicodeScalars.contains { $0.properties.changesWhenNFKCCaseFolded }
  }
}
