// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

struct OutageLogTests {
  private let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])

  private func open(_ at: Moment) -> OpenOutage { OpenOutage(target: "a", began: at, reason: "no-carrier", words: "w") }

  private func start(_ at: Double = 0) -> [JournalEvent] {
    [JournalEvent(.start(recorder), at: moment(at)), JournalEvent(.up(target: "a"), at: moment(at))]
  }

  private func end(_ outage: OpenOutage, _ at: Moment) -> JournalEvent {
    JournalEvent(.end(outage, how: "back", isWaking: false), at: at)
  }

  @Test func tellsAnOutageAndWhatWasUp() throws {
    let outage = open(moment(60))
    let events =
      start() + [
        JournalEvent(.begin(outage, isContinued: false), at: moment(60)), end(outage, moment(90)),
        JournalEvent(.stop(reason: "SIGTERM"), at: moment(100)),
      ]
    var sums = OutageSums(since: moment(0).wall, until: moment(1000).wall)
    for finding in OutageLog.findings(events) { sums.take(finding) }
    let told = try #require(OutageLog.outages(events).first)
    #expect(told.began == moment(60).wall && told.ended == moment(90).wall && told.lasted == 30_000_000)
    #expect(told.layer == .link && told.ending == .over("back"))
    let sum = try #require(sums.targets["a"])
    #expect(sum.up == 70_000_000 && sum.down == 30_000_000 && sum.availability == 0.7 && sum.outages == 1)
  }

  /// A cable with three targets is pulled twice, and a site is down beside it.
  @Test func tellsEventsAndTargetsApart() {
    func outage(_ target: String, _ reason: String, from began: Double, to ended: Double) -> OutageLog.Finding {
      .outage(
        Outage(OpenOutage(target: target, began: moment(began), reason: reason, words: "w"), at: moment(ended), .open))
    }
    var sums = OutageSums(since: moment(0).wall, until: moment(1000).wall)
    // In the order in which they end.
    for finding in [
      outage("c", "no-carrier", from: 12, to: 40), outage("a", "no-carrier", from: 10, to: 41),
      outage("b", "no-carrier", from: 11, to: 41), outage("b", "no-carrier", from: 45, to: 50),
      outage("a", "no-carrier", from: 45, to: 51), outage("c", "no-carrier", from: 45, to: 51),
      outage("d", "connection-refused", from: 11, to: 100),
    ] { sums.take(finding) }
    #expect(sums.layers[.link]?.outages == 6 && sums.layers[.link]?.down == 106_000_000)
    #expect(sums.events(in: .link).count == 2 && sums.events(in: .link).lasted == 37_000_000)
    #expect(sums.events(in: .site).lasted == 89_000_000 && sums.events(in: .router).count == 0)
  }

  @Test func subtractsSleep() throws {
    let outage = open(moment(60))
    let events =
      start() + [
        JournalEvent(.begin(outage, isContinued: false), at: moment(60)),
        JournalEvent(.sleep(3_600_000_000), at: moment(3_700, slept: 3_600)), end(outage, moment(3_760, slept: 3_600)),
      ]
    let told = try #require(OutageLog.outages(events).first)
    #expect(told.lasted == 100_000_000 && told.slept == 3_600_000_000)
  }

  /// The clock of a machine without a battery says 1970 until the network is there.
  @Test func aStepOfTheClockChangesNoLength() throws {
    let step = -1_700_000_000.0
    let outage = open(moment(60, step: step))
    let events = [
      JournalEvent(.start(recorder), at: moment(0, step: step)),
      JournalEvent(.begin(outage, isContinued: false), at: moment(60, step: step)),
      JournalEvent(.clock(1_700_000_000_000_000), at: moment(80)), end(outage, moment(90)),
    ]
    let told = try #require(OutageLog.outages(events).first)
    #expect(told.lasted == 30_000_000 && told.began == moment(60).wall)
  }

  @Test func anOutageWhoseEndNobodySawIsCut() throws {
    let outage = open(moment(60))
    let events =
      start() + [
        JournalEvent(.begin(outage, isContinued: false), at: moment(60)), JournalEvent(.alive, at: moment(300)),
      ]
    let killed = try #require(OutageLog.outages(events).first)
    #expect(killed.ending == .cut && killed.lasted == 240_000_000)
    // The next recorder finds the target up.
    let later = OutageLog.outages(events + start(10_000))
    #expect(later.count == 1 && later[0].ending == .cut && later[0].lasted == 240_000_000)
    // A recorder that is still there has it open.
    let open = OutageLog.outages(events, now: moment(400))
    #expect(open.count == 1 && open[0].ending == .open && open[0].lasted == 340_000_000)
    // It writes every five minutes at least: one that has not cannot, be it since another boot, whose clock is another.
    #expect(OutageLog.outages(events, now: moment(900)).first?.ending == .open)
    for now in [moment(901), moment(299)] { #expect(OutageLog.outages(events, now: now) == [killed]) }
  }

  @Test func aRestartedRecorderGoesOnWithTheSameOutage() throws {
    var outage = open(moment(60))
    var events =
      start() + [
        JournalEvent(.begin(outage, isContinued: false), at: moment(60)),
        JournalEvent(.stop(reason: "SIGTERM"), at: moment(70)), JournalEvent(.start(recorder), at: moment(75)),
      ]
    outage.unwatched = 5_000_000
    events += [JournalEvent(.begin(outage, isContinued: true), at: moment(75)), end(outage, moment(90))]
    let told = OutageLog.outages(events)
    #expect(told.count == 1 && told[0].lasted == 25_000_000 && told[0].began == moment(60).wall)
  }

  @Test func eachFileCanBeReadByItself() throws {
    let outage = open(moment(60))
    let path = NetworkSummary(status: "unsatisfied")
    let header = JournalEvent(.file(recorder, [.down(outage)], path), at: moment(86_400))
    let rest = [header, end(outage, moment(86_460))]
    let alone = OutageLog.outages(rest)
    #expect(alone.count == 1 && alone[0].lasted == 86_400_000_000)
    // Behind the files before it, the header changes nothing.
    let events = start() + [JournalEvent(.begin(outage, isContinued: false), at: moment(60))]
    #expect(OutageLog.outages(events + rest) == alone)
  }

  /// The power went, and the next recorder's first lines are lost: its next file has the boot.
  @Test func aFileOfAnotherBootEndsWhatWasWatched() throws {
    let other = JournalEvent.Recorder(version: "1", boot: "c", targets: ["a"])
    let events =
      start() + [
        JournalEvent(.alive, at: moment(300)),
        JournalEvent(.file(other, [.up(target: "a")], nil), at: moment(86_400)),
        JournalEvent(.stop(reason: "SIGTERM"), at: moment(86_460)),
      ]
    var sums = OutageSums(since: moment(0).wall, until: moment(100_000).wall)
    for finding in OutageLog.findings(events) { sums.take(finding) }
    #expect(sums.targets["a"]?.up == 360_000_000)
  }

  @Test func theStepsOfTheCauseStayWithTheOutage() throws {
    var outage = open(moment(60))
    let begin = JournalEvent(.begin(outage, isContinued: false), at: moment(60))
    let step = Explanation.Step(step: "link", family: nil, outcome: "fault", text: "t")
    outage.explanation = Explanation(
      cause: "no-carrier", confidence: "certain", layer: .link, summary: "s", steps: [step])
    let lines = [begin, JournalEvent(.cause(outage), at: moment(61)), end(outage, moment(90))].map(\.line)
    let events = try lines.map { try #require(JournalEvent(line: $0.dropLast())) }
    #expect(OutageLog.outages(start() + events).first?.explanation?.steps == [step])
  }

  /// The samples of a series stand together, in the order of time.
  @Test func openMetricsAreByTheirSeries() {
    var metrics = OpenMetrics(since: moment(0).wall, until: moment(10_000).wall)
    for second in 1...40 {
      for target in ["a", "b", "c"] {
        let (from, to) = (moment(Double(second) * 100), moment(Double(second) * 100 + 50))
        let open = OpenOutage(target: target, began: from, reason: second < 20 ? "no-route" : "x", words: "w")
        metrics.take(.watched(target, .down, from: from.wall, to: to.wall))
        metrics.take(.outage(Outage(open, at: to, .over("back"))))
        metrics.take(.watched(target, .up, from: to.wall, to: to.wall + 50_000_000))
      }
    }
    var lines: [String] = []
    metrics.write { lines.append($0) }
    let samples = lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
    let series = samples.map { $0[0] }
    #expect(zip(series, series.dropFirst()).count { $0 != $1 } == Set(series).count - 1)
    for pair in zip(samples, samples.dropFirst()) where pair.0[0] == pair.1[0] { #expect(pair.0[2] < pair.1[2]) }
    #expect(samples.count == 3 * 120)
    // The OpenMetrics standard: what is said of a metric stands before its samples, and metrics do not mix. A sample of
    // an info has that word behind the name.
    var names: [Substring] = []
    for line in lines {
      if line.hasPrefix("# TYPE ") { names.append(line.split(separator: " ")[2]) }
      if line.hasPrefix("#") { continue }
      let (metric, name) = (names.last ?? "none", line.prefix { $0 != "{" && $0 != " " })
      #expect(name == metric || name == "\(metric)_info", "\(line)")
    }
    #expect(names.count == 2 && Set(names).count == 2, "\(names)")
  }

  @Test func aSpanCutsWhatLiesOverItsEdge() {
    let outage = open(moment(60))
    let events =
      start() + [
        JournalEvent(.begin(outage, isContinued: false), at: moment(60)), end(outage, moment(160)),
        JournalEvent(.stop(reason: "x"), at: moment(200)),
      ]
    var sums = OutageSums(since: moment(110).wall, until: moment(180).wall)
    for finding in OutageLog.findings(events) { sums.take(finding) }
    #expect(sums.targets["a"]?.down == 50_000_000 && sums.targets["a"]?.up == 20_000_000)
    #expect(sums.layers[.link]?.down == 50_000_000)
  }
}
