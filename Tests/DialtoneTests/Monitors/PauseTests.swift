// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// A monitor is paused and resumed while others listen.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct PauseTests {
  @Test(arguments: Receiver.allCases, [true, false])
  func nothingIsToldWhilePausedAndAfterwardsOnlyWhatDiffers(receiver: Receiver, isOther: Bool) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    // This monitor keeps the engine, so that each change is decided.
    let witness = network.monitor()
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    monitor.pause()
    for number in [2, 3, 4, isOther ? 5 : 1] {
      network.set(.numbered(number))
      try await eventually("it is decided") { witness.current.number == number }
      #expect(monitor.current.status == .undetermined)
    }
    #expect(log.count == 1)
    monitor.resume()
    try await eventually("it is known again") { monitor.current.number == (isOther ? 5 : 1) }
    network.set(.numbered(6))
    if isOther { try await log.wait("the state after the pause") { ($0.number ?? 0) >= 5 } }
    try await log.wait("a change") { $0.number == 6 }
    // If the change came soon enough, it replaced the state before.
    #expect((isOther ? [[1, 5, 6], [1, 6]] : [[1, 6]]).contains(log.all.map { $0.number ?? 0 }))
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func afterwardsItIsToldOfWhatDiffersByItself(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    monitor.pause()
    network.set(.numbered(2))
    monitor.resume()
    try await log.wait("the state after the pause") { $0.number == 2 }
    #expect(log.count == 2)
    reception.cancel()
  }

  @Test func codeThatTakesAnyMonitorCanPauseIt() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitors: [any StateMonitor] = [network.monitor(), PathMonitor(environment: network.environment)]
    for monitor in monitors {
      monitor.pause()
      #expect(monitor.isPaused)
      monitor.resume()
      #expect(!monitor.isPaused)
    }
  }

  @Test func nothingIsKnownWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    #expect(!monitor.isPaused)
    for _ in 0..<2 {
      monitor.pause()
      #expect(monitor.isPaused)
      #expect(monitor.current.status == .undetermined)
      #expect(monitor.current.reason == nil)
    }
    for _ in 0..<2 {
      monitor.resume()
      #expect(!monitor.isPaused)
    }
    #expect(try await monitor.waitUntilReachable().isVia("wlan0"))
  }

  @Test func theEngineEndsWhenAllArePausedAndOthersGoOnUntilThen() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let (monitor, other) = (network.monitor(), network.monitor(.localNetwork))
    let log = Log<Reachability>()
    let token = other.observe { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    monitor.pause()
    network.set(.numbered(2))
    try await log.wait("the other goes on") { $0.number == 2 }
    other.pause()
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    monitor.resume()
    #expect(try await monitor.waitUntilReachable().number == 2)
    #expect(log.count == 2)
    token.cancel()
  }

  @Test func waitsWaitAndTimeOutWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    monitor.pause()
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilReachable(timeout: .zero) }
    let ticking = network.clock.ticking()
    await #expect(throws: ReachabilityError(.timedOut, "")) {
      try await monitor.waitUntilReachable(timeout: .seconds(30))
    }
    ticking.cancel()
    try await eventually("the wait has let the engine go") { network.environment.provider.runningEngine == nil }
    let fired = Counter()
    let once = monitor.whenReachable { fired.add() }
    async let state = monitor.waitUntilReachable()
    async let known = monitor.waitUntilKnown(timeout: .seconds(1_000))
    // Another monitor sees the network. That does not end these waits.
    #expect(try await network.monitor().waitUntilReachable().isVia("wlan0"))
    #expect(fired.value == 0)
    network.set(.wired)
    monitor.resume()
    #expect(try await state.isVia("eth0"))
    #expect(try await known.isVia("eth0"))
    try await eventually("the action has run") { fired.value == 1 }
    withExtendedLifetime(once) {}
  }

  @Test func aWaitWithATimeoutKeepsTheEngineInAPauseUntilItEnds() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    monitor.pause()
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    let waiting = Task { try await monitor.waitUntilReachable(timeout: .seconds(1_000)) }
    try await eventually("there is one for the wait") { network.environment.provider.runningEngine != nil }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  @Test func aWaitWithoutTimeStartsNoEngine() async throws {
    let started = Counter()
    let network = ScriptedNetwork { time throws(SystemError) in
      started.add()
      return SemaphoreWaiter(time)
    }
    network.set(.wifi)
    let monitor = network.monitor()
    try await monitor.waitUntilReachable()
    monitor.pause()
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    #expect(started.value == 1)
    for timeout in [Duration.zero, .seconds(-1)] {
      await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilReachable(timeout: timeout) }
    }
    #expect(started.value == 1)
  }

  @Test func aWaitCanBeCancelledWhilePaused() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    monitor.pause()
    let waiting = Task { try await monitor.waitUntilReachable(timeout: .seconds(1_000)) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test(arguments: Receiver.allCases)
  func aReceiverAddedWhilePausedIsToldAfterwards(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    monitor.pause()
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    network.set(.numbered(2))
    #expect(try await network.monitor().waitUntilReachable().number == 2)
    #expect(log.count == 0)
    monitor.resume()
    try await log.wait("the first state") { $0.number == 2 }
    #expect(log.count == 1)
    reception.cancel()
  }

  /// The engine may end while a call of the handler is queued. The handler must not wait for that call for ever.
  @Test(arguments: Receiver.handlers)
  func aReceiverAddedJustBeforeAPauseIsToldAfterwards(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    for number in 1...200 {
      network.set(.numbered(number))
      try await eventually("it is known") { monitor.current.number == number }
      let log = Log<Reachability>()
      let token = receiver.observe(monitor) { log.append($0) }
      monitor.pause()
      network.set(.numbered(number + 1_000))
      monitor.resume()
      try await log.wait("round \(number)") { $0.number == number + 1_000 }
      token.cancel()
    }
  }

  @Test func theTargetCanBeChangedWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.wired, for: ip("192.0.2.1"))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.isVia("wlan0") }
    monitor.pause()
    monitor.target = .address(ip("192.0.2.1"))
    #expect(monitor.target == .address(ip("192.0.2.1")))
    #expect(monitor.isPaused)
    // A thread holds the engine until its turn ends.
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    monitor.resume()
    try await log.wait("the new target's state") { $0.isVia("eth0") }
    #expect(log.count == 2)
    token.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func itCanBePausedAndResumedInAHandler(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let token = receiver.observe(monitor) { [weak monitor] state in
      log.append(state)
      monitor?.pause()
      if state.number == 1 {
        network.set(.numbered(2))
        monitor?.resume()
      }
    }
    try await log.wait("the state after the pause") { $0.number == 2 }
    try await eventually("it is paused") { monitor.isPaused }
    #expect(log.count == 2)
    token.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func releasedWhilePausedNothingIsLeft(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    weak var released: ReachabilityMonitor?
    do {
      let monitor = network.monitor()
      released = monitor
      let reception = await receiver.follow(monitor) { _ in }
      try await monitor.waitUntilReachable()
      monitor.pause()
      withExtendedLifetime(reception) {}
    }
    try await eventually("it is released") { released == nil }
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  #if os(Linux)
  @Test func whileAllArePausedThereIsNoThreadAndNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      let waiters = ScarceWaiters()
      let network = waiters.network()
      network.set(.wifi)
      let monitors = (0..<20).map { network.monitor(.address(IPAddress(ipv4: 0xC000_0200 + UInt32($0)))) }
      let told = Counter()
      let tokens = monitors.map { $0.observe { _ in told.add() } }
      var iterators = monitors.map { $0.updates.makeAsyncIterator() }
      for position in iterators.indices { _ = await iterators[position].next() }
      try await eventually("all have been told") { told.value == 20 }
      let left = try await Leftovers(within: Leftovers.Limits()) {
        for monitor in monitors { monitor.resume() }
        for monitor in monitors { try await monitor.waitUntilReachable(timeout: .seconds(60)) }
        try await eventually("one engine serves all") { ProcessCensus.threads(named: "dialtone") == 2 }
        #expect(waiters.count == 1)
        for monitor in monitors { monitor.pause() }
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
        try await eventually("nothing is left to wait on") { waiters.count == 0 }
      }
      #expect(left.isWithin(Leftovers.Limits()), "\(left)")
      #expect(told.value == 20)
      withExtendedLifetime((tokens, iterators)) {}
    }
  }
  #endif
}
