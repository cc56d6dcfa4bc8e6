// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DialtoneJournal

struct EventLineTests {
  private static let outage = OpenOutage(
    target: "a \"b\"\\\n\u{1B}[31m é 网 \u{0}", began: moment(5), unwatched: 7, reason: "no-carrier", words: "no cable",
    wasFirst: true,
    explanation: Explanation(
      cause: "no-carrier", confidence: "certain", layer: .link, summary: "The cable is out.", advice: "Plug it in.",
      steps: [Explanation.Step(step: "link", family: "ipv4", outcome: "fault", text: "nothing")], sharedFrom: "c"))
  private static let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a", "b"])
  private static let path = NetworkSummary(status: "satisfied", interface: "eth0", kind: "wired")

  private static let kinds: [JournalEvent.Kind] = [
    .start(recorder), .file(recorder, [.up(target: "a"), .unknown(target: "b"), .down(bare)], path),
    .stop(reason: "SIGTERM"), .alive, .up(target: "a"), .unknown(target: "a", reason: "denied"),
    .begin(bare, isContinued: true), .cause(outage), .end(bare, how: "back", isWaking: true), .path(path),
    .sleep(123), .clock(-5), .end(unwatched, how: "back", isWaking: false),
  ]

  /// Nobody watched it for the shortest time there is.
  private static var unwatched: OpenOutage {
    var unwatched = bare
    unwatched.unwatched = 1
    return unwatched
  }

  /// Steps stand in the line of the cause alone.
  private static var bare: OpenOutage {
    var bare = outage
    bare.explanation?.steps = []
    return bare
  }

  @Test(arguments: kinds)
  func isReadAsItWasWritten(kind: JournalEvent.Kind) throws {
    let event = JournalEvent(kind, at: moment(60, slept: 3))
    let line = event.line
    #expect(line.last == 0x0A && line.count { $0 == 0x0A } == 1)
    #expect(JournalEvent(line: line.dropLast()) == event)
    // Another reader of JSON reads the same text.
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    #expect(object["time"] as? String == "2026-11-01T00:01:00.000000Z" && object["event"] as? String == event.name)
    if case .cause(let outage) = kind { #expect(object["target"] as? String == outage.target) }
  }

  /// RFC 8259, 2 and 6: somebody else may have formatted the line, and a later version may have other numbers.
  @Test func isReadHoweverItIsWritten() throws {
    let event = JournalEvent(.up(target: "a"), at: moment(60))
    let line = String(decoding: event.line.dropLast(), as: UTF8.self)
    let spaced = line.replacing(",", with: " ,\t").replacing("{", with: " { ").replacing("}", with: " } ")
      .replacing("\":", with: "\" : ")
    #expect(JournalEvent(line: Array((spaced + "\r").utf8)[...]) == event)
    for value in ["1.5", "-0.25e+3", "[ 1 , [ ] , { } ]", "{ \"b\" : 2E9 }", "null"] {
      let later = line.dropLast() + ",\"later\":\(value)}"
      #expect(JournalEvent(line: Array(later.utf8)[...]) == event, "\(value)")
    }
  }

  /// Power is lost at any byte of a line: the line is torn, and nothing else is lost.
  @Test(arguments: kinds)
  func isTornAtEveryByte(kind: JournalEvent.Kind) throws {
    let line = JournalEvent(kind, at: moment(60)).line
    // Without its last byte alone, the line feed, it is whole.
    for count in 1..<line.count - 1 { #expect(JournalEvent(line: line.prefix(count)) == nil, "\(count) bytes") }
    let folder = try JournalFolder()
    let whole = JournalEvent(.up(target: "x"), at: moment(1))
    for count in stride(from: 1, to: line.count - 1, by: 7) {
      try folder.write(whole.line + line.prefix(count) + [0x0A] + whole.line, to: "000001-2026-11-01.jsonl")
      let read = try folder.events()
      #expect(read.events == [whole, whole] && read.skipped == 1)
    }
  }

  @Test(arguments: [
    "", " ", "{}", "[]", "null", "{\"time\":1}", "{\"event\":\"up\"}", "not json",
    "{\"time\":\"2026-11-01T00:00:00Z\"}",
    "{\"time\":\"2026-11-01T00:00:00Z\",\"event\":\"up\",\"target\":\"a\",\"clock\":99999999999999999999,\"slept\":0}",
    "{\"time\":\"2026-13-01T00:00:00Z\",\"event\":\"up\",\"target\":\"a\",\"clock\":1,\"slept\":0}",
    "{\"time\":\"2026-12-32T00:00:00Z\",\"event\":\"up\",\"target\":\"a\",\"clock\":1,\"slept\":0}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "{\"time\":\"\\ud800\"}", "\u{FEFF}{}", "{\"a\":1.5}",
  ])
  func refusesForeignLines(text: String) { #expect(JournalEvent(line: Array(text.utf8)[...]) == nil) }

  /// clock_gettime(2) counts nanoseconds, of which 64 bits hold 292 years. No number of a line stops its reader.
  @Test(arguments: ["clock", "slept", "beganClock", "beganSlept", "unwatched", "lasted"])
  func refusesNumbersThatNoClockHas(key: String) throws {
    let kind: JournalEvent.Kind = key == "lasted" ? .sleep(123) : .begin(Self.unwatched, isContinued: false)
    let line = String(decoding: JournalEvent(kind, at: moment(60, slept: 3)).line.dropLast(), as: UTF8.self)
    let start = try #require(line.firstRange(of: "\"\(key)\":")).upperBound
    let end = try #require(line[start...].firstIndex { !$0.isNumber })
    // CLOCK_BOOTTIME is read before CLOCK_MONOTONIC: without sleep the difference may lie below zero.
    let isSleep = key.lowercased().hasSuffix("slept")
    for (number, isRead) in [
      (Int64.min, false), (-9_223_372_036_854_776, false), (-9_223_372_036_854_775, isSleep), (-1, isSleep),
      (9_223_372_036_854_775, isSleep || key == "clock"), (9_223_372_036_854_776, false), (.max, false),
    ] {
      let damaged = line.replacingCharacters(in: start..<end, with: "\(number)")
      let event = JournalEvent(line: Array(damaged.utf8)[...])
      #expect((event != nil) == isRead, "\(damaged)")
      // Everything that is read can be told.
      if let event { _ = OutageLog.outages([JournalEvent(.up(target: "a"), at: moment(1)), event], now: moment(70)) }
    }
  }

  /// clock_gettime(2), CLOCK_BOOTTIME: it begins with the machine and never goes back, so an outage began between that
  /// and its line, and nobody can have missed more of it.
  @Test(
    arguments: [
      ("beganClock", 0, true), ("beganClock", 1_060_000_000, true), ("beganClock", 1_060_000_001, false),
      ("unwatched", 0, true), ("unwatched", 55_000_000, true), ("unwatched", 55_000_001, false),
      ("lasted", 0, true), ("lasted", 1_060_000_000, true), ("lasted", 1_060_000_001, false),
    ])
  func refusesSpansThatTheClockHasNot(key: String, number: Int64, isRead: Bool) throws {
    var outage = Self.unwatched
    if key == "beganClock" { outage.unwatched = 0 }
    let kind: JournalEvent.Kind = key == "lasted" ? .sleep(123) : .begin(outage, isContinued: false)
    let line = String(decoding: JournalEvent(kind, at: moment(60)).line.dropLast(), as: UTF8.self)
    let start = try #require(line.firstRange(of: "\"\(key)\":")).upperBound
    let end = try #require(line[start...].firstIndex { !$0.isNumber })
    let other = line.replacingCharacters(in: start..<end, with: "\(number)")
    #expect((JournalEvent(line: Array(other.utf8)[...]) != nil) == isRead)
  }

  @Test func refusesBytesThatAreNoText() {
    var line = JournalEvent(.up(target: "abc"), at: moment(1)).line.dropLast()
    let position = line.firstIndex(of: UInt8(ascii: "b")) ?? 0
    line[position] = 0xFF
    #expect(JournalEvent(line: line) == nil)
  }

  @Test(arguments: [0, 951_782_400, 1_709_164_800, 1_795_509_829, 4_102_444_799, -1] as [Int64])
  func readsTimesAsFoundationDoes(seconds: Int64) throws {
    let text = Date(timeIntervalSince1970: Double(seconds)).ISO8601Format()
    #expect(WallTime.microseconds(text) == seconds * 1_000_000)
    #expect(WallTime.text(seconds * 1_000_000).prefix(19) == text.prefix(19))
  }
}
