// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// Promise 6, object by object: releasing the monitor, its tokens and its iterators ends everything.
///
/// `Promise6ProcessTests` counts what the process holds.
@Suite(.timeLimit(.minutes(5)))
struct Promise6LifetimeTests {
  /// Weak references to the parts of a monitor.
  private final class Parts {
    weak var monitor: ReachabilityMonitor?
    weak var cell: StateCell<Reachability>?
    weak var engine: NetworkEngine?

    init(_ monitor: ReachabilityMonitor) {
      self.monitor = monitor
      cell = monitor.cell
      engine = monitor.engine
    }

    var left: [String] {
      (monitor == nil ? [] : ["monitor"]) + (cell == nil ? [] : ["cell"]) + (engine == nil ? [] : ["engine"])
    }
    var areGone: Bool { left.isEmpty }

    func wait(fileID: String = #fileID, line: Int = #line) async throws {
      do {
        try await eventually("everything is released", fileID: fileID, line: line) { areGone }
      } catch {
        throw DidNotHappen("\(error); left: \(left)")
      }
    }
  }

  @Test(arguments: Receiver.allCases)
  func aReceiverKeepsTheMonitoringAliveAndItsEndEndsIt(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let log = Log<Reachability>()
    var monitor: ReachabilityMonitor? = network.monitor()
    let parts = try Parts(#require(monitor))
    var reception: Reception? = await receiver.follow(try #require(monitor)) { log.append($0) }
    monitor = nil
    try await log.wait("the first state") { $0.number == 1 }
    network.set(.numbered(2))
    try await log.wait("a change after the monitor was released") { $0.number == 2 }
    #expect(!parts.areGone)
    withExtendedLifetime(reception) {}
    reception = nil
    try await parts.wait()
  }

  @Test(arguments: Receiver.allCases)
  func everythingIsReleasedBeforeAnythingIsKnown(receiver: Receiver) async throws {
    let slow = SlowNetwork()
    var monitor: ReachabilityMonitor? = slow.monitor()
    let parts = try Parts(#require(monitor))
    var reception: Reception? = await receiver.follow(try #require(monitor)) { _ in }
    withExtendedLifetime(reception) {}
    reception = nil
    monitor = nil
    // A thread of the engine may still wait for the source, and hold the engine until it has it.
    try await eventually("the monitor is released") { parts.monitor == nil }
    slow.open()
    try await parts.wait()
  }

  @Test func aSequenceKeepsTheMonitoringAliveByItself() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    var updates: MonitorUpdates<Reachability>? = network.monitor().updates
    var iterator = updates?.makeAsyncIterator()
    #expect(await iterator?.next()?.number == 1)
    updates = nil
    network.set(.numbered(2))
    #expect(await iterator?.next()?.number == 2)
    #expect(network.environment.provider.runningEngine != nil)
    iterator = nil
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  @Test func anActionThatHasRunKeepsNothingAlive() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let fired = Counter()
    let token = network.monitor().whenReachable { fired.add() }
    try await eventually("the action has run") { fired.value == 1 }
    // The token is still held.
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    token.cancel()
  }

  @Test func aWaitThatHasEndedKeepsNothingAlive() async throws {
    let network = scriptedNetwork()
    await #expect(throws: ReachabilityError(.timedOut, "")) {
      try await network.monitor().waitUntilReachable(timeout: .zero)
    }
    let waiting = Task { try await network.monitor().waitUntilReachable() }
    try await eventually("it waits") { network.environment.provider.runningEngine != nil }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
  }

  @Test func oneEngineServesAllAndEndsWithTheLast() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitors = Box((0..<50).map { network.monitor(.address(IPAddress(ipv4: 0xC000_0200 + UInt32($0)))) })
    #expect(Set(monitors.value.map { ObjectIdentifier($0.engine) }).count == 1)
    for monitor in monitors.value { _ = try await monitor.waitUntilKnown() }
    monitors.value = Array(monitors.value.prefix(1))
    #expect(network.environment.provider.runningEngine === monitors.value.first?.engine)
    monitors.value = []
    try await eventually("the engine has ended") { network.environment.provider.runningEngine == nil }
    // The next engine starts anew, and knows the network as it is by then.
    network.set(.wired)
    #expect(try await network.monitor().waitUntilReachable().isVia("eth0"))
  }

  @Test(arguments: Receiver.handlers)
  func aMonitorMayBeReleasedInItsOwnCallback(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let held = Box<(monitor: ReachabilityMonitor, token: ReachabilityObservation)?>(nil)
    let done = Counter()
    let isReady = Latch()
    let parts: Parts
    do {
      let monitor = network.monitor()
      parts = Parts(monitor)
      let token = receiver.observe(monitor) { _ in
        isReady.wait()
        held.value = nil
        done.add()
      }
      held.value = (monitor, token)
    }
    isReady.open()
    try await eventually("the handler comes back") { done.value == 1 }
    try await parts.wait()
  }
}
