// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Dispatch
import TestSupport
import Testing

/// A receiver that observes one property is told when this property changes, and of nothing else.
@Suite(.timeLimit(.minutes(5)))
struct ObservedPropertyTests {
  /// Has `handler` called with the property's values by one of the ways to listen.
  private static func observe<State, Value: Equatable & Sendable>(
    _ property: any KeyPath<State, Value> & Sendable, of monitor: some StateMonitor<State>, by receiver: Receiver,
    _ handler: @escaping @Sendable (Value) -> Void
  ) -> Reception {
    let token: ReachabilityObservation
    switch receiver {
    case .updates:
      let updates = monitor.updates(of: property)
      let task = Task { for await value in updates { handler(value) } }
      return Reception { task.cancel() }
    case .queue: token = monitor.observe(property, on: DispatchQueue(label: "dialtone-tests.serial"), handler)
    case .concurrentQueue:
      let queue = DispatchQueue(label: "dialtone-tests.concurrent", qos: .utility, attributes: .concurrent)
      token = monitor.observe(property, on: queue, handler)
    case .actor:
      let actor = ThreadedActor()
      // The observation does not retain the actor; the handler does.
      token = monitor.observe(property, on: actor) { [actor] _, value in withExtendedLifetime(actor) { handler(value) }
      }
    case .mainActor: token = monitor.observeOnMainActor(property) { handler($0) }
    case .closure, .observable: token = monitor.observe(property, handler)
    }
    return Reception { token.cancel() }
  }

  @Test(arguments: Receiver.exact)
  func changesOfAnythingElseAreNotTold(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let log = Log<Bool>()
    let reception = Self.observe(\.isReachable, of: monitor, by: receiver) { log.append($0) }
    try await eventually("unreachable") { log.all == [false] }
    for reason in [Reachability.Reason.noCarrier, .noAddress, .prohibited] {
      network.set(.unreachable(reason))
      try await eventually("\(reason)") { monitor.current.reason == reason }
    }
    network.set(.wifi)
    try await eventually("reachable") { log.all == [false, true] }
    for path in [ScriptedPath.wired, .cellular, .numbered(7)] {
      network.set(path)
      try await network.settle()
    }
    network.set(.unreachable())
    try await eventually("unreachable again") { log.all == [false, true, false] }
    reception.cancel()
  }

  @Test(arguments: Receiver.exact)
  func aPropertyWithinAnOptionalOneIsToldEvenIfItBecomesNil(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    let log = Log<InterfaceKind?>()
    let reception = Self.observe(\.interface?.kind, of: monitor, by: receiver) { log.append($0) }
    try await eventually("none") { log.all == [nil] }
    network.set(.wifi)
    try await eventually("Wi-Fi") { log.all == [nil, .wifi] }
    network.set(.reachable(over: interface("wlan1", 9, .wifi)))
    try await eventually("another Wi-Fi") { monitor.current.isVia("wlan1") }
    network.set(.unreachable())
    try await eventually("none again") { log.all == [nil, .wifi, nil] }
    reception.cancel()
  }

  @Test(arguments: Receiver.exact)
  func pathsHavePropertiesToo(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = PathMonitor(environment: network.environment)
    let log = Log<NetworkPath.Status>()
    let reception = Self.observe(\.status, of: monitor, by: receiver) { log.append($0) }
    try await eventually("satisfied") { log.all == [.satisfied] }
    network.set(.cellular)
    try await eventually("cellular") { monitor.current.isExpensive }
    network.set(.unreachable())
    try await eventually("not satisfied") { log.all == [.satisfied, .unsatisfied] }
    reception.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func nothingIsToldOnceItIsCancelled(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    let log = Log<Bool>()
    let reception = Self.observe(\.isReachable, of: monitor, by: receiver) { log.append($0) }
    try await eventually("reachable") { log.all == [true] }
    reception.cancel()
    network.set(.unreachable())
    try await eventually("unreachable") { !monitor.current.isReachable }
    try await network.settle()
    #expect(log.all == [true])
  }
}
