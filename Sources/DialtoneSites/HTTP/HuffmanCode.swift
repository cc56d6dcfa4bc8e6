// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A canonical Huffman code (RFC 1951, 3.2.2).
struct HuffmanCode {
  /// How many codes have each length.
  private let counts: [Int]
  /// The symbols in the order of their codes.
  private let symbols: [Int]

  private static let maximumLength = 15

  /// The code with these lengths, zero for a symbol without one; `nil` where there are more codes of a length than there can be.
  ///
  /// One with fewer is taken: a block without distances has none or one (RFC 1951, 3.2.7), and what is missing is found when it is used.
  init?(_ lengths: [UInt8]) {
    var counts = [Int](repeating: 0, count: Self.maximumLength + 1)
    for length in lengths { counts[Int(length)] += 1 }
    counts[0] = 0
    var left = 1
    for length in 1...Self.maximumLength {
      left = left * 2 - counts[length]
      if left < 0 { return nil }
    }
    var next = [Int](repeating: 0, count: Self.maximumLength + 2)
    for length in 1...Self.maximumLength { next[length + 1] = next[length] + counts[length] }
    var symbols = [Int](repeating: 0, count: lengths.count)
    for (symbol, length) in lengths.enumerated() where length > 0 {
      symbols[next[Int(length)]] = symbol
      next[Int(length)] += 1
    }
    self.counts = counts
    self.symbols = symbols
  }

  /// RFC 1951, 3.2.6.
  static let fixedLiterals = complete(
    [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112) + [UInt8](repeating: 7, count: 24)
      + [UInt8](repeating: 8, count: 8))
  static let fixedDistances = complete([UInt8](repeating: 5, count: 32))

  private static func complete(_ lengths: [UInt8]) -> HuffmanCode {
    guard let code = HuffmanCode(lengths) else { preconditionFailure("The lengths are RFC 1951's own") }
    return code
  }

  /// Reads one code bit by bit.
  struct Reader {
    enum Result {
      case symbol(Int)
      case needsMore
      case malformed
    }

    private var code = 0
    private var first = 0
    private var index = 0
    private var length = 0

    mutating func read(_ bit: UInt32, _ huffman: HuffmanCode) -> Result {
      length += 1
      if length > HuffmanCode.maximumLength { return .malformed }
      code |= Int(bit)
      let count = huffman.counts[length]
      if code - count < first { return .symbol(huffman.symbols[index + (code - first)]) }
      index += count
      first = (first + count) << 1
      code <<= 1
      return .needsMore
    }
  }
}
