// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Stands before the decoder, and behind the header limit: gives it the heads as it takes them.
final class HeadNormalizerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var normalizer = HeadNormalizer()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if normalizer.isInBody { return context.fireChannelRead(data) }
    let normalized = normalizer.normalize(unwrapInboundIn(data))
    if normalized.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(normalized)) }
  }
}
