// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// When a recorder explains, whom it tells, and whom it believes.
struct RecorderExplanationTests {
  private func at(_ second: Int64) -> Moment { exactly(second * 1_000_000) }

  private func found(_ layer: OutageLayer, _ cause: String? = "no-carrier", _ words: String = "s") -> Explanation {
    Explanation(cause: cause, confidence: "certain", layer: layer, summary: words)
  }

  /// Targets that were up, and go down one after the other.
  private func bench(_ targets: [String], down: [(RecorderStateMachine.TargetState, Int64)]) -> RecorderBench {
    var bench = RecorderBench(targets)
    for target in targets.indices { bench.set(target, .isUp, at(1)) }
    for (target, (state, second)) in down.enumerated() { bench.set(target, state, at(second)) }
    return bench
  }

  /// CLOCK_BOOTTIME begins with zero (clock_gettime(2)).
  @Test func explainsInTheMomentInWhichTheMachineStarts() {
    let start = Moment(wall: moment(0).wall, clock: 0, slept: 0)
    var bench = RecorderBench(at: start)
    #expect(bench.set(0, .isDown(), start) == ["begin", "explain 0"])
  }

  /// A line after five seconds, and as long again as the outage is old; an explanation of one each minute at most.
  @Test func tellsWhenItWantsToBeAsked() {
    var bench = RecorderBench()
    bench.set(0, .isDown(), at(10))
    #expect(bench.machine.nextTime == at(15).clock, "one is under way")
    bench.handle(.explained(0, nil), at(11))
    #expect(bench.machine.nextTime == at(15).clock, "nothing has changed since")
    bench.handle(.path(NetworkSummary(status: "unsatisfied")), at(12))
    #expect(bench.machine.nextTime == at(17).clock)
    #expect(bench.handle(.time, exactly(69_999_999)) == ["alive"])
    #expect(bench.machine.nextTime == at(70).clock)
    #expect(bench.handle(.time, at(70)) == ["explain 0"])
    #expect(bench.machine.nextTime == exactly(129_999_998).clock)
  }

  @Test func whatEndsIsExplainedNoMore() {
    var bench = RecorderBench(["a", "b"])
    bench.set(0, .isDown(), at(10))
    bench.set(1, .isDown(), at(11))
    bench.set(1, .isUp, at(12))
    bench.handle(.explained(0, nil), at(13))
    #expect(bench.machine.nextTime == at(17).clock)
    #expect(bench.handle(.time, at(200)) == ["alive"])
  }

  /// A change of the same outage has it explained again.
  @Test func anotherStateOfAnOutageIsAChange() {
    var bench = RecorderBench()
    bench.set(0, .isDown(), at(10))
    bench.handle(.explained(0, found(.link)), at(11))
    #expect(bench.set(0, .isDown("no-route"), at(80)) == ["explain 0"])
  }

  @Test func glancesAtTheOldestFirst() {
    var bench = bench(["a", "b", "c", "d", "e"], down: [(.isDown(), 10), (.isDown(), 10)])
    // The fourth began before the third.
    bench.set(2, .isDown(), exactly(10_200_000))
    bench.handle(.state(3, .isDown(), since: exactly(10_100_000).wall), exactly(10_300_000))
    bench.handle(.state(4, .isDown(), since: exactly(10_200_000).wall), exactly(10_300_000))
    var glances: [[String]] = []
    for second in [10_999_999, 11_000_000, 11_999_999, 12_000_000, 13_000_000, 14_000_000] as [Int64] {
      glances.append(bench.handle(.time, exactly(second)))
    }
    #expect(glances == [[], ["glance 3"], [], ["glance 2"], ["glance 4"], []])
  }

  @Test func aGlanceIsDueASecondAfterTheLast() {
    let bench = bench(["a", "b", "c"], down: [(.isDown(), 10), (.isDown(), 10), (.isDown(), 10)])
    #expect(bench.machine.nextTime == at(11).clock)
  }

  /// First what was explained least, and of those the oldest.
  @Test func explainsInTurn() {
    var bench = bench(["a", "b", "c"], down: [(.isDown(), 10), (.isDown(), 12), (.isDown(), 12)])
    var explained: [String] = ["explain 0"]
    for second in stride(from: 20, through: 500, by: 1) as StrideThrough<Int64> {
      // Something changes all the time.
      let path = NetworkSummary(status: "unsatisfied", reason: "\(second)")
      let actions = bench.handle(.path(path), at(second)).filter { $0.hasPrefix("explain") }
      explained += actions
      // One at a time, and none comes to anything.
      if let target = (actions.first ?? (second == 20 ? "explain 0" : nil))?.last?.wholeNumberValue {
        bench.handle(.explained(target, nil), at(second))
      }
    }
    // Once each, from minute to minute, and then again in the same order.
    #expect(explained.prefix(6) == ["explain 0", "explain 1", "explain 2", "explain 0", "explain 1", "explain 2"])
  }

  /// The end of one explanation is not that of another.
  @Test func oneExplanationAtATime() {
    var bench = bench(["a", "b"], down: [(.isDown(), 10), (.isDown(), 10)])
    #expect(bench.handle(.explained(1, nil), at(20)) == [])
    #expect(bench.handle(.time, at(100)) == ["alive"])
    #expect(bench.handle(.explained(0, nil), at(110)) == ["explain 1"])
  }

  /// What has found a cause says more than what has found none.
  @Test func aCauseIsNotForgotten() {
    var bench = RecorderBench()
    bench.set(0, .isDown(), at(10))
    #expect(bench.handle(.explained(0, found(.unknown, nil, "1")), at(11)) == ["cause"])
    #expect(bench.handle(.explained(0, found(.unknown, nil, "2")), at(12)) == ["cause"])
    #expect(bench.handle(.explained(0, found(.router, "gateway-silent", "3")), at(13)) == ["cause"])
    #expect(bench.handle(.explained(0, found(.unknown, nil, "4")), at(14)) == [])
    #expect(bench.handle(.explained(0, found(.link, "no-carrier", "5")), at(15)) == ["cause"])
    #expect(bench.handle(.explained(0, nil), at(16)) == [])
    bench.set(0, .isUp, at(20))
    #expect(bench.ends.map(\.outage.explanation) == [found(.link, "no-carrier", "5")])
    // There is no outage to be explained.
    #expect(bench.handle(.explained(0, found(.link)), at(21)) == [])
  }

  @Test func aGlanceSaysLessThanAnExplanation() {
    var bench = bench(["a"], down: [(.isDown(), 10)])
    #expect(bench.handle(.glanced(0, found(.unknown, nil)), at(11)) == [])
    #expect(bench.handle(.glanced(0, found(.router, "gateway-silent")), at(12)) == ["cause"])
    #expect(bench.handle(.glanced(0, found(.link)), at(13)) == [])
    bench.set(0, .isUp, at(14))
    #expect(bench.handle(.glanced(0, found(.link)), at(15)) == [])
    #expect(bench.ends.map(\.outage.layer) == [.router])
  }

  /// RFC 9293, 3.5.2: who resets a connection has got its segment, so no router has kept it.
  @Test func aSiteThatHasAnsweredWasReached() {
    var bench = bench(["a"], down: [(.isDown("connection-refused", layer: .site), 10)])
    #expect(bench.handle(.glanced(0, found(.router, "gateway-silent")), at(11)) == [])
    #expect(bench.handle(.glanced(0, found(.site, "refused")), at(12)) == ["cause"])
    bench.set(0, .isUp, at(14))
    #expect(bench.ends.map(\.outage.layer) == [.site])
  }

  /// A fault on the common way is shared, and explains the other target: it is not explained by itself.
  @Test(
    arguments: [
      (.machine, true), (.link, true), (.router, true), (.provider, true), (.nameServer, false), (.site, false),
      (.unknown, false),
    ] as [(OutageLayer, Bool)])
  func whatIsOnTheCommonWayIsShared(layer: OutageLayer, isShared: Bool) throws {
    var bench = bench(["a", "b"], down: [(.isDown(), 10), (.isDown(), 10)])
    #expect(bench.handle(.explained(0, found(layer)), at(11)) == (isShared ? ["cause", "cause"] : ["cause"]))
    #expect(bench.handle(.time, at(80)) == ["alive"] + (isShared ? [] : ["explain 1"]))
    for target in 0...1 { bench.set(target, .isUp, at(90)) }
    #expect(bench.ends.first?.outage.explanation == found(layer))
    let other = Explanation(
      cause: "no-carrier", confidence: "likely", layer: layer, summary: "s", sharedFrom: "a")
    let last = try #require(bench.ends.last)
    #expect(last.outage.explanation == (isShared ? other : nil))
  }

  @Test func noCauseIsShared() {
    var bench = bench(["a", "b"], down: [(.isDown(), 10), (.isDown(), 10)])
    #expect(bench.handle(.explained(0, found(.link, nil)), at(11)) == ["cause"])
  }

  /// What was shared with a target is not shared further: it says nothing of its own about others.
  @Test func whatWasSharedIsNotSharedFurther() {
    var bench = bench(["a", "b", "c"], down: [(.isDown(), 10), (.isDown(), 18)])
    #expect(bench.handle(.explained(0, found(.link)), at(19)) == ["cause", "cause"])
    // Within ten seconds of the second, and not of the first.
    #expect(!bench.set(2, .isDown(), at(22)).contains("cause"))
  }

  /// A target that answers is not cut off by what is on its way.
  @Test func aSiteThatAnswersSharesNothing() {
    var bench = bench(["a", "b"], down: [(.isDown(), 10), (.isDown("connection-refused"), 10)])
    #expect(bench.handle(.explained(0, found(.link)), at(11)) == ["cause"])
  }

  /// A name server is not at fault where packets do not come back either, and is where another target refuses or where
  /// that one went down at another time.
  @Test(
    arguments: [
      ("timed-out", .provider, 60_000_000, .provider), ("host-unreachable", .router, 60_000_000, .router),
      ("network-unreachable", .provider, 60_000_000, .provider),
      ("connection-refused", .site, 60_000_000, .nameServer), ("timed-out", .nameServer, 60_000_000, .nameServer),
      ("timed-out", .provider, 70_000_000, .provider), ("timed-out", .provider, 70_000_001, .nameServer),
    ] as [(String, OutageLayer, Int64, OutageLayer)])
  func aNameServerBehindAFaultHasNone(reason: String, layer: OutageLayer, began: Int64, expected: OutageLayer) {
    var bench = RecorderBench(["name", "other"])
    for target in 0...1 { bench.set(target, .isUp, at(1)) }
    bench.set(0, .isDown("name-not-resolved", layer: .nameServer), at(60))
    bench.set(1, .isDown(reason, layer: layer), exactly(began))
    for target in 0...1 { bench.set(target, .isUp, at(90)) }
    #expect(bench.ends.map(\.outage.layer) == [expected, layer])
  }

  /// The same if the other one has just ended, as a name takes longer to be found again.
  @Test(arguments: [("timed-out", OutageLayer.provider), ("connection-refused", .nameServer)])
  func anOutageThatHasJustEndedExplainsToo(reason: String, expected: OutageLayer) {
    var bench = RecorderBench(["name", "other"])
    for target in 0...1 { bench.set(target, .isUp, at(1)) }
    bench.set(1, .isDown(reason, layer: .provider), at(60))
    bench.set(1, .isUp, at(66))
    bench.set(0, .isDown("name-not-resolved", layer: .nameServer), at(68))
    bench.set(0, .isUp, at(90))
    #expect(bench.ends.last?.outage.layer == expected)
  }

  /// Nothing of this is said of what has to do with no name.
  @Test func anotherOutageKeepsItsLayer() {
    var bench = bench(["a", "b"], down: [(.isDown("no-carrier"), 60), (.isDown("timed-out", layer: .provider), 61)])
    for target in 0...1 { bench.set(target, .isUp, at(90)) }
    #expect(bench.ends.map(\.outage.layer) == [.link, .provider])
  }

  /// Why there is no explanation: it was looked for and is over, or others were explained.
  @Test func saysWhyNothingIsExplained() {
    var bench = RecorderBench()
    bench.handle(.path(NetworkSummary(status: "satisfied", interface: "eth0")), at(0))
    bench.set(0, .isDown(), at(10))
    bench.handle(.explained(0, nil), at(11))
    bench.set(0, .isUp, at(12))
    bench.set(0, .isDown(), at(20))
    bench.set(0, .isUp, at(25))
    // The machine's path is lost meanwhile: nothing could be found out any more.
    bench.set(0, .isDown("name-not-resolved"), at(30))
    bench.handle(.path(NetworkSummary(status: "unsatisfied")), at(32))
    bench.set(0, .isUp, at(35))
    #expect(bench.ends.map(\.outage.unexplained) == [.over, .limit, .over])
  }

  /// A recorder that begins without a path has lost none.
  @Test func aPathThatNeverWasIsNotLost() {
    var bench = RecorderBench()
    bench.set(0, .isDown(), at(1))
    bench.handle(.path(NetworkSummary(status: "unsatisfied", reason: "no-carrier")), at(9))
    #expect(bench.handle(.explained(0, found(.link)), at(10)) == ["cause"])
  }

  /// What goes on and was explained by the recorder before is not looked into anew.
  @Test func whatWasExplainedBeforeGoesOnExplained() {
    let outage = OpenOutage(
      target: "a", began: at(10), reason: "no-carrier", words: "w", explanation: found(.link))
    var bench = RecorderBench(["a"], previous: ["a": outage], previousEnd: at(20), at: at(25))
    #expect(bench.set(0, .isDown(), at(26)) == ["begin"])
    #expect(bench.machine.nextTime == at(42).clock)
  }

  /// A minute for all outages, and twenty an hour.
  @Test func theBudgetIsOneAMinuteAndTwentyAnHour() {
    let second: Int64 = 1_000_000
    var budget = ExplainBudget()
    #expect(budget.next(after: 5 * second) == 5 * second)
    budget.begin(at: 0)
    #expect(budget.next(after: 5 * second) == 60 * second)
    #expect(budget.next(after: 60 * second) == 60 * second && budget.next(after: 61 * second) == 61 * second)
    for minute in 1...18 { budget.begin(at: Int64(minute) * 60 * second) }
    #expect(budget.next(after: 1_085 * second) == 1_140 * second, "nineteen")
    budget.begin(at: 1_140 * second)
    #expect(budget.next(after: 1_145 * second) == 3_600 * second, "twenty, the first of them an hour ago")
    budget.begin(at: 3_600 * second)
    #expect(budget.next(after: 3_601 * second) == 3_660 * second, "the second of them was a minute later")
    budget.begin(at: 5_000 * second)
    #expect(budget.next(after: 5_001 * second) == 5_060 * second)
  }

  @Test(
    arguments: [
      (0, 60), (1, 60), (2, 120), (3, 240), (4, 480), (5, 960), (6, 1_920), (7, 3_600), (8, 3_600), (99, 3_600),
    ] as [(Int, Int64)])
  func oneOutageWaitsTwiceAsLongEachTime(count: Int, seconds: Int64) {
    #expect(ExplainBudget.pause(after: count) == seconds * 1_000_000)
  }
}
