// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Dialtone
import DialtoneHTTPClient
import DialtoneNIO
import DialtoneTesting
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

/// What a client is told on a connection that is closed as soon as nothing is lost by that.
@Suite(.timeLimit(.minutes(1)))
struct WholeAnswerTests {
  private final class Client: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart
    let told = Mutex<HTTPClientResponsePart?>(nil)
    /// What was told last before the connection was lost.
    let toldBefore = Mutex<HTTPClientResponsePart?>(nil)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let part = unwrapInboundIn(data)
      told.withLock { $0 = part }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      let part = told.withLock { $0 }
      if error is ConnectionLostError { toldBefore.withLock { $0 = part } }
    }
  }

  /// RFC 9112, 8: an answer is complete once all of its Content-Length has come.
  @Test func theEndOfAnAnswerComesBeforeThatOfItsConnection() async throws {
    let network = ScriptedNetwork()
    network.set(.wired)
    let registry = ConnectionRegistry(environment: network.environment)
    var configuration = HTTPClient.Configuration()
    configuration.followPath(in: registry)
    let channel = NIOAsyncTestingChannel()
    channel.localAddress = try SocketAddress(ipAddress: "192.0.2.2", port: 50_000)
    let client = Client()
    try await channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHTTPClientHandlers()
      try pipeline.addHandler(client)
    }.get()
    let follow = try #require(configuration.http1_1ConnectionDebugInitializer)
    try await follow(channel).get()
    try await channel.connect(to: SocketAddress(ipAddress: "198.51.100.1", port: 80)).get()
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["host": "198.51.100.1"])
    try await channel.writeAndFlush(HTTPClientRequestPart.head(head)).get()
    try await channel.writeAndFlush(HTTPClientRequestPart.end(nil)).get()
    try await channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no"))
    // Something of the answer was given out, so the connection has its grace.
    network.set(.unreachable(.noAddress), from: try #require(IPAddress("192.0.2.2")))
    try await eventually("it is dead") {
      await channel.testingEventLoop.run()
      return registry.counts == [.dead: 1]
    }
    try await channel.writeInbound(ByteBuffer(string: "k"))
    #expect(client.toldBefore.withLock { $0 } == .end(nil) && !channel.isActive)
  }
}
