// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Many addresses on a link, and many targets without a route beside many links. Bounds are ratios to other work of the
/// same thread, or counts, because other tests want the processors, too.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TableScaleTests {
  /// The processor time that `body` takes on the calling thread, the least of several runs.
  private static func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
      var time = timespec()
      // This cannot fail for this clock.
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    var least = Duration.seconds(3600)
    for _ in 0..<3 {
      let start = now()
      try body()
      least = min(least, now() - start)
    }
    return least
  }

  @Test("addresses keep the kernel's order when others come and go")
  func addressesKeepTheKernelsOrder() throws {
    var table = AddressTable()
    var expected: [String] = []
    for number in 0..<100 {
      let text = "10.0.0.\(number)"
      table.update(try BuiltMessages.address(text, 24, on: 3))
      expected.append(text)
    }
    // The table shrinks while most of them are deleted.
    for number in 0..<100 where number % 7 != 0 {
      table.remove(try BuiltMessages.address("10.0.0.\(number)", 24, on: 3))
      expected.removeAll { $0 == "10.0.0.\(number)" }
    }
    // Another prefix length makes another address (ip-address(8)). The same one again does not.
    for (number, length) in [(200, 24), (7, 16), (14, 24)] as [(Int, UInt8)] {
      table.update(try BuiltMessages.address("10.0.0.\(number)", length, on: 3))
    }
    expected += ["10.0.0.200", "10.0.0.7"]
    #expect(table.addresses(of: 3).map(\.ipAddress.description) == expected)
    table.remove(try BuiltMessages.address("10.0.0.7", 24, on: 3))
    #expect(table.isOurs(try address("10.0.0.7"), on: nil))
    table.remove(try BuiltMessages.address("10.0.0.7", 16, on: 3))
    #expect(!table.isOurs(try address("10.0.0.7"), on: nil))
  }

  @Test("eight times the addresses cost some eight times the work, not sixty-four times")
  func theTableGrowsLinearly() throws {
    func time(_ count: Int) throws -> Duration {
      let messages = try (0..<count).map {
        try BuiltMessages.address("10.\($0 / 65536).\($0 / 256 % 256).\($0 % 256)", 32, on: 3)
      }
      return Self.processorTime {
        var table = AddressTable()
        for message in messages { table.update(message) }
        for message in messages { table.remove(message) }
        #expect(table.addresses(of: 3).isEmpty)
      }
    }
    let (few, many) = (try time(2_000), try time(16_000))
    #expect(many < few * 24, "\(few) for 2,000 and \(many) for 16,000")
  }

  @Test("a link whose addresses came and went has no more to search than those that are left")
  func addressesThatAreGoneCostNothing() throws {
    let stays = try BuiltMessages.address("127.0.0.1", 8, on: 3)
    let messages = try (0..<10).map { try BuiltMessages.address("10.0.0.\($0)", 32, on: 3) }
    func time(rounds: Int) -> Duration {
      var table = AddressTable()
      table.update(stays)
      for _ in 0..<rounds {
        for message in messages { table.update(message) }
        for message in messages { table.remove(message) }
      }
      // A loopback address does not count, so all are looked at.
      return Self.processorTime { for _ in 0..<100 { #expect(table.usableAddress(of: 3) == nil) } }
    }
    let (few, many) = (time(rounds: 1), time(rounds: 2_000))
    #expect(many < few * 24, "\(few) after one round, \(many) after 2,000")
  }

  @Test(
    "10,000 addresses on a link: a start costs a few times what reading them does",
    .enabled(if: NetworkLab.isAvailable, "needs network namespaces"))
  func aStartWithManyAddressesIsCheap() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddresses(count: 10_000, "v0")
    let (start, dump) = try lab.run {
      var listed = 0
      var read = 0
      let start = Self.processorTime {
        listed = LinuxNetwork().interfaces().first { $0.interface.name == "v0" }?.addresses.count ?? 0
      }
      let dump = try Self.processorTime {
        read = 0
        var client = try NetlinkClient(.route)
        _ = try client.dump(.getAddress) { step, bytes in
          if case .message(let message) = step, AddressMessage(message, in: bytes) != nil { read += 1 }
        }
      }
      #expect(listed >= 10_000 && read >= listed, "\(listed) listed, \(read) read")
      return (start, dump)
    }
    #expect(start < dump * 8 + .milliseconds(20), "\(start) to start, \(dump) to read")
  }

  @Test(
    "the reason why there is no route is searched for once for all targets, and again when something changed",
    .enabled(if: NetworkLab.isAvailable, "needs network namespaces"))
  func theReasonIsSearchedForOnceForAllTargets() throws {
    let lab = try NetworkLab()
    try lab.addVeths("n", count: 50)
    try lab.run {
      let network = LinuxNetwork()
      let queries = (0..<1_000).map { RouteQuery(.address(IPAddress(ipv4: 0xC000_0200 + $0))) }
      func reasons() -> Set<Reachability.Reason?> {
        var reasons: Set<Reachability.Reason?> = []
        for start in stride(from: 0, to: queries.count, by: 250) {
          network.answer(Array(queries[start..<(start + 250)])) { _, state in reasons.insert(state.reason) }
        }
        return reasons
      }
      #expect(reasons() == [.noRoute])
      #expect(network.decision.searches.count == 1)
      try lab.up("n0")
      try lab.addAddress("10.9.0.1/24", "n0")
      var change = NetworkChange()
      network.drain(into: &change)
      #expect(change.touchesEverything)
      // Its other end is down.
      #expect(reasons() == [.noCarrier])
      #expect(network.decision.searches.count == 2)
    }
  }
}
#endif
