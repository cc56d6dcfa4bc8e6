// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trial 55 of Sites.md: a server costs a check at most its deadline and 1 MiB, whatever it does.
@Suite(.timeLimit(.minutes(5)))
struct HostileTests {
  /// The time that a check of a hostile server may take: its deadline, plus the lateness of the machine on the event
  /// loop and in the test.
  private static func limit(_ deadline: Duration, lateness: Duration) -> Duration {
    // A busy machine or a sanitizer makes it late. A check without a deadline would last for ever.
    deadline + .seconds(10) + lateness * 2
  }

  private func judge(
    _ site: HostileSite, _ transport: Transport, servedOver served: Transport,
    _ configure: (inout SiteCheckConfiguration) -> Void
  ) async throws {
    let deadlines: [Duration] =
      switch site.outcome {
      // On a busy machine the first deadline may pass before the server has shown its hostility.
      case .timesOut: [.milliseconds(500), .seconds(5), .seconds(25)]
      case .fails: [.seconds(60)]
      case .isNotAvailable: [.seconds(2)]
      }
    for deadline in deadlines {
      let server = try await SiteServer(site.behaviour, served)
      let (verdict, elapsed, lateness) = try await besidePauses {
        try await check(server.url(transport)) {
          configure(&$0)
          $0.timeout = deadline
        }
      }
      #expect(elapsed < Self.limit(deadline, lateness: lateness), "\(verdict)")
      // When the check is over its connection is closed, and the kernel has dropped its buffers.
      try await eventually(within: .seconds(30), "the connections are closed") { server.openCount == 0 }
      for connection in server.connections {
        // What a check reads, and what the buffers of both ends hold besides (tcp_rmem and tcp_wmem of tcp(7)).
        #expect(connection.sentCount < 8 << 20, "\(connection.sentCount) bytes were taken")
        #expect(served == transport || !connection.received.contains(bytesOf: "HTTP/1"))
      }
      #expect(server.connectionCount <= 2)
      switch site.outcome {
      case .timesOut(let stage):
        #expect(elapsed >= deadline - .milliseconds(1))
        #expect(verdict.kind == .failed, "\(verdict)")
        #expect(verdict.error?.code == .timedOut, "\(verdict)")
        if verdict.stage?.identifier == stage { return }
        #expect(deadline != deadlines.last, "\(verdict)")
      case .fails(let stages):
        #expect(verdict.kind == .failed, "\(verdict)")
        #expect(stages.contains(verdict.stage?.identifier ?? "none"), "\(verdict)")
        #expect(verdict.error != nil && verdict.error?.code != .timedOut, "\(verdict)")
      case .isNotAvailable:
        #expect(verdict.kind != .available && verdict.kind != .offline, "\(verdict)")
      }
    }
  }

  @Test(arguments: Transport.allCases, HostileSite.beforeBody + HostileSite.garbage)
  func hostilityBeforeTheBodyIsBounded(_ transport: Transport, _ site: HostileSite) async throws {
    try await judge(site, transport, servedOver: transport) { _ in }
  }

  /// The request is a GET, too, which waits for a body.
  @Test(arguments: Transport.allCases, HostileSite.inBody)
  func hostilityInTheBodyIsBounded(_ transport: Transport, _ site: HostileSite) async throws {
    try await judge(site, transport, servedOver: transport) {
      $0.expectation = .body(containing: "the text that never comes")
    }
  }

  @Test(arguments: HostileSite.insteadOfTLS)
  func hostilityInsteadOfTLSIsBounded(_ site: HostileSite) async throws {
    try await judge(site, .secure, servedOver: .plain) { _ in }
  }

  /// Sites.md: 512 KiB on one connection in all. The size of a chunk may have zeros before it (RFC 9112, 7.1).
  @Test func aConnectionBringsNoMoreThanThePageSays() async throws {
    let chunks = (0..<1_000).flatMap { _ in Array("000000000001\r\na\r\n".utf8) }
    let server = try await SiteServer(
      SiteBehaviour { _ in
        [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .sendForEver(chunks)]
      }, .plain)
    let verdict = try await check(server.url(.plain)) {
      $0.expectation = .body(containing: "the text that never comes")
      $0.timeout = .seconds(60)
    }
    #expect(verdict.error?.message.contains("more than 524288 bytes") == true, "\(verdict)")
  }

  /// No server answers at all.
  @Test(arguments: Transport.allCases)
  func silenceWhileConnectingEndsAtTheDeadline(_ transport: Transport) async throws {
    let listener = try DeafListener()
    // Long enough that even a busy machine has begun to connect by then.
    let (verdict, elapsed, lateness) = try await besidePauses {
      try await check(try SiteURL("\(transport)://127.0.0.1:\(listener.port)/")) { $0.timeout = .seconds(4) }
    }
    #expect(verdict.kind == .failed, "\(verdict)")
    #expect(verdict.stage == .connect)
    #expect(verdict.error?.code == .timedOut)
    #expect(elapsed >= .milliseconds(3_999) && elapsed < Self.limit(.seconds(4), lateness: lateness))
    #expect(verdict.timings.connect == nil)
    // The verdict names the last attempt.
    #expect(verdict.address?.description == "127.0.0.1" && verdict.interface?.name == "lo", "\(verdict)")
  }

  /// Both requests share one deadline if GET follows HEAD.
  @Test(arguments: Transport.allCases)
  func bothRequestsShareOneDeadline(_ transport: Transport) async throws {
    let server = try await SiteServer(
      .head(SiteBehaviour { [.pause(.seconds(12)), .answer(405, to: $0), .close] }, otherwise: SiteBehaviour()),
      transport)
    let (verdict, elapsed, lateness) = try await besidePauses {
      try await check(server.url(transport)) { $0.timeout = .seconds(20) }
    }
    #expect(verdict.error?.code == .timedOut, "\(verdict)")
    // With a deadline for each request it would be 32 s.
    #expect(elapsed < Self.limit(.seconds(20), lateness: lateness))
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
  }

  /// Hostile servers beside an honest one: its checks are as quick as ever.
  @Test func aHostileServerDoesNotSlowOtherChecks() async throws {
    let honest = try await SiteServer(.answer(204), .plain)
    let hostile = HostileSite.beforeBody.filter { if case .timesOut = $0.outcome { true } else { false } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for site in hostile + HostileSite.inBody {
        group.addTask {
          let server = try await SiteServer(site.behaviour, .plain)
          for _ in 0..<2 {
            _ = try await check(server.url(.plain)) {
              $0.expectation = .body(containing: "the text that never comes")
              $0.timeout = .seconds(1)
            }
          }
        }
      }
      for _ in 0..<50 {
        let verdict = try await check(honest.url(.plain)) { $0.timeout = .seconds(60) }
        #expect(verdict.kind == .available, "\(verdict)")
      }
      try await group.waitForAll()
    }
  }

  /// A check that is cancelled ends its connection, and says so.
  @Test(arguments: Transport.allCases)
  func aCancelledCheckClosesItsConnection(_ transport: Transport) async throws {
    let server = try await SiteServer(SiteBehaviour(), transport)
    let url = try server.url(transport)
    let task = Task { try await check(url) { $0.timeout = .seconds(60) } }
    try await eventually(within: .seconds(30), "the request has come") { !server.requests.isEmpty }
    let (_, elapsed, lateness) = try await besidePauses {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(elapsed < Self.limit(.zero, lateness: lateness))
    try await eventually(within: .seconds(30), "the connection is closed") { server.openCount == 0 }
  }
}
#endif
