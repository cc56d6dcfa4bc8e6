// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// What is said to a proxy, so that it connects to a site. Pure: bytes come in, and the next step goes out.
protocol TunnelConversation {
  /// What is said first.
  var greeting: [UInt8] { get }

  /// Takes what has come, which may end anywhere.
  mutating func take(_ more: some Sequence<UInt8>) -> TunnelStep
}

/// What follows in a conversation with a proxy.
enum TunnelStep: Equatable {
  case send([UInt8])
  case connected
  case failed(SiteError)
  case wait
}

/// Has a proxy connect to a site, and leaves the pipeline once it has.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var conversation: any TunnelConversation
  private let end: (SiteError?) -> Void
  private var isDone = false

  /// `end` gets what went wrong; `nil` if there is a connection. It is called once.
  init(_ conversation: any TunnelConversation, _ end: @escaping (SiteError?) -> Void) {
    self.conversation = conversation
    self.end = end
  }

  func handlerAdded(context: ChannelHandlerContext) { send(conversation.greeting, context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDone { return }
    switch conversation.take(unwrapInboundIn(data).readableBytesView) {
    case .wait: break
    case .send(let bytes): send(bytes, context)
    case .failed(let error): finish(error)
    case .connected: leave(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(SiteError(losing: error)) }

  func channelInactive(context: ChannelHandlerContext) {
    finish(SiteError(.proxyFailed, "the proxy closed the connection"))
    context.fireChannelInactive()
  }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
  }

  /// There is a connection to the site: what comes now is for others.
  private func leave(_ context: ChannelHandlerContext) {
    isDone = true
    context.pipeline.syncOperations.removeHandler(context: context).assumeIsolated().whenComplete { [end] result in
      switch result {
      case .success: end(nil)
      case .failure(let error): end(SiteError(losing: error))
      }
    }
  }

  /// There will be none.
  private func finish(_ error: SiteError) {
    if isDone { return }
    isDone = true
    end(error)
  }
}
