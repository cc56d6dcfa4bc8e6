// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The characters of ASCII, in every locale: in names (RFC 4343), schemes, numbers and fields of HTTP.
package enum ASCII {
  /// Returns the byte, in lower case if it is a letter.
  package static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// Returns the text with ASCII letters in lower case. Other characters stay.
  package static func folded(_ text: String) -> String { folded(text[...]) }

  package static func folded(_ text: Substring) -> String {
    // Mostly it is as it should be.
    if !text.utf8.contains(where: { (0x41...0x5A).contains($0) }) { return String(text) }
    return String(decoding: text.utf8.map(folded), as: UTF8.self)
  }

  /// Returns whether the texts are the same, apart from the case of letters.
  package static func areSame(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8) { folded($0) == folded($1) }
  }

  /// Returns the byte, in upper case if it is a letter.
  package static func capital(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte & 0xDF : byte }

  package static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(folded(byte)) }

  package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  package static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(folded(byte)) }

  /// Returns whether the byte may stand in a token of HTTP (RFC 9110, 5.6.2).
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// Returns whether the byte may stand in the scheme of a URL. At the beginning only letters may (RFC 3986, 3.1).
  package static func isSchemeByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
  }

  /// Returns whether the bytes are the scheme of a URL: a letter, and what may follow it (RFC 3986, 3.1).
  package static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
    (bytes.first.map(isLetter) ?? false) && bytes.allSatisfy(isSchemeByte)
  }
}

extension BidirectionalCollection {
  /// Returns what is left without the blanks at both ends.
  @inlinable package func trimmed(_ isBlank: (Element) -> Bool) -> SubSequence {
    guard let last = lastIndex(where: { !isBlank($0) }) else { return self[endIndex...] }
    return self[...last].drop(while: isBlank)
  }
}
