// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// ASCII letters without case, whatever the locale, to compare names (RFC 4343), schemes and fields.
package enum ASCII {
  /// Returns the byte, in lower case if it is a letter.
  package static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// Returns the text with ASCII letters in lower case.
  package static func folded(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map(folded), as: UTF8.self)
  }
}
