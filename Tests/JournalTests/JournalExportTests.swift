// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// What is told of a journal to other programs: lines of JSON, OpenMetrics, and which part of it.
struct JournalExportTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func open(_ target: String = "a", _ reason: String? = "no-carrier", from second: Double) -> OpenOutage {
    OpenOutage(target: target, began: moment(second), reason: reason, words: "w")
  }

  // MARK: JSON

  private static let rest =
    #""reason":"no-carrier","cause":null,"confidence":null,"unexplained":null,"summary":"w","#
    + #""advice":null,"steps":[]}"#

  @Test(
    arguments: [
      (.over("back"), #""2026-11-01T00:01:30.000000Z""#, #""over","how":"back""#),
      (.open, "null", #""open","how":null"#), (.cut, #""2026-11-01T00:01:30.000000Z""#, #""cut","how":null"#),
    ] as [(Outage.Ending, String, String)])
  func anOutageIsALine(ending: Outage.Ending, ended: String, how: String) {
    #expect(
      text(OutageJSON.line(Outage(open(from: 60), at: moment(90), ending)))
        == #"{"kind":"outage","target":"a","began":"2026-11-01T00:01:00.000000Z","ended":\#(ended),"#
        + #""lasted":30.000000,"slept":0.000000,"unwatched":0.000000,"beganBefore":false,"ending":\#(how),"#
        + #""layer":"link","# + Self.rest)
  }

  @Test func anExplainedOutageHasAllOfIt() {
    var outage = open(from: 60)
    (outage.wasFirst, outage.unwatched, outage.unexplained) = (true, 5_000_000, .over)
    outage.explanation = Explanation(
      cause: "no-route", confidence: "likely", layer: .machine, summary: "s", advice: "do",
      steps: [
        Explanation.Step(step: "link", family: "ipv4", outcome: "fault", text: "t"),
        Explanation.Step(step: "name", family: nil, outcome: "ok", text: "u"),
      ])
    #expect(
      text(OutageJSON.line(Outage(outage, at: moment(90, slept: 10), .cut)))
        == #"{"kind":"outage","target":"a","began":"2026-11-01T00:01:00.000000Z","#
        + #""ended":"2026-11-01T00:01:30.000000Z","lasted":15.000000,"slept":10.000000,"unwatched":5.000000,"#
        + #""beganBefore":true,"ending":"cut","how":null,"layer":"machine","reason":"no-carrier","cause":"no-route","#
        + #""confidence":"likely","unexplained":"over","summary":"s","advice":"do","steps":[{"step":"link","#
        + #""family":"ipv4","outcome":"fault","text":"t"},{"step":"name","family":null,"outcome":"ok","text":"u"}]}"#)
  }

  @Test func sumsAreLines() {
    var sums = OutageSums(since: moment(0).wall, until: moment(100).wall)
    sums.take(.watched("b", .up, from: moment(0).wall, to: moment(100).wall))
    sums.take(.watched("a", .up, from: moment(0).wall, to: moment(20).wall))
    sums.take(.outage(Outage(open(from: 20), at: moment(30), .over("h"))))
    sums.take(.outage(Outage(open(from: 40), at: moment(70), .over("h"))))
    sums.take(.watched("c", .unknown, from: moment(0).wall, to: moment(20).wall))
    // 20 of 60 seconds, rounded down.
    let head = [
      #"{"kind":"target","target":"a","outages":2,"up":20.000000,"down":40.000000,"longest":30.000000,"#
        + #""availability":33.333333}"#,
      #"{"kind":"target","target":"b","outages":0,"up":100.000000,"down":0.000000,"longest":0.000000,"#
        + #""availability":100.000000}"#,
      #"{"kind":"target","target":"c","outages":0,"up":0.000000,"down":0.000000,"longest":0.000000,"#
        + #""availability":null}"#,
    ]
    let layers = ["machine", "link", "router", "provider", "name-server", "site", "unknown"].map { layer in
      let (count, span) = layer == "link" ? (2, "40.000000") : (0, "0.000000")
      return #"{"kind":"layer","layer":"\#(layer)","outages":\#(count),"down":\#(span),"events":\#(count),"#
        + #""lasted":\#(span)}"#
    }
    let end =
      #"{"kind":"journal","since":"2026-11-01T00:00:00.000000Z","until":"2026-11-01T00:01:40.000000Z","#
      + #""skippedLines":7}"#
    #expect(OutageJSON.lines(sums, skippedLines: 7).map(text) == head + layers + [end])
  }

  /// Rounded down: 100 means all.
  @Test(
    arguments: [
      (0, 3, "0.000"), (0.5, 3, "0.500"), (99.999_999_9, 6, "99.999999"), (100, 6, "100.000000"), (12.75, 1, "12.7"),
      (12.03125, 2, "12.03"), (0.0625, 1, "0.0"), (7.25, 4, "7.2500"),
    ] as [(Double, Int, String)])
  func decimalsAreRoundedDown(number: Double, digits: Int, text: String) {
    #expect(OutageJSON.decimals(number, digits) == text)
  }

  // MARK: OpenMetrics

  private static let reachable = [
    "# HELP dialtone_reachable Whether packets for the target could leave.", "# TYPE dialtone_reachable gauge",
  ]
  private static let causes = [
    "# HELP dialtone_outage_cause Why packets for the target could not leave.", "# TYPE dialtone_outage_cause info",
  ]

  private func metrics(_ findings: [OutageLog.Finding], from: Double = 0, to: Double = 10_000) -> [String] {
    var lines: [String] = []
    var metrics = OpenMetrics(since: moment(from).wall, until: moment(to).wall)
    for finding in findings { metrics.take(finding) }
    metrics.write { lines.append($0) }
    return lines
  }

  private func watched(
    _ state: OutageLog.WatchedState, _ from: Int64, _ to: Int64, _ target: String = "a"
  ) -> OutageLog.Finding { .watched(target, state, from: exactly(from).wall, to: exactly(to).wall) }

  @Test func nothingHasItsHeadsAlone() {
    let nothing = Self.reachable + Self.causes + ["# EOF"]
    #expect(metrics([]) == nothing)
    // What is not known is no sample, and what takes no time has none.
    #expect(
      metrics([
        watched(.unknown, 0, 5), watched(.up, 5, 5), .asleep(from: exactly(0).wall, to: exactly(9).wall),
        .path(NetworkSummary(status: "satisfied"), from: exactly(0).wall, to: exactly(9).wall),
        .outage(Outage(open(from: 60), at: moment(60), .over("h"))),
      ]) == nothing)
  }

  /// 2026-11-01T00:00:00Z is 1793491200 (date -u +%s). A scrape each minute, and the end is not in it.
  @Test func aSampleIsMadeEachMinute() {
    let second: Int64 = 1_000_000
    let lines = metrics(
      [
        watched(.up, -100 * second, 125 * second), watched(.down, 125 * second, 185 * second),
        watched(.up, 185 * second, 500 * second),
        .outage(Outage(open(from: 125), at: moment(185.5), .over("h"))),
        .outage(Outage(open("z", nil, from: 150), at: moment(151), .over("h"))),
        .outage(Outage(open("a", "a-route", from: 195), at: moment(196), .over("h"))),
        watched(.up, 0, second, "z\"\u{301}\\\r\n"),
      ], to: 200)
    #expect(
      lines == Self.reachable + [
        "dialtone_reachable{target=\"a\"} 1 1793491200.000", "dialtone_reachable{target=\"a\"} 1 1793491260.000",
        "dialtone_reachable{target=\"a\"} 1 1793491320.000", "dialtone_reachable{target=\"a\"} 0 1793491325.000",
        "dialtone_reachable{target=\"a\"} 1 1793491385.000",
        "dialtone_reachable{target=\"z\\\"\u{301}\\\\\r\\n\"} 1 1793491200.000",
      ] + Self.causes + [
        "dialtone_outage_cause_info{target=\"a\",cause=\"a-route\"} 1 1793491395.000",
        "dialtone_outage_cause_info{target=\"a\",cause=\"no-carrier\"} 1 1793491325.000",
        "dialtone_outage_cause_info{target=\"a\",cause=\"no-carrier\"} 1 1793491385.000",
        "dialtone_outage_cause_info{target=\"z\",cause=\"unknown\"} 1 1793491350.000", "# EOF",
      ])
  }

  /// Prometheus has no smaller unit than a millisecond, and its samples must grow.
  @Test func samplesGrow() {
    let lines = metrics([
      watched(.up, 150_000_000, 150_000_400), watched(.down, 150_000_400, 150_000_900),
      watched(.up, 150_000_900, 150_500_000), watched(.down, 150_500_000, 150_500_001),
      watched(.up, 150_501_999, 150_502_000),
    ])
    #expect(
      lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == [
        "1 1793491350.000", "0 1793491350.001", "1 1793491350.002", "0 1793491350.500", "1 1793491350.501",
      ])
  }

  // MARK: View

  /// Events of two targets from second 0 to 100, of which a sleeps from 50 to 60 and is lost from 70 to 80.
  private func folder() throws -> JournalFolder {
    let folder = try JournalFolder()
    let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a", "b"])
    let outage = OpenOutage(target: "a", began: moment(70, slept: 10), reason: "no-carrier", words: "w")
    let kinds: [(JournalEvent.Kind, Double)] = [
      (.start(recorder), 0), (.up(target: "a"), 0), (.up(target: "b"), 0), (.path(NetworkSummary(status: "up")), 20),
      (.path(NetworkSummary(status: "down")), 40), (.sleep(10_000_000), 60), (.begin(outage, isContinued: false), 70),
      (.end(outage, how: "back", isWaking: false), 80), (.stop(reason: "x"), 100),
    ]
    let lines = kinds.flatMap { JournalEvent($0.0, at: moment($0.1, slept: $0.1 >= 60 ? 10 : 0)).line }
    try folder.write(lines + Array("torn\n".utf8), to: "000001-2026-11-01.jsonl")
    return folder
  }

  /// A word for a finding, and where it lies.
  private func word(_ finding: OutageLog.Finding) -> String {
    func second(_ wall: Int64) -> Int64 { (wall - moment(0).wall) / 1_000_000 }
    return switch finding {
    case .watched(let target, let state, let from, let to): "\(target) \(state) \(second(from))-\(second(to))"
    case .path(let summary, let from, let to): "path \(summary.status) \(second(from))-\(second(to))"
    case .asleep(let from, let to): "asleep \(second(from))-\(second(to))"
    case .outage(let outage): "\(outage.target) outage \(second(outage.began))-\(second(outage.ended))"
    }
  }

  /// What touches the span is told, and whole.
  @Test(
    arguments: [
      (
        0, 100, nil,
        [
          "path up 20-40", "a up 0-50", "b up 0-50", "path down 40-50", "asleep 50-60", "a up 60-70", "a down 70-80",
          "a outage 70-80", "a up 80-100", "b up 60-100", "path down 60-100",
        ]
      ),
      (0, 19.5, nil, ["a up 0-50", "b up 0-50"]), (0, 20, nil, ["path up 20-40", "a up 0-50", "b up 0-50"]),
      (45, 49, ["b"], ["b up 0-50", "path down 40-50"]),
      (55, 55, nil, ["asleep 50-60"]), (50, 50, ["b"], ["b up 0-50", "path down 40-50", "asleep 50-60"]),
      (60, 60, ["a"], ["asleep 50-60", "a up 60-70", "path down 60-100"]),
      (70, 70, ["a"], ["a up 60-70", "a down 70-80", "a outage 70-80", "path down 60-100"]),
      (80, 80, ["a"], ["a down 70-80", "a outage 70-80", "a up 80-100", "path down 60-100"]),
      (100, 200, ["a"], ["a up 80-100", "path down 60-100"]), (101, 200, nil, []), (-5, -1, nil, []),
    ] as [(Double, Double, Set<String>?, [String])])
  func aViewTellsWhatTouchesItsSpan(from: Double, to: Double, targets: Set<String>?, words: [String]) throws {
    let folder = try folder()
    var view = JournalView(folder.directory, since: moment(from).wall, until: moment(to).wall, targets: targets)
    var findings: [OutageLog.Finding] = []
    try view.read(now: moment(1_000)) { findings.append($0) }
    #expect(findings.map(word) == words)
    #expect(view.skippedLines == 1)
    let told = words.map { String($0.prefix { $0 != " " }) }
    #expect(view.seen == Set(told).intersection(["a", "b"]))
  }
}
