// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Letters of ASCII without case, whatever the locale: names (RFC 4343), schemes and fields are compared so.
package enum ASCII {
  /// The byte, or the small letter if it is a capital one.
  package static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// The text with small letters for capital ones.
  package static func folded(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map(folded), as: UTF8.self)
  }
}
