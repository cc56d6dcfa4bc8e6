// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Percent-encoding (RFC 3986, 2.1).
package enum PercentEncoding {
  /// The bytes as text of at most `limit` characters. All are encoded except those of ASCII that `isKept` names.
  static func encoded(
    _ bytes: some Sequence<UInt8>, limit: Int = .max, except isKept: (UInt8) -> Bool
  ) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      let encoded = isKept(byte) ? [byte] : [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      if text.count + encoded.count > limit { break }
      text += encoded
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 0x30 : 0x37) }

  /// The bytes of a text. Those that are encoded are decoded if `isDecoded` says so of them.
  package static func decoded(_ text: Substring, where isDecoded: (UInt8) -> Bool = { _ in true }) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(ASCII.isHexDigit),
        let value = UInt8(Substring(digits), radix: 16), isDecoded(value)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
