// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore
internal import NIOHTTP1

/// Writes the heads of answers as NIO's decoder takes them. The decoder refuses more than a client has to: lines that
/// end with LF alone (RFC 9112, 2.2), fields that go on in the next line (5.2), a length given twice, or beside a
/// transfer coding that overrides it (6.3), spaces before the status or before a field's colon, CR alone in a field
/// (2.2), a reason phrase of any bytes, and fields that cannot be read. The last two are left out.
///
/// What decides something is kept as it came (`DecidingFields`), since leaving it out would decide, too. A length or a
/// transfer coding that cannot be read is refused: nobody knows where such an answer ends.
///
/// It also takes less: a status line has to begin with `HTTP/1.` (RFC 9112, 2.3), while the decoder knows other
/// protocols, and takes empty lines before it, as servers do before a request (2.2).
///
/// A decoder that decides for others where an answer ends is right to refuse those. Here one answer is judged, and then
/// the connection ends. Anything else that is malformed stays so, for the decoder to refuse.
///
/// Invariant: however the bytes are cut, what comes out is the same. It holds back no more than the beginning of a
/// status line, or one field while its next line may belong to it, and the lengths until the head has ended. The header
/// limit bounds them.
struct HeadNormalizer {
  private enum Place {
    case statusLine, reason, fields, body
  }

  private var place = Place.statusLine
  private var statusLine = StatusLine()
  private var line: [UInt8] = []
  /// The field before it.
  private var field: [UInt8] = []
  private var lengths: [[UInt8]] = []
  /// The fields of the head that is being read, or of the last one.
  private(set) var fields = DecidingFields()
  /// The chunks that the body is in, once it is reached; `nil` if it is in none.
  private var chunks: ChunkNormalizer?

  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let deciding = DecidingFields.Name.allCases

  /// Whether nothing is left to do: all heads are over, and what comes now needs no change.
  var isDone: Bool { place == .body && chunks == nil }

  /// Writes to `output` what the decoder gets for the bytes that came next. Throws if they are nothing that it may get.
  mutating func normalize(_ bytes: ByteBuffer, into output: inout ByteBuffer) throws(HTTPParserError) {
    var rest = bytes.readableBytesView
    while let first = rest.first {
      switch place {
      case .body:
        if chunks == nil {
          output.writeBytes(rest)
        } else {
          try chunks?.normalize(rest, into: &output)
        }
        return
      case .statusLine:
        try statusLine.append(first)
        guard let text = statusLine.text else {
          rest = rest.dropFirst()
          continue
        }
        // The byte after the status belongs to what follows.
        Self.write(text, &output)
        place = .reason
      case .reason:
        // A client ignores the reason phrase (RFC 9112, 4).
        rest = rest[(rest.firstIndex(of: Self.lineFeed) ?? rest.endIndex)...]
        if rest.isEmpty { return }
        rest = rest.dropFirst()
        place = .fields
      case .fields:
        let part = rest[..<(rest.firstIndex(of: Self.lineFeed) ?? rest.endIndex)]
        rest = rest.dropFirst(part.count)
        line += part
        if rest.isEmpty { return }
        rest = rest.dropFirst()
        try endLine(&output)
      }
    }
  }

  private mutating func endLine(_ output: inout ByteBuffer) throws(HTTPParserError) {
    if line.last == Self.carriageReturn { line.removeLast() }
    if line.isEmpty { return try endHead(&output) }
    if !field.isEmpty, Self.isSpace(line[0]) {
      while let last = field.last, Self.isSpace(last) { field.removeLast() }
      field.append(UInt8(ascii: " "))
      field += line.drop(while: Self.isSpace)
    } else {
      try endField(&output)
      swap(&field, &line)
    }
    line.removeAll(keepingCapacity: true)
  }

  private mutating func endField(_ output: inout ByteBuffer) throws(HTTPParserError) {
    if field.isEmpty { return }
    defer { field.removeAll(keepingCapacity: true) }
    // A line without a colon is no field. Nor is one with a NUL (RFC 9110, 5.5), or a continuation of no field.
    guard let colon = field.firstIndex(of: UInt8(ascii: ":")), !field.contains(0), !Self.isSpace(field[0]) else {
      return Self.write(field, &output)
    }
    // Spaces before the colon are for a proxy to remove (RFC 9112, 5.1), and harmless here.
    let name = field[..<colon].trimmed(Self.isSpace)
    guard !name.isEmpty, name.allSatisfy(ASCII.isTokenByte) else { return }
    var value = field[(colon + 1)...]
    // CR alone is a space (RFC 9112, 2.2).
    if value.contains(Self.carriageReturn) {
      value = value.map { $0 == Self.carriageReturn ? UInt8(ascii: " ") : $0 }[...]
    }
    let isReadable = value.allSatisfy(Self.isValueCharacter)
    let deciding = Self.deciding.first { $0.rawValue.utf8.elementsEqual(name) { $0 == ASCII.folded($1) } }
    let text = deciding == nil ? "" : Self.text(of: value.trimmed(Self.isSpace))
    if let deciding { fields.take(deciding, text) }
    switch deciding {
    case .contentLength: lengths.append(Array(value))
    case .transferEncoding where !isReadable: throw .unknown
    // The parser knows neither tabs nor empty members (RFC 9110, 5.6.1).
    case .transferEncoding:
      let members = value.split(separator: UInt8(ascii: ",")).map { $0.trimmed(Self.isSpace) }.filter { !$0.isEmpty }
      if members.isEmpty { break }
      Self.write(name + ": ".utf8 + members.joined(separator: Array(", ".utf8)), &output)
    case .location where isReadable: Self.write(name + ": ".utf8 + text.utf8, &output)
    default:
      guard isReadable else { break }
      output.writeBytes(name)
      output.writeInteger(UInt8(ascii: ":"))
      Self.write(value, &output)
    }
  }

  private mutating func endHead(_ output: inout ByteBuffer) throws(HTTPParserError) {
    try endField(&output)
    // A transfer coding overrides a length.
    if fields.transferCodings.isEmpty {
      for length in Self.agreed(lengths).map({ [$0] }) ?? lengths {
        Self.write(Array("Content-Length:".utf8) + length, &output)
      }
    }
    Self.write([], &output)
    // After an interim answer comes another one. With 101 the check has ended.
    let isInterim = statusLine.isInterim
    let last = fields
    self = HeadNormalizer()
    if isInterim { return }
    fields = last
    place = .body
    if fields.transferCodings.last == "chunked" { chunks = ChunkNormalizer() }
  }

  /// The text of a value. Bytes that are no UTF-8 are escaped as in a URL, where most of them are: they go back to the
  /// server as they came.
  private static func text(of value: ArraySlice<UInt8>) -> String {
    String(validating: value, as: UTF8.self) ?? PercentEncoding.encoded(value) { $0 < 0x80 }
  }

  private static func write(_ line: some Collection<UInt8>, _ output: inout ByteBuffer) {
    output.writeBytes(line)
    output.writeInteger(carriageReturn)
    output.writeInteger(lineFeed)
  }

  /// The length, if all values are the same number; else `nil`.
  private static func agreed(_ values: [[UInt8]]) -> [UInt8]? {
    var agreed: [UInt8]?
    for value in values {
      for member in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let digits = member.trimmed(isSpace)
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let number = Array(digits.drop { $0 == 0x30 })
        if let agreed, agreed != number { return nil }
        agreed = number
      }
    }
    return agreed.map { $0.isEmpty ? [0x30] : $0 }
  }

  fileprivate static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  /// RFC 9110, 5.5: no control characters except tabs.
  private static func isValueCharacter(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }
}

/// The fields of a head whose values decide something, with any bytes in them.
struct DecidingFields: Equatable {
  private(set) var locations: [String] = []
  /// The members of Content-Encoding, in lower case.
  private(set) var contentCodings: [String] = []
  /// The members of Transfer-Encoding, in lower case.
  private(set) var transferCodings: [String] = []
  /// The parameter `charset` of Content-Type, in lower case.
  private(set) var charset: String?

  enum Name: String, CaseIterable {
    case location
    case contentEncoding = "content-encoding"
    case contentLength = "content-length"
    case contentType = "content-type"
    case transferEncoding = "transfer-encoding"
  }

  /// `value` has no spaces around it.
  mutating func take(_ name: Name, _ value: String) {
    switch name {
    case .location: locations.append(value)
    case .contentEncoding: contentCodings += Self.members(value)
    case .transferEncoding: transferCodings += Self.members(value)
    case .contentType: charset = Self.charset(value)
    // The normalizer keeps the lengths until the head has ended.
    case .contentLength: break
    }
  }

  /// RFC 9110, 5.6.1: a list may have empty members.
  private static func members(_ value: String) -> [String] {
    ASCII.folded(value).split(separator: ",").map(trimmed).filter { !$0.isEmpty }
  }

  /// RFC 9110, 8.3.1.
  private static func charset(_ value: String) -> String? {
    for parameter in ASCII.folded(value).utf8.split(separator: UInt8(ascii: ";")).dropFirst() {
      let parts = Substring(parameter).split(separator: "=", maxSplits: 1)
      if parts.count == 2, trimmed(parts[0]) == "charset" { return trimmed(parts[1]).filter { $0 != "\"" } }
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.trimmed { $0 == " " || $0 == "\t" })
  }
}

extension HeadNormalizer {
  /// A status line without its reason phrase: `HTTP/1.1 200`.
  private struct StatusLine {
    private enum Part {
      case version, minor, space, status, afterStatus, end
    }

    private static let version = Array("HTTP/1.".utf8)
    private var part = Part.version
    private var bytes: [UInt8] = []

    /// What the decoder gets, once the status has come.
    var text: [UInt8]? { part == .end ? bytes : nil }

    /// Whether another answer follows this one (RFC 9110, 15.2).
    var isInterim: Bool { part == .end && bytes[bytes.count - 3] == UInt8(ascii: "1") }

    /// Takes the next byte, unless it is after the status. Throws if no status line goes on so.
    mutating func append(_ byte: UInt8) throws(HTTPParserError) {
      switch part {
      case .version:
        // The version should be in capitals (RFC 9112, 2.3); lower case is taken, too.
        let capital = ASCII.capital(byte)
        guard capital == Self.version[bytes.count] else { throw .invalidVersion }
        bytes.append(capital)
        if bytes.count == Self.version.count { part = .minor }
      case .minor:
        guard ASCII.isDigit(byte) else { throw .invalidVersion }
        bytes.append(byte)
        part = .space
      case .space:
        guard byte == UInt8(ascii: " ") else { throw .invalidVersion }
        bytes.append(byte)
        part = .status
      case .status:
        // There should be one space (RFC 9112, 4); more are taken, too.
        if bytes.last == UInt8(ascii: " "), HeadNormalizer.isSpace(byte) { return }
        guard ASCII.isDigit(byte) else { throw .invalidStatus }
        bytes.append(byte)
        if bytes.count == Self.version.count + 5 { part = .afterStatus }
      case .afterStatus:
        if ASCII.isDigit(byte) { throw .invalidStatus }
        part = .end
      case .end: break
      }
    }
  }
}

/// Stands before the decoder and after the header limit. It gives the decoder the heads as it takes them.
final class HeadNormalizerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var normalizer = HeadNormalizer()
  private var hasFailed = false

  /// The fields of the last head that decide something. They are there before the decoder has the head.
  var fields: DecidingFields { normalizer.fields }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if normalizer.isDone { return context.fireChannelRead(data) }
    if hasFailed { return }
    var output = ByteBuffer()
    var failure: HTTPParserError?
    do throws(HTTPParserError) {
      try normalizer.normalize(unwrapInboundIn(data), into: &output)
    } catch {
      hasFailed = true
      failure = error
    }
    // What came before the failure counts.
    if output.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(output)) }
    if let failure { context.fireErrorCaught(failure) }
  }
}
