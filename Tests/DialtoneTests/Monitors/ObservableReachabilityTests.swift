// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// An observable object has the state of its monitor, also when nothing is known any more.
@Suite(.timeLimit(.minutes(5)))
@MainActor
struct ObservableReachabilityTests {
  private static let unknown = Reachability(status: .undetermined)

  @Test func anotherTargetIsUnknownUntilItsStateIsKnown() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = network.monitor()
    let observable = ObservableReachability(monitor)
    try await eventually("it is known") { observable.isReachable }
    monitor.target = try .host("slow.example")
    try await eventually("it is known no more") { observable.current ≈ Self.unknown }
    #expect(!observable.isDetermined && observable.flags.isEmpty)
    #expect(monitor.current ≈ observable.current)
    network.set(.addresses([ip("192.0.2.7")]), forName: "slow.example")
    try await eventually("it is known again") { observable.current.destination == ip("192.0.2.7") }
  }

  @Test func nothingIsKnownWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let observable = ObservableReachability(monitor)
    for _ in 0..<3 {
      try await eventually("it is known") { observable.current.number == 1 }
      monitor.pause()
      try await eventually("it is known no more") { observable.current ≈ Self.unknown }
      monitor.resume()
    }
    monitor.pause()
    // In the pause, the target changes, and another object begins to follow.
    monitor.target = .localNetwork
    let late = ObservableReachability(monitor)
    #expect(late.current ≈ Self.unknown)
    network.set(.numbered(2))
    monitor.resume()
    try await eventually("both know it") { observable.current.number == 2 && late.current.number == 2 }
  }

  @Test func aMonitorOfItsOwnCanBePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let observable = ObservableReachability(.internet, environment: network.environment)
    try await eventually("it is known") { observable.isReachable }
    observable.monitor.pause()
    try await eventually("it is known no more") { observable.current ≈ Self.unknown }
    observable.monitor.resume()
    try await eventually("it is known again") { observable.isReachable }
  }

  @Test func aChangeStillSettlesAndTheFirstStateOfAnotherTargetDoesNot() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    network.set(.numbered(7), for: ip("192.0.2.1"))
    let monitor = network.monitor { $0.settling = .seconds(60) }
    let observable = ObservableReachability(monitor)
    try await eventually("it is known") { observable.current.number == 1 }
    network.set(.numbered(2))
    try await eventually("it is held back") { monitor.current.number == 2 }
    try await network.settle()
    #expect(observable.current.number == 1)
    monitor.target = .address(ip("192.0.2.1"))
    try await eventually("at once") { observable.current.number == 7 }
  }

  /// Each receiver begins with a task of its own, and many of these run late. A change made before the task runs must
  /// settle, too.
  @Test func aChangeSettlesAlsoForNewObservables() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor { $0.settling = .seconds(60) }
    try await eventually("it is known") { monitor.current.number == 1 }
    let observables = (0..<1_000).map { _ in ObservableReachability(monitor) }
    network.set(.numbered(2))
    try await eventually("it is held back") { monitor.current.number == 2 }
    try await network.settle()
    #expect(observables.allSatisfy { $0.current.number == 1 })
    network.clock.advance(by: .seconds(60))
    try await eventually("all know it once it has settled") { observables.allSatisfy { $0.current.number == 2 } }
  }

  /// Receivers that are told only of changes are not told that nothing is known.
  @Test func handlersAreToldOnlyOfKnownStates() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let observable = ObservableReachability(monitor)
    let log = Log<Reachability>()
    let tokens = Receiver.handlers.map { $0.observe(monitor) { log.append($0) } }
    try await eventually("all are told") { log.count == tokens.count && observable.isReachable }
    monitor.pause()
    try await eventually("it is known no more") { !observable.isDetermined }
    monitor.resume()
    try await eventually("it is known again") { observable.current.number == 1 }
    #expect(log.count == tokens.count)
    network.set(.numbered(2))
    try await eventually("all are told of the change") { log.count == 2 * tokens.count }
    #expect(log.all.allSatisfy { $0.number != nil })
    withExtendedLifetime(tokens) {}
  }

  /// The object is made and followed while other threads change the monitor.
  @Test func inTheEndItSaysWhatItsMonitorSays() async throws {
    let network = scriptedNetwork()
    network.set(.numbered(1))
    network.set(.hanging, forName: "slow.example")
    let targets = [ReachabilityTarget.internet, try .host("slow.example"), .localNetwork]
    let monitor = network.monitor()
    let first = ObservableReachability(monitor)
    for round in 0..<300 {
      let changing = Task.detached {
        monitor.target = targets[round % targets.count]
        if round.isMultiple(of: 2) { monitor.pause() }
        if round.isMultiple(of: 4) { monitor.resume() }
      }
      let second = ObservableReachability(monitor)
      await changing.value
      try await network.settle()
      try await eventually("both say what it says") {
        let current = monitor.current
        return first.current ≈ current && second.current ≈ current
      }
      if round.isMultiple(of: 3) { network.set(.numbered(2 + round)) }
      monitor.resume()
    }
  }
}
