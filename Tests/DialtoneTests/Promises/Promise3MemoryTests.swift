// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 3: nothing queues up while a plain closure blocks. Each test measures the memory of a process of its own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct Promise3MemoryTests {
  /// A monitor with a plain closure that blocks.
  private struct Blocked {
    let network = scriptedNetwork()
    let monitor: ReachabilityMonitor
    let latch = Latch()
    let token: ReachabilityObservation

    init() async throws {
      network.set(.wifi)
      monitor = network.monitor()
      let hasBegun = Counter()
      token = monitor.observe { [latch] _ in
        if hasBegun.add() == 1 { latch.wait() }
      }
      try await eventually("it blocks") { hasBegun.value == 1 }
    }
  }

  /// Under a sanitizer the heap is not counted. Then this only exercises the promise.
  private static let limits = Leftovers.Limits(descriptors: .max, heap: 50_000)

  @Test func closuresThatComeAndGoWhileOneBlocksLeaveNothing() async {
    await #expect(processExitsWith: .success) {
      let blocked = try await Blocked()
      let calls = Counter()
      let limits = Promise3MemoryTests.limits
      let left = try await Leftovers(within: limits) {
        for _ in 0..<5_000 { blocked.monitor.observe { _ in calls.add() }.cancel() }
        // Released, not cancelled.
        for _ in 0..<5_000 { _ = blocked.monitor.observe { _ in calls.add() } }
      }
      #expect(left.isWithin(limits), "\(left)")
      #expect(!blocked.latch.isOpen)
      #expect(calls.value == 0)
      blocked.latch.open()
    }
  }

  @Test func closuresThatGoTogetherWhileOneBlocksLeaveNothing() async {
    await #expect(processExitsWith: .success) {
      let blocked = try await Blocked()
      let calls = Counter()
      let limits = Promise3MemoryTests.limits
      let left = try await Leftovers(within: limits) {
        do {
          let addresses = (0..<1_000).map { IPAddress(ipv4: 0x0A00_0000 + UInt32($0)) }
          let monitors = addresses.map { blocked.network.monitor(.address($0)) }
          let tokens = monitors.map { $0.observe { _ in calls.add() } }
          try await eventually("all are known") { monitors.allSatisfy { $0.current.isReachable } }
          withExtendedLifetime(tokens) {}
        }
        try await blocked.network.settle()
      }
      #expect(left.isWithin(limits), "\(left)")
      #expect(!blocked.latch.isOpen)
      #expect(calls.value == 0)
      blocked.latch.open()
    }
  }

  @Test func closuresThatStayAreToldAfterwardsOnceEachInOrder() async throws {
    let blocked = try await Blocked()
    let log = Log<Int>()
    var tokens: [ReachabilityObservation] = []
    for number in 0..<300 {
      let token = blocked.monitor.observe { _ in log.append(number) }
      // Two of three are cancelled, from everywhere in the queue.
      if number.isMultiple(of: 3) { tokens.append(token) } else { token.cancel() }
    }
    blocked.latch.open()
    try await eventually("all are told") { log.count >= 100 }
    try await blocked.network.settle()
    #expect(log.all == (0..<100).map { 3 * $0 })
    withExtendedLifetime(tokens) {}
  }
}
#endif
