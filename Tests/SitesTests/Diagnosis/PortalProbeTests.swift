// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore
import NIOPosix
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Who answers for addresses that nobody has: the router, at once, since all addresses are its own here.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct PortalProbeTests {
  /// The first two of the ranges for documentation (RFC 5737) that the diagnosis asks.
  private static let asked = ["198.51.100.254", "203.0.113.254"]

  /// Answers each connection to port 80 by the address that it came to.
  private final class Portal: Sendable {
    private let channel: any Channel

    init(
      in lab: NetworkLab, after delay: TimeAmount = .zero, _ answer: @escaping @Sendable (String, String) -> String
    ) async throws {
      // Made here: its threads have the network of who asks for it first, and other tests use them.
      let group = MultiThreadedEventLoopGroup.singleton
      channel = try await lab.run {
        ServerBootstrap(group: group)
          .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(Answers(answer, delay))
            }
          }
          .bind(host: "0.0.0.0", port: 80)
      }.get()
    }

    deinit { channel.close(promise: nil) }

    private final class Answers: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      typealias OutboundOut = ByteBuffer

      private let answer: @Sendable (String, String) -> String
      private let delay: TimeAmount

      init(_ answer: @escaping @Sendable (String, String) -> String, _ delay: TimeAmount) {
        (self.answer, self.delay) = (answer, delay)
      }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = answer(context.channel.localAddress?.ipAddress ?? "", String(buffer: unwrapInboundIn(data)))
        let channel = context.channel
        channel.eventLoop.scheduleTask(in: delay) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
      }
    }
  }

  private func status(in lab: NetworkLab) throws -> Int? {
    try lab.run {
      var configuration = DiagnosisConfiguration()
      configuration.family = .ipv4
      let deadline = TimeSource.system.now() + 3_600_000_000_000
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(.internet), configuration: configuration, findings: [], deadline: deadline)
      let found = SystemQuestion(inquiry: inquiry, patience: Patience(until: deadline)).findings(for: .portal)
      let portals = found.compactMap { if case .portal(let portal) = $0 { portal } else { nil } }
      return try #require(portals.first).status
    }
  }

  /// RFC 9112, 4: an answer begins with its version and its status. Some networks use one of the ranges themselves, so
  /// that both have to answer as portals do.
  @Test(
    arguments: [
      ("HTTP/1.1 302 Found\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", 302), ("HTTP/1.0 511", "HTTP/1.0 511", 511),
      ("HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 503 No\r\n\r\n", 503),
      ("HTTP/1.1 503 No\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", 503), ("HTTP/1.1 30", "HTTP/1.1 302 Found\r\n\r\n", nil),
      ("SSH-2.0-OpenSSH_9.9\r\n", "HTTP/1.1 302 Found\r\n\r\n", nil),
      ("HTTP/1.1 302 Found\r\n\r\n", "HTTP/1.10302 Found\r\n\r\n", nil),
    ] as [(String, String, Int?)])
  func aStatusIsThatOfBoth(first: String, second: String, status: Int?) async throws {
    let cable = try LabCable()
    // ip-route(8): all addresses are the server's.
    try cable.server.addRoute("0.0.0.0/0", dev: "lo", kind: .local, scope: .host)
    let requests = Box<[String: String]>([:])
    let portal = try await Portal(in: cable.server) { address, request in
      requests.update { $0[address] = request }
      return address == Self.asked[0] ? first : second
    }
    // A machine that is busy for 800 ms has not waited for the answers.
    var found: Int? = -1
    for _ in 0..<5 where found != status || requests.value.count < 2 { found = try self.status(in: cable.client) }
    #expect(found == status && requests.value.keys.sorted() == Self.asked)
    for request in requests.value.values {
      // A name that cannot exist (RFC 6761, 6.4).
      #expect(request.hasPrefix("GET / HTTP/1.1\r\nHost: dialtone-") && request.contains(".invalid\r\n"))
      #expect(request.hasSuffix("\r\n\r\n"))
    }
    withExtendedLifetime(portal) {}
  }

  /// A portal, or the line to it, may be slow: nobody else takes connections there.
  @Test func whoTakesAConnectionHasTimeToAnswer() async throws {
    let cable = try LabCable()
    try cable.server.addRoute("0.0.0.0/0", dev: "lo", kind: .local, scope: .host)
    let portal = try await Portal(in: cable.server, after: .seconds(1)) { _, _ in "HTTP/1.1 302 Found\r\n\r\n" }
    #expect(try status(in: cable.client) == 302)
    withExtendedLifetime(portal) {}
  }

  /// ip-rule(8): a rule leads what goes to port 80 where no router is. What answers there is no router's portal.
  @Test func whoIsNotBehindARouterIsNotAsked() async throws {
    let cable = try LabCable()
    try cable.server.addRoute("0.0.0.0/0", dev: "lo", kind: .local, scope: .host)
    let requests = Box(0)
    let portal = try await Portal(in: cable.server) { _, _ in
      requests.update { $0 += 1 }
      return "HTTP/1.1 302 Found\r\n\r\n"
    }
    for command in ["route add default dev v0 table 100", "rule add priority 5 ipproto tcp dport 80 lookup 100"] {
      #expect(try cable.client.ip(command).status == 0)
    }
    #expect(try status(in: cable.client) == nil && requests.value == 0)
    withExtendedLifetime(portal) {}
  }

  /// A router that resets connections to addresses that nobody has answers in nobody's place.
  @Test func whoResetsIsNoPortal() throws {
    let cable = try LabCable()
    try cable.server.addRoute("0.0.0.0/0", dev: "lo", kind: .local, scope: .host)
    #expect(try status(in: cable.client) == nil)
  }
}
#endif
