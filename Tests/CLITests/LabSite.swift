// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NetworkLab

/// A site in a lab that answers each request with a text. Without a text it never answers.
final class LabSite: Sendable {
  let port: Int
  private let host: String
  private let listener: any Channel
  private let record = NIOLockedValueBox<[String]>([])
  private let answer: NIOLockedValueBox<String?>
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  var url: String { "http://\(host):\(port)/" }

  init(_ text: String?, in lab: NetworkLab, at host: String = "127.0.0.1") async throws {
    let answer = NIOLockedValueBox(text)
    self.answer = answer
    // A socket belongs to the namespace of the thread that makes it, which is the one that calls bind.
    let listening = try lab.run { [record] in
      ServerBootstrap(group: Self.group)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Answer(answer, record))
          }
        }
        .bind(host: host, port: 0)
    }
    listener = try await listening.get()
    self.host = host
    self.port = listener.localAddress?.port ?? 0
  }

  deinit { listener.close(promise: nil) }

  /// The heads of the requests so far.
  var requests: [String] { record.withLockedValue { $0 } }

  /// From now on, answers with this text.
  func turn(_ text: String) { answer.withLockedValue { $0 = text } }

  /// Answers at the end of a request's head, and closes.
  private final class Answer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: NIOLockedValueBox<String?>
    private let record: NIOLockedValueBox<[String]>
    private var received: [UInt8] = []

    init(_ answer: NIOLockedValueBox<String?>, _ record: NIOLockedValueBox<[String]>) {
      self.answer = answer
      self.record = record
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += unwrapInboundIn(data).readableBytesView
      guard received.suffix(4) == Array("\r\n\r\n".utf8) else { return }
      record.withLockedValue { $0.append(String(decoding: received, as: UTF8.self)) }
      guard let text = answer.withLockedValue({ $0 }) else { return }
      let channel = context.channel
      context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: text)))
        .whenComplete { _ in channel.close(promise: nil) }
    }
  }
}

extension LabSite {
  static let fine = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
  static let login = "HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n"
  static let broken = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n"
  static let portal = "HTTP/1.1 302 Found\r\nLocation: http://login.example/a b\r\nContent-Length: 0\r\n\r\n"
}
