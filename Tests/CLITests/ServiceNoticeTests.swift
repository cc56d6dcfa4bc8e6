// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@testable import DialtoneCLI

/// The protocol of sd_notify(3): a datagram, an assignment a line.
struct ServiceNoticeTests {
  @Test func saysReadyOnceEachTargetIsKnown() {
    var notice = ServiceNotice(names: ["a", "b"])
    #expect(notice.message(of: 0, "via eth0", holds: .holds) == "STATUS=1 of 2 fine; b: not known yet")
    #expect(notice.message(of: 1, "no route", holds: .fails) == "READY=1\nSTATUS=1 of 2 fine; b: no route")
    #expect(notice.message(of: 1, "via eth0", holds: .holds) == "STATUS=2 of 2 fine")
  }

  @Test func keepsToOneLineAnAssignment() {
    var notice = ServiceNotice(names: ["a\nMAINPID=1"])
    let message = notice.message(of: 0, "b\nREADY=0", holds: .holds)
    #expect(message.split(separator: "\n").count == 2)
  }
}

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct NotifyProcessTests {
  @Test func tellsTheServiceManager() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let socket = try ManagerSocket()
    let process = try Tool.start(["watch", "--notify"], in: lab, environment: ["NOTIFY_SOCKET": socket.path])
    #expect(
      try await socket.message() == "READY=1\nSTATUS=internet: reachable via wired (v0), gateway 10.0.0.2")
    try lab.down("v1")
    #expect(try await socket.message() == "STATUS=internet: wired (v0), no carrier")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  /// A service manager that reads nothing holds up nothing, and is told once it reads: readiness, and the newest state.
  @Test func goesOnWhileTheServiceManagerReadsNothing() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let socket = try ManagerSocket()
    try socket.fill()
    let ended = try await Tool.run(
      ["watch", "--notify", "--count", "1"], in: lab, environment: ["NOTIFY_SOCKET": socket.path])
    #expect(ended.ending == .exited(0))
    #expect(ended.output.contains("reachable"))
    let process = try Tool.start(["watch", "--notify"], in: lab, environment: ["NOTIFY_SOCKET": socket.path])
    #expect(try await process.output.nextLine().contains("reachable"))
    try lab.down("v1")
    #expect(try await process.output.nextLine().contains("no carrier"))
    var message = ""
    repeat { message = try await socket.message() } while message == ManagerSocket.filling
    #expect(message == "READY=1\nSTATUS=internet: wired (v0), no carrier")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
    #expect(try await process.error.text() == "")
  }

  /// Neither does a reader of the lines who takes none: the pipe is full (pipe(7), 65,536 bytes).
  @Test func goesOnWhileNobodyReadsTheLines() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let socket = try ManagerSocket()
    let addresses = (0..<600).map { "10.0.\($0 / 200 + 1).\($0 % 200 + 1)" }
    let process = try Tool.start(
      ["watch", "--json", "--notify", "--timeout", "30"] + addresses, in: lab,
      environment: ["NOTIFY_SOCKET": socket.path])
    var message = ""
    repeat { message = try await socket.message() } while !message.hasSuffix("STATUS=600 of 600 fine")
    try lab.down("v1")
    repeat { message = try await socket.message() } while !message.hasPrefix("STATUS=0 of 600 fine")
    // Its time ends it, although lines are left.
    #expect(try await process.exit(within: .seconds(60)) == .exited(74))
    #expect(try await process.error.text() == "dialtone: standard output: its reader takes nothing; lines are lost\n")
  }

  @Test func doesWithoutAServiceManager() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let result = try await Tool.run(
      ["watch", "--notify", "--count", "1"], in: lab, environment: ["NOTIFY_SOCKET": nil])
    #expect(result.ending == .exited(0))
    #expect(result.error == "")
  }
}

/// What systemd would listen on.
final class ManagerSocket: Sendable {
  let path: String
  private let descriptor: CInt

  init() throws {
    path = "/tmp/dialtone-notify-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    descriptor = csystem_datagram_socket(AF_UNIX)
    try #require(descriptor >= 0)
    // A sockaddr_un (unix(7)): the family, and 108 bytes of a path.
    var address = [UInt8](repeating: 0, count: 110)
    unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe address.replaceSubrange(0..<2, with: $0) }
    address.replaceSubrange(2..<2 + path.utf8.count, with: path.utf8)
    // The address has that length, and is only read.
    let status = unsafe address.withUnsafeBytes {
      unsafe bind(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    try #require(status == 0)
  }

  deinit {
    close(descriptor)
    unsafe unlink(path)  // only read, for the call
  }

  static let filling = "STATUS=filled"

  /// Sends to itself until there is no more room (unix(7), net.unix.max_dgram_qlen).
  func fill() throws {
    let sender = csystem_datagram_socket(AF_UNIX)
    try #require(sender >= 0)
    defer { close(sender) }
    var address = [UInt8](repeating: 0, count: 110)
    unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe address.replaceSubrange(0..<2, with: $0) }
    address.replaceSubrange(2..<2 + path.utf8.count, with: path.utf8)
    let text = Array(Self.filling.utf8)
    var count = 0
    // Both are only read, as long as they are told to be.
    while unsafe address.withUnsafeBytes({ bytes in
      unsafe sendto(
        sender, text, text.count, CInt(MSG_DONTWAIT),
        bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }) >= 0 { count += 1 }
    try #require(csystem_errno() == EAGAIN && count > 0)
  }

  /// The next message.
  func message() async throws -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var count = -1
    try await eventually("a message to the service manager") {
      // Fills at most as many bytes as it is told.
      count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      return count >= 0
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}
