// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 4: order of delivery is order of change.
@Suite(.timeLimit(.minutes(5)))
struct Promise4OrderTests {
  @Test(arguments: Receiver.allCases)
  func deliversInTheOrderOfChange(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    for number in 1...2_000 {
      network.set(.numbered(number))
      if number % 7 == 0 { await Task.yield() }
      if number % 100 == 0 { try await network.settle() }
      // A receiver that only gets the last state gets none of these.
      if number % 300 == 0 { try await log.wait("state \(number)") { $0.number == number } }
    }
    try await log.wait("the last state") { $0.number == 2_000 }
    let numbers = log.all.compactMap(\.number)
    #expect(numbers == numbers.sorted())
    reception.cancel()
  }

  @Test(arguments: Receiver.exact)
  func deliversEachChangeToAReceiverThatIsQuickEnough(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    for number in 1...100 {
      network.set(.numbered(number))
      try await log.wait("state \(number)") { $0.number == number }
    }
    #expect(log.all.compactMap(\.number) == Array(1...100))
    reception.cancel()
  }

  @Test func receiversOfOneKindAreCalledInTurn() async throws {
    let network = scriptedNetwork()
    let monitors = [network.monitor(), network.monitor(.localNetwork), network.monitor(.address(ip("192.0.2.9")))]
    let running = Counter()
    let overlaps = Counter()
    let log = Log<Int?>()
    let tokens = (0..<6).map { position in
      monitors[position % monitors.count].observe { state in
        if running.add() > 1 { overlaps.add() }
        log.append(state.number)
        running.add(-1)
      }
    }
    for number in 1...200 {
      network.set(.numbered(number))
      if number % 20 == 0 { try await network.settle() }
    }
    try await eventually("each has had the last") { log.all.filter { $0 == 200 }.count == 6 }
    #expect(overlaps.value == 0)
    for token in tokens { token.cancel() }
  }

  @Test func theTimeOfAStateIsThatOfItsChange() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let first = try await monitor.waitUntilKnown()
    let time = try #require(first.timestamp)
    #expect(time.durationSince1970 > .seconds(1_700_000_000))
    network.set(.wifi)
    try await network.settle()
    #expect(monitor.current.timestamp == time)
    network.clock.advance(by: .seconds(7))
    network.set(.wired)
    try await eventually("the change") { monitor.current.isVia("eth0") }
    let change = try #require(monitor.current.timestamp)
    #expect(change.durationSince1970 - time.durationSince1970 == .seconds(7))
  }
}
