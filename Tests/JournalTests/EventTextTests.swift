// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// The lines of a journal, byte for byte, as other programs read them.
struct EventTextTests {
  private static let recorder = JournalEvent.Recorder(version: "1.2", boot: "b", targets: ["a", "b"])
  private static let bare = OpenOutage(target: "a", began: moment(5), reason: nil, words: "w")
  private static let full: OpenOutage = {
    var outage = OpenOutage(
      target: "a", began: Moment(wall: 0, clock: moment(5).clock, slept: 7), unwatched: 2_000_000,
      reason: "no-carrier", words: "w", wasFirst: true,
      explanation: Explanation(
        cause: "no-route", confidence: "likely", layer: .machine, summary: "s", advice: "do",
        steps: [
          Explanation.Step(step: "link", family: "ipv4", outcome: "fault", text: "t"),
          Explanation.Step(step: "name", family: nil, outcome: "ok", text: "u"),
        ], sharedFrom: "z"))
    outage.unexplained = .limit
    return outage
  }()

  private static let bareText =
    #""target":"a","began":"2026-11-01T00:00:05.000000Z","beganClock":1005000000,"#
    + #""beganSlept":0,"words":"w","layer":"unknown""#
  /// The wall clock of now says when it began.
  private static let fullText =
    #""target":"a","began":"2026-11-01T00:00:05.000000Z","beganClock":1005000000,"#
    + #""beganSlept":7,"unwatched":2000000,"reason":"no-carrier","words":"w","first":true,"layer":"machine","#
    + #""unexplained":"limit","cause":"no-route","confidence":"likely","summary":"s","advice":"do","sharedFrom":"z""#
  private static let recorderText = #""version":"1.2","boot":"b","targets":["a","b"]"#

  @Test(
    arguments: [
      (.start(recorder), "start", recorderText),
      (.file(recorder, [], nil), "file", recorderText + #","states":[]"#),
      (
        .file(
          recorder, [.up(target: "a"), .unknown(target: "b"), .down(bare), .down(full)],
          NetworkSummary(status: "satisfied", interface: "eth0", kind: "wired")), "file",
        recorderText + #","states":[{"state":"up","target":"a"},{"state":"unknown","target":"b"},{"state":"down","#
          + bareText + #"},{"state":"down",\#(fullText)}],"path":{"status":"satisfied","interface":"eth0","#
          + #""kind":"wired"}"#
      ),
      (.stop(reason: "SIGTERM"), "stop", #""reason":"SIGTERM""#), (.alive, "alive", nil),
      (.up(target: "a"), "up", #""target":"a""#),
      (.unknown(target: "a", reason: nil), "unknown", #""target":"a""#),
      (.unknown(target: "a", reason: "denied"), "unknown", #""target":"a","reason":"denied""#),
      (.begin(bare, isContinued: false), "begin", bareText),
      (.begin(full, isContinued: true), "begin", #""continued":true,"# + fullText),
      (.cause(bare), "cause", bareText),
      (
        .cause(full), "cause",
        fullText + #","steps":[{"step":"link","family":"ipv4","outcome":"fault","text":"t"},"#
          + #"{"step":"name","outcome":"ok","text":"u"}]"#
      ),
      // 55 seconds, and 3 of them asleep.
      (.end(bare, how: "back", isWaking: false), "end", bareText + #","how":"back","lasted":52000000"#),
      // The same, less what nobody watched, and with the 7 microseconds that it had slept before.
      (
        .end(full, how: "back", isWaking: true), "end", fullText + #","how":"back","lasted":50000007,"waking":true"#
      ),
      (.path(NetworkSummary(status: "unsatisfied")), "path", #""status":"unsatisfied""#),
      (
        .path(NetworkSummary(status: "satisfied", interface: "eth0", kind: "wired", reason: "r")), "path",
        #""status":"satisfied","interface":"eth0","kind":"wired","reason":"r""#
      ), (.sleep(12), "sleep", #""lasted":12"#), (.clock(-12), "clock", #""step":-12"#),
    ] as [(JournalEvent.Kind, String, String?)])
  func isWrittenInThisOrder(kind: JournalEvent.Kind, name: String, body: String?) {
    let event = JournalEvent(kind, at: exactly(60_000_000, slept: 3_000_000))
    let expected =
      #"{"time":"2026-11-01T00:01:00.000000Z","event":"\#(name)","# + (body.map { $0 + "," } ?? "")
      + "\"clock\":1060000000,\"slept\":3000000}\n"
    #expect(String(decoding: event.line, as: UTF8.self) == expected)
    #expect(event.name == name)
  }

  /// An end that lies before its beginning, by clocks that are wrong, lasted no time.
  @Test(
    arguments: [(4_000_000, 0), (5_000_000, 0), (6_000_000, 0), (7_000_000, 0), (7_000_001, 1)] as [(Int64, Int64)])
  func nothingLastsLessThanNoTime(microseconds: Int64, lasted: Int64) {
    var outage = Self.bare
    outage.unwatched = 2_000_000
    let line = JournalEvent(.end(outage, how: "h", isWaking: false), at: exactly(microseconds)).line
    #expect(String(decoding: line, as: UTF8.self).contains("\"lasted\":\(lasted),"))
  }

  private func read(_ body: String) -> JournalEvent? {
    let line = #"{"time":"2026-11-01T00:01:00.000000Z","# + body + #","clock":1060000000,"slept":0}"#
    return JournalEvent(line: Array(line.utf8)[...])
  }

  /// What is left out has its usual value.
  @Test func readsWhatIsLeftOut() {
    #expect(read(#""event":"begin","# + Self.bareText)?.kind == .begin(Self.bare, isContinued: false))
    #expect(read(#""event":"cause","# + Self.bareText)?.kind == .cause(Self.bare))
    #expect(
      read(#""event":"end","how":"h","# + Self.bareText)?.kind == .end(Self.bare, how: "h", isWaking: false))
    // A summary that is missing is told with the words.
    let explained = read(#""event":"cause","confidence":"likely","# + Self.bareText)
    var outage = Self.bare
    outage.explanation = Explanation(cause: nil, confidence: "likely", layer: .unknown, summary: "w")
    #expect(explained?.kind == .cause(outage))
    #expect(
      read(#""event":"start","boot":"b","targets":["a",1,"b"]"#)?.kind
        == .start(JournalEvent.Recorder(version: "", boot: "b", targets: ["a", "b"])))
  }

  /// A flag that is false, or no flag, is none.
  @Test(arguments: ["false", "1", "\"true\"", "null"])
  func readsFlags(value: String) {
    let begin = read(#""event":"begin","continued":\#(value),"first":\#(value),"# + Self.bareText)
    #expect(begin?.kind == .begin(Self.bare, isContinued: false))
    let end = read(#""event":"end","how":"h","waking":\#(value),"# + Self.bareText)
    #expect(end?.kind == .end(Self.bare, how: "h", isWaking: false))
  }

  @Test func readsFlagsThatAreThere() {
    var first = Self.bare
    first.wasFirst = true
    let begin = read(#""event":"begin","continued":true,"first":true,"# + Self.bareText)
    #expect(begin?.kind == .begin(first, isContinued: true))
    #expect(
      read(#""event":"end","how":"h","waking":true,"# + Self.bareText)?.kind
        == .end(Self.bare, how: "h", isWaking: true))
  }

  /// What is not known is not read as something else.
  @Test(arguments: [
    #""event":"start","boot":"b""#, #""event":"start","targets":[]"#, #""event":"file","boot":"b","targets":[]"#,
    #""event":"file","states":[]"#, #""event":"stop""#, #""event":"up""#, #""event":"unknown""#,
    #""event":"begin","target":"a""#, #""event":"cause","words":"w""#, #""event":"path""#, #""event":"sleep""#,
    #""event":"clock""#, #""event":"sleep","lasted":"1""#, #""event":"later""#, #""event":1"#, #""up":"event""#,
    #""event":"end","# + bareText, #""event":"up","target":1"#,
  ])
  func refusesWhatIsIncomplete(body: String) { #expect(read(body) == nil) }

  /// The layer is kept if it does not follow from the reason.
  @Test(arguments: OutageLayer.allCases)
  func aStatedLayerStays(layer: OutageLayer) {
    for reason in ["no-carrier", nil] {
      var outage = OpenOutage(target: "a", began: moment(5), reason: reason, words: "w")
      outage.statedLayer = layer
      let line = JournalEvent(.cause(outage), at: moment(60)).line
      guard case .cause(let read)? = JournalEvent(line: line.dropLast())?.kind else {
        Issue.record("\(String(decoding: line, as: UTF8.self))")
        continue
      }
      #expect(read.layer == layer)
      #expect((read.statedLayer == nil) == (layer == (reason == nil ? .unknown : .link)))
    }
  }
}
