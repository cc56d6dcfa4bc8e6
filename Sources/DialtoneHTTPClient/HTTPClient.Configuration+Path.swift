// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if HTTPClient
public import AsyncHTTPClient
public import DialtoneNIO
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import Synchronization

extension HTTPClient.Configuration {
  /// Has each connection of the client follow its path.
  ///
  /// ~~~swift
  /// var configuration = HTTPClient.Configuration()
  /// configuration.followPath()
  /// let client = HTTPClient(configuration: configuration)
  /// ~~~
  ///
  /// A connection whose path is gone for good is closed, so that a request on it fails at once and the next one has a
  /// new connection. What is under way is known: a connection without a request is idle, and a request that RFC 9110
  /// (9.2.1) calls safe may be repeated.
  ///
  /// Without a limit for connecting, this sets that of ten seconds which requests have: AsyncHTTPClient's own attempts
  /// last for thirty, and later requests wait for them.
  ///
  /// Debug initialisers that are set already run first. Set your own before you call this. Through a proxy, the path to
  /// the proxy is followed.
  ///
  /// - Parameter registry: Where the connections are counted, and whose policy they follow.
  public mutating func followPath(in registry: ConnectionRegistry = .shared) {
    registry.requests.withLock { $0.areCounted = true }
    timeout.connect = timeout.connect ?? .seconds(10)
    http1_1ConnectionDebugInitializer = initializer(after: http1_1ConnectionDebugInitializer) { channel in
      let sync = channel.pipeline.syncOperations
      let handler = try sync.pathHandler(registry)
      // A configuration may be told twice.
      if sync.present(RequestCounter.self) != nil { return }
      handler.count()
      let decoder = try sync.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try sync.addHandler(RequestCounter(handler, registry), position: .after(decoder))
    }
    http2ConnectionDebugInitializer = initializer(after: http2ConnectionDebugInitializer) { channel in
      try channel.pipeline.syncOperations.pathHandler(registry).count()
    }
    http2StreamChannelDebugInitializer = initializer(after: http2StreamChannelDebugInitializer) { channel in
      let sync = channel.pipeline.syncOperations
      // Without a handler, the connection is closing: nothing is left to follow.
      guard let handler = channel.parent?.pipeline.syncOperations.present(PathHandler.self),
        sync.present(RequestCounter.self) == nil
      else { return }
      let codec = try sync.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
      try sync.addHandler(RequestCounter(handler, registry), position: .after(codec))
    }
  }
}

/// Counts requests of a connection, or the one of a stream, for the handler that follows the connection's path.
private final class RequestCounter: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private let handler: PathHandler
  private let registry: ConnectionRegistry
  /// Whether the request under way may be repeated; `nil` if there is none.
  private var isRepeatable: Bool?
  /// The host that the request under way names, as long as its answer is awaited.
  private var host: String?

  init(_ handler: PathHandler, _ registry: ConnectionRegistry) {
    self.handler = handler
    self.registry = registry
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head(let head) = unwrapOutboundIn(data) {
      finish()
      let isSafe = [.GET, .HEAD, .OPTIONS, .TRACE].contains(head.method)
      isRepeatable = isSafe
      let host = head.headers.first(name: "host") ?? ""
      self.host = host
      registry.requests.withLock { $0.begin(host) }
      handler.count(repeatable: isSafe ? 1 : 0, others: isSafe ? 0 : 1)
    }
    context.write(data, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // Something of the answer is given out from here on, and a client that has it cannot repeat the request.
    let part = unwrapInboundIn(data)
    if case .end = part {
      // The connection may be closed once it is idle, and the next request may begin in here.
      let isRepeatable = takeRequest()
      context.fireChannelRead(data)
      return countEnd(isRepeatable)
    }
    if case .head(let head) = part, head.status.code >= 200 {
      endWaiting()
      if isRepeatable == true {
        isRepeatable = false
        handler.count(repeatable: -1, others: 1)
      }
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  private func endWaiting() {
    if let host = host.take() { registry.requests.withLock { $0.end(host) } }
  }

  private func finish() { countEnd(takeRequest()) }

  private func takeRequest() -> Bool? {
    endWaiting()
    return isRepeatable.take()
  }

  private func countEnd(_ isRepeatable: Bool?) {
    guard let isRepeatable else { return }
    handler.count(repeatable: isRepeatable ? -1 : 0, others: isRepeatable ? 0 : -1)
  }
}
#endif
