// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import DialtoneSites

struct HeadNormalizerTests {
  /// What came, and what the decoder is given.
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

  @Test(arguments: [
    Head("nothing to be done", line + "Server: x\r\nContent-Length: \r\n\r\n\r\nbody\n\n"),
    Head("no fields", line + "\r\nbody"),
    Head("LF alone", "HTTP/1.1 200 OK\nA: b\nC: d\n\n a\nb", line + "A: b\r\nC: d\r\n\r\n a\nb"),
    Head("LF alone here and there", "HTTP/1.0 200\nA: b\r\n\n", "HTTP/1.0 200\r\nA: b\r\n\r\n"),
    Head("a folded field", line + "A: b\r\n c\r\nD: e\r\n\r\n", line + "A: b c\r\nD: e\r\n\r\n"),
    Head("a field folded twice", line + "A:\r\n\t b \t\r\n  \t c\n\n", line + "A: b c\r\n\r\n"),
    Head("a fold of nothing", line + "A: b\r\n \r\nC: d\r\n\r\n", line + "A: b \r\nC: d\r\n\r\n"),
    Head("a folded name", line + "A\r\n : b\r\n\r\n", line + "A : b\r\n\r\n"),
    Head("a fold without a field", line + " a\r\nB: c\r\n\r\n"),
    Head(
      "one length", line + "CONTENT-length:\t5\r\nA: b\r\n\r\n12345", line + "A: b\r\nContent-Length:5\r\n\r\n12345"),
    Head("a folded length", line + "Content-Length:\r\n 5 \r\n\r\n12345", line + "Content-Length:5\r\n\r\n12345"),
    Head(
      "equal lengths", line + "Content-Length: 5\r\nA: b\r\nContent-Length: 005\r\n\r\n",
      line + "A: b\r\nContent-Length:5\r\n\r\n"),
    Head("a list of equal lengths", line + "Content-Length: 0 , 00\r\n\r\n", line + "Content-Length:0\r\n\r\n"),
    Head(
      "lengths that do not agree", line + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
      line + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"),
    Head("lengths that are none", line + "Content-Length: 5,\r\n\r\n", line + "Content-Length: 5,\r\n\r\n"),
    Head("a negative length", line + "Content-Length: -5\r\n\r\n"),
    Head(
      "a transfer coding before a length",
      line + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\na\r\n0\r\n\r\n",
      line + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    Head(
      "a transfer coding behind lengths that do not agree",
      line + "Content-Length: 3\r\nContent-Length: x\r\ntransfer-encoding: chunked\r\n\r\n",
      line + "transfer-encoding: chunked\r\n\r\n"),
    Head(
      "interim answers",
      "HTTP/1.1 100 Go on\n\n\r\n\nHTTP/1.1 103 Early\r\nTransfer-Encoding: x\r\nLink: a,\r\n b\r\n\r\n" + line
        + "Content-Length: 1\r\n\r\n\n\n",
      "HTTP/1.1 100 Go on\r\n\r\n\r\n\nHTTP/1.1 103 Early\r\nTransfer-Encoding: x\r\nLink: a, b\r\n\r\n" + line
        + "Content-Length:1\r\n\r\n\n\n"),
    Head("empty lines before it", "\n\r\n\r" + line + "\r\n"),
    Head("returns in lines", line + "A: b\rc\r\r\n\r\r\n\r\n"),
    Head("what is no status line", "ICY 200 OK\nA:b\n\n", "ICY 200 OK\r\nA:b\r\n\r\n"),
    Head("what is no field", line + "nothing\r\n: x\r\n\0\r\n\r\n"),
  ])
  func givesTheDecoderWhatItTakes(_ head: Head) {
    let came = Array(head.came.utf8)
    for size in 1...came.count { #expect(normalized(came, partsOf: size) == head.given, "in parts of \(size)") }
    for cut in came.indices {
      var normalizer = HeadNormalizer()
      let output = normalizer.string([came[..<cut], came[cut...]])
      #expect(output == head.given, "cut at \(cut)")
    }
  }

  private func normalized(_ bytes: [UInt8], partsOf size: Int) -> String {
    var normalizer = HeadNormalizer()
    return normalizer.string(
      stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] })
  }

  @Test func holdsBackNothingOfAStatusLine() {
    var normalizer = HeadNormalizer()
    #expect(normalizer.string([Array("SSH-2.0-Open".utf8)[...]]) == "SSH-2.0-Open")
  }

  @Test func leavesABodyAlone() {
    var normalizer = HeadNormalizer()
    #expect(!normalizer.isInBody)
    _ = normalizer.string([Array((Self.line + "\r\n").utf8)[...]])
    #expect(normalizer.isInBody)
  }
}

extension HeadNormalizer {
  /// What comes out for these parts, one after another.
  fileprivate mutating func string(_ parts: [ArraySlice<UInt8>]) -> String {
    var output = ByteBuffer()
    for part in parts {
      var normalized = normalize(ByteBuffer(bytes: part))
      output.writeBuffer(&normalized)
    }
    return String(buffer: output)
  }
}
