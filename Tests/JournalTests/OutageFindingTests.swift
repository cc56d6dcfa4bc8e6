// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// What is found in the events of a journal, one after the other.
struct OutageFindingTests {
  private func recorder(_ targets: [String] = ["a"], boot: String = "b") -> JournalEvent.Recorder {
    JournalEvent.Recorder(version: "1", boot: boot, targets: targets)
  }

  private func event(_ kind: JournalEvent.Kind, _ second: Double, slept: Double = 0) -> JournalEvent {
    JournalEvent(kind, at: moment(second, slept: slept))
  }

  private func open(_ second: Double, _ target: String = "a", _ explanation: Explanation? = nil) -> OpenOutage {
    OpenOutage(target: target, began: moment(second), reason: "no-carrier", words: "w", explanation: explanation)
  }

  private func watched(
    _ target: String, _ state: OutageLog.WatchedState, _ from: Double, _ to: Double
  ) -> OutageLog.Finding {
    .watched(target, state, from: moment(from).wall, to: moment(to).wall)
  }

  private func path(_ summary: NetworkSummary, _ from: Double, _ to: Double) -> OutageLog.Finding {
    .path(summary, from: moment(from).wall, to: moment(to).wall)
  }

  private let wired = NetworkSummary(status: "satisfied", interface: "eth0", kind: "wired")
  private let wifi = NetworkSummary(status: "satisfied", interface: "wlan0", kind: "wifi")

  @Test func tellsEachSpan() {
    let outage = open(55)
    let events = [
      event(.start(recorder(["a", "b"])), 0), event(.up(target: "a"), 10), event(.up(target: "b"), 10),
      event(.path(wired), 20), event(.begin(outage, isContinued: false), 60),
      event(.end(outage, how: "back", isWaking: false), 90), event(.path(wifi), 95),
      event(.unknown(target: "b", reason: nil), 97), event(.clock(5), 99),
      event(.sleep(100_000_000), 200, slept: 100), event(.stop(reason: "x"), 210, slept: 100),
    ]
    #expect(
      OutageLog.findings(events) == [
        watched("a", .unknown, 0, 10), watched("b", .unknown, 0, 10),
        // It began before that was known.
        watched("a", .up, 10, 55), watched("a", .down, 55, 90), .outage(Outage(outage, at: moment(90), .over("back"))),
        path(wired, 20, 95), watched("b", .up, 10, 97), watched("a", .up, 90, 100), watched("b", .unknown, 97, 100),
        path(wifi, 95, 100), .asleep(from: moment(100).wall, to: moment(200).wall), watched("a", .up, 200, 210),
        watched("b", .unknown, 200, 210), path(wifi, 200, 210),
      ])
  }

  /// A recorder is at work: the last path lasts until now, and is told once.
  @Test func theLastPathIsToldOnce() {
    var found: [OutageLog.Finding] = []
    var log = OutageLog { found.append($0) }
    for one in [event(.start(recorder()), 0), event(.path(wired), 5), event(.alive, 10)] { log.take(one) }
    log.finish(now: moment(20))
    #expect(found == [watched("a", .unknown, 0, 20), path(wired, 5, 20)])
  }

  @Test func whatTakesNoTimeIsNoSpan() {
    let events = [
      event(.start(recorder()), 5), event(.up(target: "a"), 5), event(.path(wired), 5), event(.path(wifi), 5),
      event(.unknown(target: "a", reason: nil), 5), event(.stop(reason: "x"), 5),
    ]
    #expect(OutageLog.findings(events) == [])
  }

  /// Waking up is no outage, and not known to be anything else.
  @Test func wakingUpIsNotKnown() {
    let outage = open(60)
    let events = [
      event(.start(recorder()), 60), event(.begin(outage, isContinued: false), 60),
      event(.end(outage, how: "back", isWaking: true), 90), event(.stop(reason: "x"), 95),
    ]
    #expect(OutageLog.findings(events) == [watched("a", .unknown, 60, 90), watched("a", .up, 90, 95)])
  }

  /// A recorder of the same boot may go on with what was open; with another boot it is cut at once.
  @Test(arguments: [("b", false), ("c", true)]) func anotherBootCutsWhatWasOpen(boot: String, isCut: Bool) {
    var findings: [OutageLog.Finding] = []
    var log = OutageLog { findings.append($0) }
    for event in [
      event(.start(recorder()), 50), event(.begin(open(60), isContinued: false), 60), event(.stop(reason: "x"), 70),
    ] { log.take(event) }
    let cut = OutageLog.Finding.outage(Outage(open(60), at: moment(70), .cut))
    #expect(log.open == ["a": open(60)] && !findings.contains(cut))
    #expect(log.end?.boot == "b" && log.end?.at == moment(70))
    log.take(event(.start(recorder(boot: boot)), 75))
    #expect(findings.contains(cut) == isCut && log.open.isEmpty == isCut && log.end?.boot == boot)
    log.take(event(.up(target: "a"), 76))
    #expect(findings.count { $0 == cut } == 1 && log.open.isEmpty)
  }

  /// The next outage is another one, unless it goes on.
  @Test func anOutageGoesOnOrIsCut() {
    let before = [
      event(.start(recorder()), 60), event(.begin(open(60), isContinued: false), 60), event(.stop(reason: "x"), 70),
      event(.start(recorder()), 75),
    ]
    let new = open(80)
    let another = [event(.begin(new, isContinued: false), 80), event(.end(new, how: "h", isWaking: false), 90)]
    #expect(
      OutageLog.findings(before + another) == [
        watched("a", .down, 60, 70), .outage(Outage(open(60), at: moment(70), .cut)), watched("a", .unknown, 75, 80),
        watched("a", .down, 80, 90), .outage(Outage(new, at: moment(90), .over("h"))),
      ])
    let goesOn = [event(.begin(open(60), isContinued: true), 80), event(.end(open(60), how: "h", isWaking: false), 90)]
    #expect(
      OutageLog.findings(before + goesOn) == [
        watched("a", .down, 60, 70), watched("a", .unknown, 75, 80), watched("a", .down, 80, 90),
        .outage(Outage(open(60), at: moment(90), .over("h"), seenIn: [60..<70, 80..<90])),
      ])
  }

  /// A begin that is torn changes nothing: an outage is told once, no time twice (RFC 8259: half a line is no JSON).
  @Test func aBeginThatCannotBeReadCountsOnce() {
    func withoutBegin(_ events: [JournalEvent]) -> [OutageLog.Finding] {
      OutageLog.findings(events.filter { $0.at.clock < moment(50).clock || $0.name != "begin" })
    }
    let (old, new) = (open(20), open(60))
    let first = [event(.start(recorder()), 0), event(.up(target: "a"), 10)]
    let end = event(.end(new, how: "h", isWaking: false), 90)
    let events = first + [event(.begin(new, isContinued: false), 60), end, event(.stop(reason: "x"), 95)]
    let over = OutageLog.Finding.outage(Outage(new, at: moment(90), .over("h")))
    #expect(
      withoutBegin(events) == [
        watched("a", .unknown, 0, 10), watched("a", .up, 10, 60), watched("a", .down, 60, 90), over,
        watched("a", .up, 90, 95),
      ])
    #expect(withoutBegin(events) == OutageLog.findings(events))
    // After another one that was left open, and going on with it.
    let left = [
      event(.start(recorder()), 20), event(.begin(old, isContinued: false), 20), event(.stop(reason: "x"), 30),
      event(.start(recorder()), 40),
    ]
    let another = left + [event(.begin(new, isContinued: false), 60), end]
    #expect(withoutBegin(another) == OutageLog.findings(another))
    #expect(
      withoutBegin(left + [event(.end(old, how: "h", isWaking: false), 90)]) == [
        watched("a", .down, 20, 30), watched("a", .down, 40, 90),
        .outage(Outage(old, at: moment(90), .over("h"), seenIn: [20..<30, 40..<90])),
      ])
    // What was told before a sleep stays.
    let slept = [
      event(.sleep(10_000_000), 80, slept: 10), event(.end(new, how: "h", isWaking: false), 90, slept: 10),
    ]
    #expect(
      withoutBegin(first + slept).dropFirst() == [
        watched("a", .up, 10, 70), .asleep(from: moment(70).wall, to: moment(80).wall), watched("a", .down, 80, 90),
        .outage(Outage(new, at: moment(90, slept: 10), .over("h"), seenIn: [80..<90])),
      ])
  }

  /// A cause and its steps belong to the outage that began then.
  @Test(arguments: [(60.0, true), (61, false)]) func aCauseBelongsToItsOutage(second: Double, isIts: Bool) {
    let step = Explanation.Step(step: "link", family: nil, outcome: "fault", text: "t")
    let found = Explanation(cause: "no-carrier", confidence: "certain", layer: .link, summary: "s", steps: [step])
    var bare = found
    bare.steps = []
    let events = [
      event(.start(recorder()), 50), event(.begin(open(60), isContinued: false), 60),
      event(.cause(open(second, "a", found)), 62),
    ]
    #expect(OutageLog.outages(events, now: moment(70)).map(\.explanation) == [isIts ? found : nil])
    let ended = OutageLog.outages(events + [event(.end(open(60, "a", bare), how: "h", isWaking: false), 70)])
    #expect(ended.map(\.explanation) == [isIts ? found : bare])
    // The end of an outage that began at another time has not its steps.
    let other = OutageLog.outages(events + [event(.end(open(63, "a", bare), how: "h", isWaking: false), 70)])
    #expect(other.map(\.explanation) == [isIts ? found : nil, bare] && other.first?.ending == .cut)
  }

  /// Until now, if a recorder is there.
  @Test func whatIsOpenLastsUntilNow() {
    let events = [
      event(.start(recorder(["a", "b"])), 0), event(.up(target: "b"), 0),
      event(.begin(open(10), isContinued: false), 10), event(.alive, 20),
    ]
    #expect(
      OutageLog.findings(events, now: moment(30)) == [
        watched("a", .unknown, 0, 10), watched("a", .down, 10, 30), watched("b", .up, 0, 30),
        .outage(Outage(open(10), at: moment(30), .open)),
      ])
    #expect(
      OutageLog.findings(events) == [
        watched("a", .unknown, 0, 10), watched("a", .down, 10, 20), watched("b", .up, 0, 20),
        .outage(Outage(open(10), at: moment(20), .cut)),
      ])
  }

  /// A header that is the first has the states, and one of a later file says nothing new.
  @Test func aHeaderCountsWhereNothingIsKnown() {
    let states: [JournalEvent.TargetStatus] = [.up(target: "a"), .unknown(target: "b"), .down(open(5, "c"))]
    let header = event(.file(recorder(["a", "b", "c"]), states, wired), 10)
    let rest = [event(.stop(reason: "x"), 20)]
    let left = OutageLog.Finding.outage(Outage(open(5, "c"), at: moment(20), .cut))
    #expect(
      OutageLog.findings([header] + rest) == [
        watched("a", .up, 10, 20), watched("b", .unknown, 10, 20), watched("c", .down, 5, 20), path(wired, 10, 20),
        left,
      ])
    let other = event(.file(recorder(["a", "b", "c"]), states.map { .up(target: $0.target) }, wifi), 15)
    #expect(OutageLog.findings([header, other] + rest) == OutageLog.findings([header] + rest))
    // Behind the end of a recorder, it counts again.
    let late = event(.file(recorder(), [.up(target: "a")], nil), 30)
    #expect(
      OutageLog.findings([header] + rest + [late, event(.alive, 40)]).suffix(2) == [watched("a", .up, 30, 40), left])
  }

  // MARK: Outages

  /// A hundred seconds, asleep from 70 to 120.
  @Test(
    arguments: [
      (0, 100, 10), (60, 160, 50), (50, 200, 50), (110, 200, 40), (0, 110, 10), (65, 135, 20), (200, 300, 0),
      (0, 50, 0), (160, 200, 0), (0, 60, 0), (70, 120, 0),
    ] as [(Double, Double, Int64)])
  func aPartOfAnOutageLastsAsLongAsItWasSeen(from: Double, to: Double, seconds: Int64) {
    let outage = Outage(open(60), at: moment(160, slept: 50), .open, seenIn: [60..<70, 120..<160])
    #expect(outage.slept == 50_000_000 && outage.lasted == 50_000_000)
    #expect(sums(from, to, [.outage(outage)]).targets["a"]?.down ?? 0 == seconds * 1_000_000)
  }

  @Test func anOutageOfNoTimeLastsNoTime() {
    let outage = Outage(open(60), at: moment(60), .open)
    #expect(outage.lasted == 0 && outage.slept == 0 && outage.unwatched == 0)
    #expect(outage.seen.isEmpty && sums(0, 100, [.outage(outage)]).targets["a"]?.down == 0)
    // It had slept before, which is no part of it.
    var later = open(60)
    later.began.slept = 7
    later.unwatched = 5
    let one = Outage(later, at: exactly(60_000_020, slept: 10), .open)
    #expect(one.slept == 3 && one.lasted == 12 && one.unwatched == 5)
    later.unwatched = 1_000
    #expect(Outage(later, at: exactly(60_000_020, slept: 10), .open).lasted == 0)
  }

  /// Known alone from the cause if there is an explanation, or else from the layer.
  @Test(
    arguments: [
      (nil, .nameServer, true), (nil, .provider, false), ("name-server-silent", .nameServer, true),
      ("name-server-silent", .provider, true), ("name-unknown", .nameServer, false), ("silent", .provider, false),
    ] as [(String?, OutageLayer, Bool)])
  func aNameIsUnheard(cause: String?, layer: OutageLayer, isUnheard: Bool) {
    var outage = OpenOutage(target: "a", began: moment(0), reason: nil, words: "w")
    outage.statedLayer = layer
    if cause != nil {
      outage.explanation = Explanation(cause: cause, confidence: "likely", layer: layer, summary: "s")
    }
    #expect(outage.isNameUnheard == isUnheard && outage.layer == layer && !outage.wasFirst && outage.unwatched == 0)
  }

  // MARK: Sums

  private func outage(_ from: Double, _ to: Double, _ target: String = "a") -> OutageLog.Finding {
    .outage(Outage(open(from, target), at: moment(to), .over("h")))
  }

  private func sums(_ from: Double, _ to: Double, _ findings: [OutageLog.Finding]) -> OutageSums {
    var sums = OutageSums(since: moment(from).wall, until: moment(to).wall)
    for finding in findings { sums.take(finding) }
    return sums
  }

  @Test func sumsBeginWithNothing() {
    #expect(OutageSums.Target().availability == nil)
    #expect(OutageSums.Target(up: 5, down: 5).availability == 0.5)
    #expect(OutageSums.Target(up: 3, down: 1).availability == 0.75)
    #expect(OutageSums.Target(up: 0, down: 1).availability == 0)
    #expect(sums(0, 100, []).targets.isEmpty && sums(0, 100, []).events(in: .link) == (0, 0))
    let beside = sums(
      50, 60, [watched("a", .up, 0, 50), watched("b", .up, 60, 70), path(wired, 0, 100), outage(0, 49)])
    #expect(beside.targets.isEmpty && beside.layers.isEmpty)
    let unknown = sums(0, 100, [watched("a", .unknown, 0, 50), watched("b", .down, 0, 50)])
    #expect(unknown.targets == ["a": OutageSums.Target()], "what is down is counted by its outage")
    let short = sums(0, 100, [.watched("a", .up, from: moment(5).wall, to: moment(5).wall + 1)])
    #expect(short.targets == ["a": OutageSums.Target(up: 1)])
  }

  @Test func sumsAreExact() {
    let sums = sums(
      0, 100,
      [watched("a", .up, -50, 20), outage(20, 30), watched("a", .up, 30, 90), outage(90, 160), outage(5, 6, "b")])
    #expect(
      sums.targets == [
        "a": OutageSums.Target(up: 80_000_000, down: 20_000_000, outages: 2, longest: 10_000_000),
        "b": OutageSums.Target(up: 0, down: 1_000_000, outages: 1, longest: 1_000_000),
      ])
    #expect(sums.layers == [.link: OutageSums.Layer(outages: 3, down: 21_000_000)])
  }

  /// What touches the span counts, and lasts no time in it.
  @Test(arguments: [(0.0, 50.0, 1), (60, 90, 1), (0, 49.9, 0), (60.1, 90, 0)])
  func whatTouchesTheSpanCounts(from: Double, to: Double, count: Int) {
    #expect(sums(50, 60, [outage(from, to)]).targets["a"]?.outages ?? 0 == count)
  }

  /// Ten seconds apart is together, and the same target twice is not.
  @Test(
    arguments: [
      ([("a", 10, 15), ("b", 20, 30)], 1, 15), ([("a", 10, 19), ("b", 18, 27)], 1, 17),
      ([("a", -9, 60), ("b", 5, 60), ("c", 10, 120)], 2, 100), ([("a", 10, 15), ("b", 20.5, 30.5)], 2, 15),
      ([("a", 10, 12), ("a", 15, 20)], 2, 7), ([("a", 10, 12), ("b", 11, 12), ("a", 13, 14), ("b", 13, 16)], 2, 5),
      ([("a", 10, 10)], 1, 0), ([("b", 30, 31), ("a", 10, 15)], 2, 6),
    ] as [([(String, Double, Double)], Int, Int64)])
  func eventsAreWhatHappensTogether(parts: [(String, Double, Double)], count: Int, seconds: Int64) {
    let events = sums(0, 100, parts.map { outage($0.1, $0.2, $0.0) }).events(in: .link)
    #expect(events.count == count && events.lasted == seconds * 1_000_000)
  }
}
