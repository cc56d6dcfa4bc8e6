// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import DialtoneSites

/// Edges of heads and chunks, and the handler that hands them on.
struct NormalizerEdgesTests {
  private func normalized(_ text: String) throws -> String {
    let bytes = Array(text.utf8)
    var results: Set<String> = []
    for size in [1, 2, 3, 7, bytes.count] {
      var normalizer = HeadNormalizer()
      var output = ByteBuffer()
      for start in stride(from: 0, to: bytes.count, by: size) {
        let part = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
        try normalizer.normalize(part, into: &output)
      }
      results.insert(String(buffer: output))
    }
    #expect(results.count == 1, "however it is cut")
    return try #require(results.first)
  }

  private static let head = "HTTP/1.1 200\r\n"
  private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

  // MARK: Fields

  /// RFC 9110, 5.5 and 5.6.2: which bytes a name and a value may have.
  @Test(arguments: 1...255 as ClosedRange<UInt8>) func aFieldHasBytesOfItsOwn(_ byte: UInt8) throws {
    // These end lines or names.
    if [0x0A, 0x0D, 0x3A].contains(byte) { return }
    func output(_ field: [UInt8]) throws -> [UInt8] {
      var normalizer = HeadNormalizer()
      var output = ByteBuffer()
      let bytes = Array(Self.head.utf8) + field + Array("\r\n\r\n".utf8)
      try normalizer.normalize(ByteBuffer(bytes: bytes), into: &output)
      return Array(output.readableBytesView.dropFirst(Self.head.utf8.count))
    }
    let value = Array("A: x".utf8) + [byte] + Array("y".utf8)
    let isValue = byte == 0x09 || (0x20...0x7E).contains(byte) || byte >= 0x80
    #expect(try output(value) == (isValue ? value + Array("\r\n\r\n".utf8) : Array("\r\n".utf8)))
    let name = Array("x".utf8) + [byte] + Array("y: z".utf8)
    let letters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8
    #expect(try output(name) == (letters.contains(byte) ? name + Array("\r\n\r\n".utf8) : Array("\r\n".utf8)))
  }

  private func fields(_ lines: String...) throws -> DecidingFields {
    var normalizer = HeadNormalizer()
    var output = ByteBuffer()
    let text = Self.head + lines.map { $0 + "\r\n" }.joined() + "\r\n"
    try normalizer.normalize(ByteBuffer(string: text), into: &output)
    return normalizer.fields
  }

  /// RFC 9110, 8.3.1: parameters come behind the media type; the first charset counts, with or without quotes.
  @Test(
    arguments: [
      ("text/html", nil), ("text/html; charset=UTF-8", "utf-8"), ("text/html;charset=\"Latin1\"", "latin1"),
      ("text/html; a=b; CHARSET = x ; charset=y", "x"), ("charset=utf-8", nil), ("text/html; charset", nil),
      ("text/html; charset=; charset=y", "y"), ("text/html; xcharset=y", nil), ("text/html; charset=a=b", "a=b"),
      ("text/html;\tcharset=\tz\t", "z"), ("", nil), ("x;;charset=y", "y"),
    ] as [(String, String?)])
  func aCharsetIsAParameter(_ value: String, _ charset: String?) throws {
    #expect(try fields("Content-Type: \(value)").charset == charset)
  }

  @Test func theLastContentTypeCounts() throws {
    #expect(try fields("Content-Type: a;charset=b", "content-type: c;charset=d").charset == "d")
    #expect(try fields("Content-Type: a;charset=b", "Content-Type: c").charset == nil)
  }

  /// RFC 9110, 5.6.1: lists may have empty members, and be spread over fields.
  @Test func listsMayBeSpread() throws {
    let found = try fields(
      "Content-Encoding: A,, \t,b", "content-encoding: C", "X-Location: /n", "Location:", "LOCATION: /a, /b",
      "Transfer-Encoding: GZIP ,\tChunked")
    #expect(found.contentCodings == ["a", "b", "c"] && found.transferCodings == ["gzip", "chunked"])
    #expect(found.locations == ["", "/a, /b"] && found.charset == nil)
    #expect(try fields("A: b") == DecidingFields())
  }

  // MARK: Chunks

  /// RFC 9112, 7.1: sizes are hexadecimal, and at most 16 digits long.
  @Test(arguments: ["10", "1f", "1F", "0000000000000012", "aB"]) func aSizeIsHexadecimal(_ digits: String) throws {
    let count = try #require(Int(digits, radix: 16))
    let body = digits + "\r\n" + String(repeating: "x", count: count) + "\r\n"
    #expect(try normalized(Self.chunked + body + "0\r\n\r\n") == Self.chunked + body + "0\r\n\r\n")
    let more = Self.chunked + digits + "\r\n" + String(repeating: "x", count: count + 1) + "\r\n0\r\n\r\n"
    #expect(throws: HTTPParserError.invalidChunkSize) { try normalized(more) }
  }

  @Test(arguments: ["1\r\na\r\r\n", "1\r\na\r\rb", "1\r\nab\n", "g\r\n", ";a\r\n", "00000000000000001\r\na\r\n"])
  func whatIsNoChunkIsRefused(_ body: String) {
    #expect(throws: HTTPParserError.invalidChunkSize) { try normalized(Self.chunked + body) }
  }

  @Test func trailersAreLeftOut() throws {
    for trailers in ["", "A: b\r\n", "A: b\nC: d\n", "\rx\r\n"] {
      #expect(try normalized(Self.chunked + "0\r\n" + trailers + "\r\n").hasPrefix(Self.chunked + "0\r\n\r\n"))
    }
  }

  /// What is left out, extensions and trailers, may have 65,536 bytes: here one line of them, with its end.
  @Test(arguments: [(65_536, true), (65_537, false)]) func whatIsLeftOutHasExactlyThisLimit(
    _ count: Int, _ isTaken: Bool
  ) throws {
    // The first byte behind the size only begins the extension.
    let extensions = "1;" + String(repeating: "x", count: count - 1) + "\na\r\n"
    var normalizer = HeadNormalizer()
    var output = ByteBuffer()
    let bytes = ByteBuffer(string: Self.chunked + extensions)
    if isTaken {
      try normalizer.normalize(bytes, into: &output)
      #expect(String(buffer: output) == Self.chunked + "1\r\na\r\n")
    } else {
      #expect(throws: HTTPParserError.headerOverflow) { try normalizer.normalize(bytes, into: &output) }
    }
  }

  // MARK: The handler

  private func read(_ channel: EmbeddedChannel) throws -> String {
    var text = ""
    while let part = try channel.readInbound(as: ByteBuffer.self) { text += String(buffer: part) }
    return text
  }

  @Test func handsOnWhatCameBeforeAFailureAndNothingAfterIt() throws {
    let channel = EmbeddedChannel(handler: HeadNormalizerHandler())
    try channel.writeInbound(ByteBuffer(string: Self.head))
    #expect(try read(channel) == Self.head)
    #expect(throws: HTTPParserError.invalidChunkSize) {
      try channel.writeInbound(ByteBuffer(string: "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nz\r\n"))
    }
    #expect(try read(channel) == "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    try channel.writeInbound(ByteBuffer(string: "1\r\na\r\n"))
    #expect(try read(channel) == "")
    _ = try channel.finish()
  }

  @Test func handsOnOneByteAndABody() throws {
    let handler = HeadNormalizerHandler()
    let channel = EmbeddedChannel(handler: handler)
    try channel.writeInbound(ByteBuffer(string: "H"))
    #expect(try read(channel) == "")
    try channel.writeInbound(ByteBuffer(string: Self.head.dropFirst() + "Location: /x\r\n\r\nbo"))
    try channel.writeInbound(ByteBuffer(string: "dy\n\n"))
    #expect(try read(channel) == Self.head + "Location: /x\r\n\r\nbody\n\n")
    #expect(handler.fields.locations == ["/x"])
    _ = try channel.finish()
  }
}
