// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOTLS

/// Tells a check that TLS has been agreed upon, or why it has not.
final class TLSWatcher: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let run: CheckRun
  private var isDone = false

  init(_ run: CheckRun) { self.run = run }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if !isDone, case .handshakeCompleted? = event as? TLSUserEvent {
      isDone = true
      run.tlsWasAgreedUpon()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isDone { return context.fireErrorCaught(error) }
    isDone = true
    run.tlsFailed(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDone {
      isDone = true
      run.fail(SiteError(.connectionLost, "the connection was closed before TLS was agreed upon"))
    }
    context.fireChannelInactive()
  }
}
