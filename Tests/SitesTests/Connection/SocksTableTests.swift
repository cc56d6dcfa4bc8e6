// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import NIOEmbedded
import Testing

@testable import DialtoneSites

/// What a SOCKS proxy answers, in each of the forms of RFC 1928 and RFC 1929, and what becomes of it.
struct SocksTableTests {
  typealias Step = TunnelStep

  private static let url: SiteURL = "http://192.0.2.7:8080/"
  /// 8080 is 0x1F90.
  private static let request: [UInt8] = [5, 1, 0, 1, 192, 0, 2, 7, 0x1F, 0x90]

  private func conversation(_ socks: ProxyServer.Socks = ProxyServer.Socks()) -> SocksConversation {
    SocksConversation(to: Self.url, socks)
  }

  private func failed(_ words: String) -> Step { .failed(SiteError(.proxyFailed, "the proxy \(words)")) }

  /// The step with its words: errors are equal without them.
  private func words(_ step: Step) -> String {
    if case .failed(let error) = step { error.message } else { "\(step)" }
  }

  @Test(
    arguments: [
      ([], "wait"), ([5], "wait"), ([4], "does not speak SOCKS 5"), ([4, 0], "does not speak SOCKS 5"),
      ([6, 0], "does not speak SOCKS 5"), ([5, 1], "wants a password"), ([5, 2], "wants a password"),
      ([5, 255], "wants a password"), ([5, 3], "wants a password"),
    ] as [([UInt8], String)])
  func choosesAWayToProveWhoAsks(_ answer: [UInt8], _ said: String) {
    var conversation = conversation()
    #expect(words(conversation.take(answer)) == (said == "wait" ? said : "the proxy \(said)"))
  }

  @Test func asksWithoutAPasswordIfNoneIsWanted() {
    let socks = ProxyServer.Socks(user: [1], password: [2])
    var conversation = conversation(socks)
    #expect(conversation.take([5, 0]) == .send(Self.request))
    conversation = self.conversation(socks)
    #expect(words(conversation.take([5, 1])) == "the proxy wants a password")
  }

  /// RFC 1929: user and password have 255 bytes at most, and their number before them.
  @Test(arguments: [0, 1, 255, 256, 300]) func aUserHasAtMost255Bytes(_ count: Int) {
    let bytes = [UInt8](repeating: 9, count: count)
    var conversation = conversation(ProxyServer.Socks(user: bytes, password: bytes))
    let most = min(count, 255)
    let counted = [UInt8(most)] + [UInt8](repeating: 9, count: most)
    #expect(conversation.take([5, 2]) == .send([1] + counted + counted))
    #expect(conversation.take([]) == .wait && conversation.take([1]) == .wait)
    #expect(conversation.take([0]) == .send(Self.request))
  }

  @Test(arguments: [1, 2, 255] as [UInt8]) func aPasswordMayBeRefused(_ status: UInt8) {
    var conversation = conversation(ProxyServer.Socks(user: [1]))
    #expect(conversation.take([5, 2]) == .send([1, 1, 1, 0]))
    #expect(words(conversation.take([1, status])) == "the proxy does not take the password")
  }

  private func asked() -> SocksConversation {
    var conversation = conversation()
    _ = conversation.take([5, 0])
    return conversation
  }

  /// RFC 1928, 6: an address of IPv4 (1), a name (3) or an address of IPv6 (4), and two bytes of port.
  @Test(
    arguments: [
      [1, 192, 0, 2, 1], [4] + [UInt8](repeating: 7, count: 16), [3, 0], [3, 1, 97], [3, 9] + Array("a.example".utf8),
      [3, 255] + [UInt8](repeating: 97, count: 255),
    ] as [[UInt8]])
  func isConnectedOnceTheAnswerIsWhole(_ address: [UInt8]) {
    let answer = [5, 0, 0] + address + [0x1F, 0x90]
    var whole = asked()
    #expect(whole.take(answer) == .connected)
    var piecewise = asked()
    for byte in answer.dropLast() { #expect(piecewise.take([byte]) == .wait) }
    #expect(piecewise.take(answer.suffix(1)) == .connected)
    var more = asked()
    #expect(words(more.take(answer + [0])) == "the proxy said more than it was asked")
  }

  @Test(arguments: [1, 2, 5, 255] as [UInt8]) func tellsTheNumberOfARefusal(_ number: UInt8) {
    var conversation = asked()
    #expect(conversation.take([5, number, 0, 1]) == .wait)
    let refused = conversation.take([0])
    #expect(words(refused) == "the proxy refused to connect to the site (\(number))" && refused == failed(""))
    conversation = asked()
    #expect(words(conversation.take([4, number, 0, 1, 0])) == "the proxy does not speak SOCKS 5")
  }

  /// No answer is longer than one with a name of 255 bytes: 262 bytes. From 513 on, it is not read.
  @Test func doesNotReadMuch() {
    let long = [5, 1] + [UInt8](repeating: 0, count: 510)
    var conversation = asked()
    #expect(words(conversation.take(long)) == "the proxy refused to connect to the site (1)")
    conversation = asked()
    #expect(words(conversation.take(long + [0])) == "the proxy said more than it was asked")
  }

  /// An IPv4 address inside an IPv6 one is asked for as itself; the proxy's target comes before the URL's host.
  @Test func asksForTheTargetInsteadOfTheHost() throws {
    let mapped = try #require(IPAddress("::ffff:192.0.2.9"))
    var conversation = conversation(ProxyServer.Socks(target: mapped))
    #expect(conversation.take([5, 0]) == .send([5, 1, 0, 1, 192, 0, 2, 9, 0x1F, 0x90]))
    let six = try #require(IPAddress("102:304:506:708:90a:b0c:d0e:f10"))
    conversation = self.conversation(ProxyServer.Socks(target: six))
    #expect(conversation.take([5, 0]) == .send([5, 1, 0, 4] + Array(1...16) + [0x1F, 0x90]))
  }

  // MARK: On a connection

  private final class Ends {
    var list: [SiteError?] = []
    var inactive = 0
    var read: [UInt8] = []
  }

  /// Sees what passes the tunnel's handler.
  private final class Behind: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let ends: Ends

    init(_ ends: Ends) { self.ends = ends }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      ends.read += unwrapInboundIn(data).readableBytesView
    }

    func channelInactive(context: ChannelHandlerContext) { ends.inactive += 1 }
  }

  private func channel(_ ends: Ends) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1_080), promise: nil)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(
      TunnelHandler(SocksConversation(to: Self.url, ProxyServer.Socks())) { ends.list.append($0) })
    try pipeline.addHandler(Behind(ends))
    return channel
  }

  private func sent(_ channel: EmbeddedChannel) throws -> [UInt8]? {
    try channel.readOutbound(as: ByteBuffer.self).map { Array($0.readableBytesView) }
  }

  @Test func leavesTheConnectionOnceItIsThere() throws {
    let ends = Ends()
    let channel = try channel(ends)
    #expect(try sent(channel) == [5, 1, 0])
    try channel.writeInbound(ByteBuffer(bytes: [5]))
    #expect(try sent(channel) == nil)
    try channel.writeInbound(ByteBuffer(bytes: [0]))
    #expect(try sent(channel) == Self.request && ends.list.isEmpty)
    try channel.writeInbound(ByteBuffer(bytes: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
    channel.embeddedEventLoop.run()
    #expect(ends.list == [nil] && ends.read.isEmpty)
    // From now on it is the site's.
    try channel.writeInbound(ByteBuffer(bytes: [1, 2, 3]))
    #expect(ends.read == [1, 2, 3])
    _ = try channel.finish(acceptAlreadyClosed: true)
    #expect(ends.list == [nil] && ends.inactive == 1)
  }

  @Test func failsOnce() throws {
    let ends = Ends()
    let channel = try channel(ends)
    try channel.writeInbound(ByteBuffer(bytes: [4, 0]))
    // Whatever comes after that is of no use.
    try channel.writeInbound(ByteBuffer(bytes: [5, 0]))
    _ = try channel.finish(acceptAlreadyClosed: true)
    #expect(ends.list.map { $0?.message } == ["the proxy does not speak SOCKS 5"])
    #expect(ends.inactive == 1 && ends.read.isEmpty)
  }

  @Test func whatClosesOrBreaksEndsIt() throws {
    for isError in [true, false] {
      let ends = Ends()
      let channel = try channel(ends)
      if isError { channel.pipeline.fireErrorCaught(SiteError(.timedOut, "late")) }
      _ = try channel.finish(acceptAlreadyClosed: true)
      #expect(ends.list.count == 1 && ends.inactive == 1)
      if !isError { #expect(ends.list.first??.message == "the proxy closed the connection") }
    }
  }
}
