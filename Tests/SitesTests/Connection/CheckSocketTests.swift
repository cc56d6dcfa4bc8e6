// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import Foundation
import SiteLab
import TestSupport
import Testing

@testable import DialtoneSites

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The sockets of checks, on loopback.
@Suite(.timeLimit(.minutes(5)))
struct CheckSocketTests {
  /// The lines of the kernel's table about connections from here to that port that are in this state, by their words
  /// (proc_net_tcp.rst): 01 is established, 02 waits for an answer; the word 9 is the inode.
  private static func lines(to port: Int, state: String) throws -> [[Substring]] {
    let bytes = try SystemFile.bytes(at: "/proc/thread-self/net/tcp", limit: 16 << 20)
    let text = String(decoding: bytes, as: UTF8.self)
    let address = "0100007F:" + String(port + 0x10000, radix: 16, uppercase: true).dropFirst()
    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
    return lines.filter { $0.count > 9 && $0[2] == address && $0[3] == state }
  }

  /// This process's sockets that are connected to that port.
  private static func sockets(connectedTo port: Int) throws -> [CInt] {
    let names = try lines(to: port, state: "01").map { "socket:[\($0[9])]" }
    let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
    return numbers.filter { number in
      var text = [CChar](repeating: 0, count: 64)
      // At most as many bytes are written as there are.
      let length = unsafe readlink("/proc/self/fd/\(number)", &text, text.count)
      return names.contains(String(decoding: text.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
  }

  /// How many sockets wait for that port to answer.
  private static func attempts(at port: Int) throws -> Int { try lines(to: port, state: "02").count }

  /// RFC 9293, 3.7.1: neither side sends more than the other's MSS. No program that is started meanwhile has the
  /// connection (fcntl(2)).
  @Test func aConnectionIsSmallAndOurOwn() async throws {
    let latch = Latch()
    let server = try await SiteServer(
      SiteBehaviour { [.hold(until: { latch.isOpen }), .answer(204, to: $0), .close] }, .plain)
    let url = try server.url(.plain)
    var configuration = SiteCheckConfiguration(timeout: .seconds(60))
    configuration.maximumSegment = 216
    let task = Task { [configuration] in try await SiteEnvironment.system.provider.check(url, configuration) }
    defer { latch.open() }
    try await eventually("it has asked") { server.requests.count == 1 }
    // The table is read in pieces, between which it changes: a line may be missed.
    var sockets: [CInt] = []
    try await eventually("it has one socket, and none to read refusals from") {
      sockets = try Self.sockets(connectedTo: server.port)
      return sockets.count == 1
    }
    for socket in sockets {
      #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
      var (segment, queuesErrors): (CInt, CInt) = (0, 1)
      var size = socklen_t(MemoryLayout<CInt>.size)
      // At most `size` bytes are written.
      #expect(unsafe getsockopt(socket, CInt(IPPROTO_TCP), TCP_MAXSEG, &segment, &size) == 0)
      // IP_RECVERR is 11 (linux/in.h). With it, an ICMP message would end what TCP survives (ip(7), RFC 5461).
      #expect(unsafe getsockopt(socket, CInt(IPPROTO_IP), 11, &queuesErrors, &size) == 0)
      #expect((1...216).contains(segment) && queuesErrors == 0)
    }
    latch.open()
    #expect(try await task.value.kind == .available)
    #expect(try Self.sockets(connectedTo: server.port).isEmpty)
  }

  /// Otherwise the kernel would go on for minutes (tcp(7), tcp_syn_retries).
  @Test func aCheckThatEndsGivesItsAttemptsUp() async throws {
    let deaf = try DeafListener()
    let before = try Self.attempts(at: deaf.port)
    let verdict = try await check(SiteURL("http://127.0.0.1:\(deaf.port)/")) { $0.timeout = .milliseconds(100) }
    #expect(verdict.error?.code == .timedOut, "\(verdict)")
    // The first of the listener's own may be let in only now.
    try await eventually(within: .seconds(30), "its socket is closed") { try Self.attempts(at: deaf.port) <= before }
    withExtendedLifetime(deaf) {}
  }

  // MARK: What the kernel knows of a connection

  /// It is asked once a check has failed, and by a check that reads only beginnings. Loopback loses nothing.
  @Test(
    arguments: [
      (false, nil, false), (false, false, false), (false, true, true), (true, nil, true), (true, false, true),
    ] as [(Bool, Bool?, Bool)])
  func theKernelIsAskedWhatHasArrived(fails: Bool, readsBeginning: Bool?, isAsked: Bool) async throws {
    let server = try await SiteServer(
      fails ? SiteBehaviour { _ in [.send("no HTTP\r\n\r\n"), .stall] } : .answer(204), .plain)
    var configuration = SiteCheckConfiguration(timeout: .seconds(60))
    configuration.inspection = readsBeginning.map {
      var inspection = SiteInspection()
      inspection.readsBeginning = $0
      return inspection
    }
    let outcome = try await SiteEnvironment.system.provider.inspect(server.url(.plain), configuration)
    #expect(outcome.verdict.kind == (fails ? .failed : .available), "\(outcome.verdict)")
    let progress = outcome.details.progress
    // A site that has closed may be gone already, after a whole answer.
    if fails || !isAsked { #expect((progress != nil) == isAsked) }
    if let progress { #expect(!progress.hasGap && !progress.isUnacknowledged) }
  }
}
#endif
