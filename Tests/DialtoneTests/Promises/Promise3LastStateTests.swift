// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// Promise 3, first half: the last state always arrives. A slow receiver skips states between, and nothing queues up
/// for it.
@Suite(.timeLimit(.minutes(5)))
struct Promise3LastStateTests {
  @Test(arguments: Receiver.handlers)
  func aHandlerThatIsSlowGetsTheNewestAndSkipsTheRest(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let latch = Latch()
    let token = receiver.observe(monitor) { state in
      log.append(state)
      if state.number == 1 { latch.wait() }
    }
    try await log.wait("the first state") { $0.number == 1 }
    for number in 2...1_000 { network.set(.numbered(number)) }
    try await eventually("the engine has the newest") { monitor.current.number == 1_000 }
    try await network.settle()
    latch.open()
    try await log.wait("the newest") { $0.number == 1_000 }
    // None of the 998 states between was kept: there is one call, with the newest.
    #expect(log.all.map(\.number) == [1, 1_000])
    token.cancel()
  }

  @Test func aSequenceReadSlowlyGivesTheNewestAndSkipsTheRest() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    var iterator = monitor.updates.makeAsyncIterator()
    #expect(await iterator.next()?.number == 1)
    for number in 2...1_000 { network.set(.numbered(number)) }
    try await eventually("the engine has the newest") { monitor.current.number == 1_000 }
    #expect(await iterator.next()?.number == 1_000)
    network.set(.unreachable())
    #expect(await iterator.next()?.isReachable == false)
  }

  @Test(arguments: Receiver.allCases)
  func theLastStateArrivesAfterAnyStorm(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    for round in 1...40 {
      for step in 1...25 { network.set(.numbered(round * 100 + step)) }
      try await log.wait("the last of round \(round)") { $0.number == round * 100 + 25 }
    }
    reception.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func aStateThatGoesAndComesBackWhileTheHandlerRunsIsNotDeliveredAgain(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let latch = Latch()
    let token = receiver.observe(monitor) { state in
      log.append(state)
      latch.wait()
    }
    try await log.wait("the first state") { $0.isReachable }
    network.set(.unreachable())
    try await eventually("gone") { !monitor.current.isReachable }
    network.set(.wifi)
    try await eventually("back") { monitor.current.isReachable }
    latch.open()
    network.set(.wired)
    try await log.wait("another state") { $0.isVia("eth0") }
    #expect(log.all.map { $0.interface?.name } == ["wlan0", "eth0"])
    token.cancel()
  }
}
