// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What a text is in bytes, in the charset of an answer.
///
/// The charset of Content-Type counts (RFC 9110, 8.3.2), with the meaning that its name has for browsers (WHATWG
/// Encoding): ISO-8859-1 and US-ASCII are windows-1252. What a page says of itself does not count.
enum TextEncoding {
  /// The bytes to look for: one of these. Nothing if the text has no form in that charset; `nil` if that is not known.
  ///
  /// Without a charset, the text may be in UTF-8 or in windows-1252.
  static func encodings(of text: String, charset: String?) -> [[UInt8]]? {
    let utf8 = Array(text.utf8)
    let units = text.utf16
    switch charset {
    case nil: return [utf8] + (windows1252(text).map { [$0] } ?? [])
    case "utf-8", "utf8": return [utf8]
    case "iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252", "us-ascii", "ascii":
      return windows1252(text).map { [$0] } ?? []
    case "utf-16", "utf-16le", "utf-16be":
      return [
        units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
      ]
    // All others in use have ASCII in them.
    default: return utf8.allSatisfy { $0 < 0x80 } ? [utf8] : nil
    }
  }

  /// From 0x80 on; where there is no character, the control character of the same number.
  private static let upper = Array("€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

  private static func windows1252(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if let place = upper.firstIndex(of: scalar) {
        bytes.append(0x80 + UInt8(place))
      } else if scalar.value < 0x80 || (0xA0...0xFF).contains(scalar.value) {
        bytes.append(UInt8(scalar.value))
      } else {
        return nil
      }
    }
    return bytes
  }
}
