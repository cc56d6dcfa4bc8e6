// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promises 3 to 5 for receivers whose actor is busy when a state is told: what the actor does before it is free holds
/// for the call that waits. The tests run on that actor, and tell states without an `await`.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct PromisesOnABusyActorTests {
  enum Way: CaseIterable, Sendable {
    case actor, mainActor, updates, observable
  }

  enum Registration: CaseIterable, Sendable {
    case actor, mainActor, whenDetermined, whenReachable
  }

  private let network = scriptedNetwork()
  private let monitor: ReachabilityMonitor
  private let log = Log<Reachability>()

  init() { monitor = network.monitor(.address(ip("192.0.2.1"))) }

  /// Logs what a receiver on the main actor gets, which has had state 1 when this returns.
  private func follow(_ way: Way) async throws -> Reception {
    network.set(.numbered(1))
    let reception: Reception
    switch way {
    case .actor:
      let token = monitor.observe(on: MainActor.shared) { [log] _, state in log.append(state) }
      reception = Reception { token.cancel() }
    case .mainActor: reception = await Receiver.mainActor.follow(monitor) { [log] in log.append($0) }
    case .updates:
      let task = Task { for await state in monitor.updates { log.append(state) } }
      reception = Reception { task.cancel() }
    case .observable: reception = await Receiver.observable.follow(monitor) { [log] in log.append($0) }
    }
    try await log.wait("state 1") { $0.number == 1 }
    return reception
  }

  /// What the receiver got. An `ObservableReachability` is undetermined where others get nothing.
  private var numbers: [Int] { log.all.compactMap(\.number) }

  /// Sets a state, and blocks the main actor until its receivers have been woken for it. A closure is called after
  /// that.
  private func tell(_ number: Int) {
    let isTold = Latch()
    let control = monitor.observe { if $0.number == number { isTold.open() } }
    network.set(.numbered(number))
    isTold.wait()
    control.cancel()
  }

  /// Lets the calls that wait for the main actor begin.
  private func makeWay() async { for _ in 0..<10 { await Task { @MainActor in }.value } }

  @Test(arguments: Way.allCases)
  func aCallGetsTheStateThatIsTheNewestWhenItBegins(way: Way) async throws {
    let reception = try await follow(way)
    for number in 2...4 { tell(number) }
    try await log.wait("the newest") { $0.number == 4 }
    #expect(numbers == [1, 4])
    reception.cancel()
  }

  @Test(arguments: Way.allCases)
  func noCallBeginsWithAStateOfAFormerTarget(way: Way) async throws {
    network.set(.numbered(9), for: ip("192.0.2.9"))
    let reception = try await follow(way)
    tell(2)
    monitor.target = .address(ip("192.0.2.9"))
    try await log.wait("the other target") { $0.number == 9 }
    #expect(numbers == [1, 9])
    reception.cancel()
  }

  @Test(arguments: Way.allCases)
  func noCallBeginsInAPause(way: Way) async throws {
    let reception = try await follow(way)
    tell(2)
    monitor.pause()
    await makeWay()
    network.set(.numbered(3))
    monitor.resume()
    try await log.wait("the state after the pause") { $0.number == 3 }
    #expect(numbers == [1, 3])
    reception.cancel()
  }

  @Test(arguments: Registration.allCases)
  func aCancelledCallDoesNothingAndHoldsNothing(registration: Registration) async throws {
    final class Captured: Sendable {}
    weak var captured: Captured?
    let token: ReachabilityObservation
    do {
      let object = Captured()
      captured = object
      let call: @MainActor @Sendable () -> Void = { [log] in withExtendedLifetime(object) { log.append(.unknown) } }
      token =
        switch registration {
        case .actor: monitor.observe(on: MainActor.shared) { _, _ in MainActor.assumeIsolated { call() } }
        case .mainActor: monitor.observeOnMainActor { _ in call() }
        case .whenDetermined: monitor.whenDetermined { @MainActor _ in call() }
        case .whenReachable: monitor.whenReachable { @MainActor in call() }
        }
    }
    tell(1)
    #expect(captured != nil)
    token.cancel()
    #expect(captured == nil)
    await makeWay()
    #expect(log.count == 0)
  }

  @Test func aTaskThatIsCancelledGetsNothingMore() async throws {
    let reception = try await follow(.updates)
    tell(2)
    reception.cancel()
    await makeWay()
    #expect(numbers == [1])
  }

  @Test func anActionThatRunsOnceGetsTheNewestState() async throws {
    let once = monitor.whenDetermined { @MainActor [log] in log.append($0) }
    for number in 1...2 { tell(number) }
    try await eventually("it has run") { log.count > 0 }
    #expect(numbers == [2])
    once.cancel()
  }
}
