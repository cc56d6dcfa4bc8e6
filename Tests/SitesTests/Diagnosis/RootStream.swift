// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore
import NIOPosix
import NetworkLab

/// Root servers over TCP (RFC 7766), as far as a diagnosis asks them.
enum RootStream {
  /// How they take questions.
  enum Manner: Equatable, Sendable {
    case answers, closes, closesLarge, ignoresLarge
    /// They answer with these flags.
    case says([UInt8])
  }

  /// Listens at port 53 of all addresses of a lab, and answers in a manner.
  static func listen(in lab: NetworkLab, _ manner: Manner = .answers) async throws -> any Channel {
    // Made here: its threads have the network of who asks for it first, and other tests use them.
    let group = MultiThreadedEventLoopGroup.singleton
    return try await lab.run {
      ServerBootstrap(group: group)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answers(manner)) }
        }
        .bind(host: "0.0.0.0", port: 53)
    }.get()
  }

  private final class Answers: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let manner: Manner
    private var received = ByteBuffer()

    init(_ manner: Manner) { self.manner = manner }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var more = unwrapInboundIn(data)
      received.writeBuffer(&more)
      while let question = received.readLengthPrefixedSlice(as: UInt16.self) {
        let isLarge = question.readableBytes > 1_000
        switch manner {
        case .closes: context.close(promise: nil)
        case .closesLarge where isLarge: context.close(promise: nil)
        case .ignoresLarge where isLarge: break
        default:
          var flags: [UInt8] = [0x84, 0]
          if case .says(let others) = manner { flags = others }
          // RFC 1035, 4.2.2: two bytes of length. What follows the name, type and class of the question is left out.
          let asked = NameServerTests.Question(bytes: Array(question.readableBytesView.prefix(17)), port: nil)
          let answer = BeyondProbeTests.root(asked, flags: flags)
          var bytes = ByteBuffer(integer: UInt16(answer.count))
          bytes.writeBytes(answer)
          context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        }
      }
    }
  }
}
#endif
