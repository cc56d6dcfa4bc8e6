// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

/// What is said to a service manager (sd_notify(3)), and when again if it does not take it. Nobody waits: the times are
/// those that the test gives.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct ServiceManagerTests {
  /// The environment is the process's own.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func sendsAtOnceAndAgainWhatIsNotTaken() async {
    await #expect(processExitsWith: .success) {
      unsafe unsetenv("NOTIFY_SOCKET")
      #expect(ServiceManager() == nil)
      unsafe setenv("NOTIFY_SOCKET", "", 1)
      #expect(ServiceManager() == nil)
      let socket = try ManagerSocket()
      unsafe setenv("NOTIFY_SOCKET", socket.path, 1)
      var manager = try #require(ServiceManager())
      #expect(manager.next == nil)

      // What is taken is sent once.
      manager.send("READY=1\nSTATUS=a", at: .seconds(1))
      #expect(manager.next == nil)
      #expect(try await socket.message() == "READY=1\nSTATUS=a")

      // What is not taken is sent after 50 ms, then after twice as long each time, and after 2 s at most.
      func fill() throws {
        var filler = try #require(ServiceManager())
        for _ in 0..<10_000 where filler.next == nil { filler.send(ManagerSocket.filling, at: .zero) }
      }
      func nextMessage() async throws -> String {
        var message = ""
        repeat { message = try await socket.message() } while message == ManagerSocket.filling
        return message
      }
      try fill()
      manager.send("READY=1\nSTATUS=b", at: .zero)
      #expect(manager.next == .milliseconds(50))
      manager.retry(at: .milliseconds(49))
      #expect(manager.next == .milliseconds(50), "it is not time yet")
      var now = Duration.milliseconds(50)
      for pause in [100, 200, 400, 800, 1600, 2000, 2000] {
        manager.retry(at: now)
        #expect(manager.next == now + .milliseconds(pause))
        now += .milliseconds(pause)
      }
      // The newest status alone, with the readiness of one before.
      manager.send("STATUS=c", at: now)
      #expect(manager.next == now + .seconds(2))
      manager.send("STATUS=d", at: now)
      #expect(try await socket.message() == ManagerSocket.filling)
      manager.retry(at: now + .seconds(60))
      #expect(manager.next == nil)
      #expect(try await nextMessage() == "READY=1\nSTATUS=d")

      // A success is followed by the shortest pause again, and a status alone brings no readiness.
      try fill()
      manager.send("STATUS=e", at: .seconds(60))
      #expect(manager.next == .seconds(60) + .milliseconds(50))
      manager.send("STATUS=f", at: .seconds(61))
      #expect(manager.next == .seconds(61) + .milliseconds(100))
      #expect(try await socket.message() == ManagerSocket.filling)
      manager.retry(at: .seconds(70))
      #expect(manager.next == nil)
      #expect(try await nextMessage() == "STATUS=f")
      // What does not fit into a path of a socket is said, and not sent again (unix(7): 108 bytes).
      unsafe setenv("NOTIFY_SOCKET", "/" + String(repeating: "a", count: 200), 1)
      var nobody = try #require(ServiceManager())
      nobody.send("STATUS=g", at: .zero)
      #expect(nobody.next == nil)
    }
  }
}
