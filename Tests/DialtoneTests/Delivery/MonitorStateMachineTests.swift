// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

struct MonitorStateMachineTests {
  private static let unknown = Reachability.unknown
  private static let reachable = Reachability(status: .reachable, flags: .reachable)
  private static let noRoute = Reachability(status: .unreachable, reason: .noRoute)
  private static let noCarrier = Reachability(status: .unreachable, reason: .noCarrier)
  private static let denied = Reachability.denied

  @Test(arguments: [reachable, noRoute, denied])
  func deliversTheFirstKnownStateAtOnceWhateverTheSettling(state: Reachability) {
    for settling in [Duration.zero, .seconds(1), .seconds(-1), .seconds(Int64.max)] {
      var machine = MonitorStateMachine(settling: settling)
      #expect(machine.decided(state, after: Self.unknown, now: 0) == .deliver)
    }
  }

  @Test func ignoresWhatIsTheSame() {
    var machine = MonitorStateMachine(settling: .zero)
    #expect(machine.decided(Self.unknown, after: Self.unknown, now: 0) == .ignore)
    #expect(machine.decided(Self.reachable, after: Self.unknown, now: 1) == .deliver)
    #expect(machine.decided(Self.reachable, after: Self.reachable, now: 2) == .ignore)
  }

  @Test func storesANewSourceOrDestinationWithoutADelivery() {
    var machine = MonitorStateMachine(settling: .zero)
    _ = machine.decided(Self.reachable, after: Self.unknown, now: 0)
    var moved = Self.reachable
    moved.source = ip("192.0.2.2")
    #expect(machine.decided(moved, after: Self.reachable, now: 1) == .store)
    var renamed = Self.reachable
    renamed.destination = ip("192.0.2.2")
    #expect(machine.decided(renamed, after: Self.reachable, now: 2) == .store)
    #expect(machine.decided(renamed, after: renamed, now: 3) == .ignore)
  }

  @Test func deliversALaterFallToUndeterminedWithoutAReason() {
    var machine = MonitorStateMachine(settling: .zero)
    _ = machine.decided(Self.reachable, after: Self.unknown, now: 0)
    #expect(machine.decided(Self.unknown, after: Self.reachable, now: 1) == .deliver)
    #expect(machine.decided(Self.reachable, after: Self.unknown, now: 2) == .deliver)
  }

  @Test func holdsAChangeBackUntilItIsQuiet() {
    var machine = MonitorStateMachine(settling: .nanoseconds(10))
    #expect(machine.decided(Self.reachable, after: Self.unknown, now: 0) == .deliver)
    #expect(machine.decided(Self.noRoute, after: Self.reachable, now: 100) == .holdBack(until: 110))
    #expect(machine.settle(now: 109) == .holdBack(until: 110))
    #expect(machine.decided(Self.noCarrier, after: Self.noRoute, now: 109) == .holdBack(until: 119))
    #expect(machine.settle(now: 110) == .holdBack(until: 119))
    #expect(machine.settle(now: 119) == .deliver)
    #expect(machine.settle(now: 120) == .ignore)
  }

  @Test func holdsNothingBackLongerThanFourTimesTheSettling() {
    var machine = MonitorStateMachine(settling: .nanoseconds(10))
    _ = machine.decided(Self.reachable, after: Self.unknown, now: 0)
    var state = Self.reachable
    var last = MonitorStateMachine.Action.ignore
    // It never becomes quiet.
    for now in Int64(100)...140 {
      let next = state.isSameState(as: Self.noRoute) ? Self.noCarrier : Self.noRoute
      last = machine.decided(next, after: state, now: now)
      state = next
      if now < 140 { #expect(machine.settle(now: now) == .holdBack(until: min(now + 10, 140))) }
    }
    #expect(last == .holdBack(until: 140))
    #expect(machine.settle(now: 140) == .deliver)
    // The next change begins a new period.
    #expect(machine.decided(Self.reachable, after: state, now: 141) == .holdBack(until: 151))
  }

  @Test func aStateThatIsStoredDoesNotProlongTheWait() {
    var machine = MonitorStateMachine(settling: .nanoseconds(10))
    _ = machine.decided(Self.reachable, after: Self.unknown, now: 0)
    _ = machine.decided(Self.noRoute, after: Self.reachable, now: 100)
    var renamed = Self.noRoute
    renamed.destination = ip("192.0.2.2")
    #expect(machine.decided(renamed, after: Self.noRoute, now: 109) == .store)
    #expect(machine.settle(now: 110) == .deliver)
  }

  @Test func takesAnyDuration() {
    var machine = MonitorStateMachine(settling: .seconds(Int64.max))
    _ = machine.decided(Self.reachable, after: Self.unknown, now: 0)
    #expect(machine.decided(Self.noRoute, after: Self.reachable, now: 1) == .holdBack(until: .max))
    var negative = MonitorStateMachine(settling: .seconds(Int64.min))
    _ = negative.decided(Self.reachable, after: Self.unknown, now: 0)
    #expect(negative.decided(Self.noRoute, after: Self.reachable, now: 1) == .deliver)
  }
}
