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

@Suite(.needsNamespaces, .serialized, .timeLimit(.minutes(5)), .fewAtATime)
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
private final class ManagerSocket: Sendable {
  let path: String
  private let descriptor: CInt

  init() throws {
    path = "/tmp/dialtone-notify-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    descriptor = csystem_datagram_socket(AF_UNIX)
    try #require(descriptor >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The path is shorter than the member, which ends with zeros.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    // The address is of that length, and is only read.
    let status = unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
    }
    try #require(status == 0)
  }

  deinit {
    close(descriptor)
    unlink(path)
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
