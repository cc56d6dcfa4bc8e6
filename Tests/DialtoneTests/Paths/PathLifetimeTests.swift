// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// Path monitors share the engine with all others, and release everything.
@Suite(.timeLimit(.minutes(5)))
struct PathLifetimeTests {
  @Test func oneEngineServesPathsAndTargets() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let target = network.monitor()
    let paths = (0..<20).map { _ in PathMonitor(environment: network.environment) }
    #expect(paths.allSatisfy { $0.engine === target.engine })
    for path in paths { try await path.waitUntilSatisfied() }
    try await target.waitUntilReachable()
    network.set(.wired)
    for path in paths { try await eventually("it changes") { path.current.uses(.wired) } }
    try await eventually("the target, too") { target.current.isVia("eth0") }
  }

  @Test(arguments: Receiver.exact)
  func aReceiverKeepsTheMonitoringAliveAndItsEndEndsIt(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let log = Log<UInt32?>()
    var monitor: PathMonitor? = PathMonitor(environment: network.environment)
    weak let engine = monitor?.engine
    var reception: Reception? = receiver.follow(any: try #require(monitor)) { log.append($0.interfaces.first?.index) }
    monitor = nil
    try await eventually("the first") { log.all == [1] }
    network.set(.numbered(2))
    try await eventually("a change after the monitor was released") { log.all == [1, 2] }
    withExtendedLifetime(reception) {}
    reception = nil
    try await eventually("the engine has ended") { engine == nil && network.environment.provider.runningEngine == nil }
  }

  @Test func pathsThatComeAndGoDoNotAffectOthers() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let target = network.monitor()
    let path = PathMonitor(environment: network.environment)
    try await path.waitUntilSatisfied()
    for number in 1...50 {
      try await PathMonitor(requiring: .wifi, environment: network.environment).waitUntilSatisfied()
      network.set(.numbered(number))
      try await eventually("both follow") {
        path.current.interfaces.first?.index == UInt32(number) && target.current.number == number
      }
    }
  }

  /// Monitors share a question if they agree on what restricts and what costs. Their settling does not matter.
  @Test func monitorsThatAskTheSameAreAnsweredByOneQuestion() async throws {
    let network = scriptedNetwork()
    let counted = CountedPaths(network)
    network.set(.wifi)
    var settling = PathConfiguration()
    settling.settling = .seconds(5)
    let anchor = PathMonitor(environment: counted.environment)
    var paths = (0..<30).map { _ in PathMonitor(environment: counted.environment) }
    paths += (0..<30).map { _ in PathMonitor(configuration: settling, environment: counted.environment) }
    for path in paths { try await path.waitUntilSatisfied() }
    let before = counted.count
    network.set(.wired)
    counted.environment.provider.runningEngine?.wake()
    for path in paths { try await eventually("it changes") { path.current.uses(.wired) } }
    // One round changes something, and one finds nothing more.
    #expect(counted.count - before <= 4)
    #expect(anchor.current.uses(.wired))
  }

  @Test func withoutAnEngineAPathIsDenied() async throws {
    let waiters = ScarceWaiters()
    let monitor = waiters.withoutMore { PathMonitor(environment: waiters.network().environment) }
    #expect(monitor.current ≈ NetworkPath(.undetermined, reason: .outOfDescriptors))
    #expect(try await monitor.waitUntilKnown().reason == .outOfDescriptors)
    let log = Log<NetworkPath>()
    let token = monitor.observe { log.append($0) }
    try await eventually("told") { log.count == 1 }
    await #expect(throws: ReachabilityError(.timedOut, "")) {
      try await monitor.waitUntilSatisfied(timeout: .milliseconds(1))
    }
    token.cancel()
  }
}

/// A scripted network that counts the questions for paths.
private final class CountedPaths: Sendable {
  private final class Source: NetworkSource {
    private let source: any NetworkSource
    private let counter: Counter

    init(_ source: any NetworkSource, _ counter: Counter) {
      self.source = source
      self.counter = counter
    }

    var nextPoll: Int64? { source.nextPoll }
    func watch(_ interest: NetworkInterest) { source.watch(interest) }
    func poll(into change: inout NetworkChange) { source.poll(into: &change) }
    func drain(into change: inout NetworkChange) { source.drain(into: &change) }
    func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
      source.answer(queries, receive)
    }

    func path(_ configuration: PathConfiguration) -> PathAnswer {
      counter.add()
      return source.path(configuration)
    }
  }

  let environment: ReachabilityEnvironment
  private let counter = Counter()

  var count: Int { counter.value }

  init(_ network: ScriptedNetwork) {
    let base = network.environment.provider
    environment = ReachabilityEnvironment(
      EngineProvider(time: base.time, lookup: base.lookup, makeWaiter: base.makeWaiter) { [counter] in
        Source(base.makeSource($0, $1), counter)
      })
  }
}
