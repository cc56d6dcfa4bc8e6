// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NetworkLab
import Synchronization

/// A web server in a lab's namespace, which counts requests and can hold answers back: HTTP/1 on port 8080, HTTP/1 and
/// HTTP/2 over TLS on port 8443.
final class HTTPLab: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let listeners: [any Channel]
  /// Method and path of each request that came whole.
  let requests = Mutex<[String]>([])

  /// Where `/redirect` leads.
  static let otherAddress = "192.0.2.81"
  /// Where `/redirect6` leads.
  static let address6 = "fd00:1::2"

  /// Whether the next request gets no answer, redirects aside.
  let holdsNext = Mutex(false)

  init(_ server: NetworkLab) async throws {
    let group = try server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    self.group = group
    let box = Box()
    let context = try Self.context()
    let plain = try await Self.listen(group, 8080) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
        try channel.pipeline.syncOperations.addHandler(Handler(box))
      }
    }
    let secure = try await Self.listen(group, 8443) { channel in
      do {
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
      } catch {
        return channel.eventLoop.makeFailedFuture(error)
      }
      return channel.configureCommonHTTPServerPipeline { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(box)) }
      }
    }
    listeners = [plain, secure]
    box.lab.withLock { $0 = self }
  }

  /// The socket belongs to the network of the thread that makes it.
  private static func listen(
    _ group: MultiThreadedEventLoopGroup, _ port: Int,
    _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> any Channel {
    try await group.next().flatSubmit {
      ServerBootstrap(group: group)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer(initializer)
        .bind(host: "::", port: port)
    }.get()
  }

  private static func context() throws -> NIOSSLContext {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let identity = source.appendingPathComponent("../../../../SiteLab/Certificates/any-name.pem").standardized.path
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(identity).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: identity, format: .pem)))
    configuration.applicationProtocols = ["h2", "http/1.1"]
    return try NIOSSLContext(configuration: configuration)
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
        if line.contains(" /redirect") {
          let host = line.hasSuffix("6") ? "[\(HTTPLab.address6)]" : HTTPLab.otherAddress
          let headers: HTTPHeaders = ["location": "http://\(host):8080/", "content-length": "0"]
          let head = HTTPResponseHead(version: .http1_1, status: .found, headers: headers)
          context.write(wrapOutboundOut(.head(head)), promise: nil)
          return context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
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
