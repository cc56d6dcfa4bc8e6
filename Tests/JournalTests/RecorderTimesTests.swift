// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// The times of the page "Outages", each at its end.
struct RecorderTimesTests {
  private let up = RecorderStateMachine.TargetState.up(words: "up")

  private func down(_ reason: String = "no-carrier") -> RecorderStateMachine.TargetState {
    .down(reason: reason, words: reason)
  }

  private func machine(_ targets: [String] = ["a"]) -> RecorderStateMachine {
    RecorderStateMachine(JournalEvent.Recorder(version: "1", boot: "b", targets: targets), at: moment(0))
  }

  private func events(_ actions: [RecorderStateMachine.Action]) -> [JournalEvent] {
    actions.compactMap { if case .write(let event) = $0 { event } else { nil } }
  }

  /// "The recorder writes a line every five minutes."
  @Test func aLineIsWrittenEveryFiveMinutes() {
    var machine = machine()
    #expect(machine.nextTime == moment(300).clock)
    #expect(machine.handle(.time, at: moment(299.999)).isEmpty)
    #expect(events(machine.handle(.time, at: moment(300))).map(\.name) == ["alive"])
    // Any other line serves as well.
    _ = machine.handle(.state(0, up, since: nil), at: moment(400))
    #expect(machine.nextTime == moment(700).clock)
    #expect(machine.handle(.time, at: moment(699)).isEmpty)
  }

  /// "And in an outage after 5, 10, 20, 40 seconds and so on."
  @Test func aYoungOutageHasMoreLines() {
    var machine = machine()
    _ = machine.handle(.state(0, down(), since: nil), at: moment(100))
    var times: [Moment] = []
    for _ in 0..<9 {
      let next = moment(Double(machine.nextTime - moment(0).clock) / 1_000_000)
      times += events(machine.handle(.time, at: next)).filter { $0.kind == .alive }.map(\.at)
    }
    #expect(times == [105, 110, 120, 140, 180, 260, 420, 720, 1_020].map { moment($0) })
    _ = machine.handle(.state(0, up, since: nil), at: moment(1_021))
    #expect(machine.nextTime == moment(1_321).clock)
  }

  /// "Targets that go down within ten seconds share one explanation."
  @Test(arguments: [(10.0, true), (10.1, false)]) func whatGoesDownWithinTenSecondsIsExplainedOnce(
    _ seconds: Double, _ isShared: Bool
  ) {
    var machine = machine(["a", "b"])
    for target in 0..<2 { _ = machine.handle(.state(target, up, since: nil), at: moment(1)) }
    _ = machine.handle(.state(0, down(), since: nil), at: moment(100))
    _ = machine.handle(.state(1, down(), since: nil), at: moment(100 + seconds))
    let explanation = Explanation(cause: "no-carrier", confidence: "certain", layer: .link, summary: "s")
    let written = events(machine.handle(.explained(0, explanation), at: moment(111)))
    #expect(written.map(\.name) == (isShared ? ["cause", "cause"] : ["cause"]))
  }

  /// "A path of this machine that is lost more than a second after an outage began is not its cause."
  @Test(arguments: [(11.0, true), (11.1, false)]) func aPathThatIsLostLaterExplainsNothing(
    _ second: Double, _ isCause: Bool
  ) {
    var machine = machine(["name", "address"])
    for target in 0..<2 { _ = machine.handle(.state(target, up, since: nil), at: moment(1)) }
    _ = machine.handle(.path(NetworkSummary(status: "satisfied", interface: "eth0")), at: moment(1))
    #expect(machine.handle(.state(0, down("name-not-resolved"), since: nil), at: moment(10)).contains(.explain(0)))
    _ = machine.handle(.path(NetworkSummary(status: "unsatisfied", reason: "no-carrier")), at: moment(second))
    let other = machine.handle(.state(1, down(), since: nil), at: moment(second))
    #expect(!other.contains(.explain(1)), "one at a time")
    let cable = Explanation(cause: "no-carrier", confidence: "certain", layer: .link, summary: "s")
    let causes = events(machine.handle(.explained(0, cable), at: moment(12)))
    #expect(causes.map(\.name) == (isCause ? ["cause", "cause"] : []))
    if isCause { return }
    // The other one is explained, and the first does not share it.
    #expect(machine.handle(.time, at: moment(130)).contains(.explain(1)))
    #expect(events(machine.handle(.explained(1, cable), at: moment(131))).map(\.name) == ["cause"])
    #expect(!machine.handle(.time, at: moment(3_000)).contains(.explain(0)), "nothing can be found out now")
    // Once there is a path again, its own cause can be found.
    let back = NetworkSummary(status: "satisfied", interface: "eth0")
    #expect(machine.handle(.path(back), at: moment(3_100)).contains(.explain(0)))
    let name = Explanation(cause: "name-server-silent", confidence: "likely", layer: .nameServer, summary: "s")
    #expect(events(machine.handle(.explained(0, name), at: moment(3_101))).map(\.name) == ["cause"])
  }

  /// The recorder begins, and a line is written while the first check of a site fails.
  @Test(arguments: [(2.0, 2.0), (-3, 0)]) func theFirstOutageIsAsOldAsItsCheck(_ since: Double, _ began: Double) {
    var machine = machine()
    _ = machine.handle(.path(NetworkSummary(status: "satisfied")), at: moment(4))
    let written = events(machine.handle(.state(0, down("timed-out"), since: moment(since).wall), at: moment(7)))
    #expect(written.map(\.at) == [moment(4)])
    #expect(OutageLog.outages([machine.start] + written).map(\.began) == [moment(began).wall])
  }

  /// A cable is plugged in, and what is asked over it does not answer: the cable is not to blame.
  @Test(arguments: [(9.95, 1), (9.85, 2)])
  func whatKeptThePathAwayExplainsNoLaterOutage(_ second: Double, _ causes: Int) {
    var machine = machine(["address", "site"])
    _ = machine.handle(.path(NetworkSummary(status: "unsatisfied", reason: "no-carrier")), at: moment(1))
    _ = machine.handle(.state(0, down(), since: nil), at: moment(5))
    let cable = Explanation(cause: "no-carrier", confidence: "certain", layer: .link, summary: "s")
    var written = events(machine.handle(.explained(0, cable), at: moment(6)))
    _ = machine.handle(.path(NetworkSummary(status: "satisfied", interface: "eth0")), at: moment(10))
    written += events(machine.handle(.state(1, down("timed-out"), since: moment(second).wall), at: moment(15)))
    #expect(written.count { $0.name == "cause" } == causes)
  }

  /// "An outage around it [sleep] that is over 30 s after waking is no outage."
  @Test(arguments: [(29.0, true), (31.0, false)]) func whatIsOverSoonAfterWakingIsNoOutage(
    _ seconds: Double, _ isWaking: Bool
  ) {
    var machine = machine()
    _ = machine.handle(.state(0, up, since: nil), at: moment(1))
    _ = machine.handle(.state(0, down(), since: nil), at: moment(10))
    // It sleeps for an hour, one second later.
    _ = machine.handle(.time, at: moment(3_611, slept: 3_600))
    let written = events(machine.handle(.state(0, up, since: nil), at: moment(3_610 + seconds, slept: 3_600)))
    guard case .end(_, _, let found)? = written.first?.kind else {
      Issue.record("no end: \(written)")
      return
    }
    #expect(found == isWaking)
  }

  /// The provider drops all, and only the way of one that is asked by its name was looked at, by a recorder that asks
  /// nobody beyond the router. Two that are both asked by names say nothing of each other.
  @Test(arguments: [
    ("connect", OutageLayer.provider, OutageLayer.provider), ("name", .nameServer, .nameServer),
  ]) func anExplanationByTheNameServerCountsAlone(_ stage: String, _ first: OutageLayer, _ second: OutageLayer) {
    var machine = machine(["name", "other"])
    let silent = Explanation(cause: "name-server-silent", confidence: "likely", layer: .nameServer, summary: "s")
    let other = RecorderStateMachine.TargetState.down(
      reason: "timed-out", words: "w", layer: stage == "name" ? .nameServer : .provider)
    let inputs: [(RecorderStateMachine.Input, Double)] = [
      (.state(0, up, since: nil), 1), (.state(1, up, since: nil), 1),
      (.state(0, .down(reason: "timed-out", words: "w", layer: .nameServer), since: nil), 60),
      (.state(1, other, since: nil), 64), (.explained(0, silent), 66), (.state(0, up, since: nil), 90),
      (.state(1, up, since: nil), 90),
    ]
    var written = [machine.start]
    for (input, second) in inputs {
      written += events(machine.handle(input, at: moment(second)))
    }
    let layers = Dictionary(uniqueKeysWithValues: OutageLog.outages(written).map { ($0.target, $0.layer) })
    #expect(layers == ["name": first, "other": second])
  }
}
