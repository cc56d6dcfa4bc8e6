// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import Testing

@testable import DialtoneSites

struct HeadNormalizerTests {
  /// The bytes received, and the bytes that the decoder gets.
  struct Head: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let came: String
    let given: String

    init(_ description: String, _ came: String, _ given: String? = nil) {
      testDescription = description
      self.came = came
      self.given = given ?? came
    }
  }

  private static let line = "HTTP/1.1 200 OK\r\n"
  /// Without the reason phrase.
  private static let short = "HTTP/1.1 200\r\n"

  @Test(arguments: [
    Head("nothing to be done", short + "Server: x\r\nContent-Length: \r\n\r\n\r\nbody\n\n"),
    Head("no fields", line + "\r\nbody", short + "\r\nbody"),
    Head("LF alone", "HTTP/1.1 200 OK\nA: b\nC: d\n\n a\nb", short + "A: b\r\nC: d\r\n\r\n a\nb"),
    Head("LF alone here and there", "HTTP/1.0 200\nA: b\r\n\n", "HTTP/1.0 200\r\nA: b\r\n\r\n"),
    Head("a folded field", line + "A: b\r\n c\r\nD: e\r\n\r\n", short + "A: b c\r\nD: e\r\n\r\n"),
    Head("a field folded twice", line + "A:\r\n\t b \t\r\n  \t c\n\n", short + "A: b c\r\n\r\n"),
    Head("a fold of nothing", line + "A: b\r\n \r\nC: d\r\n\r\n", short + "A: b \r\nC: d\r\n\r\n"),
    Head("a folded name", line + "A\r\n : b\r\n\r\n", short + "A: b\r\n\r\n"),
    Head("a fold without a field", short + " a\r\nB: c\r\n\r\n"),
    Head("a fold before the first field", short + " A: b\r\nB: c\r\n\r\n"),
    Head(
      "one length", line + "CONTENT-length:\t5\r\nA: b\r\n\r\n12345", short + "A: b\r\nContent-Length:5\r\n\r\n12345"),
    Head("a folded length", line + "Content-Length:\r\n 5 \r\n\r\n12345", short + "Content-Length:5\r\n\r\n12345"),
    Head("spaces before a colon", line + "A \t: b\r\n\r\n", short + "A: b\r\n\r\n"),
    Head(
      "spaces before a length's colon", line + "Content-Length : 5\r\n\r\n12345",
      short + "Content-Length:5\r\n\r\n12345"),
    Head(
      "equal lengths", line + "Content-Length: 5\r\nA: b\r\nContent-Length: 005\r\n\r\n",
      short + "A: b\r\nContent-Length:5\r\n\r\n"),
    Head("a list of equal lengths", line + "Content-Length: 0 , 00\r\n\r\n", short + "Content-Length:0\r\n\r\n"),
    Head(
      "lengths that do not agree", line + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
      short + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"),
    Head("lengths that are none", line + "Content-Length: 5,\r\n\r\n", short + "Content-Length: 5,\r\n\r\n"),
    Head("a negative length", short + "Content-Length: -5\r\n\r\n"),
    Head(
      "a transfer coding before a length",
      line + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\na\r\n0\r\n\r\n",
      short + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    Head(
      "a transfer coding behind lengths that do not agree",
      line + "Content-Length: 3\r\nContent-Length: x\r\ntransfer-encoding: gzip, Chunked\r\n\r\n1 \na\n0\n\n",
      short + "transfer-encoding: gzip, Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    Head(
      "a transfer coding with tabs and empty members",
      line + "Transfer-Encoding:\t,chunked\t,\r\n\r\n1 \na\n0\n\n",
      short + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    Head("another transfer coding", short + "Transfer-Encoding: chunked, x\r\n\r\n1 \na\n0\n\n"),
    Head(
      "interim answers",
      "HTTP/1.1 100 Go on\n\nHTTP/1.1 103 Early\r\nTransfer-Encoding: x\r\nLink: a,\r\n b\r\n\r\n" + line
        + "Content-Length: 1\r\n\r\n\n\n",
      "HTTP/1.1 100\r\n\r\nHTTP/1.1 103\r\nTransfer-Encoding: x\r\nLink: a, b\r\n\r\n" + short
        + "Content-Length:1\r\n\r\n\n\n"),
    Head("spaces before the status", "HTTP/1.1  \t 200\n\n", short + "\r\n"),
    Head("small letters", "http/1.1 200 ok\n\n", short + "\r\n"),
    Head("a reason of any bytes", "HTTP/1.1 200 \u{1}\0\r\u{F6}\n\n", short + "\r\n"),
    Head("a status at its reason", "HTTP/1.1 200OK\n\n", short + "\r\n"),
    Head(
      "what is no name or value", line + "A\u{F6}: b\r\nC(d): e\r\nf g: h\r\n: i\r\nJ: \u{7F}\r\n\r\n",
      short + "\r\n"),
    Head("CR alone", line + "A: b\rc\r\r\n\r\n", short + "A: b c \r\n\r\n"),
    Head("a length that cannot be read", short + "Content-Length:5\u{1B}\r\n\r\n"),
    Head(
      "no transfer coding", line + "Transfer-Encoding: ,\r\nContent-Length: 5\r\n\r\n",
      short + "Content-Length:5\r\n\r\n"),
    Head("what is no field", short + "nothing\r\n\0\r\nA: \0\r\n\r\n"),
  ])
  func givesTheDecoderWhatItTakes(_ head: Head) throws {
    let came = Array(head.came.utf8)
    for size in 1...came.count { #expect(try normalized(came, partsOf: size) == head.given, "in parts of \(size)") }
    for cut in came.indices {
      var normalizer = HeadNormalizer()
      let output = try normalizer.string([came[..<cut], came[cut...]])
      #expect(output == head.given, "cut at \(cut)")
    }
  }

  /// What decides something is there as it came, whatever bytes are in it.
  @Test func keepsWhatDecides() throws {
    let head =
      "HTTP/1.1 103\r\nLocation: /early\r\n\r\n" + Self.line
      + "location : /\u{1B}\r\nLOCATION:\thttp://a/ \rb\r\r\nContent-Encoding: GZIP,, br\u{7}\r\n"
      + "Content-Type: text/html; x=y ;\tCharset=\"UTF-8\"\r\nTransfer-Encoding: gzip , Chunked\r\n\r\n0\r\n\r\n"
    let came = Array(head.utf8)
    for size in 1...came.count {
      var normalizer = HeadNormalizer()
      _ = try normalizer.string(
        stride(from: 0, to: came.count, by: size).map { came[$0..<min($0 + size, came.count)] })
      let fields = normalizer.fields
      #expect(fields.locations == ["/\u{1B}", "http://a/  b"])
      #expect(fields.contentCodings == ["gzip", "br\u{7}"] && fields.transferCodings == ["gzip", "chunked"])
      #expect(fields.charset == "utf-8")
    }
  }

  private static let chunked = "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"

  @Test(arguments: [
    Head("nothing to be done", "5\r\nhello\r\n00A\r\n0123456789\r\n0\r\n\r\n"),
    Head("spaces behind sizes", "5 \t\r\nhello\r\n0  \r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    Head("extensions", "5;a=\"b\" ; c\r\nhello\r\n0;d\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    Head("LF alone", "5\nhello\n0\n\n", "5\r\nhello\r\n0\r\n\r\n"),
    Head("line ends in data", "4\r\n\r\n\n\n\r\n0\r\n\r\n"),
    Head("trailers", "1\r\na\r\n0\r\nB : c\r\nd\n\r\n", "1\r\na\r\n0\r\n\r\n"),
  ])
  func givesTheDecoderChunksAsItTakesThem(_ body: Head) throws {
    let came = Array((Self.chunked + body.came).utf8)
    for size in 1...came.count {
      #expect(try normalized(came, partsOf: size) == Self.chunked + body.given, "in parts of \(size)")
    }
  }

  @Test(arguments: ["zz\r\n", " 5\r\n", "0x8\r\n", "\r\n", "12345678123456781", "1\r\nab", "1\r\na\rb"])
  func refusesWhatIsNoChunk(_ body: String) {
    let came = Array((Self.chunked + body).utf8)
    for size in 1...came.count {
      #expect(throws: HTTPParserError.invalidChunkSize) { try normalized(came, partsOf: size) }
    }
  }

  @Test func refusesATransferCodingThatCannotBeRead() {
    let came = Array("HTTP/1.1 200\r\nTransfer-Encoding: chunked\u{1B}\r\n\r\n".utf8)
    for size in 1...came.count {
      #expect(throws: HTTPParserError.unknown) { try normalized(came, partsOf: size) }
    }
  }

  /// curl asks for `/b%FCcher` then: the bytes that came.
  @Test(
    arguments: [([0xFC], "/b%FCcher"), ([0xC3, 0xBC], "/b\u{FC}cher"), ([0xC3], "/b%C3cher")] as [([UInt8], String)])
  func keepsTheBytesOfALocation(_ letter: [UInt8], _ location: String) throws {
    var normalizer = HeadNormalizer()
    let head = Array((Self.line + "Location: /b").utf8) + letter + Array("cher\r\n\r\n".utf8)
    #expect(try normalizer.string([head[...]]) == Self.short + "Location: \(location)\r\n\r\n")
    #expect(normalizer.fields.locations == [location])
  }

  /// What is dropped has a limit: extensions before data, and trailers after it.
  @Test(arguments: ["1;", "0\r\n"])
  func whatIsLeftOutHasALimit(_ beginning: String) throws {
    var normalizer = HeadNormalizer()
    var output = ByteBuffer()
    try normalizer.normalize(ByteBuffer(string: Self.chunked + beginning), into: &output)
    let field = ByteBuffer(string: "A: " + String(repeating: "b", count: 1019) + (beginning == "1;" ? ";;" : "\r\n"))
    for _ in 0..<63 { try normalizer.normalize(field, into: &output) }
    #expect(throws: HTTPParserError.headerOverflow) {
      for _ in 0..<2 { try normalizer.normalize(field, into: &output) }
    }
  }

  @Test func passesWhatCameBeforeMalformedBytes() {
    var normalizer = HeadNormalizer()
    var output = ByteBuffer()
    #expect(throws: HTTPParserError.invalidChunkSize) {
      try normalizer.normalize(ByteBuffer(string: Self.chunked + "1\r\na\r\nz\r\n"), into: &output)
    }
    #expect(String(buffer: output) == Self.chunked + "1\r\na\r\n")
  }

  private func normalized(_ bytes: [UInt8], partsOf size: Int) throws -> String {
    var normalizer = HeadNormalizer()
    return try normalizer.string(
      stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] })
  }

  /// However few or many of its bytes have arrived. An empty line is HTTP/0.9 to curl, which takes none of that.
  @Test(arguments: [
    "S", "R", "I", " ", "HTTP/2", "HTTP/1 ", "HTTP/1.x", "HTTP/1.10", "HTTP/1.1\t", "HTTP/1.1 2x", "HTTP/1.1 2000",
    "HTTP/1.1 -", "\r", "\n",
  ])
  func refusesWhatIsNoStatusLineAtOnce(_ text: String) throws {
    var normalizer = HeadNormalizer()
    var output = ByteBuffer()
    try normalizer.normalize(ByteBuffer(string: String(text.dropLast())), into: &output)
    #expect(throws: HTTPParserError.self) {
      try normalizer.normalize(ByteBuffer(string: String(text.suffix(1))), into: &output)
    }
    #expect(output.readableBytes == 0)
  }

  @Test func doesNotChangeABody() throws {
    var normalizer = HeadNormalizer()
    #expect(!normalizer.isDone)
    _ = try normalizer.string([Array((Self.line + "\r\n").utf8)[...]])
    #expect(normalizer.isDone)
  }
}

extension HeadNormalizer {
  /// The output for these parts, one after another.
  fileprivate mutating func string(_ parts: [ArraySlice<UInt8>]) throws -> String {
    var output = ByteBuffer()
    for part in parts { try normalize(ByteBuffer(bytes: part), into: &output) }
    return String(buffer: output)
  }
}
