// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

struct InflateTests {
  /// `printf 'hello hello hello hello\n' | gzip -9n`
  private static let gzip: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0xB9, 0, 0, 0x88, 0x59,
    0x0B, 0x18, 0, 0, 0,
  ]
  private static let text = Array("hello hello hello hello\n".utf8)
  private static var bare: [UInt8] { Array(gzip[10..<21]) }

  @Test func decodesGzip() throws {
    #expect(try Inflate.decode(Self.gzip, .gzip, limit: 100, isWhole: true) == Self.text)
    #expect(try Inflate.decode(Self.gzip + Self.gzip, .gzip, limit: 100, isWhole: true) == Self.text + Self.text)
  }

  @Test func decodesWhatHTTPCallsDeflate() throws {
    #expect(try Inflate.decode(Self.bare, .deflate, limit: 100, isWhole: true) == Self.text)
    #expect(
      try Inflate.decode([0x78, 0x9C] + Self.bare + [0, 0, 0, 0], .deflate, limit: 100, isWhole: true) == Self.text)
  }

  @Test func decodesStoredBlocks() throws {
    let stored: [UInt8] = [0, 2, 0, 0xFD, 0xFF, 1, 2, 1, 1, 0, 0xFE, 0xFF, 3]
    #expect(try Inflate.decode(stored, .deflate, limit: 100, isWhole: true) == [1, 2, 3])
  }

  @Test(arguments: 0...24) func stopsAtTheLimit(_ limit: Int) throws {
    #expect(try Inflate.decode(Self.gzip, .gzip, limit: limit, isWhole: true) == Array(Self.text.prefix(limit)))
  }

  /// A length of 258 at distance 1, in one bit of length code and few more: the densest that DEFLATE can be.
  @Test func aBombStaysWithinTheLimit() throws {
    // A fixed block: a literal zero, then bytes that decode to the longest copies (symbol 285, distance 0).
    var bits: [Bool] = [true, true, false]
    bits += [false, false, true, true, false, false, false, false]
    for _ in 0..<20_000 {
      bits += [true, true, false, false, false, true, false, true, false, false, false, false, false]
    }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: bits.count, by: 8) {
      bytes.append((0..<8).reduce(0) { $0 | (start + $1 < bits.count && bits[start + $1] ? 1 << UInt8($1) : 0) })
    }
    #expect(try Inflate.decode(bytes, .deflate, limit: 65_536, isWhole: false) == [UInt8](repeating: 0, count: 65_536))
  }

  @Test func whatEndsTooSoonIsMalformedOnlyWhereItIsAll() throws {
    for end in 1..<Self.gzip.count {
      let cut = Array(Self.gzip[..<end])
      #expect(throws: Inflate.Malformed.self) { try Inflate.decode(cut, .gzip, limit: 100, isWhole: true) }
      let part = try Inflate.decode(cut, .gzip, limit: 100, isWhole: false)
      #expect(Self.text.starts(with: part))
    }
  }

  @Test(
    arguments: [
      [0x1F, 0x8C, 8, 0, 0, 0, 0, 0, 2, 3, 0], [0x1F, 0x8B, 7, 0, 0, 0, 0, 0, 2, 3, 0],
      [0x1F, 0x8B, 8, 0x80, 0, 0, 0, 0, 2, 3, 0], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 7],
    ] as [[UInt8]])
  func refusesWhatIsNoGzip(_ bytes: [UInt8]) {
    #expect(throws: Inflate.Malformed.self) { try Inflate.decode(bytes, .gzip, limit: 100, isWhole: false) }
  }

  @Test func neverTrapsOrGrowsWhateverComes() {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      var bytes = Self.gzip
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        bytes[Int.random(in: 10..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
      }
      for format in [Inflate.Format.gzip, .deflate] {
        let input = format == .gzip ? bytes : Array(bytes[10...])
        do {
          let output = try Inflate.decode(input, format, limit: 512, isWhole: true)
          #expect(output.count <= 512, "\(input)")
        } catch {
          // Refused, as most of them have to be.
        }
      }
    }
  }
}
