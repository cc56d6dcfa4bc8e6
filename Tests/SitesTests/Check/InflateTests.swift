// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
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

  /// Decodes parts of this size, whole or only as far as they go.
  private func decode(
    _ input: [UInt8], _ format: Inflate.Format, limit: Int = 100, isWhole: Bool = true, partsOf size: Int = 1_000_000
  ) throws -> [UInt8] {
    var inflate = Inflate(format, limit: limit)
    for start in stride(from: 0, to: input.count, by: size) {
      try inflate.decode(input[start..<min(start + size, input.count)])
    }
    if isWhole { try inflate.end() }
    return inflate.output
  }

  /// Names and comments, extra fields and a check of the header, as RFC 1952, 2.3.1, orders them.
  private static var adorned: [UInt8] {
    gzip[..<3] + [0x1F] + gzip[4..<10] + [3, 0, 9, 0, 9] + Array("name\0comment\0".utf8) + [7, 7] + gzip[10...]
  }

  @Test(arguments: [1, 2, 3, 7, 1_000]) func decodesGzip(inPartsOf size: Int) throws {
    #expect(try decode(Self.gzip, .gzip, partsOf: size) == Self.text)
    #expect(try decode(Self.gzip + Self.gzip, .gzip, partsOf: size) == Self.text + Self.text)
    #expect(try decode(Self.adorned + Self.gzip, .gzip, partsOf: size) == Self.text + Self.text)
  }

  @Test(arguments: [1, 2, 3, 7, 1_000]) func decodesWhatHTTPCallsDeflate(inPartsOf size: Int) throws {
    #expect(try decode(Self.bare, .deflate, partsOf: size) == Self.text)
    #expect(try decode([0x78, 0x9C] + Self.bare + [0, 0, 0, 0], .deflate, partsOf: size) == Self.text)
    #expect(try decode(Self.bare + [1, 2, 3], .deflate, partsOf: size) == Self.text)
  }

  @Test(arguments: [1, 2, 1_000]) func decodesStoredBlocks(inPartsOf size: Int) throws {
    let stored: [UInt8] = [0, 2, 0, 0xFD, 0xFF, 1, 2, 1, 1, 0, 0xFE, 0xFF, 3]
    #expect(try decode(stored, .deflate, partsOf: size) == [1, 2, 3])
  }

  /// By zlib, with Z_HUFFMAN_ONLY.
  @Test(arguments: [1, 2, 3, 1_000]) func decodesBlocksWithCodesOfTheirOwn(inPartsOf size: Int) throws {
    let block: [UInt8] = [
      5, 193, 1, 1, 0, 0, 0, 128, 144, 173, 250, 63, 34, 4, 4, 72, 36, 80, 68, 66, 8, 20, 69, 42, 133, 36, 68, 84, 161,
      8, 65, 149, 8, 69, 66, 21, 165, 64, 9, 3,
    ]
    let text =
      "abaaaaaabaaaaaaababaababaaaaabbaabaababaaabaaabaaaaabbaabbaababbbabbaaabababaaabaabaabbbbaaabbaabaaabaaaabbbba"
      + "baabaaabbaababaaabbbbaabbabbaaaaabbabaaa"
    #expect(try decode(block, .deflate, limit: 1_000, partsOf: size) == Array(text.utf8))
  }

  @Test(arguments: 0...24) func stopsAtTheLimit(_ limit: Int) throws {
    #expect(try decode(Self.gzip, .gzip, limit: limit) == Array(Self.text.prefix(limit)))
    #expect(try decode(Self.gzip, .gzip, limit: limit, partsOf: 1) == Array(Self.text.prefix(limit)))
  }

  /// What has come is there to be looked at, before there is more.
  @Test func decodesAsMuchAsHasCome() throws {
    var inflate = Inflate(.gzip, limit: 100)
    try inflate.decode(Self.gzip[..<16])
    #expect(inflate.output.starts(with: Array("hell".utf8)) && !inflate.isComplete)
    try inflate.decode(Self.gzip[16..<22])
    #expect(inflate.output == Self.text && !inflate.isComplete, "another member may follow")
    var bare = Inflate(.deflate, limit: 100)
    try bare.decode(Self.bare)
    #expect(bare.output == Self.text && bare.isComplete)
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [10], [13, 10], [0x1F], [0x1F, 0x8B, 8], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7],
      Array(gzip[..<20]),
      Array(gzip.dropLast()),
    ] as [[UInt8]], [1, 2, 1_000])
  func whatFollowsAWholeMemberDoesNotCount(_ rest: [UInt8], inPartsOf size: Int) throws {
    let output = try decode(Self.gzip + rest, .gzip, partsOf: size)
    #expect(output.starts(with: Self.text) && (Self.text + Self.text).starts(with: output))
  }

  @Test(arguments: [21, 24, 25, 28]) func aMemberHasItsCheckSumAndItsLength(_ place: Int) {
    var bytes = Self.gzip
    bytes[place] ^= 1
    #expect(throws: Inflate.Malformed.self) { try decode(bytes, .gzip) }
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
    let output = try decode(bytes, .deflate, limit: 65_536, isWhole: false)
    #expect(output == [UInt8](repeating: 0, count: 65_536))
  }

  @Test func whatEndsTooSoonIsMalformedOnlyWhereItIsAll() throws {
    #expect(try decode([], .gzip) == [])
    for whole in [Self.gzip, Self.adorned] {
      for end in 1..<whole.count {
        let cut = Array(whole[..<end])
        #expect(throws: Inflate.Malformed.self) { try decode(cut, .gzip) }
        let part = try decode(cut, .gzip, isWhole: false)
        #expect(Self.text.starts(with: part))
      }
    }
    for end in 1..<Self.bare.count {
      #expect(throws: Inflate.Malformed.self) { try decode(Array(Self.bare[..<end]), .deflate) }
    }
  }

  @Test(
    arguments: [
      [0x1F, 0x8C, 8, 0, 0, 0, 0, 0, 2, 3, 0], [0x1F, 0x8B, 7, 0, 0, 0, 0, 0, 2, 3, 0],
      [0x1F, 0x8B, 8, 0x80, 0, 0, 0, 0, 2, 3, 0], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 7],
    ] as [[UInt8]])
  func refusesWhatIsNoGzip(_ bytes: [UInt8]) {
    #expect(throws: Inflate.Malformed.self) { try decode(bytes, .gzip, isWhole: false) }
  }

  /// Nor does it matter how the bytes are cut.
  @Test func neverTrapsOrGrowsWhateverComes() {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      var bytes = Self.gzip
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        bytes[Int.random(in: 10..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
      }
      for format in [Inflate.Format.gzip, .deflate] {
        let input = format == .gzip ? bytes : Array(bytes[10...])
        var outcomes: [(output: [UInt8], isMalformed: Bool)] = []
        for size in [1, 3, 1_000] {
          var inflate = Inflate(format, limit: 512)
          var isMalformed = false
          do {
            for start in stride(from: 0, to: input.count, by: size) {
              try inflate.decode(input[start..<min(start + size, input.count)])
            }
            try inflate.end()
          } catch {
            isMalformed = true
          }
          outcomes.append((inflate.output, isMalformed))
        }
        #expect(outcomes[0].output.count <= 512, "\(input)")
        #expect(outcomes.allSatisfy { $0 == outcomes[0] }, "\(input)")
      }
    }
  }

  /// A server may send one byte at a time, and choose what is dear to read again from the beginning.
  @Test(.timeLimit(.minutes(5)), .fewAtATime, arguments: [0x04, 0x08, 0x10] as [UInt8])
  func aPartOfOneByteCostsOneByte(_ flags: UInt8) throws {
    var inflate = Inflate(.gzip, limit: 65_536)
    try inflate.decode(Self.gzip[..<3] + [flags] + Self.gzip[4..<10] + [0xFF, 0xFF])
    let start = ContinuousClock.now
    let limit = Duration.seconds(isSanitized ? 200 : 20)
    var count = 0
    while count < 65_000, start.duration(to: .now) < limit {
      try inflate.decode([1])
      count += 1
    }
    #expect(count == 65_000 && inflate.output.isEmpty)
  }
}
