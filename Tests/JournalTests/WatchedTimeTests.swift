// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// How long something was down in a span: what somebody watched of it there, in the table, in JSON, in OpenMetrics and
/// in the report. The sums are added up by hand.
struct WatchedTimeTests {
  private let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])

  private func event(_ kind: JournalEvent.Kind, _ second: Double, slept: Double = 0) -> JournalEvent {
    JournalEvent(kind, at: moment(second, slept: slept))
  }

  private func sums(_ from: Double, _ to: Double, _ findings: [OutageLog.Finding]) -> OutageSums {
    var sums = OutageSums(since: moment(from).wall, until: moment(to).wall)
    for finding in findings { sums.take(finding) }
    return sums
  }

  /// The numbers of OpenMetrics' samples, and their times in seconds after `moment(0)`, by series.
  private func samples(_ from: Double, _ to: Double, _ findings: [OutageLog.Finding]) -> [String: [(Int, Double)]] {
    var metrics = OpenMetrics(since: moment(from).wall, until: moment(to).wall)
    for finding in findings { metrics.take(finding) }
    var samples: [String: [(Int, Double)]] = [:]
    metrics.write { line in
      let parts = line.split(separator: " ")
      guard parts.count == 3, let value = Int(parts[1]), let time = Double(parts[2]) else { return }
      samples[String(parts[0]), default: []].append((value, time - 1_793_491_200))
    }
    return samples
  }

  /// From 5 minutes before eight hours until 15 minutes after them: asleep, or without a recorder.
  private func eightHoursOff(isAsleep: Bool) -> [JournalEvent] {
    let slept = isAsleep ? 28_800.0 : 0
    var outage = OpenOutage(target: "a", began: moment(1_000), reason: "no-carrier", words: "w")
    var events = [
      event(.start(recorder), 0), event(.up(target: "a"), 0), event(.begin(outage, isContinued: false), 1_000),
      event(.alive, 1_300),
    ]
    if isAsleep {
      events.append(event(.sleep(28_800_000_000), 30_100, slept: slept))
    } else {
      outage.unwatched = 28_800_000_000
      events += [event(.start(recorder), 30_099), event(.begin(outage, isContinued: true), 30_100)]
    }
    return events + [
      event(.end(outage, how: "back", isWaking: false), 31_000, slept: slept),
      event(.stop(reason: "x"), 31_600, slept: slept),
    ]
  }

  /// Somebody asks since 5 minutes after that: 10 minutes down, and 10 up.
  @Test(arguments: [true, false]) func aSpanHasWhatWasWatchedInIt(isAsleep: Bool) throws {
    let findings = OutageLog.findings(eightHoursOff(isAsleep: isAsleep))
    let target = try #require(sums(30_400, 31_600, findings).targets["a"])
    #expect(target == OutageSums.Target(up: 600_000_000, down: 600_000_000, outages: 1, longest: 600_000_000))
    #expect(target.availability == 0.5)
    #expect(sums(30_400, 31_600, findings).events(in: .link).lasted == 600_000_000)
    // Before it, 300 of the 500 seconds. In all, 1,200 of 1,000 + 1,200 + 600.
    #expect(sums(1_000, 1_500, findings).targets["a"]?.down == 300_000_000)
    #expect(sums(1_400, 30_000, findings).targets["a"]?.down == 0)
    #expect(sums(0, 40_000, findings).targets["a"]?.down == 1_200_000_000)
    var data = ReportData(since: moment(30_400).wall, until: moment(31_600).wall)
    for finding in findings { data.take(finding) }
    #expect(data.lostByDay.values.map(\.self) == [600_000_000] && data.days.values.map(\.down) == [600_000_000])
    let found = samples(30_400, 31_600, findings)
    #expect(
      found["dialtone_reachable{target=\"a\"}"]?.map(\.0) == Array(repeating: 0, count: 10)
        + [Int](repeating: 1, count: 10))
    // A cause has samples where it was watched: five minutes before, and fifteen behind.
    let all = try #require(
      samples(0, 40_000, findings)["dialtone_outage_cause_info{target=\"a\",cause=\"no-carrier\"}"])
    #expect(all.count == 20 && all.allSatisfy { (1_000..<1_300).contains($0.1) || (30_100..<31_000).contains($0.1) })
  }

  /// One from 600 s to 7,800 s, and another from 1,800 s to 14,000 s: 13,400 s, in two events.
  @Test func longOutagesThatOverlapAreAddedUp() {
    let outages = [("a", 600.0, 7_800.0), ("b", 1_800, 14_000)].map { target, from, to in
      let open = OpenOutage(target: target, began: moment(from), reason: "no-carrier", words: "w")
      return OutageLog.Finding.outage(Outage(open, at: moment(to), .over("h")))
    }
    let sums = sums(0, 20_000, outages)
    #expect(sums.events(in: .link) == (2, 13_400_000_000) && sums.layers[.link]?.down == 19_400_000_000)
  }

  /// The clock is two hours ahead for half a minute, and an outage ends in it. The next one is half an hour later.
  @Test func aClockThatWasAheadHidesNoSamples() throws {
    func outage(_ began: Moment) -> OpenOutage {
      OpenOutage(target: "a", began: began, reason: "no-carrier", words: "w")
    }
    let (first, second) = (outage(moment(0, step: 7_200)), outage(moment(1_800)))
    let findings = OutageLog.findings([
      JournalEvent(.start(recorder), at: moment(0, step: 7_200)),
      JournalEvent(.begin(first, isContinued: false), at: moment(0, step: 7_200)),
      JournalEvent(.end(first, how: "back", isWaking: false), at: moment(9, step: 7_200)),
      event(.clock(-7_200_000_000), 30), event(.begin(second, isContinued: false), 1_800),
      event(.end(second, how: "back", isWaking: false), 3_000), event(.stop(reason: "x"), 18_000),
    ])
    let reachable = try #require(samples(0, 40_000, findings)["dialtone_reachable{target=\"a\"}"])
    #expect(zip(reachable, reachable.dropFirst()).allSatisfy { $0.1 < $1.1 })
    let downs = (0..<20).map { 1_800.0 + Double($0) * 60 } + [7_200]
    #expect(reachable.filter { $0.0 == 0 }.map(\.1) == downs)
    // Each minute from 9 s and from 3,000 s on.
    #expect(reachable.count { $0.0 == 1 } == 30 + 250)
  }
}
