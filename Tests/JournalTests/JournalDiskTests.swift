// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneJournal

/// The files whose content was written to the disk, in their order.
private let flushed = Box<[String]>([])

/// Takes the place of the C library's in the program of the tests: notes the file, and does what that does, and more.
@_cdecl("fdatasync")
public func noteFlush(_ descriptor: CInt) -> CInt {
  do {
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    flushed.update { $0.append(path) }
  } catch {
    // No file that anybody asks about.
  }
  return fsync(descriptor)
}

/// What a journal's writer asks of a disk, and what it does where the disk does not do it.
struct JournalDiskTests {
  private static let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a"])
  private static let outage = OpenOutage(target: "a", began: moment(5), reason: "no-carrier", words: "w")

  private static func up(_ second: Double, _ target: String = "a") -> JournalEvent {
    JournalEvent(.up(target: target), at: moment(second))
  }

  /// What tells of an outage or of a run is on the disk before anything else happens; the rest has time.
  @Test(
    arguments: [
      (.start(recorder), true), (.file(recorder, [], nil), false), (.stop(reason: "SIGTERM"), true), (.alive, false),
      (.up(target: "a"), false), (.unknown(target: "a", reason: nil), false),
      (.begin(outage, isContinued: false), true), (.begin(outage, isContinued: true), true), (.cause(outage), true),
      (.end(outage, how: "h", isWaking: false), true), (.path(NetworkSummary(status: "satisfied")), false),
      (.sleep(5), false), (.clock(5), false),
    ] as [(JournalEvent.Kind, Bool)])
  func whatMustNotBeLostIsOnTheDisk(kind: JournalEvent.Kind, isFlushed: Bool) throws {
    let folder = try JournalFolder()
    var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    #expect(writer.write(JournalEvent(kind, at: moment(60))) { nil } == nil)
    // No other test has a folder of that name.
    #expect(flushed.value.count { $0.contains(folder.path) } == (isFlushed ? 1 : 0))
  }

  @Test func aWriterBeginsWithNothing() throws {
    let folder = try JournalFolder()
    let writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
    #expect(writer.counts == JournalWriter.Counts(written: 0, failures: 0, lost: 0, waiting: 0))
    #expect(JournalView(folder.directory, since: 0, until: 1).skippedLines == 0)
  }

  // MARK: Files that are not there

  /// A link to nothing has no bytes, and nothing to read.
  @Test func whatIsGoneHasNoBytes() throws {
    let folder = try JournalFolder()
    let gone = folder.directory.path(of: JournalDirectory.File(number: 1, day: 20_000))
    try FileManager.default.createSymbolicLink(atPath: gone, withDestinationPath: "nothing")
    let line = Self.up(1).line
    try folder.write(line, to: JournalDirectory.File(number: 2, day: 20_001).name)
    var (reader, told, events): (JournalReader, [[Int]], Int) = (JournalReader(folder.directory), [], 0)
    try reader.read(progress: { told.append([$0, $1]) }) { _ in events += 1 }
    #expect(told == [[line.count, line.count]] && events == 1 && reader.skippedLines == 0)
    // 3 500 twice, and an eighth for the file that begins, are 8 000.
    for number in 2...3 {
      let file = JournalDirectory.File(number: number, day: 20_000 + Int64(number))
      try folder.write([UInt8](repeating: 0x0A, count: 3_500), to: file.name)
    }
    try folder.remove(JournalDirectory.File(number: 2, day: 20_001).name)
    var writer = JournalWriter(folder.directory, sizeLimit: 8_000)
    #expect(writer.write(Self.up(1)) { nil } == nil)
    #expect(try folder.directory.files().map(\.number) == [1, 2, 3, 4])
  }

  #if os(Linux)
  #if canImport(Musl)
  private static let fileSize = RLIMIT_FSIZE
  #else
  private static let fileSize = __rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue))
  #endif

  /// A part of a line that had room is taken back, and the line is written once all of it has (setrlimit(2)).
  @Test func aPartOfALineIsTakenBack() async {
    await #expect(processExitsWith: .success) {
      // Or else a file that is too large ends the process.
      signal(SIGXFSZ, SIG_IGN)
      let (first, second) = (JournalDiskTests.up(1), JournalDiskTests.up(2))
      let folder = try JournalFolder()
      var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
      #expect(writer.write(first) { nil } == nil)
      var old = rlimit()
      // Both calls copy what they are given.
      try #require(unsafe getrlimit(JournalDiskTests.fileSize, &old) == 0)
      for part in [5, 0] {
        var limit = rlimit(rlim_cur: rlim_t(first.line.count + part), rlim_max: old.rlim_max)
        try #require(unsafe setrlimit(JournalDiskTests.fileSize, &limit) == 0)
        // A failure is told once.
        let remark = part > 0 ? writer.write(second) { nil } : writer.writeWaiting { nil }
        try #require(unsafe setrlimit(JournalDiskTests.fileSize, &old) == 0)
        #expect((remark?.contains("File too large") ?? false) == (part > 0))
        #expect(try folder.bytes() == first.line)
      }
      #expect(writer.counts == JournalWriter.Counts(written: 1, failures: 2, lost: 0, waiting: 1))
      #expect(writer.writeWaiting { nil }?.hasSuffix("written again, with 1 that had waited") ?? false)
      #expect(try folder.bytes() == first.line + second.line)
    }
  }

  /// A process that may open one file more cannot look at the end of a file (getrlimit(2), RLIMIT_NOFILE): it may be
  /// torn.
  @Test func anEndThatNobodySeesMayBeTorn() async {
    await #expect(processExitsWith: .success) {
      let folder = try JournalFolder()
      try folder.write(JournalDiskTests.up(1).line, to: "000001-2026-11-01.jsonl")
      // Or else the runtime may take the one that is left.
      try await openRuntimeDescriptors()
      let remark = try await withDescriptors(left: 1) {
        var writer = JournalWriter(folder.directory, sizeLimit: 1 << 20)
        return writer.write(JournalDiskTests.up(2)) { nil }
      }
      #expect(remark == nil)
      #expect(try folder.bytes() == JournalDiskTests.up(1).line + [0x0A] + JournalDiskTests.up(2).line)
    }
  }

  /// The clock may be set at any time: the timer that tells it is armed before the first wait, and after each.
  @Test func theTimerIsArmedAnew() async {
    await #expect(processExitsWith: .success) {
      /// What is left of a timer that is not over; `nil` for what is no timer.
      func left(_ number: CInt) -> Int? {
        var value = itimerspec()
        // Fills one structure.
        return unsafe timerfd_gettime(number, &value) == 0 ? Int(value.it_value.tv_sec) : nil
      }
      let before = (0..<256).filter { left($0) != nil }
      let wait = try RecorderWait()
      // Longer than a century.
      let timer = try #require((0..<256).first { !before.contains($0) && left($0) ?? 0 > 3_200_000_000 })
      var soon = itimerspec()
      soon.it_value.tv_nsec = 1
      // The structure is only read.
      try #require(unsafe timerfd_settime(timer, 0, &soon, nil) == 0)
      wait.wait(atMost: .max)
      #expect(left(timer) ?? 0 > 3_200_000_000)
    }
  }
  #endif
}
