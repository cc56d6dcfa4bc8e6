// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneTesting
import Testing

/// Promise 6, counted: no leak of descriptors, threads or memory. Each test runs in a process of its own.
@Suite(.timeLimit(.minutes(5)))
struct Promise6ProcessTests {
  /// One of everything that can be made, until the network is known to all of them; then released.
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

  /// Swift's runtime opens a few descriptors of its own, late on a busy machine. A leak is one or more for each round, and
  /// there are at least ten rounds.
  private static let descriptorsOfTheRuntime = 10

  @Test func releasingEverythingLeavesNoThreadAndNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      let network = ScriptedNetwork()
      network.set(.wifi)
      func round() async throws {
        try await Promise6ProcessTests.useEverything(network)
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
      }
      try await round()
      let before = ProcessCensus.descriptors
      for _ in 0..<10 { try await round() }
      #expect(ProcessCensus.descriptors < before + Promise6ProcessTests.descriptorsOfTheRuntime)
    }
  }

  @Test func aThousandMonitorsNeedNoMoreThreadsAndDescriptorsThanOne() async {
    await #expect(processExitsWith: .success) {
      let network = ScriptedNetwork()
      network.set(.wifi)
      // Swift's own threads and descriptors are there from now on.
      try await Promise6ProcessTests.useEverything(network)
      try await eventually("the engine has ended") { ProcessCensus.threads(named: "dialtone") == 0 }
      let one = network.monitor()
      try await one.waitUntilReachable()
      // A thread is named only once it runs.
      try await eventually("both threads run") { ProcessCensus.threads(named: "dialtone") == 2 }
      let descriptors = ProcessCensus.descriptors
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
      // One for each monitor would be a thousand.
      #expect(ProcessCensus.descriptors < descriptors + Promise6ProcessTests.descriptorsOfTheRuntime)
      #expect(ProcessCensus.threads(named: "dialtone") == 2)
      withExtendedLifetime((one, many, tokens)) {}
    }
  }

  @Test func aHundredRoundsOfStartAndStopDoNotGrow() async {
    await #expect(processExitsWith: .success) {
      let network = ScriptedNetwork()
      network.set(.wifi)
      func rounds(_ count: Int) async throws {
        for _ in 0..<count {
          try await Promise6ProcessTests.useEverything(network)
          try await eventually("the engine has ended") { network.environment.slot.runningEngine == nil }
        }
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
      }
      try await rounds(20)
      let descriptors = ProcessCensus.descriptors
      let memory = ProcessCensus.residentMemory
      try await rounds(100)
      #expect(ProcessCensus.descriptors < descriptors + Promise6ProcessTests.descriptorsOfTheRuntime)
      let growth = ProcessCensus.residentMemory - memory
      #expect(growth < 4 << 20 || ProcessCensus.isSanitized, "\(growth) bytes")
    }
  }

  @Test func monitorsThatComeAndGoOnARunningEngineDoNotGrow() async {
    await #expect(processExitsWith: .success) {
      let network = ScriptedNetwork()
      network.set(.wifi)
      let anchor = network.monitor()
      func rounds(_ count: Int) async throws {
        for number in 0..<count {
          let monitor = network.monitor(.address(IPAddress(ipv4: 0x0A00_0000 + UInt32(number))))
          let token = monitor.observe { _ in }
          try await monitor.waitUntilReachable(timeout: .seconds(60))
          token.cancel()
        }
        try await network.settle()
      }
      try await rounds(1_000)
      let memory = ProcessCensus.residentMemory
      try await rounds(10_000)
      let growth = ProcessCensus.residentMemory - memory
      // A leak of 200 bytes a round would show.
      #expect(growth < 2 << 20 || ProcessCensus.isSanitized, "\(growth) bytes")
      withExtendedLifetime(anchor) {}
    }
  }

  @Test func aMonitorReleasedInItsOwnCallbackLeavesNothing() async {
    await #expect(processExitsWith: .success) {
      let network = ScriptedNetwork()
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
      try await round()
      let before = ProcessCensus.descriptors
      for _ in 0..<10 { try await round() }
      #expect(ProcessCensus.descriptors < before + Promise6ProcessTests.descriptorsOfTheRuntime)
    }
  }
}
#endif
