// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// Writes a body in chunks (RFC 9112, 7.1) as NIO's decoder takes it. Each size is alone in its line, without spaces
/// and extensions, and every line ends with CR and LF. Trailers are left out, because nothing here reads them.
///
/// Invariant: however the bytes are cut, what comes out is the same. Only a size's digits are held back, 16 at most.
struct ChunkNormalizer {
  private enum Place {
    case size, extensions, data, endOfData, trailer
  }

  private var place = Place.size
  private var digits: [UInt8] = []
  /// How much of the chunk is still to come.
  private var left: UInt64 = 0
  /// Whether the line being read, an end of data or a trailer, has anything in it.
  private var hasText = false

  /// How many bytes of extensions and trailers have come.
  private var surplus = 0

  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// Writes to `output` what the decoder gets for the bytes that came next. Throws if they are no chunks.
  mutating func normalize(_ bytes: ByteBufferView, into output: inout ByteBuffer) throws(HTTPParserError) {
    var position = bytes.startIndex
    while position < bytes.endIndex {
      if place == .data {
        let count = Int(min(left, UInt64(bytes.endIndex - position)))
        output.writeBytes(bytes[position..<position + count])
        position += count
        left -= UInt64(count)
        if left == 0 { place = .endOfData }
        continue
      }
      let byte = bytes[position]
      position += 1
      if place == .extensions || place == .trailer {
        surplus += 1
        // What is left out must have an end, too.
        if surplus > Limits.headers { throw .headerOverflow }
      }
      switch place {
      case .size: try readSize(byte, &output)
      case .extensions: if byte == Self.lineFeed { try endSize(&output) }
      case .endOfData:
        if byte == Self.lineFeed {
          output.writeBytes([Self.carriageReturn, Self.lineFeed])
          (place, hasText) = (.size, false)
        } else if byte == Self.carriageReturn, !hasText {
          hasText = true
        } else {
          // More than the size says.
          throw .invalidChunkSize
        }
      case .trailer:
        if byte != Self.lineFeed {
          if byte != Self.carriageReturn { hasText = true }
        } else if hasText {
          hasText = false
        } else {
          output.writeBytes([Self.carriageReturn, Self.lineFeed])
          place = .size
        }
      case .data: preconditionFailure("Data is taken as a whole")
      }
    }
  }

  private mutating func readSize(_ byte: UInt8, _ output: inout ByteBuffer) throws(HTTPParserError) {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66:
      guard digits.count < 16 else { throw .invalidChunkSize }
      digits.append(byte)
    case Self.lineFeed: try endSize(&output)
    // Spaces, a line's end, or extensions.
    case UInt8(ascii: " "), UInt8(ascii: "\t"), Self.carriageReturn, UInt8(ascii: ";"): place = .extensions
    default: throw .invalidChunkSize
    }
  }

  private mutating func endSize(_ output: inout ByteBuffer) throws(HTTPParserError) {
    guard let size = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) else { throw .invalidChunkSize }
    output.writeBytes(digits + [Self.carriageReturn, Self.lineFeed])
    digits.removeAll(keepingCapacity: true)
    left = size
    place = size == 0 ? .trailer : .data
  }
}
