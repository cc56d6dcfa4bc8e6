// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// Tells a check what the site answers.
final class ResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let run: CheckRun

  init(_ run: CheckRun) { self.run = run }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): run.headCame(head)
    case .body(let bytes): run.bodyCame(bytes)
    case .end: run.bodyEnded()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A peer that closes without TLS's goodbye: what has come may be whole, which the decoder is about to find out.
    if case .uncleanShutdown? = error as? NIOSSLError { return }
    run.lost(error)
  }

  func channelInactive(context: ChannelHandlerContext) { run.connectionClosed() }
}
