// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Writes the heads of answers as NIO's decoder takes them, which refuses more than a client has to: lines that end with LF alone (RFC 9112,
/// 2.2), fields that go on in the next line (5.2), and a length given twice, or beside a transfer coding that overrides it (6.3).
///
/// A decoder that decides for others where an answer ends is right to refuse those. Here one answer is judged, and then the connection
/// ends: nobody reads it otherwise. What is malformed beyond that stays so, and is for the decoder to refuse.
///
/// Invariant: however the bytes are cut, what comes out is the same. Not more is held back than one field, as long as its next line
/// may belong to it, and the lengths, until the head has ended; the header limit bounds both.
struct HeadNormalizer {
  private enum Place {
    case start, statusLine, fields, body
  }

  private var place = Place.start
  /// The beginning of the status line, up to the first digit of the status.
  private var status: [UInt8] = []
  private var endsInReturn = false
  /// The line that is being read.
  private var line: [UInt8] = []
  /// The field before it.
  private var field: [UInt8] = []
  /// The values of Content-Length.
  private var lengths: [[UInt8]] = []
  private var hasTransferCoding = false

  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// Whether all heads are over: what comes now is the body, and left alone.
  var isInBody: Bool { place == .body }

  /// What the decoder is to be given for the bytes that came next.
  mutating func normalize(_ bytes: ByteBuffer) -> ByteBuffer {
    var output = ByteBuffer()
    output.reserveCapacity(bytes.readableBytes)
    var rest = bytes.readableBytesView
    while let first = rest.first {
      switch place {
      case .body:
        output.writeBytes(rest)
        return output
      case .start:
        // Empty lines before a status line are the decoder's to judge.
        if first != Self.carriageReturn, first != Self.lineFeed {
          place = .statusLine
          continue
        }
        output.writeInteger(first)
        rest = rest.dropFirst()
      case .statusLine:
        let part = rest[..<(rest.firstIndex(of: Self.lineFeed) ?? rest.endIndex)]
        rest = rest.dropFirst(part.count)
        // As it comes: what is no status line is refused before it has ended.
        output.writeBytes(part)
        status += part.prefix(10 - status.count)
        if let last = part.last { endsInReturn = last == Self.carriageReturn }
        if rest.isEmpty { return output }
        rest = rest.dropFirst()
        output.writeBytes(endsInReturn ? [Self.lineFeed] : [Self.carriageReturn, Self.lineFeed])
        place = .fields
      case .fields:
        let part = rest[..<(rest.firstIndex(of: Self.lineFeed) ?? rest.endIndex)]
        rest = rest.dropFirst(part.count)
        line += part
        if rest.isEmpty { return output }
        rest = rest.dropFirst()
        endLine(&output)
      }
    }
    return output
  }

  private mutating func endLine(_ output: inout ByteBuffer) {
    if line.last == Self.carriageReturn { line.removeLast() }
    if line.isEmpty { return endHead(&output) }
    if !field.isEmpty, Self.isSpace(line[0]) {
      while let last = field.last, Self.isSpace(last) { field.removeLast() }
      field.append(UInt8(ascii: " "))
      field += line.drop(while: Self.isSpace)
    } else {
      endField(&output)
      swap(&field, &line)
    }
    line.removeAll(keepingCapacity: true)
  }

  private mutating func endField(_ output: inout ByteBuffer) {
    if field.isEmpty { return }
    defer { field.removeAll(keepingCapacity: true) }
    let name = field.prefix { $0 != UInt8(ascii: ":") }
    if Self.isName(name, "content-length") {
      lengths.append(Array(field.dropFirst(name.count + 1)))
      return
    }
    if Self.isName(name, "transfer-encoding") { hasTransferCoding = true }
    Self.write(field, &output)
  }

  private mutating func endHead(_ output: inout ByteBuffer) {
    endField(&output)
    // A transfer coding overrides a length.
    if !hasTransferCoding {
      for length in Self.agreed(lengths).map({ [$0] }) ?? lengths {
        Self.write(Array("Content-Length:".utf8) + length, &output)
      }
    }
    Self.write([], &output)
    // After an interim answer comes another one. With 101 the check has ended.
    let isInterim = status.count == 10 && status[8] == UInt8(ascii: " ") && status[9] == UInt8(ascii: "1")
    self = HeadNormalizer()
    if !isInterim { place = .body }
  }

  private static func write(_ line: [UInt8], _ output: inout ByteBuffer) {
    output.writeBytes(line)
    output.writeBytes([carriageReturn, lineFeed])
  }

  /// The length that all say; `nil` where they do not agree, or one is no number.
  private static func agreed(_ values: [[UInt8]]) -> [UInt8]? {
    var agreed: [UInt8]?
    for value in values {
      for member in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let digits = trimmed(member)
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let number = Array(digits.drop { $0 == 0x30 })
        if let agreed, agreed != number { return nil }
        agreed = number
      }
    }
    return agreed.map { $0.isEmpty ? [0x30] : $0 }
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  /// Whether a field's name is `name`, which is in small letters.
  private static func isName(_ text: ArraySlice<UInt8>, _ name: String) -> Bool {
    text.count == name.utf8.count
      && zip(text, name.utf8).allSatisfy { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
  }
}
