// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// A few bytes that decompress to many.
package enum DeflateBomb {
  /// A gzip member (RFC 1952) that contains `size` bytes "A" or a few more: about 160 times its own size.
  package static func gzip(size: Int) -> [UInt8] {
    // Magic, deflate, no flags, no time, no hints, Unix.
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + deflate(size: size)
  }

  /// The same without gzip's header. `Content-Encoding: deflate` wrongly carries this if zlib's header is left out.
  package static func deflate(size: Int) -> [UInt8] {
    var bits = Bits()
    bits.append(0b1, 1)  // The last block,
    bits.append(0b01, 2)  // with the fixed codes (RFC 1951, 3.2.6).
    bits.appendCode(0x30 + 0x41, 8)  // The literal "A".
    for _ in 0..<16 {
      bits.appendCode(0b1100_0101, 8)  // Symbol 285: a match of 258 bytes,
      bits.appendCode(0, 5)  // one byte back.
    }
    // Eight matches are 13 bytes.
    let begun = bits.bytes.removeLast()
    let matches = bits.bytes.suffix(13)
    for _ in 0..<(size / 258 / 8) { bits.bytes += matches }
    bits.bytes.append(begun)
    bits.appendCode(0, 7)  // The end of the block.
    return bits.bytes
  }

  private struct Bits {
    var bytes: [UInt8] = []
    var used = 8

    /// Appends a value, the lowest bit first.
    mutating func append(_ value: Int, _ count: Int) {
      for shift in 0..<count {
        if used == 8 { (used, _) = (0, bytes.append(0)) }
        bytes[bytes.count - 1] |= UInt8((value >> shift) & 1) << UInt8(used)
        used += 1
      }
    }

    /// Codes go in the reverse order (RFC 1951, 3.1.1).
    mutating func appendCode(_ value: Int, _ count: Int) {
      for shift in (0..<count).reversed() { append((value >> shift) & 1, 1) }
    }
  }
}
#endif
