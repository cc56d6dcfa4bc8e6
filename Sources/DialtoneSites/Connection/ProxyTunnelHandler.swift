// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore

/// Asks a proxy to connect to a site, and leaves the pipeline once it has.
protocol TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
  /// Gets what went wrong; `nil` if there is a connection. Called once.
  var end: (SiteError?) -> Void { get }
  var isDone: Bool { get set }
}

extension TunnelHandler {
  func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(SiteError(losing: error)) }

  func channelInactive(context: ChannelHandlerContext) {
    finish(SiteError(.proxyFailed, "the proxy closed the connection"))
    context.fireChannelInactive()
  }

  /// There is a connection to the site: what comes now is for others.
  func leave(_ context: ChannelHandlerContext) {
    isDone = true
    context.pipeline.syncOperations.removeHandler(context: context).assumeIsolated().whenComplete { [end] result in
      switch result {
      case .success: end(nil)
      case .failure(let error): end(SiteError(losing: error))
      }
    }
  }

  /// There will be none.
  func finish(_ error: SiteError) {
    if isDone { return }
    isDone = true
    end(error)
  }
}

/// Asks by HTTP (RFC 9110, 9.3.6).
final class ProxyTunnelHandler: TunnelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let request: String
  let end: (SiteError?) -> Void
  /// What has come of the answer being read.
  private var answer: [UInt8] = []
  /// How many bytes have come in all.
  private var byteCount = 0
  var isDone = false

  init(to url: SiteURL, by proxy: ProxyServer, agent: String?, _ end: @escaping (SiteError?) -> Void) {
    let target = "\(url.hostText):\(url.port)"
    var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
    if let authorization = proxy.authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
    if let agent { request += "User-Agent: \(agent)\r\n" }
    self.request = request + "\r\n"
    self.end = end
  }

  func handlerAdded(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: request)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDone { return }
    // The blank line may have begun in what came before.
    let start = max(0, answer.count - 2)
    let bytes = unwrapInboundIn(data).readableBytesView
    answer += bytes
    byteCount += bytes.count
    if byteCount > Limits.headers { return finish(SiteError(.proxyFailed, "the proxy's answer has no end")) }
    guard var blank = Self.blankLine(in: answer[start...]) else { return }
    // RFC 9110, 15.2: interim answers say nothing of the final one. Nobody asked to switch protocols (101).
    var final = answer[...]
    while Self.isInterim(final[..<blank.lowerBound]) {
      final = final[blank.upperBound...]
      guard let next = Self.blankLine(in: final) else {
        answer = Array(final)
        return
      }
      blank = next
    }
    let line = Array(final.prefix { $0 != 0x0D && $0 != 0x0A })
    guard line.starts(with: Array("HTTP/1.".utf8)), line.count >= 12, line[8] == 0x20 else {
      return finish(SiteError(.proxyFailed, "the proxy answered with something that is not HTTP/1"))
    }
    guard line[9] == 0x32 else {
      let status = String(decoding: line[9..<12].filter(ASCII.isDigit), as: UTF8.self)
      return finish(SiteError(.proxyFailed, "the proxy refused to connect to the site (\(status))"))
    }
    // In TLS the client speaks first: nothing else can have come yet.
    guard blank.upperBound == answer.count else {
      return finish(SiteError(.proxyFailed, "the proxy said more than it was asked"))
    }
    leave(context)
  }

  /// The end of a line and of the one after it, which is empty; LF alone may end one (RFC 9112, 2.2).
  private static func blankLine(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
    for end in bytes.indices where bytes[end] == 0x0A {
      let next = bytes[(end + 1)...].prefix(2)
      if next.first == 0x0A { return end..<end + 2 }
      if next.elementsEqual([0x0D, 0x0A]) { return end..<end + 3 }
    }
    return nil
  }

  /// Whether an answer's status line says 100 to 199, and not 101.
  private static func isInterim(_ answer: ArraySlice<UInt8>) -> Bool {
    let line = answer.prefix { $0 != 0x0D && $0 != 0x0A }
    return line.count >= 12 && line.starts(with: Array("HTTP/1.".utf8)) && line[line.startIndex + 8] == 0x20
      && line[line.startIndex + 9] == 0x31 && line[(line.startIndex + 9)...].prefix(3) != [0x31, 0x30, 0x31]
  }
}
