// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 3, second half: a handler that blocks does not stop the engine, `current`, or receivers of another kind.
@Suite(.timeLimit(.minutes(5)))
struct Promise3BlockingTests {
  /// The main actor is left out here: to block it would block everything else that needs it, in other tests, too.
  @Test(arguments: [Receiver.closure, .queue, .concurrentQueue, .actor])
  func aHandlerThatBlocksStopsNoOther(blocked: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let hasBegun = Counter()
    let latch = Latch()
    let blocker = blocked.observe(monitor) { _ in
      hasBegun.add()
      latch.wait()
    }
    try await eventually("the handler blocks") { hasBegun.value == 1 }

    // One plain closure may hold up another, because they run one at a time.
    let others = Receiver.allCases.filter { $0 != .closure || blocked != .closure }
    var logs: [(receiver: Receiver, log: Log<Reachability>)] = []
    var receptions: [Reception] = []
    for receiver in others {
      let log = Log<Reachability>()
      receptions.append(await receiver.follow(monitor) { log.append($0) })
      logs.append((receiver, log))
    }
    for number in 2...5 {
      network.set(.numbered(number))
      try await eventually("current has \(number)") { monitor.current.number == number }
      for (receiver, log) in logs {
        try await log.wait("\(receiver) is told of \(number)") { $0.number == number }
      }
    }
    // New monitors, waits and timeouts work too.
    let other = network.monitor(.localNetwork)
    #expect(try await other.waitUntilReachable().number == 5)
    network.set(.unreachable())
    try await eventually("both are unreachable") { !monitor.current.isReachable && !other.current.isReachable }
    let ticking = network.clock.ticking()
    await #expect(throws: ReachabilityError(.timedOut, "")) {
      try await other.waitUntilReachable(timeout: .seconds(1))
    }
    ticking.cancel()
    #expect(!latch.isOpen)
    #expect(hasBegun.value == 1)
    latch.open()
    blocker.cancel()
    for reception in receptions { reception.cancel() }
  }

  @Test func aBlockedMainActorStopsNoOther() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let observable = await ObservableReachability(monitor)
    let hasBegun = Counter()
    let latch = Latch()
    let blocker = monitor.observeOnMainActor { _ in
      hasBegun.add()
      latch.wait()
    }
    try await eventually("the handler blocks") { hasBegun.value == 1 }
    let others: [Receiver] = [.updates, .closure, .queue, .concurrentQueue, .actor]
    for receiver in others {
      let log = Log<Reachability>()
      let reception = await receiver.follow(monitor) { log.append($0) }
      let number = 2 + hasBegun.add(10)
      network.set(.numbered(number))
      try await log.wait("\(receiver) is told") { $0.number == number }
      reception.cancel()
    }
    network.set(.numbered(999))
    try await eventually("current has the newest") { monitor.current.number == 999 }
    latch.open()
    blocker.cancel()
    try await eventually("the property catches up") { await observable.current.number == 999 }
  }

  @Test(arguments: Receiver.handlers)
  func aHandlerThatBlocksIsNotCalledASecondTime(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let running = Counter()
    let overlaps = Counter()
    let log = Log<Reachability>()
    let token = receiver.observe(monitor) { state in
      if running.add() > 1 { overlaps.add() }
      // Long enough for a second call to overlap, if there were one.
      for _ in 0..<2_000 { _ = monitor.current }
      log.append(state)
      running.add(-1)
    }
    for number in 2...300 {
      network.set(.numbered(number))
      if number % 10 == 0 { try await log.wait("state \(number)") { $0.number == number } }
    }
    token.cancel()
    #expect(overlaps.value == 0)
  }
}
