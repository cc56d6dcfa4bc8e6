// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Settling as receivers see it, with a clock that a test moves.
@Suite(.timeLimit(.minutes(5)))
struct SettlingTests {
  @Test func theFirstStateComesAtOnce() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor { $0.settling = .seconds(10) }
    #expect(try await monitor.waitUntilKnown().isVia("wlan0"))
  }

  @Test(arguments: Receiver.exact)
  func aChangeComesOnceItHasBeenQuiet(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor { $0.settling = .seconds(10) }
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    for number in 2...4 {
      network.set(.numbered(number))
      // `current` is never held back.
      try await eventually("current has \(number)") { monitor.current.number == number }
      network.clock.advance(by: .seconds(9))
      try await network.settle()
      #expect(log.all.map(\.number) == [1])
    }
    network.clock.advance(by: .seconds(1))
    try await log.wait("the last state") { $0.number == 4 }
    #expect(log.all.map(\.number) == [1, 4])
    reception.cancel()
  }

  @Test func aChangeComesAfterFourTimesTheSettlingIfItIsNeverQuiet() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor { $0.settling = .seconds(10) }
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    for number in 2...9 {
      network.set(.numbered(number))
      try await eventually("current has \(number)") { monitor.current.number == number }
      #expect(log.count == 1)
      network.clock.advance(by: .seconds(5))
      if number < 9 { try await network.settle() }
    }
    // This is 40 seconds after the first change.
    try await log.wait("the state by then") { $0.number == 9 }
    #expect(log.all.map(\.number) == [1, 9])
    token.cancel()
  }

  @Test func whatWentAndCameBackIsNoChange() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor { $0.settling = .seconds(10) }
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    network.set(.unreachable())
    try await eventually("gone") { !monitor.current.isReachable }
    network.set(.wifi)
    try await eventually("back") { monitor.current.isReachable }
    network.clock.advance(by: .seconds(60))
    try await network.settle()
    network.set(.wired)
    try await eventually("another") { monitor.current.isVia("eth0") }
    network.clock.advance(by: .seconds(10))
    try await log.wait("another is delivered") { $0.isVia("eth0") }
    #expect(log.all.map { $0.interface?.name } == ["wlan0", "eth0"])
    token.cancel()
  }

  @Test func aReceiverThatComesWhileAChangeIsHeldBackBeginsWithTheNewest() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor { $0.settling = .seconds(10) }
    _ = try await monitor.waitUntilKnown()
    network.set(.wired)
    try await eventually("current has it") { monitor.current.isVia("eth0") }
    var iterator = monitor.updates.makeAsyncIterator()
    #expect(await iterator.next()?.isVia("eth0") == true)
    #expect(try await monitor.waitUntilReachable(timeout: .zero).isVia("eth0"))
  }

  @Test func oneMonitorSettlesWithoutAnother() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let slow = network.monitor { $0.settling = .seconds(10) }
    let quick = network.monitor()
    let slowLog = Log<Reachability>()
    let quickLog = Log<Reachability>()
    let tokens = [slow.observe { slowLog.append($0) }, quick.observe { quickLog.append($0) }]
    try await slowLog.wait("the first state") { $0.isReachable }
    network.set(.wired)
    try await quickLog.wait("the change") { $0.isVia("eth0") }
    try await network.settle()
    #expect(slowLog.count == 1)
    for token in tokens { token.cancel() }
  }
}
