// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// A monitor is paused and resumed while others listen.
@Suite(.timeLimit(.minutes(5)), .fewAtATime)
struct PauseTests {
  @Test(arguments: Receiver.allCases, [true, false])
  func nothingIsToldWhilePausedAndAfterwardsOnlyWhatDiffers(receiver: Receiver, isOther: Bool) async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    // It keeps the engine, so that what is set is decided.
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
    // Where the change came soon enough, it took the place of the state before.
    #expect((isOther ? [[1, 5, 6], [1, 6]] : [[1, 6]]).contains(log.all.map { $0.number ?? 0 }))
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func afterwardsItIsToldOfWhatDiffersByItself(receiver: Receiver) async throws {
    let network = ScriptedNetwork()
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

  @Test func nothingIsKnownWhilePaused() async throws {
    let network = ScriptedNetwork()
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
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitors = [network.monitor(), network.monitor(.localNetwork)]
    let log = Log<Reachability>()
    let token = monitors[1].observe { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    monitors[0].pause()
    network.set(.numbered(2))
    try await log.wait("the other goes on") { $0.number == 2 }
    monitors[1].pause()
    try await eventually("the engine has ended") { network.environment.slot.runningEngine == nil }
    monitors[0].resume()
    #expect(try await monitors[0].waitUntilReachable().number == 2)
    #expect(log.count == 2)
    token.cancel()
  }

  @Test func waitsWaitAndTimeOutWhilePaused() async throws {
    let network = ScriptedNetwork()
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
    try await eventually("the wait has let the engine go") { network.environment.slot.runningEngine == nil }
    let fired = Counter()
    let once = monitor.whenReachable { fired.add() }
    async let state = monitor.waitUntilReachable()
    async let known = monitor.waitUntilKnown(timeout: .seconds(1_000))
    // Others see the network, and are of no use to these.
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
    let network = ScriptedNetwork()
    let monitor = network.monitor()
    monitor.pause()
    try await eventually("the engine has ended") { network.environment.slot.runningEngine == nil }
    let waiting = Task { try await monitor.waitUntilReachable(timeout: .seconds(1_000)) }
    try await eventually("there is one for the wait") { network.environment.slot.runningEngine != nil }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try await eventually("the engine has ended") { network.environment.slot.runningEngine == nil }
  }

  @Test func aWaitCanBeCancelledWhilePaused() async throws {
    let network = ScriptedNetwork()
    let monitor = network.monitor()
    monitor.pause()
    let waiting = Task { try await monitor.waitUntilReachable(timeout: .seconds(1_000)) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test(arguments: Receiver.allCases)
  func whoBeginsToListenWhilePausedIsToldAfterwards(receiver: Receiver) async throws {
    let network = ScriptedNetwork()
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

  /// The call that a handler is waiting for when the engine goes must not be waited for for ever.
  @Test(arguments: Receiver.handlers)
  func whoBeginsToListenJustBeforeAPauseIsToldAfterwards(receiver: Receiver) async throws {
    let network = ScriptedNetwork()
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
    let network = ScriptedNetwork()
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
    #expect(network.environment.slot.runningEngine == nil)
    monitor.resume()
    try await log.wait("the new target's state") { $0.isVia("eth0") }
    #expect(log.count == 2)
    token.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func itCanBePausedAndResumedInAHandler(receiver: Receiver) async throws {
    let network = ScriptedNetwork()
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
    let network = ScriptedNetwork()
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
    try await eventually("the engine has ended") { network.environment.slot.runningEngine == nil }
  }

  #if os(Linux)
  @Test func whileAllArePausedThereIsNoThreadAndNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      let network = ScriptedNetwork()
      network.set(.wifi)
      let monitors = (0..<20).map { network.monitor(.address(IPAddress(ipv4: 0xC000_0200 + UInt32($0)))) }
      let told = Counter()
      let tokens = monitors.map { $0.observe { _ in told.add() } }
      var iterators = monitors.map { $0.updates.makeAsyncIterator() }
      for position in iterators.indices { _ = await iterators[position].next() }
      try await eventually("all have been told") { told.value == 20 }
      // An engine that is left would have two descriptors or more.
      let left = try await Leftovers {
        for monitor in monitors { monitor.resume() }
        for monitor in monitors { try await monitor.waitUntilReachable(timeout: .seconds(60)) }
        try await eventually("one engine serves all") { ProcessCensus.threads(named: "dialtone") == 2 }
        let running = try ProcessCensus().descriptors
        for monitor in monitors { monitor.pause() }
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
        #expect(try ProcessCensus().descriptors < running)
      }
      #expect(left.descriptors <= 0, "\(left)")
      #expect(told.value == 20)
      withExtendedLifetime((tokens, iterators)) {}
    }
  }
  #endif
}
