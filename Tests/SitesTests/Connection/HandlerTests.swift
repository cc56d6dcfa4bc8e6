// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Testing

@testable import DialtoneSites

/// What handlers of a connection make of one that ends, or does not.
struct HandlerTests {
  /// RFC 1928 has no answer that is nothing.
  @Test func aProxyThatClosesHasFailed() throws {
    var ends: [SiteError?] = []
    let socks = SocksConversation(to: "https://a.example/", ProxyServer.Socks())
    let handler = TunnelHandler(socks) { ends.append($0) }
    let channel = EmbeddedChannel()
    channel.connect(to: try SocketAddress(ipAddress: "192.0.2.7", port: 1_080), promise: nil)
    try channel.pipeline.syncOperations.addHandler(handler)
    #expect(try channel.readOutbound(as: ByteBuffer.self).map { Array($0.readableBytesView) } == [5, 1, 0])
    _ = try channel.finish(acceptAlreadyClosed: true)
    #expect(ends.map { $0?.code } == [.proxyFailed])
  }

  @Test func whatBringsTooMuchIsEnded() throws {
    let channel = EmbeddedChannel(handler: ByteMeter(limit: 10))
    channel.connect(to: try SocketAddress(ipAddress: "192.0.2.7", port: 443), promise: nil)
    try channel.writeInbound(ByteBuffer(repeating: 7, count: 6))
    try channel.writeInbound(ByteBuffer(repeating: 7, count: 4))
    #expect(channel.isActive)
    let error = #expect(throws: SiteError.self) { try channel.writeInbound(ByteBuffer(repeating: 7, count: 1)) }
    #expect(error?.code == .malformedResponse && !channel.isActive)
    let read = try [channel.readInbound(as: ByteBuffer.self), channel.readInbound(), channel.readInbound()]
    #expect(read.map { $0?.readableBytes } == [6, 4, nil])
  }
}
