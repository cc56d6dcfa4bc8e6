// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import FirstLibrary
import SecondLibrary
import TestSupport
import Testing

/// Promise 6, for a program with libraries that do not know of each other: all of them share one engine.
///
/// This counts with the system's own environment, in a process of its own. The targets are addresses of this machine,
/// so nothing is sent and no name is looked up.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct Promise6SharingTests {
  /// Whether this process may open a netlink socket. Some sandboxes refuse it.
  private static let isNetlinkPermitted: Bool = {
    do throws(NetlinkError) {
      _ = try NetlinkClient()
      return true
    } catch {
      return false
    }
  }()

  /// All of 127.0.0.0/8 is this machine's own (RFC 1122, 3.2.1.3).
  private static func ownAddresses(_ numbers: Range<UInt32>) -> [IPAddress] {
    numbers.map { IPAddress(ipv4: 0x7F01_0000 + $0) }
  }

  /// Swift's runtime opens a few descriptors of its own, late on a busy machine. One for each monitor would be a
  /// thousand.
  private static let descriptorsOfTheRuntime = 10

  @Test(.enabled(if: isNetlinkPermitted, "needs netlink"))
  func twoLibrariesWithAThousandMonitorsNeedWhatOneMonitorNeeds() async {
    await #expect(processExitsWith: .success) {
      // Some are inherited from the process of the tests.
      let inherited = ProcessCensus.sockets
      let watch = ServerWatch()
      // From now on Swift's own threads and descriptors are there.
      await watch.follow(Promise6SharingTests.ownAddresses(0..<2))
      try await eventually("both are known") { await watch.knownCount == 2 }
      await watch.stop()
      try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
      try await eventually("no socket is left") { ProcessCensus.sockets == inherited }

      var peers: PeerList? = PeerList(Promise6SharingTests.ownAddresses(1..<2))
      try await eventually("the one monitor's state is known") { peers?.knownCount == 1 }
      // A thread has its name only once it runs.
      try await eventually("both threads run") { ProcessCensus.threads(named: "dialtone") == 2 }
      let sockets = ProcessCensus.sockets
      let before = try ProcessCensus().descriptors
      #expect(sockets > inherited)

      // First a second library, then a thousand monitors, half of each library.
      await watch.follow(Promise6SharingTests.ownAddresses(2..<3))
      try await eventually("the second library's state is known") { await watch.knownCount == 3 }
      #expect(ProcessCensus.sockets == sockets)
      #expect(ProcessCensus.threads(named: "dialtone") == 2)

      let more = PeerList(Promise6SharingTests.ownAddresses(1_000..<1_499))
      await watch.follow(Promise6SharingTests.ownAddresses(2_000..<2_499))
      try await eventually("every state is known") {
        let known = await watch.knownCount
        return more.knownCount == 499 && known == 502
      }
      #expect(ProcessCensus.sockets == sockets)
      #expect(try ProcessCensus().descriptors < before + Promise6SharingTests.descriptorsOfTheRuntime)
      #expect(ProcessCensus.threads(named: "dialtone") == 2)

      // The engine ends with the last monitor, and not before.
      peers = nil
      await watch.stop()
      #expect(ProcessCensus.threads(named: "dialtone") == 2)
      #expect(ProcessCensus.sockets == sockets)
      withExtendedLifetime(more) {}
    }
  }

  @Test(.enabled(if: isNetlinkPermitted, "needs netlink"))
  func theEngineEndsWithTheLastMonitorOfEitherLibrary() async {
    await #expect(processExitsWith: .success) {
      let inherited = ProcessCensus.sockets
      let watch = ServerWatch()
      for _ in 0..<3 {
        var peers: PeerList? = PeerList(Promise6SharingTests.ownAddresses(0..<10))
        await watch.follow(Promise6SharingTests.ownAddresses(10..<20))
        try await eventually("the first library's states are known") { peers?.knownCount == 10 }
        try await eventually("the second library's states are known") { await watch.knownCount == 10 }
        peers = nil
        await watch.stop()
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
        try await eventually("no socket is left") { ProcessCensus.sockets == inherited }
      }
    }
  }
}
#endif
