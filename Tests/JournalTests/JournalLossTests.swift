// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Dialtone
@testable import DialtoneJournal

/// What is told of a journal that has lost a line, a part of a file or a file. The truth is what was written.
struct JournalLossTests {
  private static let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])
  private let first = outage(600)
  private let second = outage(3_000)

  private static func outage(_ second: Double) -> OpenOutage {
    OpenOutage(target: "a", began: moment(second), reason: "no-carrier", words: "w")
  }

  private func event(_ kind: JournalEvent.Kind, _ second: Double) -> JournalEvent {
    JournalEvent(kind, at: moment(second))
  }

  private func end(_ outage: OpenOutage, _ second: Double) -> JournalEvent {
    event(.end(outage, how: "back", isWaking: false), second)
  }

  private func header(_ status: JournalEvent.TargetStatus, _ second: Double) -> JournalEvent {
    event(.file(Self.recorder, [status], nil), second)
  }

  private func told(_ lines: [[UInt8]], isBusy: Bool = false) throws -> [String] {
    let folder = try JournalFolder()
    try folder.write(lines.flatMap(\.self), to: "000001-2026-11-01.jsonl")
    return try told(folder, isBusy: isBusy)
  }

  /// What is told, in seconds; with a recorder, until second 1,500.
  private func told(_ folder: JournalFolder, isBusy: Bool = false) throws -> [String] {
    var view = JournalView(folder.directory, since: moment(0).wall, until: moment(86_000).wall)
    var told: [String] = []
    func second(_ wall: Int64) -> Int64 { (wall - moment(0).wall) / 1_000_000 }
    let lock = isBusy ? try folder.directory.lock() : nil
    try view.read(now: moment(1_500)) { finding in
      switch finding {
      case .watched(_, let state, let from, let to): told.append("\(state) \(second(from))-\(second(to))")
      case .outage(let outage):
        let ending = if case .over = outage.ending { "over" } else { "\(outage.ending)" }
        told.append("\(ending) \(second(outage.began))-\(second(outage.ended))")
      case .path, .asleep: break
      }
    }
    withExtendedLifetime(lock) {}
    return told
  }

  private var start: [JournalEvent] { [event(.start(Self.recorder), 0), event(.up(target: "a"), 0)] }

  // MARK: Lines

  /// A bit has flipped in the line of an end: nobody knows what was behind the line before. All of the line is lost if
  /// the disk was full for long.
  @Test(arguments: [true, false]) func anOutageWhoseEndIsLostIsCut(isThere: Bool) throws {
    var torn = end(first, 1_200).line
    torn[30] ^= 0x80
    let before = (start + [event(.begin(first, isContinued: false), 600), event(.alive, 920)]).map(\.line)
    let after = [
      event(.begin(second, isContinued: false), 3_000), end(second, 3_060), event(.stop(reason: "x"), 3_600),
    ]
    let known = ["up 0-600", "down 600-920", "cut 600-920", "unknown 920-3000"]
    #expect(
      try told(before + (isThere ? [torn] : []) + after.map(\.line))
        == known + ["down 3000-3060", "over 3000-3060", "up 3060-3600"])
    // The beginning of the next one is lost, too: it is not known before, and was no outage then.
    #expect(
      try told(before + [torn] + after.dropFirst().map(\.line))
        == known + ["down 3000-3060", "over 3000-3060", "up 3060-3600"])
    if isThere {
      #expect(
        try told(before + [torn], isBusy: true) == ["up 0-600", "down 600-920", "unknown 920-1500", "cut 600-920"])
    }
    for (next, state) in [
      (event(.up(target: "a"), 3_000), "up"), (event(.unknown(target: "a", reason: nil), 3_000), "unknown"),
    ] {
      let found = try told(before + [next.line, event(.stop(reason: "x"), 3_600).line])
      #expect(
        found.sorted()
          == ["up 0-600", "down 600-920", "cut 600-920", "unknown 920-3000", "\(state) 3000-3600"].sorted())
    }
  }

  /// Another line is no end.
  @Test func anOutageGoesOnBehindALineThatIsLost() throws {
    let events = start + [event(.begin(first, isContinued: false), 600), event(.alive, 920)]
    let rest = [end(first, 1_200), event(.stop(reason: "x"), 1_300)]
    #expect(
      try told(events.map(\.line) + [Array("torn\n".utf8)] + rest.map(\.line)) == [
        "up 0-600", "down 600-920", "down 920-1200", "over 600-1200", "up 1200-1300",
      ])
  }

  // MARK: Files

  /// What happened in a file that is gone, empty or no file is not known. The next header says how it is since then.
  @Test(arguments: ["gone", "empty", "folder"]) func aGapWasNotWatched(what: String) throws {
    func told(_ last: [JournalEvent]) throws -> [String] {
      let folder = try JournalFolder()
      let before = start + [event(.begin(first, isContinued: false), 600), event(.alive, 920)]
      try folder.write(before.flatMap(\.line), to: "000001-2026-11-01.jsonl")
      switch what {
      case "empty": try folder.write([], to: "000002-2026-11-01.jsonl")
      case "folder": try JournalDirectory("\(folder.path)/000002-2026-11-01.jsonl").make()
      default: break
      }
      try folder.write((last + [event(.stop(reason: "x"), 5_000)]).flatMap(\.line), to: "000003-2026-11-01.jsonl")
      return try self.told(folder)
    }
    let known = ["up 0-600", "down 600-920"]
    #expect(try told([header(.up(target: "a"), 4_000)]) == known + ["up 4000-5000", "cut 600-920"])
    #expect(
      try told([header(.down(first), 4_000), end(first, 4_100)])
        == known + ["down 920-4100", "over 600-4100", "up 4100-5000"])
    // The header of a file that begins with an end is as it is behind that.
    #expect(
      try told([header(.up(target: "a"), 4_100), end(first, 4_100)]) == known + ["over 600-4100", "up 4100-5000"])
    #expect(
      try told([header(.down(second), 4_000), end(second, 4_100)])
        == known + ["cut 600-920", "down 3000-4100", "over 3000-4100", "up 4100-5000"])
  }

  /// A file that is removed leaves its number free. One of which a part is gone is left alone.
  @Test func aFileThatIsGoneOrCutIsFollowedByAnother() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    func write(_ second: Double) {
      _ = writer.write(event(.up(target: "a"), second)) { header(.up(target: "a"), second) }
    }
    write(1)
    write(86_401)
    try folder.remove("000002-2026-11-02.jsonl")
    write(86_402)
    #expect(try folder.names() == ["000001-2026-11-01.jsonl", "000003-2026-11-02.jsonl"])
    let path = "\(folder.path)/000003-2026-11-02.jsonl"
    for (number, size) in [(4, 0), (5, 7)] {
      // truncate(2).
      let last = try #require(try folder.directory.files().last)
      try #require(unsafe truncate(folder.directory.path(of: last), size) == 0)
      write(86_403)
      #expect(try folder.directory.files().last?.number == number)
    }
    #expect(try SystemFile.bytes(at: path, limit: 99) == [])
    let events = try folder.events()
    #expect(events.events.map(\.name) == ["file", "up", "file", "up"] && events.skipped == 1)
  }
}
