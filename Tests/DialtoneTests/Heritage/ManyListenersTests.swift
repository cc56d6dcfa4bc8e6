// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Any number of listeners that come and go, by themselves and by one another. This crashed DTReachability, and left
/// RKReachabilityObserver's queue suspended.
@Suite(.timeLimit(.minutes(5)))
struct ManyListenersTests {
  @Test(arguments: Receiver.handlers)
  func eachOfManyIsToldAndEndsByItself(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let logs = (0..<20).map { _ in Log<Reachability>() }
    var tokens: [ReachabilityObservation?] = logs.map { log in receiver.observe(monitor) { log.append($0) } }
    for log in logs { try await log.wait("the first state") { $0.number == 1 } }

    // Every other listener ends: half of these by cancelling, half by release.
    for position in stride(from: 0, to: 20, by: 2) {
      if position % 4 == 0 { tokens[position]?.cancel() } else { tokens[position] = nil }
    }
    network.set(.numbered(2))
    for position in stride(from: 1, to: 20, by: 2) {
      try await logs[position].wait("the change, at \(position)") { $0.number == 2 }
    }
    try await network.settle()
    for (position, log) in logs.enumerated() {
      #expect(log.all.map(\.number) == (position % 2 == 0 ? [1] : [1, 2]), "\(position)")
    }
    withExtendedLifetime(tokens) {}
  }

  /// Again and again, the handler of one listener removes all others and adds new ones.
  @Test(arguments: Receiver.handlers)
  func listenersAreAddedAndRemovedInsideACallback(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let others = Box<[ReachabilityObservation]>([])
    let log = Log<Reachability>()
    let toldToOthers = Log<Reachability>()
    let token = receiver.observe(monitor) { [weak monitor] state in
      for other in others.value { other.cancel() }
      others.value =
        monitor.map { monitor in
          (0..<10).map { _ in receiver.observe(monitor) { toldToOthers.append($0) } }
        } ?? []
      log.append(state)
    }
    for number in 1...30 {
      network.set(.numbered(number))
      try await log.wait("change \(number)") { $0.number == number }
    }
    // The listeners of the last round are there, and are told of the state although it does not change.
    try await eventually("the last ten are told") { toldToOthers.all.count { $0.number == 30 } >= 10 }
    #expect(log.all.map(\.number) == Array(1...30))
    let lastOthers = others.value
    others.value = []
    token.cancel()
    for other in lastOthers { other.cancel() }
  }

  /// The listener is swapped before anything is known. RKReachabilityObserver failed an assertion here.
  @Test(arguments: Receiver.handlers)
  func aListenerIsSwappedForAnotherBeforeAnythingIsKnown(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "example.com")
    var monitor: ReachabilityMonitor? = network.monitor(try .host("example.com"))
    let former = Log<Reachability>()
    var token = try receiver.observe(#require(monitor)) { former.append($0) }
    for number in 1...20 {
      monitor = network.monitor(.address(IPAddress(ipv4: 0xC000_0200 + UInt32(number))))
      let log = Log<Reachability>()
      token = try receiver.observe(#require(monitor)) { log.append($0) }
      try await log.wait("the state of monitor \(number)") { $0.isReachable }
    }
    network.set(.addresses([ip("192.0.2.7")]), forName: "example.com")
    try await network.settle()
    #expect(former.all.isEmpty)
    token.cancel()
  }
}
