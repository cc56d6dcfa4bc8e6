// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Decompresses DEFLATE (RFC 1951), gzip (RFC 1952) and zlib (RFC 1950) as it comes, up to a limit of output.
///
/// Of our own because of what it must never do: grow beyond the limit, whatever the input says, or ask for a C library that may not be
/// installed.
///
/// Invariant: input is taken in steps of a few bytes each; one for which there is not enough yet changes nothing, and is taken again once
/// more has come. So however the input is cut, the output is the same, and each byte costs about the same.
struct Inflate {
  /// The input is not what it says it is.
  struct Malformed: Error {}

  /// How the data are wrapped.
  enum Format: Equatable {
    case gzip
    /// What HTTP calls deflate (RFC 9110, 8.4.1.2): zlib, but some servers send bare DEFLATE.
    case deflate
  }

  /// Why a step is not taken.
  private enum Interruption: Error {
    case needsMore, malformed
  }

  /// What the next step reads.
  private enum State {
    case wrapping, extraLength, extra, name, comment, headerCheck
    case block, stored, lengthCode, lengths, symbols
    case trailer, end
  }

  private let format: Format
  private let limit: Int
  private var state = State.wrapping
  /// What has come and has not been taken.
  private var input: [UInt8] = []
  private var position = 0
  private var bits: UInt32 = 0
  private var bitCount = 0

  private var flags: UInt8 = 0
  /// How many bytes of an extra field or of a stored block are still to come.
  private var left = 0
  private var isLastBlock = false
  private var literalCount = 0
  private var distanceCount = 0
  private var lengthCode = HuffmanCode.fixedDistances
  private var lengths: [UInt8] = []
  private var literals = HuffmanCode.fixedLiterals
  private var distances = HuffmanCode.fixedDistances
  private var sum = CRC32()
  private var memberStart = 0
  private var memberCount = 0

  /// What has been decoded so far.
  private(set) var output: [UInt8] = []

  /// Whether there is no more to decode: what comes after that does not count.
  var isComplete: Bool { state == .end }

  /// - Parameters:
  ///   - format: How the input is wrapped.
  ///   - limit: How much is decoded at most.
  init(_ format: Format, limit: Int) {
    self.format = format
    self.limit = limit
    if limit == 0 { state = .end }
  }

  /// Decodes what came next, as far as it goes; what was decoded before it is found to be malformed stays.
  mutating func decode(_ part: some Sequence<UInt8>) throws(Malformed) {
    if isComplete { return }
    input.append(contentsOf: part)
    defer {
      input.removeFirst(position)
      position = 0
    }
    while !isComplete {
      let (start, bits, bitCount) = (position, bits, bitCount)
      do throws(Interruption) {
        try takeStep()
      } catch {
        (position, self.bits, self.bitCount) = (start, bits, bitCount)
        if error == .needsMore { return }
        try fail()
      }
    }
  }

  /// There is no more. It must not end in the middle; but nothing at all is nothing decoded.
  mutating func end() throws(Malformed) {
    if isComplete || memberCount == 0 && state == .wrapping && input.isEmpty { return }
    try fail()
  }

  /// What follows a whole member and is none itself does not count: gzip(1) ignores it, too.
  private mutating func fail() throws(Malformed) {
    if memberCount == 0 { throw Malformed() }
    state = .end
  }

  private mutating func takeStep() throws(Interruption) {
    switch state {
    case .wrapping: if format == .gzip { try readGzipHeader() } else { try readZlibHeader() }
    case .extraLength:
      left = flags & 4 == 0 ? 0 : Int(try byte()) | Int(try byte()) << 8
      state = .extra
    case .extra:
      if left == 0 {
        state = .name
      } else {
        _ = try byte()
        left -= 1
      }
    case .name: if try flags & 8 == 0 ? true : byte() == 0 { state = .comment }
    case .comment: if try flags & 16 == 0 ? true : byte() == 0 { state = .headerCheck }
    case .headerCheck:
      if flags & 2 != 0 { for _ in 0..<2 { _ = try byte() } }
      state = .block
    case .block: try beginBlock()
    case .stored:
      if left == 0 {
        endBlock()
      } else {
        append(try byte())
        left -= 1
      }
    case .lengthCode: try readLengthCode()
    case .lengths: try readLength()
    case .symbols: try readSymbol()
    case .trailer: try readTrailer()
    case .end: break
    }
  }

  // MARK: Wrappings

  /// RFC 1952, 2.2: any number of members, one after the other.
  private mutating func readGzipHeader() throws(Interruption) {
    guard try byte() == 0x1F, try byte() == 0x8B, try byte() == 8 else { throw .malformed }
    flags = try byte()
    if flags & 0xE0 != 0 { throw .malformed }
    for _ in 0..<6 { _ = try byte() }
    sum = CRC32()
    memberStart = output.count
    state = .extraLength
  }

  /// RFC 1950, 2.2: compression method 8, a window of at most 32 KiB, no dictionary, and the check of both bytes.
  private mutating func readZlibHeader() throws(Interruption) {
    let (first, second) = (try byte(), try byte())
    let isZlib =
      first & 0x0F == 8 && first >> 4 <= 7 && second & 0x20 == 0 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    if !isZlib { position -= 2 }
    state = .block
  }

  /// The check sum and the length of the member.
  private mutating func readTrailer() throws(Interruption) {
    if format == .deflate {
      // zlib's own check sum may be missing, as the header may.
      state = .end
      return
    }
    guard try number() == sum.value, try number() == UInt32(truncatingIfNeeded: output.count - memberStart) else {
      throw .malformed
    }
    memberCount += 1
    state = .wrapping
  }

  /// Four bytes, the lowest first.
  private mutating func number() throws(Interruption) -> UInt32 {
    var number: UInt32 = 0
    for shift: UInt32 in [0, 8, 16, 24] { number |= UInt32(try byte()) << shift }
    return number
  }

  // MARK: DEFLATE

  private mutating func beginBlock() throws(Interruption) {
    isLastBlock = try take(1) == 1
    switch try take(2) {
    case 0:
      (bits, bitCount) = (0, 0)
      left = Int(try byte()) | Int(try byte()) << 8
      if left != ~(Int(try byte()) | Int(try byte()) << 8) & 0xFFFF { throw .malformed }
      state = .stored
    case 1:
      (literals, distances) = (.fixedLiterals, .fixedDistances)
      state = .symbols
    case 2: state = .lengthCode
    default: throw .malformed
    }
  }

  private mutating func endBlock() {
    state = isLastBlock ? .trailer : .block
    if isLastBlock { (bits, bitCount) = (0, 0) }
  }

  /// RFC 1951, 3.2.7.
  private mutating func readLengthCode() throws(Interruption) {
    literalCount = Int(try take(5)) + 257
    distanceCount = Int(try take(5)) + 1
    let lengthCount = Int(try take(4)) + 4
    var lengthLengths = [UInt8](repeating: 0, count: 19)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    for place in order.prefix(lengthCount) { lengthLengths[place] = UInt8(try take(3)) }
    guard let code = HuffmanCode(lengthLengths) else { throw .malformed }
    lengthCode = code
    lengths = []
    state = .lengths
  }

  private mutating func readLength() throws(Interruption) {
    switch try symbol(lengthCode) {
    case 16:
      guard let last = lengths.last else { throw .malformed }
      lengths += [UInt8](repeating: last, count: Int(try take(2)) + 3)
    case 17: lengths += [UInt8](repeating: 0, count: Int(try take(3)) + 3)
    case 18: lengths += [UInt8](repeating: 0, count: Int(try take(7)) + 11)
    case let length: lengths.append(UInt8(length))
    }
    if lengths.count < literalCount + distanceCount { return }
    guard lengths.count == literalCount + distanceCount, lengths[256] != 0,
      let literals = HuffmanCode(Array(lengths[..<literalCount])),
      let distances = HuffmanCode(Array(lengths[literalCount...]))
    else { throw .malformed }
    (self.literals, self.distances) = (literals, distances)
    state = .symbols
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

  private mutating func readSymbol() throws(Interruption) {
    let symbol = try symbol(literals)
    if symbol < 256 { return append(UInt8(symbol)) }
    if symbol == 256 { return endBlock() }
    guard symbol - 257 < Self.lengthBases.count else { throw .malformed }
    let length = Self.lengthBases[symbol - 257] + Int(try take(Self.lengthExtras[symbol - 257]))
    let code = try self.symbol(distances)
    guard code < Self.distanceBases.count else { throw .malformed }
    let distance = Self.distanceBases[code] + Int(try take(max(0, code / 2 - 1)))
    // A member begins with nothing that could be copied.
    if distance > output.count - memberStart { throw .malformed }
    for _ in 0..<min(length, limit - output.count) { append(output[output.count - distance]) }
  }

  // MARK: Input and output

  private mutating func append(_ byte: UInt8) {
    output.append(byte)
    sum.add(byte)
    if output.count == limit { state = .end }
  }

  private mutating func byte() throws(Interruption) -> UInt8 {
    if position == input.count { throw .needsMore }
    defer { position += 1 }
    return input[position]
  }

  /// The next bits, the first one lowest (RFC 1951, 3.1.1).
  private mutating func take(_ count: Int) throws(Interruption) -> UInt32 {
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
  private mutating func symbol(_ code: HuffmanCode) throws(Interruption) -> Int {
    var reader = HuffmanCode.Reader()
    while true {
      switch reader.read(try take(1), code) {
      case .symbol(let symbol): return symbol
      case .needsMore: continue
      case .malformed: throw .malformed
      }
    }
  }
}
