// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import NIOEmbedded
import Testing

@testable import DialtoneSites

/// What the handlers of an exchange tell a check, and what they hand on.
struct HandlerEdgesTests {
  /// What comes behind the handlers, and what the check is told.
  private final class Notes {
    var told: [String] = []
    var passed: [String] = []
  }

  private final class Behind: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let notes: Notes

    init(_ notes: Notes) { self.notes = notes }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { notes.passed.append("\(event)") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { notes.passed.append("error") }

    func channelInactive(context: ChannelHandlerContext) { notes.passed.append("inactive") }
  }

  private func exchange(
    _ url: SiteURL, on channel: EmbeddedChannel, _ notes: Notes, by proxy: ProxyServer? = nil
  ) throws -> Exchange {
    channel.connect(to: try SocketAddress(ipAddress: "192.0.2.7", port: 443), promise: nil)
    return Exchange(channel, to: url, by: proxy, SiteCheckConfiguration(), time: .system) { event in
      switch event {
      case .tunnelOpened: notes.told.append("tunnel")
      case .tlsFailed(let error, _): notes.told.append("TLS: \(error.message)")
      case .lost(let error): notes.told.append("lost: \(error.message)")
      default: notes.told.append("\(event)")
      }
    }
  }

  private static let closed = "lost: the connection was closed before TLS was agreed upon"

  /// How TLS ends before it is agreed upon is told once. What comes after that is for those behind.
  @Test(
    arguments: [
      ([], [], []), (["event"], [], ["event"]), (["error"], ["TLS: TLS could not be agreed upon"], []),
      (["error", "error"], ["TLS: TLS could not be agreed upon"], ["error"]),
      (["error", "inactive"], ["TLS: TLS could not be agreed upon"], ["inactive"]),
      (["own error", "inactive"], ["TLS: what was wrong"], ["inactive"]), (["inactive"], [closed], ["inactive"]),
      (["inactive", "error"], [closed], ["inactive", "error"]),
      (["event", "inactive", "event"], [closed], ["event", "inactive", "event"]),
    ] as [([String], [String], [String])])
  func theEndOfTLSIsToldOnce(_ steps: [String], _ told: [String], _ passed: [String]) throws {
    let (channel, notes) = (EmbeddedChannel(), Notes())
    let exchange = try exchange("https://example.com/", on: channel, notes)
    try channel.pipeline.syncOperations.addHandlers([TLSWatcher(exchange), Behind(notes)])
    for step in steps {
      switch step {
      case "error": channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
      case "own error": channel.pipeline.fireErrorCaught(SiteError(.malformedResponse, "what was wrong"))
      case "inactive": channel.pipeline.fireChannelInactive()
      default: channel.pipeline.fireUserInboundEventTriggered(step)
      }
    }
    #expect(notes.told == told && notes.passed == passed)
    exchange.close {}
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  /// What comes through a tunnel has a limit, too: 524,288 bytes on a connection.
  @Test(arguments: [true, false]) func aTunnelBringsNoMoreThanAConnection(isSOCKS: Bool) throws {
    let (channel, notes) = (EmbeddedChannel(), Notes())
    var proxy = ProxyServer(host: .address(IPAddress(ipv4: 0xC000_0208)), port: 8_080, authorization: nil)
    if isSOCKS { proxy.socks = ProxyServer.Socks() }
    let exchange = try exchange("https://example.com/", on: channel, notes, by: proxy)
    exchange.openTunnel(by: proxy)
    // RFC 1928, 3 and 6: no password; connected, by an address of four bytes.
    let answers: [[UInt8]] =
      isSOCKS ? [[5, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]] : [Array("HTTP/1.1 200 A\r\n\r\n".utf8)]
    for answer in answers { try channel.writeInbound(ByteBuffer(bytes: answer)) }
    channel.embeddedEventLoop.run()
    #expect(notes.told == ["tunnel"])
    let rest = 524_288 - answers.joined().count
    try channel.writeInbound(ByteBuffer(repeating: 7, count: rest))
    #expect(channel.isActive)
    #expect(throws: SiteError.self) { try channel.writeInbound(ByteBuffer(repeating: 7, count: 1)) }
    #expect(!channel.isActive)
    withExtendedLifetime(exchange) {}
    _ = try channel.finish(acceptAlreadyClosed: true)
  }
}
