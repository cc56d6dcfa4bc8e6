// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// Stands before the decoder, and behind the header limit: gives it the heads as it takes them.
final class HeadNormalizerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var normalizer = HeadNormalizer()
  private var hasFailed = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if normalizer.isDone { return context.fireChannelRead(data) }
    if hasFailed { return }
    var output = ByteBuffer()
    var failure: HTTPParserError?
    do throws(HTTPParserError) {
      try normalizer.normalize(unwrapInboundIn(data), into: &output)
    } catch {
      hasFailed = true
      failure = error
    }
    // What came before counts.
    if output.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(output)) }
    if let failure { context.fireErrorCaught(failure) }
  }
}
