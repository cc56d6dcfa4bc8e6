// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// The order in which listeners begin does not matter. RKReachabilityObserver's users had to keep one.
@Suite(.timeLimit(.minutes(5)))
struct LateListenerTests {
  @Test(arguments: Receiver.allCases)
  func aLateListenerIsToldOfTheKnownStateOnceAndThenOfEachChange(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    network.set(.numbered(2))
    try await eventually("the change is known") { monitor.current.number == 2 }
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the state that is known") { $0.number == 2 }
    network.set(.numbered(3))
    try await log.wait("the change") { $0.number == 3 }
    #expect(log.all.map(\.number) == [2, 3])
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func anEarlyListenerIsToldOnceSomethingIsKnown(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let name = "example.com"
    network.set(.wifi)
    network.set(.hanging, forName: name)
    let monitor = network.monitor(try .host(name))
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await network.settle()
    #expect(log.all.isEmpty)
    network.set(.addresses([ip("192.0.2.7")]), forName: name)
    try await log.wait("the first state") { $0.isReachable }
    #expect(log.count == 1)
    reception.cancel()
  }
}
