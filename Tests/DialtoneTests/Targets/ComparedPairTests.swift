// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// A pair of addresses whose state also tells whether the remote one can be reached from another source.
@Suite(.timeLimit(.minutes(5)))
struct ComparedPairTests {
  private let local = IPAddress(ipv4: 0xC000_0202)
  private var pair: ReachabilityTarget { .address(IPAddress(ipv4: 0xC633_6401), from: local, port: 443) }

  private func configuration(compares: Bool) -> ReachabilityConfiguration {
    var configuration = ReachabilityConfiguration()
    configuration.comparesSources = compares
    return configuration
  }

  @Test func tellsWhatBecomesOfTheRemoteAddressAlone() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    network.set(.wired, from: local)
    let monitor = ReachabilityMonitor(
      pair, configuration: configuration(compares: true), environment: network.environment)
    var updates = monitor.updates.makeAsyncIterator()
    let first = try #require(await updates.next())
    #expect(first.isReachable && first.freeInterface == first.interface?.index)
    // The pair stays as it is.
    network.set(.wifi)
    let second = try #require(await updates.next())
    #expect(second.interface == first.interface)
    #expect(second.freeInterface != 0 && second.freeInterface != first.freeInterface)
    network.set(.unreachable(.noCarrier))
    let third = try #require(await updates.next())
    #expect(third.isReachable && third.freeInterface == 0)
    network.set(.unreachable(.noAddress), from: local)
    network.set(.wifi)
    try await eventually("the address is gone") { monitor.current.reason == .noAddress }
    try await eventually("another one is there") { monitor.current.freeInterface == second.freeInterface }
    let now = Reachability.now(
      pair, configuration: configuration(compares: true), environment: network.environment)
    #expect(now == monitor.current)
  }

  @Test func othersAreNotToldOfIt() async throws {
    let network = scriptedNetwork()
    network.set(.wired)
    network.set(.wired, from: local)
    let monitor = ReachabilityMonitor(
      pair, configuration: configuration(compares: false), environment: network.environment)
    let log = Log<Reachability>()
    let observation = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    network.set(.wifi)
    try await network.settle()
    #expect(log.count == 1 && monitor.current.freeInterface == 0)
    observation.cancel()
  }
}
