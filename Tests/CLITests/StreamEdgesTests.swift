// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CDialtoneSystem
import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

/// What depends on the streams, the limits and the environment of the whole process, and so needs one of its own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct StreamEdgesTests {
  /// A terminal that was just made has no size (pty(7)): 80 columns are assumed, as of one that does not tell.
  @Test func knowsHowManyColumnsATerminalHas() throws {
    let terminal = try Terminal()
    let stream = StandardStream(descriptor: terminal.slave)
    #expect(stream.isTerminal && stream.columns == 80)
    for columns: UInt16 in [1, 2, 132] {
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      // It copies the structure (TIOCSWINSZ(2const)).
      try #require(unsafe ioctl(terminal.slave, UInt(TIOCSWINSZ), &size) == 0)
      #expect(stream.columns == Int(columns))
    }
  }

  /// signal(7): by default SIGURG ends nothing. Then the status is the one that a shell says of a signal, as for the
  /// first process of a container, which none ends.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func endsEvenIfTheSignalEndsNothing() async {
    await #expect(processExitsWith: .exitCode(128 + SIGURG)) { Signals.end(by: SIGURG) }
  }

  /// A reader who takes nothing, and then all.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func waitsForTheReaderOfItsLinesAsLongAsItIsTold() async {
    await #expect(processExitsWith: .success) {
      let pipe = Pipe()
      let descriptor = pipe.fileHandleForWriting.fileDescriptor
      let flags = fcntl(descriptor, F_GETFL)
      #expect(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
      let zeros = [UInt8](repeating: 0, count: 4096)
      // Reads as many bytes as it is told, which the array has.
      while unsafe CDialtoneSystem.write(descriptor, zeros, zeros.count) > 0 {}
      #expect(fcntl(descriptor, F_SETFL, flags) == 0 && dup2(descriptor, STDOUT_FILENO) == STDOUT_FILENO)

      let writer = try #require(LineWriter.start())
      try #require(writer.isIdle, "there is nothing to write")
      #expect(writer.finish(within: nil) && writer.finish(within: .zero))
      try await eventually("its thread sleeps until there is a line") {
        ProcessCensus.threads(named: "dialtone-lines") == 1 && ProcessCensus.areAsleep(threadsNamed: "dialtone-lines")
      }
      writer.write("one", target: 0)
      writer.write("two", target: 1)
      #expect(!writer.isIdle && !writer.finish(within: .zero) && !writer.finish(within: .milliseconds(1)))
      let text = Box(Data())
      Foundation.Thread.detachNewThread {
        while !text.value.hasSuffix("one\ntwo\n") { text.value += pipe.fileHandleForReading.availableData }
      }
      #expect(writer.finish(within: .seconds(250)) && writer.isIdle)
      try await eventually("all of it is read") { text.value.hasSuffix("\0one\ntwo\n") }
      // What a test says at its end has a reader.
      #expect(dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO)
    }
  }

  /// Each number below a limit is taken, except for as many as are said to be needed (getrlimit(2), RLIMIT_NOFILE).
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func needsEightDescriptors() async {
    await #expect(processExitsWith: .success) {
      #expect(Shortage.look() == nil)
      // Or else the runtime may take one of those that are left.
      try await openRuntimeDescriptors()
      let taken = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
      let highest = try #require(taken.max())
      var free: CInt = -1
      // The path is only read, during the call. The lowest number that is free comes first (open(2)).
      while free <= highest {
        free = unsafe csystem_open("/dev/null", O_RDONLY | O_CLOEXEC)
        try #require(free >= 0)
      }
      close(free)
      let words = try [9, 8, 7, 1].map { count in try withDescriptors(below: Int(free) + count) { Shortage.look() } }
      let missing = "the process has no file descriptor left; raise its limit (ulimit -n)"
      #expect(words == [nil, nil, missing, missing])
    }
  }

  /// POSIX' COLUMNS is left to the parser where its two columns have room, from 60 columns on. Below, it gets lines of
  /// any length, which are broken afterwards.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func laysHelpOutItselfOnANarrowTerminal() async {
    await #expect(processExitsWith: .success) {
      for (columns, parser) in [("61", "61"), ("60", "60"), ("59", "10000"), ("20", "10000")] {
        unsafe setenv("COLUMNS", columns, 1)
        #expect(DialtoneCommand.described(ValidationError("no")).status.rawValue == 64)
        #expect(Environment.value(of: "COLUMNS") == parser)
      }
    }
  }

  /// Half a second after the beginning at the earliest, each percentage once, and nothing where it could not be taken
  /// away again.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func saysHowFarItHasRead() async {
    await #expect(processExitsWith: .success) {
      let terminal = try Terminal()
      #expect(dup2(terminal.slave, STDERR_FILENO) == STDERR_FILENO)
      unsafe setenv("TERM", "dumb", 1)
      let dumb = ReadingProgress()
      unsafe setenv("TERM", "xterm", 1)
      let start = ContinuousClock.now
      let progress = ReadingProgress()
      var text = ""
      try await eventually("it is shown") {
        progress.show(1, 3)
        text += terminal.read()
        return !text.isEmpty
      }
      #expect(start.duration(to: .now) >= .milliseconds(500))
      dumb.show(1, 3)
      for (done, total) in [(1, 3), (2, 3), (2, 3), (0, 0), (3, 3)] { progress.show(done, total) }
      dumb.end()
      progress.end()
      progress.end()
      let shown = [33, 66, 100].map { "\r\u{1B}[K\u{1B}[?7lreading the journal, \($0) %\u{1B}[?7h\r" }.joined()
      try await eventually("that alone is shown") {
        text += terminal.read()
        return text == shown + "\r\u{1B}[K"
      }
    }
  }

  /// Root's journal is the system's (FHS 3.0, 5.8), anyone else's is below their HOME. The other one comes second.
  @Test(
    .disabled(if: FileManager.default.fileExists(atPath: "/var/lib/dialtone"), "a recorder of this machine"),
    .disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func looksForTheJournalOfItsOwnUserFirst() async throws {
    let run = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for name in ["HOME", "STATE_DIRECTORY", "XDG_STATE_HOME"] { unsafe unsetenv(name) }
      if geteuid() == 0 {
        _ = try DialtoneCommand.prepare(["record"])
      } else {
        #expect(throws: UsageError.self) { try DialtoneCommand.prepare(["record"]) }
      }
      unsafe setenv("HOME", "/nonexistent", 1)
      #expect(try DialtoneCommand.prepare(["outages"]).work() == .noInput)
    }
    let places = ["/var/lib/dialtone", "/nonexistent/.local/state/dialtone"]
    let order = geteuid() == 0 ? places : places.reversed()
    let text = String(decoding: try #require(run).standardErrorContent, as: UTF8.self)
    #expect(text.contains("There is no journal of outages in \(order.joined(separator: " or ")): "), "\(text)")
  }
}

/// Runs `body` while descriptors have lower numbers alone.
private func withDescriptors<Result>(below limit: Int, _ body: () throws -> Result) throws -> Result {
  #if canImport(Musl)
  let resource = RLIMIT_NOFILE
  #else
  let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
  #endif
  var old = rlimit()
  // These calls copy what they are given, and fill in what they are given.
  try #require(unsafe getrlimit(resource, &old) == 0)
  var new = rlimit(rlim_cur: rlim_t(limit), rlim_max: old.rlim_max)
  try #require(unsafe setrlimit(resource, &new) == 0)
  defer { _ = unsafe setrlimit(resource, &old) }
  return try body()
}

/// A terminal of our own (pty(7)).
private final class Terminal {
  let slave: CInt
  private let master: CInt

  init() throws {
    var descriptors: (CInt, CInt) = (-1, -1)
    // Filled during the call. The name, the modes and the size are not asked for.
    try #require(unsafe openpty(&descriptors.0, &descriptors.1, nil, nil, nil) == 0)
    (master, slave) = descriptors
    try #require(fcntl(master, F_SETFL, O_NONBLOCK) == 0)
  }

  deinit {
    close(slave)
    close(master)
  }

  /// What was written, and has not been read.
  func read() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // Fills at most as many bytes as it is told.
    let count = unsafe CDialtoneSystem.read(master, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}

extension Data {
  fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count) == Data(text.utf8) }
}
