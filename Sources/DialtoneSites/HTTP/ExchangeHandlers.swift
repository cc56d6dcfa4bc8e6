// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOTLS

/// Tells a check that TLS has been agreed upon, or why it has not.
final class TLSWatcher: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let exchange: Exchange
  private var isDone = false

  init(_ exchange: Exchange) { self.exchange = exchange }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if !isDone, case .handshakeCompleted(let chosen)? = event as? TLSUserEvent {
      isDone = true
      exchange.tlsWasAgreedUpon(chosen)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isDone { return context.fireErrorCaught(error) }
    isDone = true
    exchange.tlsFailed(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDone {
      isDone = true
      exchange.send(.lost(SiteError(.connectionLost, "the connection was closed before TLS was agreed upon")))
    }
    context.fireChannelInactive()
  }
}

/// Tells a check what the site answers.
final class ResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): exchange.headCame(head)
    case .body(let bytes): exchange.bodyCame(bytes)
    case .end: exchange.bodyEnded()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The peer closed without a close_notify. What has come may be whole, which the decoder is about to find out.
    if case .uncleanShutdown? = error as? NIOSSLError { return }
    exchange.lose(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    exchange.lose(SiteError(.connectionLost, "the connection was closed before the answer was complete"))
  }
}
