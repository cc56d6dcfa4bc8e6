// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOTLS

/// Tells a check that TLS has been agreed upon, or why it has not.
final class TLSWatcher: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let exchange: Exchange
  private var isDone = false

  init(_ exchange: Exchange) { self.exchange = exchange }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if !isDone, case .handshakeCompleted? = event as? TLSUserEvent {
      isDone = true
      exchange.tlsWasAgreedUpon()
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
