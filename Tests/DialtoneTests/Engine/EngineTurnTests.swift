// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// What a turn asks of its source, in which order, and when the next one is due.
struct EngineTurnTests {
  private let lab = TurnLab()
  private let address = ip("2001:db8::1")
  private let other = ip("2001:db8::2")
  private var source: TurnSource { lab.source }

  private func interest(_ addresses: [IPAddress], names: Bool = false) -> NetworkInterest {
    NetworkInterest(destinations: addresses, includesNames: names)
  }

  // MARK: Rounds

  /// The source is told before it is asked, so that no change in between is missed. Then it is read once more.
  @Test func aTargetIsAnnouncedThenAskedThenEventsAreReadAgain() {
    let cell = lab.watch(.address(address))
    #expect(source.calls == [.drain, .watch(interest([address])), .ask([address]), .drain])
    #expect(cell.current.status == .reachable && cell.current.realtime == 1_000)
  }

  @Test func aTurnInWhichNothingHappensAsksNothingAndTellsNothing() {
    lab.watch(.address(address))
    lab.watchPath()
    source.calls = []
    let outcome = lab.turn()
    #expect(source.calls == [.drain])
    #expect(!outcome.isUnfinished && outcome.targets.isEmpty && outcome.paths.isEmpty && outcome.timers.isEmpty)
  }

  @Test func aChangeIsAskedAboutOnceAndToldIfTheAnswerIsNew() {
    let cell = lab.watch(.address(address))
    source.calls = []
    let same = lab.change()
    #expect(source.calls == [.drain, .ask([address]), .drain])
    #expect(same.targets.isEmpty && !same.isUnfinished)
    lab.pass(5)
    let new = lab.change(address, .lost(.noCarrier))
    #expect(new.targets.count == 1 && new.targets.first === cell)
    #expect(cell.current.isUnreachable(.noCarrier) && cell.current.realtime == 1_005)
  }

  /// Eight rounds of reading and asking, then states are told although more is to be read.
  @Test func eventsWithoutEndAreReadForEightRounds() {
    let cell = lab.watch(.address(address))
    source.calls = []
    source.standing = { $0.markEverything() }
    source.answers[address] = .lost(.prohibited)
    let outcome = lab.turn()
    #expect(source.count(.drain) == 8 && source.asked.count == 8)
    #expect(outcome.isUnfinished && cell.current.isUnreachable(.prohibited))
    source.standing = { _ in }
    #expect(!lab.turn().isUnfinished)
  }

  @Test func whatTheSourceHasNotReadIsReadInTheNextTurn() {
    lab.watch(.address(address))
    source.events = [{ $0.isUnfinished = true }]
    #expect(lab.turn().isUnfinished)
    #expect(!lab.turn().isUnfinished)
  }

  // MARK: Polls and doubt

  @Test func theSourceIsPolledWhenItsTimeHasComeAndThenRead() {
    lab.watch(.address(address))
    source.nextPoll = 10
    lab.pass(9)
    source.calls = []
    lab.turn()
    #expect(source.calls == [.drain])
    lab.pass(1)
    source.calls = []
    lab.turn()
    #expect(source.calls == [.poll, .drain])
    source.calls = []
    source.onPoll = { $0.markEverything() }
    lab.turn()
    #expect(source.calls == [.poll, .drain, .ask([address]), .drain])
  }

  @Test func inDoubtNothingIsAskedNorDecidedUntilItEnds() {
    let cell = lab.watch(.address(address))
    source.calls = []
    source.answers[address] = .lost()
    source.nextPoll = 1_000
    #expect(lab.state.nextDecision == nil)
    source.standing = { $0.isInDoubt = true }
    source.events = [{ $0.markEverything() }]
    // No poll can end it yet: the number of turns does not count.
    for _ in 0..<20 { lab.turn() }
    #expect(source.calls == Array(repeating: .drain, count: 20))
    #expect(cell.current.isReachable && lab.state.nextDecision == 1_000)
    source.standing = { _ in }
    lab.turn()
    #expect(cell.current.isUnreachable(.noRoute) && lab.state.nextDecision == nil)
  }

  /// Eight polls in a row, and no more: then it is decided with the ninth.
  @Test func doubtHoldsBackForEightPolls() {
    let cell = lab.watch(.address(address))
    for answer in [Reachability.lost(.noCarrier), .lost(.prohibited)] {
      source.nextPoll = .min
      source.standing = { $0.isInDoubt = true }
      let before = cell.current
      for turn in 0..<8 {
        if turn == 0 { lab.change(address, answer) } else { lab.turn() }
        #expect(cell.current == before, "turn \(turn)")
      }
      lab.turn()
      #expect(cell.current.reason == answer.reason)
      // It ends, and the next doubt begins anew.
      source.standing = { _ in }
      source.nextPoll = nil
      lab.turn()
    }
  }

  @Test func whatIsNotWatchedAnyMoreWhenDoubtEndsIsNotAskedAbout() {
    let cell = lab.watch(.address(address))
    lab.watch(.address(other))
    source.nextPoll = 1_000
    source.standing = { $0.isInDoubt = true }
    lab.change()
    lab.unwatch([cell])
    source.standing = { _ in }
    source.calls = []
    lab.turn()
    #expect(source.asked == [other])
  }

  @Test func aStateWithoutATurnHoldsNothingBack() {
    source.nextPoll = 7
    #expect(lab.state.nextDecision == nil && lab.state.deadline == 7)
  }

  // MARK: Deadlines

  @Test func theNextTurnIsDueAtTheEarliestDeadline() throws {
    #expect(lab.state.deadline == nil)
    lab.turn(.schedule(DeliveryTimer(at: 3 * TurnLab.second, {})))
    #expect(lab.state.deadline == 3 * TurnLab.second)
    // The first answer of a name is overdue after a second.
    lab.watch(try .host("name.example"))
    #expect(lab.state.deadline == TurnLab.second)
    source.nextPoll = 5
    #expect(lab.state.deadline == 5)
  }

  @Test func aTimerFiresAtItsDeadlineAndNotBefore() {
    let timer = DeliveryTimer(at: 10, {})
    lab.pass(9)
    #expect(lab.turn(.schedule(timer)).timers.isEmpty)
    lab.pass(1)
    let due = lab.turn().timers
    #expect(due.count == 1 && due.first === timer)
    #expect(lab.turn().timers.isEmpty && lab.state.deadline == nil)
  }

  private final class NotingWaiter: EventWaiter {
    let deadlines = Log<Int64?>()
    func wait() -> Bool { true }
    func wake() -> Bool { true }
    func setDeadline(_ deadline: Int64?) { deadlines.append(deadline) }
    func abandon() {}
  }

  @Test func theWaiterIsToldOfADeadlineThatIsNew() {
    let (waiter, lab) = (NotingWaiter(), TurnLab(passes: true))
    for poll: Int64? in [nil, 5, 5, 6, nil, nil] {
      lab.source.nextPoll = poll
      lab.state.setDeadline(waiter)
    }
    #expect(waiter.deadlines.all == [5, 6, nil])
    // Moving the clock of a test wakes the threads.
    let still = NotingWaiter()
    self.lab.source.nextPoll = 5
    self.lab.state.setDeadline(still)
    #expect(still.deadlines.all.isEmpty)
  }

  // MARK: Timers that are forgotten

  private func timers(_ deadlines: some Sequence<Int>) -> [DeliveryTimer] {
    deadlines.map { DeliveryTimer(at: Int64($0), {}) }
  }

  /// Timers are removed once more than 64 are of no use; each costs little.
  @Test func upTo64ForgottenTimersAreLeft() {
    for round in 1...2 {
      let useless = timers(1...65)
      lab.turn(useless.map { .schedule($0) })
      for timer in useless { timer.cancel() }
      lab.turn(Array(repeating: .forgetTimer, count: 64))
      #expect(lab.state.deadline == 1, "round \(round)")
      lab.turn(.forgetTimer)
      #expect(lab.state.deadline == nil, "round \(round)")
    }
  }

  @Test func forgottenTimersAreLeftUntilTheyAreTheMajority() {
    let useless = timers(1...101)
    let useful = timers(1_000..<1_099)
    lab.turn((useless + useful).map { .schedule($0) })
    for timer in useless { timer.cancel() }
    lab.turn(Array(repeating: .forgetTimer, count: 100))
    #expect(lab.state.deadline == 1)
    lab.turn(.forgetTimer)
    #expect(lab.state.deadline == 1_000)
  }

  @Test func timersOfTargetsThatAreNotWatchedAnyMoreAreRemoved() {
    let cells = (0..<65).map { _ in lab.watch(.address(address)) { $0.settling = .seconds(3_600) } }
    let left = lab.watch(.address(address)) { $0.settling = .seconds(7_200) }
    lab.change(address, .lost())
    #expect(lab.state.deadline == 3_600 * TurnLab.second)
    lab.unwatch(cells)
    #expect(lab.state.deadline == 7_200 * TurnLab.second)
    withExtendedLifetime(left) {}
  }

  // MARK: Settling

  @Test func aChangeIsToldOnceNothingHasChangedForTheTimeOfSettling() {
    let cell = lab.watch(.address(address)) { $0.settling = .nanoseconds(20) }
    lab.change(address, .lost(.noCarrier))
    #expect(lab.state.deadline == 20)
    lab.pass(15)
    lab.change(address, .lost(.noAddress))
    lab.pass(5)
    #expect(lab.turn().targets.isEmpty, "put off")
    #expect(lab.state.deadline == 35)
    lab.pass(14)
    #expect(lab.turn().targets.isEmpty)
    lab.pass(1)
    let outcome = lab.turn()
    #expect(outcome.targets.count == 1 && cell.current.isUnreachable(.noAddress) && lab.state.deadline == nil)
  }

  @Test func aChangeOfAPathIsToldOnceNothingHasChangedForTheTimeOfSettling() {
    lab.watchPath(settling: .nanoseconds(20))
    source.path.path = NetworkPath(.unsatisfied, reason: .noCarrier)
    lab.change()
    lab.pass(15)
    source.path.path = NetworkPath(.unsatisfied, reason: .noAddress)
    lab.change()
    lab.pass(5)
    #expect(lab.turn().paths.isEmpty, "put off")
    #expect(lab.state.deadline == 35)
    lab.pass(15)
    #expect(lab.turn().paths.count == 1 && lab.state.deadline == nil)
  }

  // MARK: Announcements

  @Test func theSourceIsToldOfWhatIsNewAndOfNothingTwice() throws {
    lab.watch(.address(address))
    #expect(source.interests == [interest([address])])
    let second = lab.watch(.address(other))
    lab.watch(.address(other))
    #expect(source.interests == [interest([address]), interest([address, other])])
    source.calls = []
    lab.watch(.localNetwork)
    #expect(source.interests.isEmpty, "it has no address")
    let host = lab.watch(try .host("name.example"))
    let named = try #require(source.interests.last)
    #expect(named.includesNames && named.destinations?.contains(other) == true)
    lab.unwatch([host, second])
    #expect(source.interests.last == interest([address, other]))
  }

  @Test func aSourceThatAnnouncesAllAtFirstIsToldInTheNextTurn() {
    source.announcesAllAtFirst = true
    let cell = StateCell(unknown: Reachability.unknown)
    let question = TargetQuestion(.address(address), ReachabilityConfiguration())
    let first = lab.turn(.watch(.target(question, cell), cell.epoch))
    #expect(first.isUnfinished && source.interests.isEmpty && cell.current.isReachable)
    let second = lab.turn()
    #expect(!second.isUnfinished && source.interests == [interest([address])])
    lab.watch(.address(other))
    #expect(source.interests.last == interest([address, other]))
  }

  /// The configuration of names is announced only then.
  @Test func aSourceThatAnnouncesAllAtFirstIsToldOfNamesAtOnce() throws {
    source.announcesAllAtFirst = true
    lab.watch(try .host("name.example"))
    #expect(source.interests.map(\.includesNames) == [true])
  }

  /// A path asks the roots, too. That it depends on the configuration of names is new.
  @Test func aPathConcernsNames() {
    lab.watch(.internet)
    let roots = [IPAddress.rootServer(.ipv4), .rootServer(.ipv6)]
    #expect(source.interests == [interest(roots)])
    lab.watchPath()
    #expect(source.interests == [interest(roots), interest(roots, names: true)])
  }
}
