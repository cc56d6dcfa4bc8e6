// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkLab
import Synchronization

/// A web server in a lab's namespace, which counts requests and can hold answers back.
final class HTTPLab: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel
  /// Method and path of each request that came whole.
  let requests = Mutex<[String]>([])

  /// Whether the next request gets no answer.
  let holdsNext = Mutex(false)

  init(_ server: NetworkLab) async throws {
    let group = try server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    self.group = group
    let box = Box()
    listener = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(box))
        }
      }
      .bind(host: "0.0.0.0", port: 8080).get()
    box.lab.withLock { $0 = self }
  }

  func stop() async throws { try await group.shutdownGracefully() }

  private final class Box: Sendable {
    let lab = Mutex<HTTPLab?>(nil)
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private let box: Box
    private var line = ""
    init(_ box: Box) { self.box = box }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): line = "\(head.method) \(head.uri)"
      case .body: break
      case .end:
        guard let lab = box.lab.withLock({ $0 }) else { return }
        lab.requests.withLock { $0.append(line) }
        let isHeld = lab.holdsNext.withLock { holds in
          defer { holds = false }
          return holds
        }
        if isHeld { return }
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "2"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "ok")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
#endif
