// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A proxy on 127.0.0.1 that accepts every CONNECT (RFC 9110, 9.3.6), and always connects to the same port of this
/// machine. So the requested names need not exist.
package final class TunnelProxy: Sendable {
  package let port: Int
  private let listener: any Channel
  private let record = NIOLockedValueBox<[String]>([])

  /// A proxy that says `interim` before it answers.
  package init(to port: Int, interim: String = "") async throws {
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { [record] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Asked(port, interim, record))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    self.port = listener.localAddress?.port ?? 0
  }

  deinit { listener.close(promise: nil) }

  /// The heads of the requests so far.
  package var requests: [String] { record.withLockedValue { $0 } }

  /// Reads the request, connects, and then passes everything.
  private final class Asked: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let port: Int
    private let interim: String
    private let record: NIOLockedValueBox<[String]>
    private var head: [UInt8] = []
    private var isDone = false

    init(_ port: Int, _ interim: String, _ record: NIOLockedValueBox<[String]>) {
      self.port = port
      self.interim = interim
      self.record = record
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isDone { return context.fireChannelRead(data) }
      head += unwrapInboundIn(data).readableBytesView
      guard head.suffix(4) == Array("\r\n\r\n".utf8) else { return }
      isDone = true
      record.withLockedValue { $0.append(String(decoding: head, as: UTF8.self)) }
      let near = context.channel
      ClientBootstrap(group: context.eventLoop)
        .channelInitializer { far in
          far.eventLoop.makeCompletedFuture { try far.pipeline.syncOperations.addHandler(Relay(to: near)) }
        }
        .connect(host: "127.0.0.1", port: port)
        .flatMapThrowing { far in try near.pipeline.syncOperations.addHandler(Relay(to: far)) }
        .whenComplete { [interim] result in
          let answer = if case .success = result { "200 OK" } else { "502 Bad Gateway" }
          near.writeAndFlush(near.allocator.buffer(string: "\(interim)HTTP/1.1 \(answer)\r\n\r\n"), promise: nil)
        }
    }
  }

  /// Passes on the bytes and the end.
  private final class Relay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
  }
}
#endif
