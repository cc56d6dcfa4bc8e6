// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// A process may fork(2) at any moment: no thread of Dialtone's is in the middle of something then.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own, and survives no fork"),
  .timeLimit(.minutes(5)), .threadsApart)
struct ForkMomentTests {
  /// In a process in which nothing of Dialtone's has run: makes a monitor, forks, and has the child follow the network.
  private static func makeMonitorAndFork(after microseconds: UInt32) -> Int32 {
    let isTold = Atomic(false)
    let monitor = ReachabilityMonitor(.address(IPAddress(ipv4: 0x7F00_0001)), environment: .ofItsOwn())
    let token = monitor.observe { if $0.status == .unreachable { isTold.store(true, ordering: .relaxed) } }
    // Each time the engine's threads are somewhere else.
    usleep(microseconds)
    let status = statusOfChild {
      while !monitor.current.isReachable { usleep(1_000) }
      // There is no route in the lab.
      monitor.target = .address(IPAddress(ipv4: 0xC000_0201))
      while !isTold.load(ordering: .relaxed) { usleep(1_000) }
      return 0
    }
    withExtendedLifetime(token) {}
    return status
  }

  @Test("a process forks just after it has made a monitor: the child follows the network, and calls its handler")
  func aChildOfAnyMomentStartsAnew() async {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      for round in 0..<90 {
        let status = try lab.run {
          statusOfChild { ForkMomentTests.makeMonitorAndFork(after: UInt32(round % 6) * 50) }
        }
        try #require(status == 0, "round \(round): the child ended with \(status)")
      }
    }
  }
}
#endif
