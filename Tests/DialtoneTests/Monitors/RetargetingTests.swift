// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import Dispatch
import TestSupport
import Testing

@testable import Dialtone

/// A monitor's target is changed while others listen.
@Suite(.timeLimit(.minutes(5)))
struct RetargetingTests {
  private static let a = ip("192.0.2.65")
  private static let b = ip("192.0.2.66")

  /// A network with another state for each of the two addresses.
  private static func network() -> ScriptedNetwork {
    let network = scriptedNetwork()
    network.set(.numbered(1), for: a)
    network.set(.numbered(2), for: b)
    return network
  }

  @Test(arguments: Receiver.allCases)
  func everyReceiverIsToldOfTheNewTarget(receiver: Receiver) async throws {
    let network = Self.network()
    let monitor = network.monitor(.address(Self.a))
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first target's state") { $0.number == 1 }
    monitor.target = .address(Self.b)
    #expect(monitor.target == .address(Self.b))
    try await log.wait("the second target's state") { $0.number == 2 }
    // Changes of the first target are of no interest any more.
    network.set(.numbered(3), for: Self.a)
    network.set(.numbered(4), for: Self.b)
    try await log.wait("a change") { $0.number == 4 }
    #expect(log.all.map(\.number) == [1, 2, 4])
    reception.cancel()
  }

  /// The engine asks nothing more for the targets before.
  @Test func theFormerTargetIsWatchedNoMore() async throws {
    let network = Self.network()
    let monitor = network.monitor(.address(Self.a))
    try await monitor.waitUntilReachable()
    let engine = try #require(network.environment.provider.runningEngine)
    for target in [Self.b, Self.a, Self.b] {
      monitor.target = .address(target)
      try await monitor.waitUntilReachable()
      await engine.settled()
      #expect(engine.known.opened.withLock { $0?.state.commands.count } == 1)
    }
  }

  @Test(arguments: Receiver.allCases)
  func nothingIsToldIfTheStateIsTheSame(receiver: Receiver) async throws {
    let network = Self.network()
    network.set(.numbered(1), for: Self.b)
    let monitor = network.monitor(.address(Self.a))
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    for target in [Self.b, Self.a, Self.b] {
      monitor.target = .address(target)
      #expect(try await monitor.waitUntilKnown().destination == target)
    }
    network.set(.numbered(5), for: Self.b)
    try await log.wait("a change") { $0.number == 5 }
    #expect(log.all.map(\.number) == [1, 5])
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func theStateIsUndeterminedUntilTheNewOneIsKnownAndThatIsNotTold(receiver: Receiver) async throws {
    let network = Self.network()
    network.set(.wifi)
    network.set(.hanging, forName: "slow.example")
    let monitor = network.monitor(.address(Self.a))
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first target's state") { $0.number == 1 }
    monitor.target = try .host("slow.example")
    #expect(monitor.current.status == .undetermined)
    #expect(monitor.current.reason == nil)
    network.set(.numbered(3), for: Self.a)
    try await network.settle()
    #expect(monitor.current.status == .undetermined)
    network.set(.addresses([Self.b]), forName: "slow.example")
    try await log.wait("the second target's state") { $0.number == 2 }
    #expect(log.all.map(\.number) == [1, 2])
    reception.cancel()
  }

  @Test func settingTheSameTargetDoesNothing() async throws {
    let network = Self.network()
    let monitor = network.monitor(.address(Self.a))
    let known = try await monitor.waitUntilReachable()
    try await network.settle()
    let queries = network.queryCount
    monitor.target = .address(Self.a)
    #expect(monitor.current ≈ known)
    try await network.settle()
    #expect(network.queryCount == queries)
  }

  /// States of one target have even numbers, those of the other have odd ones.
  @Test func currentIsNeverAStateOfTheFormerTarget() async throws {
    let network = Self.network()
    let monitor = network.monitor(.address(Self.a))
    let wrong = Counter()
    let unknown = Counter()
    let isOver = Box(false)
    let receptions = [
      monitor.observe { if $0.number == nil { unknown.add() } },
      monitor.observe(on: DispatchQueue(label: "dialtone-tests.retarget")) { if $0.number == nil { unknown.add() } },
    ]
    // Threads of their own, which do not pause.
    let changing = Latch()
    DispatchQueue(label: "dialtone-tests.changes").async {
      var number = 2
      while !isOver.value {
        number += 2
        network.set(.numbered(number + 1), for: Self.a)
        network.set(.numbered(number), for: Self.b)
      }
      changing.open()
    }
    let setting = Latch()
    DispatchQueue(label: "dialtone-tests.targets").async {
      for round in 0..<(isSanitized ? 1_000 : 20_000) {
        let isA = round.isMultiple(of: 2)
        monitor.target = .address(isA ? Self.a : Self.b)
        for _ in 0..<(round % 50) {
          if let number = monitor.current.number, number.isMultiple(of: 2) == isA { wrong.add() }
        }
      }
      setting.open()
    }
    try await eventually("all rounds") { setting.isOpen }
    isOver.value = true
    try await eventually("the changes have ended") { changing.isOpen }
    #expect(wrong.value == 0)
    // No unknown state is delivered.
    #expect(unknown.value == 0)
    monitor.target = .internet
    network.set(.numbered(77))
    try await eventually("it still works") { monitor.current.number == 77 }
    withExtendedLifetime(receptions) {}
  }

  @Test func waitsGoOnForTheNewTarget() async throws {
    let network = scriptedNetwork()
    network.set(.wired, for: Self.b)
    let monitor = network.monitor(.address(Self.a))
    _ = try await monitor.waitUntilKnown()
    let fired = Counter()
    let once = monitor.whenReachable { fired.add() }
    async let state = monitor.waitUntilReachable()
    monitor.target = .address(Self.b)
    #expect(try await state.isVia("eth0"))
    try await eventually("the action has run") { fired.value == 1 }
    withExtendedLifetime(once) {}
  }

  @Test func aWaitDoesNotEndWithTheFormerTargetsState() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor(.address(Self.a))
    _ = try await monitor.waitUntilKnown()
    async let state = monitor.waitUntilReachable()
    monitor.target = .address(Self.b)
    network.set(.wifi, for: Self.a)
    try await network.settle()
    network.set(.wired, for: Self.b)
    #expect(try await state.isVia("eth0"))
  }

  @Test func theTargetCanChangeFromAHostToAnAddressAndBack() async throws {
    let lab = NameLab()
    lab.set(.wifi)
    lab.network.set(.wired, for: Self.a)
    lab.hang("hangs.example")
    lab.answer("known.example", .addresses([Self.b]))
    let monitor = try lab.monitor("hangs.example")
    try await eventually("the name is looked up") { lab.running("hangs.example") == 1 }
    #expect(monitor.current.reason == nil)
    // The address does not wait for the name.
    monitor.target = .address(Self.a)
    #expect(try await monitor.waitUntilReachable().destination == Self.a)
    monitor.target = try .host("known.example")
    #expect(try await monitor.waitUntilReachable().destination == Self.b)
    // The result of a lookup that is not needed any more changes nothing.
    lab.answer("hangs.example", .addresses([ip("192.0.2.99")]))
    try await eventually("it has come back") { lab.running("hangs.example") == 0 }
    try await lab.settle()
    #expect(monitor.current.destination == Self.b)
  }

  @Test func theFirstStateOfANewTargetDoesNotWaitToSettle() async throws {
    let network = Self.network()
    let monitor = network.monitor(.address(Self.a)) { $0.settling = .seconds(60) }
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("the first state") { $0.number == 1 }
    // A change that is held back when the target changes is never delivered.
    network.set(.numbered(3), for: Self.a)
    try await eventually("it is held back") { monitor.current.number == 3 }
    monitor.target = .address(Self.b)
    try await log.wait("at once, though no time has passed") { $0.number == 2 }
    // The end of that period does not end the new one early.
    network.set(.numbered(4), for: Self.b)
    try await eventually("it is held back, too") { monitor.current.number == 4 }
    network.clock.advance(by: .seconds(59))
    try await network.settle()
    #expect(log.all.map(\.number) == [1, 2])
    network.clock.advance(by: .seconds(1))
    try await log.wait("it has settled") { $0.number == 4 }
    #expect(log.count == 3)
    token.cancel()
  }

  @Test(arguments: Receiver.handlers)
  func itCanBeChangedInAHandler(receiver: Receiver) async throws {
    let network = Self.network()
    let monitor = network.monitor(.address(Self.a))
    let log = Log<Reachability>()
    let token = receiver.observe(monitor) { [weak monitor] state in
      log.append(state)
      monitor?.target = .address(Self.b)
    }
    try await log.wait("the second target's state") { $0.number == 2 }
    #expect(log.all.map(\.number) == [1, 2])
    token.cancel()
  }

  @Test func withoutAnEngineItSaysSoForEveryTarget() async throws {
    let waiters = ScarceWaiters()
    let network = waiters.network()
    network.set(.wifi)
    let monitor = waiters.withoutMore { network.monitor(.address(Self.a)) }
    #expect(monitor.current.isUndetermined(.outOfDescriptors))
    monitor.target = .address(Self.b)
    #expect(monitor.current.isUndetermined(.outOfDescriptors))
    // Once there can be an engine again, a pause helps.
    monitor.pause()
    monitor.resume()
    try await monitor.waitUntilReachable()
  }
}
