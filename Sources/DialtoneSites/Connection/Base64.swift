// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648, 4), which HTTP's basic authentication asks for.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value: UInt32 = 0
      for offset in 0..<3 { value = value << 8 | (offset < group.count ? UInt32(group[start + offset]) : 0) }
      for offset in 0..<4 {
        let isPadding = offset > group.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(value >> UInt32(18 - 6 * offset)) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
