// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Ends a connection on which more comes than any answer needs: what TLS swallows never reaches the other limits.
final class ByteMeter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var count = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += unwrapInboundIn(data).readableBytes
    guard count <= Limits.connection else {
      context.fireErrorCaught(
        SiteError(.malformedResponse, "more than \(Limits.connection) bytes came without an answer"))
      context.close(promise: nil)
      return
    }
    context.fireChannelRead(data)
  }
}
