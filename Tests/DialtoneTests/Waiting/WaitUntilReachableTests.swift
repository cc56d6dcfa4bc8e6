// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WaitUntilReachableTests {
  typealias Requirement = ReachabilityMonitor.InterfaceRequirement
  private static let timedOut = ReachabilityError(.timedOut, "")

  @Test func returnsAtOnceIfItIsReachable() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    #expect(try await monitor.waitUntilReachable().isVia("wlan0"))
    #expect(try await monitor.waitUntilReachable(timeout: .zero).isVia("wlan0"))
    #expect(try await monitor.waitUntilReachable(over: .nonCellular, timeout: .seconds(-1)).isVia("wlan0"))
  }

  @Test func returnsOnceItBecomesReachable() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    async let state = monitor.waitUntilReachable(timeout: .seconds(30))
    network.set(.requiresConnection(.dormant, over: interface("wlan0")))
    network.set(.denied)
    network.set(.wired)
    #expect(try await state.isVia("eth0"))
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(Int64.min)])
  func withAZeroTimeoutItReadsOnlyThePresentState(timeout: Duration) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    await #expect(throws: Self.timedOut) { try await monitor.waitUntilReachable(timeout: timeout) }
  }

  @Test func timesOutByTheClockAndNotBefore() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let ended = Counter()
    let waiting = Task {
      defer { ended.add() }
      return try await monitor.waitUntilReachable(timeout: .seconds(3_600))
    }
    // Less than an hour has passed, whenever the wait began.
    for _ in 0..<59 {
      network.clock.advance(by: .seconds(60))
      try await network.settle()
    }
    #expect(ended.value == 0)
    let ticking = network.clock.ticking(by: .seconds(60))
    await #expect(throws: Self.timedOut) { try await waiting.value }
    ticking.cancel()
  }

  /// Otherwise it would say that what is reachable was not.
  @Test(
    arguments: [(.only(.cellular), " over cellular"), (.nonCellular, " over an interface that is not cellular")]
      as [(ReachabilityMonitor.InterfaceRequirement, String)])
  func theErrorNamesTheInterfacesThatCount(
    requirement: ReachabilityMonitor.InterfaceRequirement, words: String
  ) async throws {
    let network = scriptedNetwork()
    network.set(requirement == .nonCellular ? .cellular : .wired)
    let monitor = network.monitor()
    let state = try await monitor.waitUntilReachable()
    let error = try await #require(
      #expect(throws: ReachabilityError.self) {
        try await monitor.waitUntilReachable(over: requirement, timeout: .zero)
      })
    #expect(error.message.hasPrefix("internet was not reachable\(words) at once"), "\(error.message)")
    #expect(error.message.hasSuffix("; now: \(state)"), "\(error.message)")
  }

  @Test func theErrorNamesTheTargetTheTimeAndTheReason() async throws {
    let network = scriptedNetwork()
    network.set(.nonexistent, forName: "name.example")
    let monitor = network.monitor(try .host("name.example"))
    try await eventually("the name is looked up") { monitor.current.reason == .nameNotResolved }
    let ticking = network.clock.ticking()
    do {
      try await monitor.waitUntilReachable(timeout: .seconds(5))
      Issue.record("It was not reachable")
    } catch let error as ReachabilityError {
      #expect(error.code == .timedOut)
      #expect(error.message.contains("name.example"))
      #expect(error.message.contains("5.0 seconds"))
      // The state is as a print shows it; its reason is what a log needs.
      #expect(error.message.hasSuffix("; now: \(monitor.current)"))
      #expect(error.message.contains(Reachability.Reason.nameNotResolved.description))
    }
    ticking.cancel()
  }

  /// A reason such as "the interface does not exist" says little without the interface's name.
  @Test func theErrorNamesTheInterfaceThatIsAskedFor() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    let monitor = network.monitor { $0.interface = "wlan9" }
    let state = try await monitor.waitUntilKnown()
    #expect(state.isUnreachable(.noInterface))
    let error = await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilReachable(timeout: .zero) }
    let words = "internet over wlan9 was not reachable at once, and there was no time to wait; now: \(state)"
    #expect(error?.message == words)
    let gate = PathGate(configuration: monitor.configuration, environment: network.environment)
    let unavailable = await #expect(throws: PathGate.Unavailable.self) { try await gate.waitForPath(timeout: .zero) }
    #expect(
      unavailable?.description == "no path to internet over wlan9 within 0.0 seconds: the interface does not exist")
  }

  @Test func theErrorSaysThatTheMonitorIsPaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    monitor.pause()
    let error = await #expect(throws: ReachabilityError.self) { try await monitor.waitUntilReachable(timeout: .zero) }
    let words = "internet was not reachable at once, and there was no time to wait; the monitor is paused"
    #expect(error?.message == words)
  }

  @Test func takesAnyTimeout() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    async let state = monitor.waitUntilReachable(timeout: .seconds(Int64.max))
    network.clock.advance(by: .seconds(1_000_000))
    network.set(.wifi)
    #expect(try await state.isReachable)
  }

  @Test func isCancelledWithItsTask() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let hasBegun = Counter()
    let waiting = Task {
      hasBegun.add()
      return try await monitor.waitUntilReachable()
    }
    try await eventually("it has begun") { hasBegun.value == 1 }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    // A wait that is cancelled already does not even read the state.
    network.set(.wifi)
    try await monitor.waitUntilReachable()
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await monitor.waitUntilReachable()
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
  }

  static let cases: [(requirement: Requirement, path: ScriptedPath, isMet: Bool)] = [
    (.any, .wifi, true), (.any, .cellular, true), (.any, .unreachable(), false), (.any, .denied, false),
    (.any, .requiresConnection(.noSession, over: interface("wwan0", 4, .cellular)), false),
    (.nonCellular, .wifi, true), (.nonCellular, .wired, true), (.nonCellular, .cellular, false),
    (.nonCellular, .reachable(over: interface("wg0", 9, .tunnel)), true),
    (.only(.wifi), .wifi, true), (.only(.wifi), .wired, false), (.only(.cellular), .cellular, true),
    (.only(.tunnel), .reachable(over: interface("wg0", 9, .tunnel)), true), (.only(.other), .unreachable(), false),
  ]

  @Test(arguments: 0..<cases.count)
  func onlyWhatMeetsTheRequirementEndsIt(position: Int) async throws {
    let (requirement, path, isMet) = Self.cases[position]
    let network = scriptedNetwork()
    network.set(path)
    let monitor = network.monitor()
    let known = try await monitor.waitUntilKnown()
    #expect(requirement.isMet(by: known) == isMet)
    if isMet {
      try await monitor.waitUntilReachable(over: requirement, timeout: .zero)
    } else {
      await #expect(throws: Self.timedOut) {
        try await monitor.waitUntilReachable(over: requirement, timeout: .zero)
      }
    }
  }

  @Test func severalWaitOnOneMonitorEachForItsOwn() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    async let any = monitor.waitUntilReachable()
    async let another = monitor.waitUntilReachable()
    async let nonCellular = monitor.waitUntilReachable(over: .nonCellular)
    async let wired = monitor.waitUntilReachable(over: .only(.wired))
    network.set(.cellular)
    #expect(try await any.isVia("wwan0"))
    #expect(try await another.isVia("wwan0"))
    network.set(.wifi)
    #expect(try await nonCellular.isVia("wlan0"))
    network.set(.wired)
    #expect(try await wired.isVia("eth0"))
  }

  @Test func waitUntilKnownTakesAnyKnownState() async throws {
    for path in [ScriptedPath.wifi, .unreachable(.prohibited), .denied] {
      let network = scriptedNetwork()
      network.set(path)
      let state = try await network.monitor().waitUntilKnown(timeout: .seconds(1))
      #expect(state.isDetermined || state.reason != nil)
    }
    let slow = SlowNetwork()
    await #expect(throws: Self.timedOut) { try await slow.monitor().waitUntilKnown(timeout: .zero) }
    slow.open()
  }
}
