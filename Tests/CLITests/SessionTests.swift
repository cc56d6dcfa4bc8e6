// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI

struct SessionTests {
  private static func watch(_ targets: Int, _ limit: Int?) -> WatchSession<Reachability> {
    WatchSession(targetCount: targets, countLimit: limit, goal: "to become known", isKnown: \.isDetermined)
  }

  private let reachable = Reachability(status: .reachable, flags: .reachable)
  private let unreachable = Reachability(status: .unreachable, reason: .noRoute)
  private let unresolved = Reachability(status: .undetermined, reason: .nameNotResolved)
  private let denied = Reachability(status: .undetermined, reason: .denied)
  private let cellular = Reachability(
    status: .reachable, flags: [.reachable, .isWWAN],
    interface: NetworkInterface(name: "wwan0", index: 7, kind: .cellular))

  // MARK: Truth values

  @Test(
    arguments: [
      ([], TruthValue.holds, TruthValue.fails), ([.holds], .holds, .holds), ([.fails], .fails, .fails),
      ([.unknown], .unknown, .unknown), ([.holds, .unknown], .unknown, .holds), ([.unknown, .fails], .fails, .unknown),
      ([.holds, .fails, .unknown], .fails, .holds),
    ] as [([TruthValue], TruthValue, TruthValue)])
  func combinesTruthValues(values: [TruthValue], all: TruthValue, any: TruthValue) {
    #expect(TruthValue.all(values) == all)
    #expect(TruthValue.any(values) == any)
  }

  // MARK: watch

  @Test func watchReportsTheFirstStateAndEachChange() {
    var session = Self.watch(2, nil)
    #expect(session.waiting?.targets == [0, 1])
    #expect(session.receive(reachable, of: 1, at: .seconds(1)) == [Report(target: 1, state: reachable)])
    #expect(session.receive(unreachable, of: 0, at: .seconds(2)) == [Report(target: 0, state: unreachable)])
    #expect(session.waiting == nil)
    let former = Report.Former(state: reachable, lasted: .seconds(4))
    #expect(
      session.receive(unreachable, of: 1, at: .seconds(5)) == [Report(target: 1, state: unreachable, former: former)])
    #expect(session.ending == nil)
  }

  @Test func watchDoesNotRepeatAState() {
    var session = Self.watch(1, 2)
    _ = session.receive(reachable, of: 0, at: .zero)
    #expect(session.receive(reachable, of: 0, at: .seconds(1)).isEmpty)
    #expect(session.ending == nil)
  }

  @Test func watchEndsWithItsLines() {
    var session = Self.watch(1, 2)
    _ = session.receive(reachable, of: 0, at: .zero)
    #expect(session.ending == nil)
    _ = session.receive(unreachable, of: 0, at: .zero)
    #expect(session.ending == .holds)
    #expect(session.receive(reachable, of: 0, at: .zero).isEmpty)
  }

  @Test func watchIsUndeterminedAtItsEndIfATargetIs() {
    for states in [[], [denied], [reachable, unresolved]] {
      var session = Self.watch(1, nil)
      for state in states { _ = session.receive(state, of: 0, at: .zero) }
      #expect(session.timeOut().isEmpty)
      #expect(session.ending == .undetermined)
    }
  }

  @Test(arguments: [1, nil])
  func watchIsUndeterminedAtTheTimeoutIfATargetNeverReported(countLimit: Int?) {
    var session = Self.watch(2, countLimit)
    _ = session.receive(reachable, of: 0, at: .zero)
    #expect(session.ending == (countLimit == nil ? nil : .holds))
    _ = session.timeOut()
    #expect(session.ending == (countLimit == nil ? .undetermined : .holds))
  }

  @Test func watchIsUndeterminedAtItsLastLineIfATargetIs() {
    var session = Self.watch(3, 2)
    _ = session.receive(unresolved, of: 1, at: .zero)
    _ = session.receive(reachable, of: 0, at: .zero)
    #expect(session.ending == .undetermined)
  }

  // MARK: status

  @Test func statusKeepsTheOrder() {
    var session = StatusSession(targetCount: 3)
    #expect(session.receive(reachable, of: 1, at: .zero).isEmpty)
    #expect(session.receive(reachable, of: 0, at: .zero).map(\.target) == [0, 1])
    #expect(session.ending == nil)
    #expect(session.receive(reachable, of: 2, at: .zero).map(\.target) == [2])
    #expect(session.ending == .holds)
  }

  @Test func statusReportsEachTargetOnce() {
    var session = StatusSession(targetCount: 2)
    _ = session.receive(reachable, of: 0, at: .zero)
    #expect(session.receive(unreachable, of: 0, at: .zero).isEmpty)
    _ = session.receive(reachable, of: 1, at: .zero)
    #expect(session.ending == .holds, "as printed")
  }

  @Test func statusWaitsForANameThatMayStillResolve() {
    var session = StatusSession(targetCount: 1)
    #expect(session.receive(unresolved, of: 0, at: .zero).isEmpty)
    #expect(session.waiting?.targets == [0])
    #expect(session.timeOut() == [Report(target: 0, state: unresolved)])
    #expect(session.ending == .undetermined)
  }

  @Test func statusDoesNotWaitForWhatIsDenied() {
    var session = StatusSession(targetCount: 1)
    #expect(session.receive(denied, of: 0, at: .zero) == [Report(target: 0, state: denied)])
    #expect(session.ending == .undetermined)
  }

  @Test func statusFailsIfOneTargetIsUnreachable() {
    var session = StatusSession(targetCount: 2)
    _ = session.receive(unreachable, of: 1, at: .zero)
    #expect(session.timeOut().map(\.target) == [0, 1])
    #expect(session.ending == .fails)
  }

  // MARK: wait

  @Test func waitEndsWhenAllAreReachable() {
    var session = WaitSession<Reachability>(targetCount: 2, goal: .reachable(), anySuffices: false)
    #expect(session.receive(reachable, of: 0, at: .zero).isEmpty)
    #expect(session.receive(unreachable, of: 1, at: .zero).isEmpty)
    #expect(session.waiting?.targets == [1])
    #expect(session.receive(reachable, of: 1, at: .zero).map(\.target) == [0, 1])
    #expect(session.ending == .holds)
  }

  @Test func waitEndsOnlyIfAllAreReachableAtTheSameTime() {
    var session = WaitSession<Reachability>(targetCount: 2, goal: .reachable(), anySuffices: false)
    _ = session.receive(reachable, of: 0, at: .zero)
    _ = session.receive(unreachable, of: 0, at: .zero)
    _ = session.receive(reachable, of: 1, at: .zero)
    #expect(session.ending == nil)
  }

  @Test func waitForAnyEndsWithTheFirst() {
    var session = WaitSession<Reachability>(targetCount: 3, goal: .reachable(), anySuffices: true)
    #expect(session.receive(unreachable, of: 0, at: .zero).isEmpty)
    #expect(session.receive(reachable, of: 2, at: .zero).map(\.target) == [2])
    #expect(session.ending == .holds)
  }

  @Test func waitTakesARequiredConnectionAsUnreachable() {
    var session = WaitSession<Reachability>(targetCount: 1, goal: .unreachable, anySuffices: false)
    #expect(session.receive(reachable, of: 0, at: .zero).isEmpty)
    #expect(session.receive(unresolved, of: 0, at: .zero).isEmpty)
    _ = session.receive(Reachability(status: .requiresConnection, reason: .dormant), of: 0, at: .zero)
    #expect(session.ending == .holds)
  }

  @Test func waitDoesNotCountCellularIfToldSo() {
    var session = WaitSession<Reachability>(targetCount: 1, goal: .reachable(notOverCellular: true), anySuffices: false)
    _ = session.receive(cellular, of: 0, at: .zero)
    #expect(session.ending == nil)
    _ = session.receive(reachable, of: 0, at: .zero)
    #expect(session.ending == .holds)
  }

  @Test func waitCountsAConnectionOnDemandIfToldSo() {
    let dormant = Reachability(.requiresConnection, reason: .dormant)
    let blocked = Reachability(.requiresConnection, reason: .radioBlocked)
    for accepts in [false, true] {
      var session = WaitSession<Reachability>(
        targetCount: 1, goal: .reachable(acceptingOnDemand: accepts), anySuffices: false)
      _ = session.receive(blocked, of: 0, at: .zero)
      #expect(session.ending == nil, "somebody has to act")
      _ = session.receive(dormant, of: 0, at: .zero)
      #expect(session.ending == (accepts ? .holds : nil))
      _ = session.receive(reachable, of: 0, at: .zero)
      #expect(session.ending == .holds)
    }
    var strict = WaitSession<Reachability>(
      targetCount: 1, goal: .reachable(notOverCellular: true, acceptingOnDemand: true), anySuffices: false)
    _ = strict.receive(cellular, of: 0, at: .zero)
    #expect(strict.ending == nil)
    _ = strict.receive(dormant, of: 0, at: .zero)
    #expect(strict.ending == .holds)
  }

  @Test func waitDistinguishesATimeoutFromAnUndeterminedState() {
    for (states, status) in [([unreachable], ExitStatus.fails), ([unresolved], .undetermined), ([], .undetermined)] {
      var session = WaitSession<Reachability>(targetCount: 1, goal: .reachable(), anySuffices: false)
      for state in states { _ = session.receive(state, of: 0, at: .zero) }
      #expect(session.timeOut().count == 1)
      #expect(session.ending == status)
    }
  }

  @Test func waitDoesNotWaitForWhatIsDenied() {
    var session = WaitSession<Reachability>(targetCount: 1, goal: .unreachable, anySuffices: false)
    #expect(session.receive(denied, of: 0, at: .zero) == [Report(target: 0, state: denied)])
    #expect(session.ending == .undetermined)
  }
}
