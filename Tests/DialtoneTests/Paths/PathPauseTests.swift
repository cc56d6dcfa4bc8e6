// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// A path monitor is paused and resumed while others listen, as in `PauseTests` for targets.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct PathPauseTests {
  @Test(arguments: Receiver.exact, [true, false])
  func nothingIsToldWhilePausedAndAfterwardsOnlyWhatDiffers(receiver: Receiver, isOther: Bool) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    // This monitor keeps the engine, so that each change is decided.
    let witness = PathMonitor(environment: network.environment)
    let monitor = PathMonitor(environment: network.environment)
    let log = Log<Int>()
    let reception = receiver.follow(any: monitor) { log.append($0.number ?? 0) }
    try await eventually("the first path") { log.all == [1] }
    monitor.pause()
    for number in [2, 3, isOther ? 4 : 1] {
      network.set(.numbered(number))
      try await eventually("it is decided") { witness.current.number == number }
      #expect(monitor.current ≈ NetworkPath(.undetermined))
    }
    #expect(log.count == 1)
    monitor.resume()
    try await eventually("it is known again") { monitor.current.number == (isOther ? 4 : 1) }
    if isOther { try await eventually("the path after the pause") { log.last == 4 } }
    network.set(.numbered(5))
    try await eventually("a change") { log.last == 5 }
    #expect(log.all == (isOther ? [1, 4, 5] : [1, 5]))
    reception.cancel()
  }

  @Test func nothingIsKnownWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = PathMonitor(environment: network.environment)
    try await monitor.waitUntilSatisfied()
    #expect(!monitor.isPaused)
    for _ in 0..<2 {
      monitor.pause()
      #expect(monitor.isPaused)
      #expect(monitor.current ≈ NetworkPath(.undetermined))
    }
    for _ in 0..<2 {
      monitor.resume()
      #expect(!monitor.isPaused)
    }
    #expect(try await monitor.waitUntilSatisfied().uses(.wifi))
  }

  @Test func theEngineEndsWhenAllArePausedAndOthersGoOnUntilThen() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let path = PathMonitor(environment: network.environment)
    let target = network.monitor()
    try await path.waitUntilSatisfied()
    path.pause()
    network.set(.numbered(2))
    try await eventually("the target goes on") { target.current.number == 2 }
    target.pause()
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    path.resume()
    #expect(try await path.waitUntilSatisfied().number == 2)
    #expect(target.isPaused)
  }

  @Test func waitsWaitAndTimeOutWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = PathMonitor(environment: network.environment)
    monitor.pause()
    await #expect(throws: ReachabilityError(.timedOut, "")) { try await monitor.waitUntilSatisfied(timeout: .zero) }
    let ticking = network.clock.ticking()
    await #expect(throws: ReachabilityError(.timedOut, "")) {
      try await monitor.waitUntilSatisfied(timeout: .seconds(30))
    }
    ticking.cancel()
    try await eventually("the wait has let the engine go") { network.environment.provider.runningEngine == nil }
    let fired = Counter()
    let once = monitor.whenSatisfied { fired.add() }
    async let path = monitor.waitUntilSatisfied()
    try await PathMonitor(environment: network.environment).waitUntilSatisfied()
    #expect(fired.value == 0)
    network.set(.wired)
    monitor.resume()
    #expect(try await path.uses(.wired))
    try await eventually("the action has run") { fired.value == 1 }
    withExtendedLifetime(once) {}
  }

  @Test(arguments: Receiver.exact)
  func aReceiverAddedWhilePausedIsToldAfterwards(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = PathMonitor(environment: network.environment)
    try await monitor.waitUntilSatisfied()
    monitor.pause()
    let log = Log<Int>()
    let reception = receiver.follow(any: monitor) { log.append($0.number ?? 0) }
    network.set(.numbered(2))
    #expect(try await PathMonitor(environment: network.environment).waitUntilSatisfied().number == 2)
    #expect(log.count == 0)
    monitor.resume()
    try await eventually("the first path") { log.last == 2 }
    #expect(log.count == 1)
    reception.cancel()
  }

  /// The engine may be deciding a path at the moment of the pause.
  @Test func nothingFromBeforeAPauseIsKnownInIt() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let witness = PathMonitor(environment: network.environment)
    let monitor = PathMonitor(environment: network.environment)
    for number in 2...500 {
      try await monitor.waitUntilSatisfied()
      network.set(.numbered(number))
      if number.isMultiple(of: 2) { await Task.yield() }
      monitor.pause()
      #expect(monitor.current ≈ NetworkPath(.undetermined))
      try await eventually("it is decided") { witness.current.number == number }
      #expect(monitor.current ≈ NetworkPath(.undetermined))
      monitor.resume()
    }
    #expect(try await monitor.waitUntilSatisfied().number == 500)
  }

  @Test func theFirstPathAfterAPauseDoesNotWaitToSettle() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    var configuration = PathConfiguration()
    configuration.settling = .seconds(60)
    let monitor = PathMonitor(configuration: configuration, environment: network.environment)
    let log = Log<Int>()
    let token = monitor.observe { log.append($0.number ?? 0) }
    try await eventually("the first path") { log.all == [1] }
    // A change that is held back when the pause begins is never delivered.
    network.set(.numbered(2))
    try await eventually("it is held back") { monitor.current.number == 2 }
    monitor.pause()
    network.set(.numbered(3))
    monitor.resume()
    try await eventually("at once, though no time has passed") { log.all == [1, 3] }
    // The end of that period does not end the new one early.
    network.set(.numbered(4))
    try await eventually("it is held back, too") { monitor.current.number == 4 }
    network.clock.advance(by: .seconds(59))
    try await network.settle()
    #expect(log.all == [1, 3])
    network.clock.advance(by: .seconds(1))
    try await eventually("it has settled") { log.all == [1, 3, 4] }
    token.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func itCanBePausedAndResumedInAHandler(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = PathMonitor(environment: network.environment)
    let log = Log<Int>()
    let token = receiver.observe(monitor) { [weak monitor] path in
      log.append(path.number ?? 0)
      monitor?.pause()
      if path.number == 1 {
        network.set(.numbered(2))
        monitor?.resume()
      }
    }
    try await eventually("the path after the pause") { log.all == [1, 2] }
    try await eventually("it is paused") { monitor.isPaused }
    token.cancel()
  }

  @Test(arguments: Receiver.exact)
  func releasedWhilePausedNothingIsLeft(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    weak var released: PathMonitor?
    do {
      let monitor = PathMonitor(environment: network.environment)
      released = monitor
      let reception = receiver.follow(any: monitor) { _ in }
      try await monitor.waitUntilSatisfied()
      monitor.pause()
      withExtendedLifetime(reception) {}
    }
    try await eventually("it is released") { released == nil }
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  @Test func withoutAnEngineItSaysSoAndAPauseHelps() async throws {
    let waiters = ScarceWaiters()
    let network = waiters.network()
    network.set(.wifi)
    let monitor = PathMonitor(environment: network.environment)
    monitor.pause()
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    let log = Log<NetworkPath>()
    let token = monitor.observe { log.append($0) }
    waiters.withoutMore { monitor.resume() }
    #expect(monitor.current ≈ NetworkPath(.undetermined, reason: .outOfDescriptors))
    try await eventually("who listens is told") { log.last?.reason == .outOfDescriptors }
    monitor.pause()
    monitor.resume()
    try await monitor.waitUntilSatisfied()
    token.cancel()
  }

  #if os(Linux)
  @Test func whileAllArePausedThereIsNoThreadAndNoDescriptor() async {
    await #expect(processExitsWith: .success) {
      let waiters = ScarceWaiters()
      let network = waiters.network()
      network.set(.wifi)
      let monitors = (0..<20).map { _ in PathMonitor(environment: network.environment) }
      let told = Counter()
      let tokens = monitors.map { $0.observe { _ in told.add() } }
      try await eventually("all have been told") { told.value == 20 }
      let left = try await Leftovers(within: Leftovers.Limits()) {
        for monitor in monitors { monitor.resume() }
        for monitor in monitors { try await monitor.waitUntilSatisfied(timeout: .seconds(60)) }
        try await eventually("one engine serves all") { ProcessCensus.threads(named: "dialtone") == 2 }
        #expect(waiters.count == 1)
        for monitor in monitors { monitor.pause() }
        try await eventually("no thread is left") { ProcessCensus.threads(named: "dialtone") == 0 }
        try await eventually("nothing is left to wait on") { waiters.count == 0 }
      }
      #expect(left.isWithin(Leftovers.Limits()), "\(left)")
      #expect(told.value == 20)
      withExtendedLifetime(tokens) {}
    }
  }
  #endif
}

extension NetworkPath {
  /// The number of a path made with `ScriptedPath.numbered`.
  fileprivate var number: Int? { interfaces.first.map { Int($0.index) } }
}
