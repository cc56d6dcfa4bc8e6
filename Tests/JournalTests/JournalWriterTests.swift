// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Dialtone
@testable import DialtoneJournal

/// What a journal's writer does byte for byte.
struct JournalWriterTests {
  private let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])

  private func header(_ at: Moment) -> JournalEvent { JournalEvent(.file(recorder, [.up(target: "a")], nil), at: at) }

  private func alive(_ second: Double) -> JournalEvent { JournalEvent(.alive, at: moment(second)) }

  private func up(_ second: Double) -> JournalEvent { JournalEvent(.up(target: "a"), at: moment(second)) }

  /// Each line follows the one before at once.
  @Test func nothingLiesBetweenLines() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    let events = (1...4).map { up(Double($0)) }
    for event in events { #expect(writer.write(event) { nil } == nil) }
    #expect(try folder.bytes() == events.flatMap(\.line))
    #expect(writer.counts == JournalWriter.Counts(written: 4, failures: 0, lost: 0, waiting: 0))
  }

  /// A file of one byte is torn, and one that is empty is not.
  @Test(arguments: [("", ""), ("{", "{\n"), ("\n", "\n"), ("{}", "{}\n"), ("{}\n", "{}\n")])
  func goesOnBehindWhatIsThere(before: String, after: String) throws {
    let folder = try JournalFolder()
    try folder.write(Array(before.utf8), to: "000003-2026-11-01.jsonl")
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    for second in 1...2 { #expect(writer.write(up(Double(second))) { nil } == nil) }
    #expect(try folder.names() == ["000003-2026-11-01.jsonl"])
    #expect(try folder.bytes() == Array(after.utf8) + up(1).line + up(2).line)
  }

  /// The day's file that is there is gone on with, and has its header already.
  @Test func aFileThatIsThereGetsNoHeader() throws {
    let folder = try JournalFolder()
    try folder.write(header(moment(1)).line, to: "000003-2026-11-01.jsonl")
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    _ = writer.write(up(2)) { header(moment(2)) }
    #expect(try folder.events().events == [header(moment(1)), up(2)])
  }

  /// A start says all that a header says.
  @Test func aStartNeedsNoHeader() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    let start = JournalEvent(.start(recorder), at: moment(1))
    _ = writer.write(start) { header(moment(1)) }
    _ = writer.write(up(2)) { header(moment(1)) }
    #expect(try folder.events().events == [start, up(2)])
    #expect(writer.counts.written == 2)
  }

  /// A line of yesterday has a header of today, as after a sleep over midnight.
  @Test func aHeaderOfALaterDayIsWrittenOnce() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    #expect(writer.write(up(86_399)) { header(moment(86_401)) } == nil)
    #expect(try folder.names().count == 1 && folder.events().events == [header(moment(86_401)), up(86_399)])
  }

  /// A header is an event that was written, too.
  @Test func aHeaderCounts() throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    _ = writer.write(up(2)) { header(moment(1)) }
    #expect(try folder.events().events == [header(moment(1)), up(2)] && writer.counts.written == 2)
  }

  /// A file is at most an eighth of the journal, and no journal has a limit of less than 4 KiB.
  @Test(arguments: [(7, 7), (10, 10), (0, 7)])
  func aFileIsAnEighth(eighth: Int, lines: Int) throws {
    let folder = try JournalFolder()
    let line = alive(1).line.count
    // 512 bytes have room for six lines, and the seventh is the one that goes beyond.
    try #require((6 * line..<7 * line).contains(512))
    var writer = JournalWriter(folder.directory, sizeLimit: 8 * eighth * line)
    for second in 1...lines + 1 { _ = writer.write(alive(Double(second % 9 + 1))) { nil } }
    #expect(try folder.names() == ["000001-2026-11-01.jsonl", "000002-2026-11-01.jsonl"])
    let sizes = try folder.directory.files().map { file in
      try SystemFile.bytes(at: folder.directory.path(of: file), limit: 9_999).count
    }
    #expect(sizes == [lines * line, line])
  }

  /// The oldest go until all are within the limit, with room for the file that begins, an eighth of 8 000.
  @Test(
    arguments: [
      ([3_500, 3_500], [1, 2]), ([3_501, 3_500], [2]), ([1_000, 7_001, 5], [3]), ([7_000, 7_001], []),
      ([1, 1, 7_000], [3]), ([2, 1, 6_998], [2, 3]), ([50_000, 1_000], [2]), ([1_000, 50_000], []),
    ] as [([Int], [Int])])
  func theOldestGoUntilItIsEnough(sizes: [Int], left: [Int]) throws {
    let folder = try JournalFolder()
    for (number, size) in sizes.enumerated() {
      let file = JournalDirectory.File(number: number + 1, day: 20_000 + Int64(number))
      try folder.write([UInt8](repeating: 0x0A, count: size), to: file.name)
    }
    var writer = JournalWriter(folder.directory, sizeLimit: 8_000)
    #expect(writer.write(up(1)) { nil } == nil)
    #expect(try folder.directory.files().map(\.number) == left + [sizes.count + 1])
  }

  /// A failure is told once, until it is another one; and that it is over.
  @Test func tellsEachFailureOnce() throws {
    let folder = try JournalFolder()
    let path = "\(folder.path)/later"
    var writer = JournalWriter(JournalDirectory(path), sizeLimit: 1 << 20)
    let first = writer.write(up(1)) { nil }
    #expect(first == "\(path): No such file or directory; what happens is kept, and written once that is possible")
    #expect(writer.write(up(2)) { nil } == nil)
    #expect(writer.counts == JournalWriter.Counts(written: 0, failures: 2, lost: 0, waiting: 2))
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(writer.write(up(3)) { nil }?.contains("Not a directory") ?? false)
    #expect(writer.writeWaiting { nil } == nil)
    #expect(writer.counts == JournalWriter.Counts(written: 0, failures: 4, lost: 0, waiting: 3))
    try FileManager.default.removeItem(atPath: path)
    try JournalDirectory(path).make()
    #expect(writer.writeWaiting { nil } == "\(path): written again, with 3 that had waited")
    #expect(writer.counts == JournalWriter.Counts(written: 3, failures: 4, lost: 0, waiting: 0))
    #expect(writer.writeWaiting { nil } == nil)
    #expect(writer.write(up(4)) { nil } == nil)
    // The same failure once more is a new one.
    try FileManager.default.removeItem(atPath: path)
    #expect(writer.write(up(5)) { nil }?.contains("No such file or directory") ?? false)
  }

  /// Ten thousand lines wait at most, and the oldest is lost.
  @Test func tooManyThatWaitAreLost() throws {
    let folder = try JournalFolder()
    let place = JournalDirectory("\(folder.path)/later")
    var writer = JournalWriter(place, sizeLimit: 1 << 24)
    #expect(JournalWriter.waitingLimit == 10_000)
    _ = writer.write(up(1)) { nil }
    for _ in 1..<10_000 { _ = writer.write(alive(2)) { nil } }
    #expect(writer.counts.waiting == 10_000 && writer.counts.lost == 0)
    _ = writer.write(alive(2)) { nil }
    #expect(writer.counts.waiting == 10_000 && writer.counts.lost == 1)
    try place.make()
    #expect(writer.writeWaiting { nil } == "\(place.path): written again, with 10000 that had waited; 1 was lost")
    #expect(writer.counts.written == 10_000 && writer.counts.waiting == 0)
    let file = place.path(of: try #require(try place.files().first))
    let (line, bytes) = (alive(2).line, try SystemFile.bytes(at: file, limit: 1 << 20))
    #expect(bytes.count == 10_000 * line.count && bytes.starts(with: line))
  }

  // MARK: Read

  /// A mebibyte is a line. One that is longer by the 256 KiB that are read at a time is none, and counts once.
  @Test(arguments: [(1 << 20, true), (5 << 18, false)])
  func aLineHasAMebibyte(count: Int, isRead: Bool) throws {
    let folder = try JournalFolder()
    // The line has `count` bytes before its end.
    let short = JournalEvent(.up(target: ""), at: moment(1)).line
    let name = String(repeating: "x", count: count + 1 - short.count)
    let line = String(decoding: short, as: UTF8.self).replacing("\"target\":\"", with: "\"target\":\"" + name)
    #expect(line.utf8.count == count + 1)
    try folder.write(Array(line.utf8) + up(2).line, to: "000001-2026-11-01.jsonl")
    let (read, event) = (try folder.events(), JournalEvent(.up(target: name), at: moment(1)))
    #expect(read.events.count == (isRead ? 2 : 1) && read.events.last == up(2))
    #expect((read.events.first == event) == isRead && read.skipped == (isRead ? 0 : 1))
  }

  /// Empty lines are nothing, and the last line may have no end.
  @Test(
    arguments: [("", 0), ("\n", 0), ("\n\n#\n\n", 1), ("#", 1), ("\n1\n2\n", 2), ("#\n1\n2", 3)]
      as [(String, Int)])
  func countsWhatItCannotRead(text: String, skipped: Int) throws {
    let folder = try JournalFolder()
    let whole = up(1).line
    try folder.write(whole + Array(text.utf8), to: "000001-2026-11-01.jsonl")
    try folder.write(whole.dropLast(), to: "000002-2026-11-01.jsonl")
    let read = try folder.events()
    #expect(read.events == [up(1), up(1)] && read.skipped == skipped)
  }

  /// A file that went meanwhile is no failure, and one that cannot be read is.
  @Test func aFileThatCannotBeReadIsAFailure() throws {
    let folder = try JournalFolder()
    let file = JournalDirectory.File(number: 1, day: 20_000)
    var reader = JournalReader(folder.directory)
    var events = 0
    try reader.read(file) { _ in events += 1 }
    #expect(events == 0 && reader.skippedLines == 0)
    // open(2): ELOOP. read(2): EISDIR.
    let (link, inner) = (JournalDirectory.File(number: 2, day: 20_000), JournalDirectory.File(number: 3, day: 20_000))
    let path = folder.directory.path(of: link)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    #expect(throws: (any Error).self) { try reader.read(link) { _ in } }
    try FileManager.default.createDirectory(
      atPath: folder.directory.path(of: inner), withIntermediateDirectories: false)
    #expect(throws: (any Error).self) { try reader.read(inner) { _ in } }
  }

  /// Such files are left out, and so is a device, which has no end; if there are no others, it is a failure.
  @Test func whatIsNoFileIsLeftOut() throws {
    let folder = try JournalFolder()
    let files = (1...3).map { JournalDirectory.File(number: $0, day: 20_000) }
    let paths = files.map { folder.directory.path(of: $0) }
    try FileManager.default.createDirectory(atPath: paths[0], withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: paths[2], withDestinationPath: "/dev/zero")
    var reader = JournalReader(folder.directory)
    #expect(throws: (any Error).self) { try reader.read { _ in } }
    try folder.write(up(1).line, to: files[1].name)
    var view = JournalView(folder.directory, since: 0, until: 1)
    try view.read(now: moment(2)) { _ in }
    #expect(view.skippedFiles == [files[0].name, files[2].name] && view.skippedLines == 0)
    #expect(try folder.events().events == [up(1)])
  }

  // MARK: Folder

  @Test func makesTheFoldersAboveToo() throws {
    let folder = try JournalFolder()
    let path = "\(folder.path)/a/b/c"
    try JournalDirectory(path).make()
    #expect(try JournalDirectory(path).files().isEmpty)
    // Once more is no failure.
    try JournalDirectory(path).make()
    for part in ["a", "a/b", "a/b/c"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(part)")
      let mode = try #require(attributes[.posixPermissions] as? Int)
      // umask(2) may take rights away, of 0o755.
      #expect(mode & ~0o755 == 0 && mode & 0o700 == 0o700)
    }
    // What is in the way is a failure.
    try folder.write([0x41], to: "file")
    #expect(throws: (any Error).self) { try JournalDirectory("\(folder.path)/file/b").make() }
    #expect(throws: (any Error).self) { try JournalDirectory("\(folder.path)/none").files() }
    #expect(throws: (any Error).self) { _ = try JournalDirectory("\(folder.path)/none").lock() }
    #expect(throws: (any Error).self) { try JournalDirectory("\(folder.path)/none").isBeingWritten() }
  }

  @Test func aLockIsForOne() throws {
    let folder = try JournalFolder()
    #expect(try !folder.directory.isBeingWritten())
    guard let lock = try folder.directory.lock() else {
      Issue.record("it is locked by nobody")
      return
    }
    #expect(try folder.directory.isBeingWritten())
    withExtendedLifetime(lock) {}
  }

  @Test(
    arguments: [
      (1, 0, "000001-1970-01-01.jsonl"), (999_999, 20_758, "999999-2026-11-01.jsonl"),
      (1_000_000, 20_758, "1000000-2026-11-01.jsonl"), (12, -1, "000012-1969-12-31.jsonl"),
    ] as [(Int, Int64, String)])
  func aFileIsFoundByItsName(number: Int, day: Int64, name: String) throws {
    let file = JournalDirectory.File(number: number, day: day)
    #expect(file.name == name && JournalDirectory.File(name: name) == file)
    let directory = JournalDirectory("/d")
    #expect(directory.path(of: file) == "/d/\(name)")
  }

  @Test(arguments: [
    "", "-", "000001.jsonl", "000001-.jsonl", "-2026-11-01.jsonl", "00000x-2026-11-01.jsonl", "+00001-2026-11-01.jsonl",
    "000001-2026-13-01.jsonl", "000001-2026-11-1.jsonl", "000001-2026-11-01.json", "000001-2026-11-01",
    "0000001-2026-11-01.jsonl", "1-2026-11-01.jsonl", "000001-2026-11-01.jsonl.jsonl", "000001_2026-11-01.jsonl",
  ])
  func foreignNamesAreNone(name: String) { #expect(JournalDirectory.File(name: name) == nil) }
}
