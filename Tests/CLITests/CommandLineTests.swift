// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CDialtoneSystem
import Dialtone
import DialtoneExporter
import DialtoneJournal
import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

/// How a command line and the files that it names are read.
struct CommandLineTests {
  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no error"
    } catch let error as ValidationError {
      return error.message
    } catch {
      return "\(error)"
    }
  }

  // MARK: Long command lines

  private func hosts(_ range: Range<Int>) -> [String] { range.map { "host\($0)" } }

  /// From 256 arguments on, one stands for a run of targets; the first two of a run stay, and so does a run of three.
  @Test func foldsLongCommandLines() {
    let short = FoldedArguments(["status"] + hosts(0..<254))
    #expect(short.arguments == ["status"] + hosts(0..<254) && short.unfolded(["host1"]) == ["host1"])
    let line = ["status"] + hosts(0..<255)
    let long = FoldedArguments(line)
    #expect(long.arguments.count == 3 && Array(long.arguments.prefix(2)) == ["status", "host0"])
    #expect(long.unfolded(long.arguments) == line)
    let token = long.arguments[2]
    #expect(long.unfolded(message: "'\(token)' is bad") == "'host1' is bad")
    // A completion refers to arguments by their positions.
    #expect(FoldedArguments(line + ["---completion"]).arguments == line + ["---completion"])
  }

  @Test func foldsEachRunByItself() {
    let line = ["a", "b", "c", "-x", "d", "e", "f", "g", "-y", "-z", "h"] + hosts(0..<300) + ["-4", "i"]
    let folded = FoldedArguments(line)
    let shown = folded.arguments.map { $0.contains("\0") ? "*" : $0 }
    #expect(shown == ["a", "b", "c", "-x", "d", "e", "*", "-y", "-z", "h", "host0", "*", "-4", "i"])
    #expect(folded.unfolded(folded.arguments) == line)
    let ends = FoldedArguments(hosts(0..<300) + ["-4"])
    #expect(ends.arguments.count == 4 && ends.unfolded(ends.arguments) == hosts(0..<300) + ["-4"])
  }

  // MARK: Words

  @Test func tellsAMistypedCommandFromAHost() throws {
    #expect(
      message { try CommandWord.check(implicitTargets: ["statsu"]) }
        == "TARGET: unknown command \"statsu\"; did you mean status? Or, to watch a host of that name, write: "
        + "dialtone watch statsu")
    // Only the first can be a command; behind it stand hosts.
    try CommandWord.check(implicitTargets: ["example.com", "statsu"])
    try CommandWord.check(targets: ["statsu", "status", "internet", "internet.", "Local-Network"])
    let second = message { try CommandWord.check(implicitTargets: ["a", "wait"]) }
    #expect(second.hasPrefix("TARGET: \"wait\" is a command"))
    #expect(message { try CommandWord.check(implicitTargets: ["a", "Version"]) }.contains("dialtone --version; "))
    #expect(
      message { try CommandWord.check(targets: ["a", "internt"]) }
        == "TARGET: unknown word \"internt\"; did you mean internet? Or, for a host of that name, write: internt.")
  }

  @Test func helpsWithCommandsAlone() throws {
    for arguments in [["help"], ["help", "watch"], ["help", "--json"], ["watch", "nosuch"], [], ["help", "help"]] {
      try CommandWord.check(help: arguments)
    }
    #expect(throws: UsageError.self) { try CommandWord.check(help: ["help", "-h", "nosuch"]) }
    let error = #expect(throws: UsageError.self) { try CommandWord.check(help: ["help", "statsu"]) }
    #expect(error?.message == "help: \"statsu\" is not a command; did you mean status?" && error?.command == nil)
  }

  @Test func tellsWhatEndedIt() {
    let input = DialtoneCommand.described(InputError(description: "no file"))
    #expect(input.text == "Error: no file" && input.status.rawValue == 66, "EX_NOINPUT, sysexits.h")
    let usage = DialtoneCommand.described(UsageError(message: "no", command: nil))
    #expect(usage.text.hasPrefix("Error: no\n") && usage.status.rawValue == 64, "EX_USAGE, sysexits.h")
    let whole = DialtoneCommand.described(WholeMessage(description: "all", status: ExitCode(7)))
    #expect(whole.text == "all" && whole.status.rawValue == 7)
  }

  /// The first place behind the function for `help`, and no other.
  @Test func completesHelpAlone() {
    let words = "watch status wait check explain record outages report interfaces export"
    let zsh = "_dialtone_watch() {\n'*:subcommands:'\n}\n_dialtone_help() {\n'*:subcommands:'\n'*:subcommands:'\n}"
    #expect(
      CompletionScript.completed(zsh)
        == "_dialtone_watch() {\n'*:subcommands:'\n}\n"
        + "_dialtone_help() {\n':subcommands:(\(words))'\n'*:subcommands:'\n}")
    let flags = "offer_flags_options -1\n"
    let bash = CompletionScript.completed("\(flags)_dialtone_help() {\n\(flags)\(flags)}")
    #expect(bash.hasPrefix("\(flags)_dialtone_help() {\noffer_flags_options 1\n"))
    #expect(bash.hasSuffix("\(flags)}") && bash.contains("COMPREPLY+=($(compgen -W '\(words)' -- "))
    let fish = CompletionScript.completed("complete -c dialtone")
    #expect(fish.hasPrefix("complete -c dialtone\ncomplete -c 'dialtone' -n ") && fish.hasSuffix(" -fka '\(words)'"))
  }

  /// All of a value may be a secret, whatever signs of equality it has.
  @Test func leavesOutTheWholeValue() {
    let message = TypedArguments.withoutSecrets("the value 'u:a@h=1' is bad", ["--x=u:a@h=1"])
    #expect(message == "the value '…' is bad")
    #expect(TypedArguments.withoutSecrets("no b", ["a@h=b"]) == "no b")
  }

  @Test func knowsThePlaceOfAnArgument() {
    #expect(TypedText.arguments(["a"]).map(\.place) == [.argument(nil)])
    #expect(TypedText.arguments(["a", "b"]).map(\.place) == [.argument(1), .argument(2)])
    let error = ValidationError("no")
    #expect(TypedText(text: "a", place: .argument(1)).refused(error).message == "no")
    #expect(TypedText(text: "a", place: .line(3, list: "l")).refused(error).message == "--from-file: l, line 3: no")
    #expect(
      TypedText(text: "a", place: .line(1, list: "-")).refused(error).message
        == "--from-file: standard input, line 1: no")
  }

  // MARK: Files

  @Test func readsLists() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path + "/list"
    defer { _ = unsafe unlink(path) }
    #expect(
      message { _ = try ListFile.read(path) }
        == "--from-file: \(path): No such file or directory; give a file that can be read, or - for standard input")
    try Data("a\n# b\nc".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try ListFile.read(path).map(\.text) == ["a", "c"])
    let lists = try ListOptions.parse(["--from-file", path, "--from-file", path])
    #expect(try lists.entries(after: ["x"]).map(\.text) == ["x", "a", "c", "a", "c"])
    #expect(try lists.entries(after: ["x"]).map(\.place).prefix(2) == [.argument(nil), .line(1, list: path)])
    try Data("# nothing\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(message { _ = try ListFile.read(path) }.hasPrefix("--from-file: \(path) has nothing in it; "))
    // It has no end.
    let endless = message { _ = try ListFile.read("/dev/zero") }
    #expect(endless == "--from-file: /dev/zero has more than 64 MiB; give a shorter list")
  }

  @Test func readsConfigurations() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path + "/file"
    defer { _ = unsafe unlink(path) }
    #expect(message { _ = try ConfigurationFile.text(at: path) } == "No such file or directory")
    #expect(message { _ = try ConfigurationFile.text(at: folder.path) } == "it is no regular file")
    try Data("é: 1\n".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try ConfigurationFile.text(at: path) == "é: 1\n")
    try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: path))
    #expect(message { _ = try ConfigurationFile.text(at: path) } == "it is not valid UTF-8")
    // A file with a hole takes no room.
    try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 16 * 1024 * 1024 + 1)
    #expect(message { _ = try ConfigurationFile.text(at: path) } == "it is too long")
  }

  // MARK: Exporters

  @Test func readsWhereToListen() throws {
    #expect(try ExportCommand.address("127.0.0.1:9115", option: "--listen") == .usual)
    #expect(
      message { _ = try ExportCommand.address("9115", option: "--export") }
        == "--export: \"9115\" is no address with a port; write it as 127.0.0.1:9115, [::1]:9115, :9115 or "
        + "unix:/run/dialtone.sock")
    for arguments in [
      ["--listen", "127.0.0.1:9115", "--listen", "[::1]:9116"], ["--listen", ":9115", "--allow", "a"], ["a"],
      ["--textfile", "/tmp/a"], ["--allow", "192.0.2.0/24"],
    ] {
      #expect(message { _ = try DialtoneCommand.prepare(["export"] + arguments) } == "no error")
    }
    // One that others can reach is enough.
    let open = message {
      _ = try DialtoneCommand.prepare(["export", "--listen", "127.0.0.1:9115", "--listen", "192.0.2.1:9115"])
    }
    #expect(open.contains("--allow: others can reach the exporter"), "\(open)")
  }

  @Test func watchesEachTargetOnce() throws {
    let watched = try ExportCommand.watched(["b", "http://a/", "B", "a", "http://a/", "a:80", "http://a/x"])
    #expect(watched.map(\.name) == ["b", "http://a/", "a", "a:80", "http://a/x"])
    let areSites = watched.map { if case .site = $0.target { true } else { false } }
    #expect(areSites == [false, true, false, false, true])
    #expect(try ExportCommand.watched([]).isEmpty)
  }

  // MARK: Spans of a journal

  private func options(_ arguments: String...) throws -> JournalOptions { try JournalOptions.parse(arguments) }

  @Test func takesASpan() throws {
    let past = try options("--until", "1970-01-01T00:00:10Z")
    #expect(try past.span(since: .at(3_000_000), usually: .seconds(7)) == 3_000_000..<10_000_000)
    #expect(
      message { _ = try past.span(since: .at(10_000_000), usually: .seconds(7)) }
        == "--since and --until leave no time at all; --since comes first")
    #expect(
      message { _ = try past.span(since: nil, usually: .seconds(7 * 86_400)) }
        == "--until is before --since, which is 7 d ago by default; give --since, too")
    func now() -> Int64 { Int64(Date.now.timeIntervalSince1970 * 1_000_000) }
    let usual = try options()
    let before = now() - 1000
    let span = try usual.span(since: nil, usually: .seconds(3600))
    #expect((before...now() + 1000).contains(span.upperBound))
    #expect(span.upperBound - span.lowerBound == 3600 * 1_000_000)
    let future = message { _ = try usual.span(since: .at(.max), usually: .seconds(7)) }
    #expect(future.hasPrefix("--since is still to come"))
    #expect(
      message { _ = try options("--directory", "").span(since: nil, usually: .seconds(7)) }
        == "--directory: the name is empty; give a folder")
    #expect(JournalTime.ago(.seconds(2)).microseconds(before: 5_000_000) == 3_000_000)
  }

  @Test func saysWhatNobodyRecorded() throws {
    let view = JournalView(JournalDirectory("/nonexistent"), since: 0, until: 60_000_000)
    let (start, end) = (WallTime.localText(0), WallTime.localText(60_000_000))
    #expect(try options().words(for: view) == "since \(start)")
    #expect(try options("--until", "1d").words(for: view) == "from \(start) to \(end)")
    #expect(try options().unseenWords(of: view) == "nobody recorded anything since \(start)")
    #expect(
      try options("--target", "b", "--target", "a\u{7F}", "--until", "1d").unseenWords(of: view)
        == "nobody recorded b, a\\u{7F} from \(start) to \(end)")
  }

  /// The clock was ahead when the recorder began, was set back to an earlier day, and within that day.
  @Test func aReportBeginsWithTheFirstEventByTheClock() throws {
    let folder = "/tmp/dialtone-report-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    let directory = JournalDirectory(folder)
    try directory.make()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    #expect(try ReportCommand.start(of: directory) == nil)
    for (name, times) in [
      ("000001-2026-11-24.jsonl", ["2026-11-24T00:00:00Z"]),
      ("000002-2026-11-22.jsonl", ["2026-11-22T12:00:00Z", "2026-11-22T10:00:00Z", "2026-11-22T11:00:00Z"]),
      ("000003-2026-11-23.jsonl", ["2026-11-23T00:00:00Z"]),
    ] {
      let lines = times.map { "{\"time\":\"\($0)\",\"event\":\"alive\",\"clock\":1,\"slept\":0}\n" }
      try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: directory.path + "/" + name))
    }
    #expect(try ReportCommand.start(of: directory) == WallTime.microseconds("2026-11-22T10:00:00Z"))
  }

  /// Eight digits that are a day of the years 1970 to 9999 are likely meant as one.
  @Test(arguments: [("20261127", "2026-11-27"), ("19700101", "1970-01-01"), ("99991231", "9999-12-31")])
  func asksForHyphensInADay(text: String, day: String) {
    let problem = message { _ = try JournalTime.parse(text) }
    #expect(problem == "a day is written \(day), and a span of \(text) seconds \(text)s")
  }

  @Test(arguments: ["19700100", "99991232", "1970010", "20261127s", "197001011"])
  func takesOtherNumbersForSpans(text: String) throws {
    let digits = try #require(Int64(text.filter { $0 != "s" }))
    #expect(try JournalTime.parse(text) == .ago(.seconds(digits)))
  }

  @Test(arguments: ["2026-11-24x12:00", "2026-11-24T12:00:00 ", "2026-11-24T1:00", "2026-11-24Z", "yesterday", "-1d"])
  func saysHowATimeIsWritten(text: String) {
    #expect(message { _ = try JournalTime.parse(text) }.hasPrefix("give a span before now such as 7d, a day such as "))
  }
}

/// In another zone than that of the tests: the environment is the process's own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct ZoneTests {
  /// POSIX' `TZ`, whose offsets have the other sign than RFC 3339's: an hour, and 90 minutes, before and behind UTC.
  @Test(.disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own"))
  func tellsAndTakesLocalTimes() async {
    await #expect(processExitsWith: .success) {
      let epoch = UTCTimestamp(durationSince1970: .zero)
      for (zone, text, offset) in [
        ("XXX-1", "1970-01-01 01:00:00+01:00", Int64(3600)), ("XXX-1:30", "1970-01-01 01:30:00+01:30", 5400),
        ("XXX1", "1969-12-31 23:00:00-01:00", -3600), ("XXX2:05", "1969-12-31 21:55:00-02:05", -7500),
      ] {
        unsafe setenv("TZ", zone, 1)
        tzset()
        #expect(TimeText.local(epoch, isForPerson: false) == text)
        #expect(TimeText.local(epoch, isForPerson: true) == text.dropFirst(11).prefix(8))
        let here = try ["1970-01-02", "1970-01-02 00:00:07"].map(JournalTime.parse)
        #expect(here == [.at((86_400 - offset) * 1_000_000), .at((86_407 - offset) * 1_000_000)])
        let elsewhere = try ["1970-01-02T00:00Z", "1970-01-02T00:00:00.5+02:00", "1970-01-02 00:00 -02:00"]
          .map(JournalTime.parse)
        #expect(elsewhere == [.at(86_400_000_000), .at(79_200_500_000), .at(93_600_000_000)])
      }
      // Directive 2000/84/EC: at 01:00 UTC of the last Sunday of October summer time ends. The hour from 2 o'clock on
      // comes twice.
      unsafe setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
      tzset()
      for (local, first, second) in [
        ("02:30", "00:30", "01:30"), ("02:00", "00:00", "01:00"), ("01:59", "23:59", "23:59"),
        ("03:00", "02:00", "02:00"),
      ] {
        let day = first == "23:59" ? "2026-10-24" : "2026-10-25"
        for (isEnd, time) in [(false, first), (true, second)] {
          let found = try JournalTime.parse("2026-10-25 \(local)", isEnd: isEnd)
          #expect(found == WallTime.microseconds("\(day)T\(time):00Z").map(JournalTime.at), "\(local)")
        }
      }
      // The zones of the IANA whose summer time ends by half an hour, and by two.
      for (zone, local, first, second) in [
        ("Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"),
        ("Antarctica/Troll", "2026-10-25 02:30", "2026-10-25T00:30:00Z", "2026-10-25T02:30:00Z"),
      ] {
        unsafe setenv("TZ", zone, 1)
        tzset()
        for (isEnd, time) in [(false, first), (true, second)] {
          let found = try JournalTime.parse(local, isEnd: isEnd)
          #expect(found == WallTime.microseconds(time).map(JournalTime.at), "\(zone)")
        }
      }
      // RFC 3339, 5.6.
      #expect(try JournalTime.parse("1970-01-02t00:00:00z") == .at(86_400_000_000))
    }
  }
}
