// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension HostileSite {
  private static let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
  private static let filler = [UInt8](repeating: UInt8(ascii: "a"), count: 16 << 10)
  private static let fillerField = Array("X-Filler: \(String(repeating: "a", count: 1000))\r\n".utf8)

  /// Hostile to any request, even if the answer has no body (HEAD).
  package static let beforeBody: [HostileSite] = [
    HostileSite("says nothing", .timesOut("response"), opens: .stall),
    HostileSite("says nothing after the request", .timesOut("response"), answers: .stall),
    HostileSite("stalls in the status line", .timesOut("response"), answers: .send("HTTP/1.1 20"), .stall),
    HostileSite(
      "stalls in the fields", .timesOut("response"), answers: .send("HTTP/1.1 200 OK\r\nServer: x\r\nContent-L"), .stall
    ),
    HostileSite(
      "stalls before the empty line", .timesOut("response"),
      answers: .send("HTTP/1.1 200 OK\r\nServer: x\r\n"), .stall),
    HostileSite(
      "drips one field for ever", .timesOut("response"), answers: .send("HTTP/1.1 200 OK\r\nX: "),
      .drip([UInt8(ascii: "a")], every: .milliseconds(10))),
    HostileSite(
      "drips interim answers for ever", .timesOut("response"),
      answers: .drip(Array("HTTP/1.1 102 Processing\r\n\r\n".utf8), every: .milliseconds(20))),
    HostileSite(
      "drips empty lines for ever", .isNotAvailable,
      answers: .drip(Array("\r\n".utf8), every: .milliseconds(10))),
    HostileSite(
      "endless fields", .fails(["response"]), answers: .send("HTTP/1.1 200 OK\r\n"), .sendForEver(fillerField)),
    HostileSite(
      "one endless field", .fails(["response"]), answers: .send("HTTP/1.1 200 OK\r\nX: "), .sendForEver(filler)),
    HostileSite(
      "one endless field name", .fails(["response"]), answers: .send("HTTP/1.1 200 OK\r\n"), .sendForEver(filler)),
    HostileSite("an endless status line", .fails(["response"]), answers: .send("HTTP/1.1 200 "), .sendForEver(filler)),
    HostileSite(
      "endless interim answers", .fails(["response"]),
      answers: .sendForEver(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))),
    HostileSite(
      "endless early hints", .fails(["response"]),
      answers: .sendForEver(Array("HTTP/1.1 103 Early Hints\r\n".utf8) + fillerField + Array("\r\n".utf8))),
    HostileSite(
      "fields of 65 KiB in all, then an end", .fails(["response"]),
      answers: .send(Array("HTTP/1.1 200 OK\r\n".utf8) + Array(repeatElement(fillerField, count: 66).joined())),
      .send("Content-Length: 0\r\n\r\n"), .close),
    HostileSite(
      "interim answers of 65 KiB in all, then an answer", .fails(["response"]),
      answers: .send(
        Array(repeatElement(Array("HTTP/1.1 103 Early\r\n".utf8) + fillerField + [13, 10], count: 65).joined())),
      .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .close),
    HostileSite("resets at once", .fails(["connect", "request", "response", "tls"]), opens: .reset),
    HostileSite("closes at once", .fails(["request", "response", "tls"]), opens: .close),
    HostileSite("resets after the request", .fails(["response"]), answers: .reset),
    HostileSite("closes after the request", .fails(["response"]), answers: .close),
    HostileSite(
      "closes in the fields", .fails(["response"]), answers: .send("HTTP/1.1 200 OK\r\nServer: x\r\n"), .close),
    HostileSite(
      "resets in the fields", .fails(["response"]), answers: .send("HTTP/1.1 200 OK\r\nServer: x\r\n"), .reset),
    HostileSite(
      "closes after an interim answer", .fails(["response"]), answers: .send("HTTP/1.1 100 Continue\r\n\r\n"), .close),
  ]

  /// Bytes that are not an HTTP/1 answer.
  package static let garbage: [HostileSite] = [
    ("NULs", String(repeating: "\0", count: 100)),
    ("a banner of SSH", "SSH-2.0-OpenSSH_9.2\r\n"),
    ("a page without a status line", "<html>welcome</html>\r\n\r\n"),
    ("a shoutcast answer", "ICY 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("an answer of RTSP", "RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("an answer of ICE", "ICE/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a status that is no number", "HTTP/1.1 OK 200\r\nContent-Length: 0\r\n\r\n"),
    ("a status of four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a negative status", "HTTP/1.1 -200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a request", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ("a field without a colon", "HTTP/1.1 200 OK\r\nnothing\r\nContent-Length: 0\r\n\r\n"),
    ("a NUL in a field", "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n"),
    ("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    ("a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
    ("a length beyond 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
    ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
  ].map { name, text in HostileSite(name, .fails(["response"]), .text(text)) }

  /// Hostile in the body, for a GET that reads it.
  package static let inBody: [HostileSite] = [
    HostileSite(
      "stalls in the body", .timesOut("body"), answers: .send(page + "Content-Length: 100\r\n\r\n<html>"), .stall),
    HostileSite(
      "stalls before the body", .timesOut("body"), answers: .send(page + "Content-Length: 100\r\n\r\n"), .stall),
    HostileSite(
      "drips the body", .timesOut("body"), answers: .send(page + "\r\n"),
      .drip([UInt8(ascii: "a")], every: .milliseconds(10))),
    HostileSite(
      "drips chunks", .timesOut("body"), answers: .send(page + "Transfer-Encoding: chunked\r\n\r\n"),
      .drip(Array("1\r\na\r\n".utf8), every: .milliseconds(10))),
    HostileSite("an endless body", .isNotAvailable, answers: .send(page + "\r\n"), .sendForEver(filler)),
    HostileSite(
      "an endless body of a huge length", .isNotAvailable,
      answers: .send(page + "Content-Length: 9223372036854775807\r\n\r\n"), .sendForEver(filler)),
    HostileSite(
      "endless chunks", .isNotAvailable, answers: .send(page + "Transfer-Encoding: chunked\r\n\r\n"),
      .sendForEver(Array("400\r\n".utf8) + filler.prefix(0x400) + [13, 10])),
    HostileSite(
      "endless empty fields behind a chunk's size", .isNotAvailable,
      answers: .send(page + "Transfer-Encoding: chunked\r\n\r\n1;"), .sendForEver(filler)),
    HostileSite(
      "endless trailers", .isNotAvailable, answers: .send(page + "Transfer-Encoding: chunked\r\n\r\n0\r\n"),
      .sendForEver(fillerField)),
    HostileSite(
      "endless digits of a chunk's size", .isNotAvailable, answers: .send(page + "Transfer-Encoding: chunked\r\n\r\n"),
      .sendForEver([UInt8](repeating: UInt8(ascii: "0"), count: 1000))),
    HostileSite(
      "a chunk's size that is no number", .fails(["body", "response"]),
      .text(page + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n")),
    HostileSite(
      "a chunk's size beyond 64 bits", .fails(["body", "response"]),
      .text(page + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n")),
    HostileSite(
      "a chunk longer than it says", .fails(["body", "response"]),
      .text(page + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n")),
    HostileSite(
      "ends in a chunk", .fails(["body"]), .text(page + "Transfer-Encoding: chunked\r\n\r\n10\r\nabc")),
    HostileSite("ends before its length", .fails(["body"]), .text(page + "Content-Length: 100\r\n\r\n<html>")),
    HostileSite(
      "resets in the body", .fails(["body"]), answers: .send(page + "Content-Length: 100\r\n\r\n<html>"),
      .pause(.milliseconds(50)), .reset),
    HostileSite(
      "a compressed bomb", .isNotAvailable,
      answers: .send(page + "Content-Encoding: gzip\r\n\r\n"), .send(DeflateBomb.gzip(size: 256 << 20)), .stall),
    HostileSite(
      "a compressed bomb in chunks", .isNotAvailable,
      answers: .send(page + "Transfer-Encoding: gzip, chunked\r\n\r\n"),
      .sendForEver(
        Array("4000\r\n".utf8) + DeflateBomb.gzip(size: 1 << 20).prefix(0x1000) + filler.prefix(0x3000) + [13, 10])),
    HostileSite(
      "what says that it is compressed, and is not", .isNotAvailable,
      .text(page + "Content-Encoding: gzip\r\nContent-Length: 18\r\n\r\nthis is no gzip at")),
  ]
}
#endif
