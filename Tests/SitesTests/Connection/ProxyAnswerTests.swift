// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import NIOEmbedded
import Testing

@testable import DialtoneSites

/// What a proxy answers to CONNECT (RFC 9110, 9.3.6), byte by byte.
struct ProxyAnswerTests {
  private final class Ends {
    var list: [String] = []
    var inactive = 0
    var read = ""
  }

  /// Sees what passes the tunnel's handler.
  private final class Behind: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let ends: Ends

    init(_ ends: Ends) { self.ends = ends }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      ends.read += String(buffer: unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) { ends.inactive += 1 }
  }

  private func channel(
    _ ends: Ends, to url: SiteURL = "https://example.com/x", authorization: String? = nil, agent: String? = nil
  ) throws -> EmbeddedChannel {
    let proxy = ProxyServer(host: .address(.server), port: 8_080, authorization: authorization)
    let channel = EmbeddedChannel()
    channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 8_080), promise: nil)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(
      TunnelHandler(ConnectConversation(to: url, by: proxy, agent: agent)) {
        ends.list.append($0?.message ?? "connected")
      })
    try pipeline.addHandler(Behind(ends))
    return channel
  }

  private func sent(_ channel: EmbeddedChannel) throws -> String? {
    try channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
  }

  /// RFC 9112, 3.2.3: the authority has the port, also the scheme's own.
  @Test func asksForTheHostAndThePort() throws {
    for (url, authority) in [
      ("https://example.com/x", "example.com:443"), ("https://example.com:8443/", "example.com:8443"),
      ("https://[2001:db8::1]/", "[2001:db8::1]:443"), ("https://example.com./", "example.com.:443"),
    ] {
      let ends = Ends()
      let channel = try channel(ends, to: SiteURL(url))
      #expect(try sent(channel) == "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
      _ = try channel.finish(acceptAlreadyClosed: true)
    }
    let channel = try channel(Ends(), authorization: "Basic YTpi", agent: "test/1")
    #expect(
      try sent(channel) == "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n"
        + "Proxy-Authorization: Basic YTpi\r\nUser-Agent: test/1\r\n\r\n")
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  private static let noHTTP = "the proxy answered with something that is not HTTP/1"
  private static let refused = "the proxy refused to connect to the site"

  /// RFC 9112, 4: a status line; RFC 9110, 15.2: interim answers before it.
  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\n\r\n", "connected"), ("HTTP/1.0 200\r\nA: b\r\nC: d\r\n\r\n", "connected"),
    ("HTTP/1.1 299 \r\n\r\n", "connected"), ("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "connected"),
    ("HTTP/1.1 103 A\r\nB: c\r\n\r\nHTTP/1.1 199 A\r\n\r\nHTTP/1.1 204 OK\r\nA: b\r\n\r\n", "connected"),
    // A line may end with LF alone (RFC 9112, 2.2).
    ("HTTP/1.1 200 OK\n\n", "connected"), ("HTTP/1.1 100\n\nHTTP/1.1 200\r\nA: b\n\r\n", "connected"),
    ("HTTP/1.1 407 No\nA: b\n\n", "\(refused) (407)"), ("HTTP/1.1 20\n\n", noHTTP),
    ("HTTP/1.1 102 A\r\n\r\nHTTP/1.1 502 No\r\n\r\n", "\(refused) (502)"),
    ("HTTP/1.1 101 Switch\r\n\r\n", "\(refused) (101)"), ("HTTP/1.1 407 No\r\n\r\n", "\(refused) (407)"),
    ("HTTP/1.1 300 \r\n\r\n", "\(refused) (300)"), ("HTTP/1.1 199\r\n\r\nHTTP/1.1 503\r\n\r\n", "\(refused) (503)"),
    ("HTTP/1.1 4x3 No\r\n\r\n", "\(refused) (43)"), ("HTTP/2.0 200 OK\r\n\r\n", noHTTP), ("\r\n\r\n", noHTTP),
    ("HTTP/1.1 20\r\n\r\n", noHTTP), ("HTTP/1.1x200 OK\r\n\r\n", noHTTP), ("SSH-2.0-OpenSSH_9\r\n\r\n", noHTTP),
    ("HTTP/1.1 10\r\n\r\n", noHTTP), ("HTTP/1.1x100 A\r\n\r\n", noHTTP),
    ("HTTP/1.1 200 OK\r\n\r\nx", "the proxy said more than it was asked"),
    ("HTTP/1.1 100 A\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", "the proxy said more than it was asked"),
  ])
  func readsAnAnswerHoweverItIsCut(_ answer: String, _ end: String) throws {
    let bytes = Array(answer.utf8)
    // What is beyond the blank line has to come with it: otherwise it is the site's.
    let sizes = answer.hasSuffix("x") ? [bytes.count] : Array(1...bytes.count)
    for size in sizes {
      let ends = Ends()
      let channel = try channel(ends)
      for start in stride(from: 0, to: bytes.count, by: size) {
        #expect(ends.list.isEmpty, "in parts of \(size)")
        try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
      }
      channel.embeddedEventLoop.run()
      #expect(ends.list == [end] && ends.read.isEmpty, "in parts of \(size)")
      // In a tunnel the site speaks; after a refusal nobody does.
      try channel.writeInbound(ByteBuffer(string: "hello"))
      #expect(ends.read == (end == "connected" ? "hello" : ""))
      _ = try channel.finish(acceptAlreadyClosed: true)
      #expect(ends.list == [end] && ends.inactive == 1)
    }
  }

  /// As much as headers may have, interim answers included: 65,536 bytes.
  @Test(arguments: [(65_536, true), (65_537, false)]) func anAnswerHasAnEnd(_ count: Int, _ isTaken: Bool) throws {
    let beginning = "HTTP/1.1 103 Early\r\nB: c\r\n\r\nHTTP/1.1 200 OK\r\nA: "
    let answer = beginning + String(repeating: "b", count: count - beginning.utf8.count - 4) + "\r\n\r\n"
    for cut in [28, 40_000, count] {
      let ends = Ends()
      let channel = try channel(ends)
      try channel.writeInbound(ByteBuffer(string: String(answer.prefix(cut))))
      #expect(cut == count || ends.list.isEmpty)
      if cut < count { try channel.writeInbound(ByteBuffer(string: String(answer.dropFirst(cut)))) }
      channel.embeddedEventLoop.run()
      #expect(ends.list == [isTaken ? "connected" : "the proxy's answer has no end"], "cut at \(cut)")
      _ = try channel.finish(acceptAlreadyClosed: true)
    }
  }

  @Test func whatClosesOrBreaksEndsItOnce() throws {
    let ends = Ends()
    let closing = try channel(ends)
    try closing.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\n"))
    _ = try closing.finish(acceptAlreadyClosed: true)
    #expect(ends.list == ["the proxy closed the connection"] && ends.inactive == 1)
    let others = Ends()
    let breaking = try channel(others)
    breaking.pipeline.fireErrorCaught(ChannelError.inputClosed)
    _ = try breaking.finish(acceptAlreadyClosed: true)
    #expect(others.list == ["the connection broke off"] && others.inactive == 1 && others.read.isEmpty)
  }
}
