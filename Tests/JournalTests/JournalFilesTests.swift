// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Dialtone
@testable import DialtoneJournal

struct JournalFilesTests {
  private let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])

  private func header(_ at: Moment) -> JournalEvent { JournalEvent(.file(recorder, [.up(target: "a")], nil), at: at) }

  /// What was torn stays, is counted as one line, and the next line is whole.
  @Test(arguments: [1, 2, 17, 60])
  func aNewRecorderBeginsOnAFreshLine(torn: Int) throws {
    let folder = try JournalFolder()
    let first = JournalEvent(.up(target: "a"), at: moment(1))
    try folder.write(first.line + first.line.prefix(torn), to: "000007-2026-11-01.jsonl")
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    let second = JournalEvent(.up(target: "b"), at: moment(2))
    #expect(writer.write(second) { nil } == nil)
    #expect(try folder.names() == ["000007-2026-11-01.jsonl"])
    let read = try folder.events()
    #expect(read.events == [first, second] && read.skipped == 1)
  }

  @Test func aNewRecorderGoesOnBehindALineThatIsWhole() throws {
    let folder = try JournalFolder()
    let (first, second) = (JournalEvent(.up(target: "a"), at: moment(1)), JournalEvent(.up(target: "b"), at: moment(2)))
    try folder.write(first.line, to: "000007-2026-11-01.jsonl")
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    #expect(writer.write(second) { nil } == nil)
    let path = folder.directory.path(of: try #require(try folder.directory.files().first))
    #expect(SystemFile.text(at: path) == String(decoding: first.line + second.line, as: UTF8.self))
  }

  /// What was read, of what there is to read, in bytes.
  @Test func tellsHowFarItHasRead() throws {
    let folder = try JournalFolder()
    let line = JournalEvent(.up(target: "a"), at: moment(1)).line
    for name in ["000001-2026-11-01.jsonl", "000002-2026-11-02.jsonl"] { try folder.write(line + line, to: name) }
    var reader = JournalReader(folder.directory)
    var told: [[Int]] = []
    try reader.read(progress: { told.append([$0, $1]) }) { _ in }
    #expect(told == [[2 * line.count, 4 * line.count], [4 * line.count, 4 * line.count]])
  }

  /// By day, in the order in which they were begun, whatever the clock says.
  @Test func aFileBeginsEachDay() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    for at in [moment(0), moment(86_399), moment(86_400), moment(86_500, step: -1_793_000_000), moment(90_000)] {
      #expect(writer.write(JournalEvent(.alive, at: at)) { header(at) } == nil)
    }
    #expect(
      try folder.names() == [
        "000001-2026-11-01.jsonl", "000002-2026-11-02.jsonl", "000003-1970-01-07.jsonl", "000004-2026-11-02.jsonl",
      ])
    #expect(
      try folder.events().events.map(\.name) == [
        "file", "alive", "alive", "file", "alive", "file", "alive", "file", "alive",
      ])
  }

  @Test func theOldestGoBeyondTheLimit() throws {
    let folder = try JournalFolder()
    let limit = 20_000
    var writer = JournalWriter(folder.directory, sizeLimit: limit)
    for number in 0..<2_000 {
      let at = moment(Double(number) * 300)
      #expect(writer.write(JournalEvent(.up(target: "target \(number)"), at: at)) { header(at) } == nil)
      #expect(try folder.bytes().count <= limit + 200)
    }
    #expect(try folder.bytes().count > limit / 2)
    let last = try #require(try folder.events().events.last)
    #expect(last.kind == .up(target: "target 1999"))
  }

  /// Somebody has removed the file.
  @Test func aFileThatIsGoneIsBegunAnew() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    _ = writer.write(JournalEvent(.alive, at: moment(1))) { header(moment(1)) }
    let name = try #require(try folder.names().first)
    try folder.remove(name)
    _ = writer.write(JournalEvent(.up(target: "a"), at: moment(2))) { header(moment(2)) }
    #expect(try folder.events().events.map(\.name) == ["file", "up"])
  }

  /// Somebody has moved the file away, or put another one in its place.
  @Test(arguments: [false, true]) func aFileThatIsMovedAwayIsBegunAnew(_ isReplaced: Bool) throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    _ = writer.write(JournalEvent(.alive, at: moment(1))) { header(moment(1)) }
    let name = try #require(try folder.names().first)
    let (path, moved) = ("\(folder.path)/\(name)", "\(folder.path)/moved")
    try FileManager.default.moveItem(atPath: path, toPath: moved)
    if isReplaced { try folder.write([], to: name) }
    let before = try SystemFile.bytes(at: moved, limit: 1 << 20)
    for second in 2...3 {
      let event = JournalEvent(.up(target: "a"), at: moment(Double(second)))
      #expect(writer.write(event) { header(moment(2)) } == nil)
    }
    #expect(try folder.events().events.map(\.name) == ["file", "up", "up"])
    #expect(try SystemFile.bytes(at: moved, limit: 1 << 20) == before)
  }

  /// Somebody has moved the folder away, and perhaps made another one, which is locked, too.
  @Test(arguments: [false, true]) func aFolderThatIsMovedAwayIsMadeAnew(_ isReplaced: Bool) throws {
    let folder = try JournalFolder()
    let place = JournalDirectory("\(folder.path)/j")
    try place.make()
    var writer = JournalWriter(place, sizeLimit: 1 << 20, lock: try place.lock())
    func up(_ second: Double) -> JournalEvent { JournalEvent(.up(target: "a"), at: moment(second)) }
    #expect(writer.write(up(1)) { header(moment(1)) } == nil)
    try FileManager.default.moveItem(atPath: place.path, toPath: "\(folder.path)/j2")
    if isReplaced { try place.make() }
    #expect((writer.write(up(2)) { header(moment(2)) } == nil) == isReplaced)
    _ = writer.writeWaiting { header(moment(3)) }
    #expect(writer.write(up(4)) { header(moment(4)) } == nil && writer.counts.waiting == 0)
    var events: [JournalEvent] = []
    var reader = JournalReader(place)
    try reader.read { events.append($0) }
    #expect(events.map(\.name) == ["file", "up", "up"] && events.last == up(4))
    #expect(try place.isBeingWritten() && !JournalDirectory("\(folder.path)/j2").isBeingWritten())
  }

  /// Somebody has removed the folder. That it fails and works again is said, and no other recorder gets the new one.
  @Test func aFolderThatIsGoneIsMadeAnew() throws {
    let folder = try JournalFolder()
    let place = JournalDirectory("\(folder.path)/a/b")
    try place.make()
    var writer = JournalWriter(place, sizeLimit: 1 << 20)
    func up(_ second: Double) -> JournalEvent { JournalEvent(.up(target: "a"), at: moment(second)) }
    #expect(writer.write(up(1)) { header(moment(1)) } == nil)
    try FileManager.default.removeItem(atPath: "\(folder.path)/a")
    #expect(
      writer.write(up(2)) { header(moment(2)) }
        == "\(place.path): No such file or directory; what happens is kept, and written once that is possible")
    #expect(writer.writeWaiting { header(moment(3)) } == "\(place.path): written again, with 1 that had waited")
    var events: [JournalEvent] = []
    var reader = JournalReader(place)
    try reader.read { events.append($0) }
    #expect(events.map(\.name) == ["file", "up"] && events.last == up(2))
    #expect(try place.isBeingWritten() && writer.counts.written == 4)
    // Another recorder was faster.
    try FileManager.default.removeItem(atPath: "\(folder.path)/a")
    #expect(writer.write(up(4)) { nil } != nil)
    try place.make()
    guard let other = try place.lock() else {
      Issue.record("it is locked by nobody")
      return
    }
    #expect(writer.writeWaiting { nil }?.contains("busy") ?? false)
    #expect(try place.files().isEmpty && writer.counts.waiting == 1)
    withExtendedLifetime(other) {}
  }

  /// The folder is away for a while, as on a disk that is not mounted.
  @Test func whatCannotBeWrittenWaits() throws {
    let folder = try JournalFolder()
    let place = JournalDirectory("\(folder.path)/later")
    var writer = JournalWriter(place, sizeLimit: 1 << 20)
    let remarks = (0..<5).map { number in
      writer.write(JournalEvent(.up(target: "\(number)"), at: moment(Double(number)))) { header(moment(0)) }
    }
    #expect(remarks[0]?.contains("No such file or directory") ?? false)
    #expect(remarks.dropFirst().allSatisfy { $0 == nil }, "it is said once")
    #expect(writer.counts.waiting == 5 && writer.counts.written == 0)
    try place.make()
    #expect(writer.writeWaiting { header(moment(0)) }?.contains("written again, with 5 that had waited") ?? false)
    var reader = JournalReader(place)
    var names: [String] = []
    try reader.read { names.append($0.name) }
    #expect(names == ["file", "up", "up", "up", "up", "up"])
  }

  @Test func aSpanLeavesOtherDaysOut() throws {
    let folder = try JournalFolder()
    for day in 1...9 {
      let at = moment(Double(day - 1) * 86_400 + 5)
      // What is left out is not even opened: it would count.
      let line = day < 5 ? Array("foreign\n".utf8) : JournalEvent(.up(target: "\(day)"), at: at).line
      try folder.write(line, to: "00000\(day)-2026-11-0\(day).jsonl")
    }
    var reader = JournalReader(folder.directory)
    var targets: [JournalEvent.Kind] = []
    try reader.read(since: moment(5 * 86_400 + 100).wall) {
      targets.append($0.kind)
    }
    // What the file before says may still hold.
    #expect(targets == (5...9).map { .up(target: "\($0)") } && reader.skippedLines == 0)
  }

  /// It is just after midnight in UTC, nothing has happened yet, and the recorder is there.
  @Test func whatTheLastFileSaysStillHolds() throws {
    let folder = try JournalFolder()
    let outage = OpenOutage(target: "a", began: moment(86_397), reason: nil, words: "w")
    let begin = JournalEvent(.begin(outage, isContinued: false), at: moment(86_397))
    // The clock was ahead, and was set back.
    try folder.write(header(moment(100)).line, to: "000001-2026-11-02.jsonl")
    try folder.write(header(moment(200)).line + begin.line, to: "000002-2026-11-01.jsonl")
    guard let lock = try folder.directory.lock() else {
      Issue.record("it is locked by nobody")
      return
    }
    for name in try folder.names() {
      var view = JournalView(folder.directory, since: moment(86_400).wall, until: moment(86_405).wall)
      var outages: [Outage] = []
      try view.read(now: moment(86_405)) { if case .outage(let outage) = $0 { outages.append(outage) } }
      #expect(outages.map(\.ending) == [.open] && outages.first?.lasted == 8_000_000 && view.seen == ["a"])
      // And without the first file.
      if name.hasPrefix("000001") { try folder.remove(name) }
    }
    withExtendedLifetime(lock) {}
  }

  @Test func onlyItsOwnFilesCount() throws {
    let folder = try JournalFolder()
    try folder.write(JournalEvent(.alive, at: moment(1)).line, to: "000001-2026-11-01.jsonl")
    let others = [
      "notes.jsonl", "000002-2026-11-01.jsonl.part", "2026-11-01.jsonl", "1-2026-11-01.jsonl",
      // No number comes after it.
      "\(Int.max)-2026-11-01.jsonl",
    ]
    for name in others { try folder.write([0x41], to: name) }
    #expect(try folder.names() == ["000001-2026-11-01.jsonl"])
  }

  /// A file of a gigabyte without a line feed takes no memory of that size.
  @Test func aLineWithoutEndIsSkipped() throws {
    let folder = try JournalFolder()
    let event = JournalEvent(.up(target: "a"), at: moment(1))
    try folder.write([UInt8](repeating: 0x41, count: 5 << 20) + [0x0A] + event.line, to: "000001-2026-11-01.jsonl")
    let read = try folder.events()
    #expect(read.events == [event] && read.skipped >= 1)
  }

  @Test func theFolderIsWhereTheSystemSays() {
    func usual(_ variables: [String: String], isRoot: Bool = false) -> String? {
      JournalDirectory.usual({ variables[$0] }, isRoot: isRoot)
    }
    #expect(usual(["HOME": "/home/u"]) == "/home/u/.local/state/dialtone")
    #expect(usual(["HOME": "/home/u", "XDG_STATE_HOME": "/s"]) == "/s/dialtone")
    #expect(usual(["HOME": "/home/u", "XDG_STATE_HOME": "s"]) == "/home/u/.local/state/dialtone")
    #expect(usual(["HOME": "/root"], isRoot: true) == "/var/lib/dialtone")
    #expect(usual(["STATE_DIRECTORY": "/var/lib/dialtone:/x", "HOME": "/h"]) == "/var/lib/dialtone")
    #expect(usual([:]) == nil)
    #expect(
      JournalDirectory.candidates({ ["HOME": "/h"][$0] }, isRoot: false) == [
        "/h/.local/state/dialtone", "/var/lib/dialtone",
      ])
  }
}
