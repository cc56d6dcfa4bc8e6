// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Decompresses DEFLATE (RFC 1951), gzip (RFC 1952) and zlib (RFC 1950) up to a limit of output.
///
/// Of our own because of what it must never do: grow beyond the limit, whatever the input says, or ask for a C library that may not be
/// installed. Input and output are a check's 64 KiB at most, so it works on whole arrays. Check sums are not verified: TCP or TLS has.
struct Inflate {
  /// The input is not what it says it is.
  struct Malformed: Error {}

  /// How the data are wrapped.
  enum Format: Equatable {
    case gzip
    /// What HTTP calls deflate (RFC 9110, 8.4.1.2): zlib, but some servers send bare DEFLATE.
    case deflate
  }

  /// Thrown where the limit is reached or the input ends: what has been decoded until then is the result.
  private enum Stop: Error {
    case outputIsFull, inputHasEnded
  }

  private let input: [UInt8]
  private let limit: Int
  private var position = 0
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var output: [UInt8] = []

  private init(_ input: [UInt8], limit: Int) {
    self.input = input
    self.limit = limit
  }

  /// Decodes `input`, to at most `limit` bytes. Where `isWhole` says that the input is all there is, it must not end in the middle.
  static func decode(_ input: [UInt8], _ format: Format, limit: Int, isWhole: Bool) throws(Malformed) -> [UInt8] {
    var inflate = Inflate(input, limit: limit)
    do {
      switch format {
      case .gzip: try inflate.decodeGzip()
      case .deflate: try inflate.decodeDeflate()
      }
    } catch Stop.outputIsFull {
      return inflate.output
    } catch Stop.inputHasEnded where !isWhole {
      return inflate.output
    } catch {
      throw Malformed()
    }
    return inflate.output
  }

  // MARK: Wrappings

  private mutating func decodeGzip() throws {
    // RFC 1952, 2.2: any number of members, one after the other.
    repeat {
      guard try byte() == 0x1F, try byte() == 0x8B, try byte() == 8 else { throw Malformed() }
      let flags = try byte()
      if flags & 0xE0 != 0 { throw Malformed() }
      try skip(6)
      if flags & 4 != 0 { try skip(Int(try byte()) | Int(try byte()) << 8) }
      if flags & 8 != 0 { while try byte() != 0 {} }
      if flags & 16 != 0 { while try byte() != 0 {} }
      if flags & 2 != 0 { try skip(2) }
      try decodeBlocks()
      try skip(8)
    } while position < input.count
  }

  private mutating func decodeDeflate() throws {
    // RFC 1950, 2.2: compression method 8, a window of at most 32 KiB, no dictionary, and the check of both bytes.
    if input.count >= 2, input[0] & 0x0F == 8, input[0] >> 4 <= 7, input[1] & 0x20 == 0,
      (UInt16(input[0]) << 8 | UInt16(input[1])) % 31 == 0
    {
      try skip(2)
    }
    try decodeBlocks()
  }

  // MARK: DEFLATE

  private mutating func decodeBlocks() throws {
    var isLast = false
    while !isLast {
      isLast = try take(1) == 1
      switch try take(2) {
      case 0: try copyStored()
      case 1: try decodeBlock(HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
      case 2:
        let (literals, distances) = try readCodes()
        try decodeBlock(literals, distances)
      default: throw Malformed()
      }
    }
    bits = 0
    bitCount = 0
  }

  private mutating func copyStored() throws {
    bits = 0
    bitCount = 0
    let length = Int(try byte()) | Int(try byte()) << 8
    let complement = Int(try byte()) | Int(try byte()) << 8
    if length != ~complement & 0xFFFF { throw Malformed() }
    for _ in 0..<length { try append(try byte()) }
  }

  /// RFC 1951, 3.2.7.
  private mutating func readCodes() throws -> (HuffmanCode, HuffmanCode) {
    let literalCount = Int(try take(5)) + 257
    let distanceCount = Int(try take(5)) + 1
    let lengthCount = Int(try take(4)) + 4
    var lengthLengths = [UInt8](repeating: 0, count: 19)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    for place in order.prefix(lengthCount) { lengthLengths[place] = UInt8(try take(3)) }
    guard let lengthCode = HuffmanCode(lengthLengths) else { throw Malformed() }

    var lengths: [UInt8] = []
    while lengths.count < literalCount + distanceCount {
      switch try symbol(lengthCode) {
      case 16:
        guard let last = lengths.last else { throw Malformed() }
        lengths += [UInt8](repeating: last, count: Int(try take(2)) + 3)
      case 17: lengths += [UInt8](repeating: 0, count: Int(try take(3)) + 3)
      case 18: lengths += [UInt8](repeating: 0, count: Int(try take(7)) + 11)
      case let length: lengths.append(UInt8(length))
      }
    }
    guard lengths.count == literalCount + distanceCount, lengths[256] != 0,
      let literals = HuffmanCode(Array(lengths[..<literalCount])),
      let distances = HuffmanCode(Array(lengths[literalCount...]))
    else { throw Malformed() }
    return (literals, distances)
  }

  // RFC 1951, 3.2.5.
  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let lengthExtras = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073, 4_097,
    6_145, 8_193, 12_289, 16_385, 24_577,
  ]

  private mutating func decodeBlock(_ literals: HuffmanCode, _ distances: HuffmanCode) throws {
    while true {
      let symbol = try symbol(literals)
      if symbol < 256 {
        try append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol - 257 < Self.lengthBases.count else { throw Malformed() }
      let length = Self.lengthBases[symbol - 257] + Int(try take(Self.lengthExtras[symbol - 257]))
      let code = try self.symbol(distances)
      guard code < Self.distanceBases.count else { throw Malformed() }
      let distance = Self.distanceBases[code] + Int(try take(max(0, code / 2 - 1)))
      if distance > output.count { throw Malformed() }
      for _ in 0..<length { try append(output[output.count - distance]) }
    }
  }

  // MARK: Input and output

  private mutating func append(_ byte: UInt8) throws {
    if output.count == limit { throw Stop.outputIsFull }
    output.append(byte)
  }

  private mutating func byte() throws -> UInt8 {
    if position == input.count { throw Stop.inputHasEnded }
    defer { position += 1 }
    return input[position]
  }

  private mutating func skip(_ count: Int) throws {
    if input.count - position < count { throw Stop.inputHasEnded }
    position += count
  }

  /// The next bits, the first one lowest (RFC 1951, 3.1.1).
  private mutating func take(_ count: Int) throws -> UInt32 {
    while bitCount < count {
      bits |= UInt32(try byte()) << UInt32(bitCount)
      bitCount += 8
    }
    defer {
      bits >>= UInt32(count)
      bitCount -= count
    }
    return bits & ((1 << UInt32(count)) - 1)
  }

  /// The next symbol: its code comes with the highest bit first.
  private mutating func symbol(_ code: HuffmanCode) throws -> Int {
    var reader = HuffmanCode.Reader()
    while true {
      switch reader.read(try take(1), code) {
      case .symbol(let symbol): return symbol
      case .needsMore: continue
      case .malformed: throw Malformed()
      }
    }
  }
}
