// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Ends a connection that brings more than any answer needs. What TLS swallows never reaches the other limits.
final class ByteMeter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let limit: Int
  private let tell: (Int) -> Void
  private var count = 0

  init(limit: Int, _ tell: @escaping (Int) -> Void = { _ in }) {
    self.limit = limit
    self.tell = tell
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let length = unwrapInboundIn(data).readableBytes
    count += length
    tell(length)
    if count <= limit { return context.fireChannelRead(data) }
    context.fireErrorCaught(SiteError(.malformedResponse, "more than \(limit) bytes came without an answer"))
    context.close(promise: nil)
  }
}

/// Stands before the decoder. It limits the bytes of the headers, interim responses included, and notes when the first
/// came.
final class HeaderLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let exchange: Exchange
  private var count = 0

  init(_ exchange: Exchange) { self.exchange = exchange }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !exchange.isOpen { return }
    var buffer = unwrapInboundIn(data)
    if count == 0 { exchange.answerBegan() }
    count += buffer.readableBytes
    // Up to the limit first: the decoder knows whether the headers end there.
    if !exchange.hasHead, count > Limits.headers {
      let allowed = Limits.headers - (count - buffer.readableBytes)
      if let start = buffer.readSlice(length: max(0, allowed)) { context.fireChannelRead(wrapInboundOut(start)) }
      if !exchange.isOpen { return }
      if !exchange.hasHead {
        return exchange.send(.lost(SiteError(.headersTooLarge, "the headers are longer than \(Limits.headers) bytes")))
      }
    }
    // The framing of chunks is no body, and has no other limit.
    if count > exchange.connectionLimit {
      return exchange.send(
        .lost(SiteError(.malformedResponse, "more than \(exchange.connectionLimit) bytes came for a body of less")))
    }
    context.fireChannelRead(wrapInboundOut(buffer))
  }
}
