// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import NIOEmbedded
import Testing

@testable import DialtoneSites

/// One request and its answer, byte by byte, without a network.
struct ExchangeTests {
  /// An exchange on a channel that only a test moves.
  private final class Talk {
    let channel = EmbeddedChannel()
    private(set) var events: [String] = []
    private(set) var exchange: Exchange?
    private let text: String?
    private let readsBody: Bool

    init(
      _ url: SiteURL = "http://example.com/x?y", by proxy: ProxyServer? = nil, method: SiteCheckConfiguration.Method,
      lookingFor text: String? = nil, readsBody: Bool = true,
      _ configure: (inout SiteCheckConfiguration) -> Void = { _ in }
    ) throws {
      var configuration = SiteCheckConfiguration()
      configure(&configuration)
      self.text = text
      self.readsBody = readsBody
      channel.connect(to: try SocketAddress(ipAddress: "192.0.2.7", port: 80), promise: nil)
      exchange = Exchange(channel, to: url, by: proxy, configuration, time: .system) { [weak self] in self?.note($0) }
      exchange?.ask(method)
    }

    private func note(_ event: CheckStateMachine.Event) {
      switch event {
      case .requestSent: events.append("sent")
      case .firstByte: events.append("first byte")
      case .head(let head, let isHTTP):
        events.append("head \(head.method.rawValue) \(head.status) \(isHTTP)")
        if readsBody { exchange?.readBody(lookingFor: text) }
      case .body(let body):
        let words = [(body.hasText, "text"), (body.isComplete, "complete"), (body.hasEnded, "ended")]
        events.append((["body \(body.length)"] + words.filter(\.0).map(\.1)).joined(separator: " "))
      case .lost(let error): events.append("lost: \(error.message)")
      default: events.append("\(event)")
      }
    }

    func come(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    /// The request as it was sent.
    func request() throws -> String {
      var text = ""
      while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
      return text
    }

    /// The events since the request.
    func answer() throws -> [String] {
      _ = try channel.finish(acceptAlreadyClosed: true)
      return Array(events.drop { $0 == "sent" })
    }
  }

  private static let closed = "lost: the connection was closed before the answer was complete"

  // MARK: The request

  /// RFC 9112, 3.2.
  @Test func asksForThePage() throws {
    for (method, name) in [(.head, "HEAD"), (.get, "GET")] as [(SiteCheckConfiguration.Method, String)] {
      let talk = try Talk(method: method)
      #expect(
        try talk.request() == "\(name) /x?y HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n"
          + "Accept-Encoding: identity\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n")
      #expect(talk.events == ["sent"])
      _ = try talk.answer()
    }
  }

  /// RFC 9112, 3.2.2: a proxy gets the whole URL, and its credentials; in a tunnel there is the site alone.
  @Test func asksAProxyForTheURL() throws {
    let proxy = ProxyServer(host: .address(.server), port: 8_080, authorization: "Basic YTpi")
    var socks = proxy
    socks.socks = ProxyServer.Socks()
    for (url, proxy, line, isAuthorized) in [
      ("http://example.com:81/x", proxy, "GET http://example.com:81/x HTTP/1.1", true),
      ("http://example.com/x", socks, "GET /x HTTP/1.1", false),
      ("https://example.com/x", proxy, "GET /x HTTP/1.1", false),
      ("http://example.com/x", .proxy, "GET http://example.com/x HTTP/1.1", false),
    ] as [(String, ProxyServer, String, Bool)] {
      let talk = try Talk(SiteURL(url), by: proxy, method: .get)
      let lines = try talk.request().split(separator: "\r\n")
      #expect(lines.first == Substring(line))
      #expect(lines.contains("Proxy-Authorization: Basic YTpi") == isAuthorized)
      _ = try talk.answer()
    }
  }

  /// A field of an inspection's takes the place of the check's own.
  @Test func fieldsTakeThePlaceOfOthers() throws {
    let talk = try Talk(method: .get) {
      var inspection = SiteInspection()
      inspection.fields = [.init(name: "host", value: "other"), .init(name: "X-Y", value: "z")]
      $0.inspection = inspection
      $0.userAgent = "test/1"
    }
    let lines = try talk.request().split(separator: "\r\n").map { $0.lowercased() }
    #expect(lines.filter { $0.hasPrefix("host:") } == ["host: other"])
    #expect(lines.contains("x-y: z") && lines.contains("user-agent: test/1"))
    _ = try talk.answer()
  }

  // MARK: The answer

  @Test func anAnswerToHeadHasNoBody() throws {
    let talk = try Talk(method: .head)
    try talk.come("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    #expect(try talk.answer() == ["first byte", "head HEAD 200 true", "body 0 complete ended", Self.closed])
  }

  @Test func aBodyComesInParts() throws {
    let talk = try Talk(method: .get, lookingFor: "el")
    try talk.come("HTTP/1.1 404 No\r\nContent-Le")
    try talk.come("ngth: 5\r\n\r\nhe")
    try talk.come("l")
    try talk.come("lo")
    #expect(
      try talk.answer() == [
        "first byte", "head GET 404 true", "body 2", "body 3 text", "body 5 text", "body 5 text complete ended",
        Self.closed,
      ])
  }

  @Test func aBodyThatNobodyWantsIsNotReported() throws {
    let talk = try Talk(method: .get, readsBody: false)
    try talk.come("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
    #expect(try talk.answer() == ["first byte", "head GET 200 true", Self.closed])
  }

  /// RFC 9112, 6.3: without a length, the end of the connection ends the body.
  @Test func aBodyMayEndWithTheConnection() throws {
    let talk = try Talk(method: .get)
    try talk.come("HTTP/1.0 200 OK\r\n\r\nab")
    let answer = try talk.answer()
    #expect(answer.starts(with: ["first byte", "head GET 200 true", "body 2", "body 2 complete ended"]))
  }

  @Test(arguments: [
    ("HTTP/1.1 xyz\r\n\r\n", "the answer's status is malformed: it has not three digits"),
    ("SSH-2.0-OpenSSH\r\n", "what came is not HTTP/1"), ("HTTP/2.0 200 OK\r\n\r\n", "what came is not HTTP/1"),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
      "the answer's Content-Length is malformed: it is no number, too large, or two that differ"
    ),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\u{1}\r\n\r\n", "the answer's Transfer-Encoding is malformed"
    ),
    ("HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "a line of the answer's headers is malformed: it has no colon, or a NUL"),
  ])
  func whatIsMalformedIsLost(_ text: String, _ words: String) throws {
    let talk = try Talk(method: .get)
    try talk.come(text)
    #expect(try talk.answer().prefix(2) == ["first byte", "lost: \(words)"])
  }

  /// What came before the malformed bytes counts; what comes after them does not.
  @Test func aMalformedChunkEndsTheBody() throws {
    let talk = try Talk(method: .get)
    try talk.come("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nz\r\n")
    let before = talk.events.count
    try talk.come("1\r\nc\r\n0\r\n\r\n")
    #expect(talk.events.count == before)
    #expect(
      talk.events == [
        "sent", "first byte", "head GET 200 true", "body 2",
        "lost: the answer's body is malformed: it is not in the chunks that its headers announce",
      ])
    _ = try talk.answer()
  }

  /// Once nobody wants events, none come, and the channel is closed.
  @Test func afterItsEndNothingIsTold() throws {
    let talk = try Talk(method: .get)
    #expect(talk.exchange?.isOpen == true)
    var isClosed = false
    talk.exchange?.close { isClosed = true }
    #expect(talk.exchange?.isOpen == false)
    talk.channel.embeddedEventLoop.run()
    #expect(isClosed && !talk.channel.isActive)
    #expect(try talk.answer() == [])
  }

  // MARK: Limits

  /// An answer without a body whose head has this many bytes.
  private func head(_ count: Int) -> String {
    let beginning = "HTTP/1.1 204 No\r\nA: "
    return beginning + String(repeating: "b", count: count - beginning.utf8.count - 4) + "\r\n\r\n"
  }

  private static let tooLong = "lost: the headers are longer than 65536 bytes"

  @Test(arguments: [(65_535, true), (65_536, true), (65_537, false), (70_000, false)])
  func headersHaveALimit(_ count: Int, _ isTaken: Bool) throws {
    for cut in [0, 1, 65_000, 65_535, 65_536] {
      let talk = try Talk(method: .get, readsBody: false)
      let bytes = Array(head(count).utf8)
      for part in [bytes.prefix(cut), bytes.dropFirst(cut)] where !part.isEmpty {
        try talk.channel.writeInbound(ByteBuffer(bytes: part))
      }
      #expect(talk.events.dropFirst() == ["first byte", isTaken ? "head GET 204 true" : Self.tooLong], "cut at \(cut)")
      _ = try talk.answer()
    }
  }

  /// Interim answers (RFC 9110, 15.2) are part of them, and a body is not.
  @Test func theLimitIsOfAllHeadersTogether() throws {
    let interim = "HTTP/1.1 103 Early\r\nA: " + String(repeating: "b", count: 30_000) + "\r\n\r\n"
    let many = try Talk(method: .get, readsBody: false)
    try many.come(interim)
    try many.come(interim)
    try many.come(interim)
    #expect(many.events.last == Self.tooLong)
    _ = try many.answer()
    let body = try Talk(method: .get)
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 66000\r\n\r\n"
    try body.come(start + String(repeating: "x", count: 66_000))
    // Of the body, 65536 bytes are looked at.
    #expect(body.events.contains("body 65536 complete") && body.events.last == "body 65536 complete ended")
    _ = try body.answer()
  }

  /// The framing of chunks and what is beyond the body's limit count for the connection: 524,288 bytes.
  @Test(arguments: [(524_288, true), (524_289, false)])
  func theConnectionHasALimit(_ count: Int, _ isTaken: Bool) throws {
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n"
    for hasInspection in [false, true] {
      let talk = try Talk(method: .get, readsBody: false) { if hasInspection { $0.inspection = SiteInspection() } }
      try talk.come(start + String(repeating: "x", count: 65_536 - start.utf8.count))
      for _ in 1..<8 { try talk.channel.writeInbound(ByteBuffer(repeating: 0x78, count: 65_536)) }
      if count > 524_288 { try talk.channel.writeInbound(ByteBuffer(repeating: 0x78, count: count - 524_288)) }
      let isLost = talk.events.last == "lost: more than 524288 bytes came for a body of less"
      #expect(isLost == (!isTaken && !hasInspection))
      if hasInspection { #expect(talk.exchange?.connectionLimit == 1_073_741_824) }
      _ = try talk.answer()
    }
  }

  /// SECURITY.md: 1,048,576 bytes on all connections of a check. What came on the former ones is gone.
  @Test(arguments: [(0, 524_288), (524_288, 524_288), (524_289, 524_287), (1_048_576, 0)])
  func allConnectionsHaveALimit(_ received: Int, _ limit: Int) throws {
    let talk = try Talk(method: .get) { $0.received = received }
    #expect(talk.exchange?.connectionLimit == limit && talk.exchange?.details.received == received)
    _ = try talk.answer()
  }

  // MARK: Details

  private func inspected(
    _ method: SiteCheckConfiguration.Method, kept: Int = 0, _ parts: [String]
  ) throws -> CheckDetails? {
    let talk = try Talk(method: method) {
      var inspection = SiteInspection()
      inspection.keptBody = kept
      $0.inspection = inspection
    }
    for (position, part) in parts.enumerated() {
      if position > 0 { talk.channel.embeddedEventLoop.advanceTime(by: .milliseconds(20)) }
      try talk.come(part)
    }
    let details = talk.exchange?.details
    _ = try talk.answer()
    return details
  }

  @Test func anInspectionTellsWhatCame() throws {
    let details = try #require(
      try inspected(.get, kept: 4, ["HTTP/1.1 203 OK\r\nA: b\r\n", "CONTENT-length: 6\r\n\r\nabc", "def"]))
    #expect(details.status == 203 && details.minorVersion == 1 && details.contentLength == 6)
    #expect(details.bodyLength == 6 && details.body == Array("abcd".utf8))
    #expect(details.value(of: "a") == "b" && details.value(of: "c") == nil)
    #expect(details.transfer == .milliseconds(40), "from the first byte to the end")
    #expect(details.tlsVersion == nil && details.certificate == nil && details.progress == nil)
  }

  @Test func aBodyThatIsKeptMayBeLongerOrNone() throws {
    let parts = ["HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nab", "cd"]
    for (kept, body) in [(0, ""), (1, "a"), (3, "abc"), (4, "abcd"), (9, "abcd")] {
      let details = try #require(try inspected(.get, kept: kept, parts))
      #expect(details.body == Array(body.utf8) && details.bodyLength == 4 && details.minorVersion == 0)
    }
  }

  /// RFC 9112, 6.3: 204 and 304 have no body; of HEAD, the field says how long GET's would be.
  @Test(
    arguments: [
      (.get, 200, "Content-Length: 0\r\n", 0), (.get, 200, "", nil), (.get, 204, "", 0), (.get, 304, "", 0),
      (.get, 304, "Content-Length: 7\r\n", 0), (.head, 304, "Content-Length: 7\r\n", 7), (.head, 204, "", nil),
      (.head, 200, "Content-Length: 7\r\n", 7), (.head, 200, "Transfer-Encoding: chunked\r\n", nil),
      (.get, 205, "Content-Length: 0\r\n", 0), (.get, 404, "Transfer-Encoding: chunked\r\n", nil),
    ] as [(SiteCheckConfiguration.Method, Int, String, Int?)])
  func anInspectionTellsTheLength(
    _ method: SiteCheckConfiguration.Method, _ status: Int, _ field: String, _ length: Int?
  ) throws {
    let details = try #require(try inspected(method, ["HTTP/1.1 \(status) X\r\n\(field)\r\n"]))
    #expect(details.contentLength == length && details.status == status && details.bodyLength == 0)
  }

  @Test func withoutAnInspectionNothingIsKept() throws {
    let talk = try Talk(method: .get)
    try talk.come("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
    let details = try #require(talk.exchange?.details)
    #expect(details.status == nil && details.fields.isEmpty && details.bodyLength == 0 && details.body.isEmpty)
    #expect(details.transfer == nil && details.contentLength == nil && details.minorVersion == nil)
    _ = try talk.answer()
  }
}
