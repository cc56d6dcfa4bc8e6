// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

extension Exchange {
  /// Sends the request over HTTP/2 (RFC 9113), as the only stream of the connection.
  func askOverHTTP2(_ head: HTTPRequestHead) throws {
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .enablePush, value: 0),
      HTTP2Setting(parameter: .maxHeaderListSize, value: Limits.headers),
    ]
    // The connection's limit of bytes and the deadline end what never ends: frames without data are no mistake, and the
    // limit of headers counts bytes.
    connection.maximumSequentialEmptyDataFrames = .max
    connection.maximumSequentialContinuationFrames = Limits.headers
    let handler = NIOHTTP2Handler(
      mode: .client, eventLoop: channel.eventLoop, connectionConfiguration: connection
    ) { pushed in
      pushed.close()
    }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandlers([handler, HTTP2ConnectionWatcher(self)])
    let exchange = NIOLoopBound(self, eventLoop: channel.eventLoop)
    let stream = try handler.syncMultiplexer().createStreamChannel { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandlers([
          HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https), ResponseHandler(exchange.value),
        ])
      }
    }
    stream.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let stream): exchange.value.write(head, to: stream.pipeline.syncOperations)
      case .failure(let error): exchange.value.send(.requestNotSent(SiteError(losing: error)))
      }
    }
  }
}

/// Tells a check what breaks the whole connection: a stream only learns that it is closed.
private final class HTTP2ConnectionWatcher: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    exchange.lose(error)
  }
}

extension DecidingFields {
  /// Those of a head that came over HTTP/2, where names are in lower case (RFC 9113, 8.2.1).
  init(_ headers: HTTPHeaders) {
    self.init()
    for header in headers {
      if let name = Name(rawValue: header.name) { take(name, header.value) }
    }
  }
}
