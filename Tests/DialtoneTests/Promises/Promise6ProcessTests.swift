// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import CTestSupport
import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 6, counted: descriptors, threads and memory do not leak. Each test has a process of its own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct Promise6ProcessTests {
  /// Makes one of everything, waits until the network is known to all, and releases them.
  private static func useEverything(_ network: ScriptedNetwork) async throws {
    let monitor = network.monitor()
    let told = Counter()
    var receptions: [Reception] = []
    for receiver in Receiver.allCases { receptions.append(await receiver.follow(monitor) { _ in told.add() }) }
    let once = monitor.whenReachable { told.add() }
    try await monitor.waitUntilReachable(timeout: .seconds(60))
    try await eventually("all have been told") { told.value >= Receiver.allCases.count + 1 }
    withExtendedLifetime((receptions, once)) {}
  }

  @Test func releasingEverythingLeavesNoThreadAndNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      func round() async throws {
        try await Promise6ProcessTests.useEverything(network)
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
      }
      let left = try await Leftovers(within: Leftovers.Limits(), round)
      #expect(left.isWithin(Leftovers.Limits()), "\(left)")
    }
  }

  @Test func aThousandMonitorsNeedNoMoreThreadsAndDescriptorsThanOne() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      // From now on Swift's own threads and descriptors are there.
      try await Promise6ProcessTests.useEverything(network)
      try await eventually("the engine has ended") { ProcessCensus.threads(named: "dialtone") == 0 }
      let one = network.monitor()
      try await one.waitUntilReachable()
      // A thread has its name only once it runs.
      try await eventually("both threads run") { ProcessCensus.threads(named: "dialtone") == 2 }
      let before = try ProcessCensus()
      let told = Counter()
      var many: [ReachabilityMonitor] = []
      var tokens: [ReachabilityObservation] = []
      for number in 0..<1_000 {
        let monitor = network.monitor(.address(IPAddress(ipv4: 0x0A00_0000 + UInt32(number))))
        many.append(monitor)
        tokens.append(monitor.observe { _ in told.add() })
      }
      try await eventually("each has been told") { told.value == 1_000 }
      network.set(.wired)
      try await eventually("each has been told again") { told.value == 2_000 }
      // One for each monitor would be a thousand. Swift's runtime opens a few late on a busy machine.
      #expect(try ProcessCensus().descriptors < before.descriptors + 10)
      #expect(ProcessCensus.threads(named: "dialtone") == 2)
      withExtendedLifetime((one, many, tokens)) {}
    }
  }

  @Test func aThousandRoundsOfStartAndStopDoNotGrow() async {
    await #expect(processExitsWith: .success) {
      ctestsupport_keep_no_backtraces()
      let network = scriptedNetwork()
      network.set(.wifi)
      // A leak of 100 bytes per start would show. Each thread of libdispatch keeps up to 1,024 of what it has freed
      // (DISPATCH_CONTINUATION_CACHE_LIMIT), and frees what Dialtone's threads, which end, have made: that takes
      // rounds.
      let limits = Leftovers.Limits(heap: 20_000, residentMemory: 1 << 20)
      let left = try await Leftovers(within: limits, upTo: 60) {
        for _ in 0..<(isSanitized ? 20 : 200) {
          try await Promise6ProcessTests.useEverything(network)
          try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
        }
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
      }
      #expect(left.isWithin(limits), "\(left)")
    }
  }

  @Test func monitorsThatComeAndGoOnARunningEngineDoNotGrow() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      let anchor = network.monitor()
      // A leak of 16 bytes per monitor would show.
      let limits = Leftovers.Limits(heap: 32 << 10, residentMemory: 400 << 10)
      let left = try await Leftovers(within: limits) {
        for number in 0..<2_000 {
          let monitor = network.monitor(.address(IPAddress(ipv4: 0x0A00_0000 + UInt32(number))))
          let token = monitor.observe { _ in }
          try await monitor.waitUntilReachable(timeout: .seconds(60))
          token.cancel()
        }
        try await network.settle()
      }
      #expect(left.isWithin(limits), "\(left)")
      withExtendedLifetime(anchor) {}
    }
  }

  @Test func aMonitorReleasedInItsOwnCallbackLeavesNothing() async {
    await #expect(processExitsWith: .success) {
      let network = scriptedNetwork()
      network.set(.wifi)
      func round() async throws {
        for receiver in Receiver.handlers {
          let done = Counter()
          let held = Box<(monitor: ReachabilityMonitor, token: ReachabilityObservation)?>(nil)
          let isReady = Latch()
          do {
            let monitor = network.monitor()
            let token = receiver.observe(monitor) { _ in
              isReady.wait()
              held.value = nil
              done.add()
            }
            held.value = (monitor, token)
          }
          isReady.open()
          try await eventually("the handler comes back") { done.value == 1 }
          try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
        }
      }
      let left = try await Leftovers(within: Leftovers.Limits(), round)
      #expect(left.isWithin(Leftovers.Limits()), "\(left)")
    }
  }
}
#endif
