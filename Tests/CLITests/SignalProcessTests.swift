// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct SignalProcessTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE])
  func endsByTheSignal(signal: CInt) async throws {
    let lab = try NetworkLab()
    let process = try Tool.start(["watch"], in: lab)
    _ = try await process.output.nextLine()
    try process.signal(signal)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(signal))
    let error = try await process.error.text()
    // Control-C is a person's, who is told what was seen, as by ping(8).
    #expect(error.isEmpty == (signal != SIGINT), "\(error)")
  }

  @Test func sumsUpWhatItHasSeen() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["watch", "internet", "10.77.0.1", "127.0.0.1"], in: lab)
    for _ in 0..<3 { _ = try await process.output.nextLine() }
    let start = ContinuousClock.now
    for _ in 0..<2 {
      try lab.deleteRoute("default")
      for _ in 0..<2 { #expect(try await process.output.nextLine().contains("  unreachable  ")) }
      try lab.addRoute("default", via: "10.0.0.2")
      for _ in 0..<2 { #expect(try await process.output.nextLine().contains("  reachable  ")) }
    }
    try process.signal(SIGINT)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
    let lines = try await process.error.text().split(separator: "\n")
    try #require(lines.count == 3, "\(lines)")
    let outages = /: reachable (\d+(\.\d)?) % of [\d.]+ (ms|s|min)( \d+ s)?; 2 outages, the longest [\d.<]+ (ms|s)/
    for (line, name) in zip(lines, ["internet", "10.77.0.1"]) {
      let match = try #require(String(line.dropFirst(name.count)).wholeMatch(of: outages), "\(line)")
      #expect(line.hasPrefix(name) && (Double(match.1) ?? 100) < 100, "\(line), \(start.duration(to: .now))")
    }
    #expect(lines[2].hasPrefix("127.0.0.1: reachable 100 % of ") && lines[2].hasSuffix("; no outage"), "\(lines[2])")
  }

  /// Control-S stops a terminal (termios(3), IXON): what is written there waits. A signal that ends does not.
  @Test(arguments: [SIGINT, SIGTERM])
  func endsWhileTheTerminalIsStopped(signal: CInt) async throws {
    let lab = try NetworkLab()
    let process = try Tool.start(["wait"], in: lab, terminal: LabTerminal())
    try await eventually(within: .seconds(30), "it shows that it waits") {
      try process.type("\n")
      return try await process.output.nextLine().contains("waiting for internet to be reachable")
    }
    try process.type("\u{13}")
    try process.signal(signal)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(signal))
  }

  /// A connection was attempted: from then on swift-nio ignores SIGPIPE.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE])
  func endsByTheSignalOnceASiteWasAsked(signal: CInt) async throws {
    let lab = try NetworkLab()
    let process = try Tool.start(["watch", "--site", "http://127.0.0.1:9/"], in: lab)
    #expect(try await process.output.nextLine().contains("connection refused"))
    try process.signal(signal)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(signal))
    #expect(try await process.error.text().isEmpty == (signal != SIGINT))
  }

  @Test func isNeverSuccessfulWhenInterrupted() async throws {
    let lab = try NetworkLab()
    let process = try Tool.start(["wait"], in: lab, terminal: LabTerminal())
    // The progress line has no end of its own; the terminal's echo ends it.
    try await eventually(within: .seconds(30), "it shows that it waits") {
      try process.type("\n")
      return try await process.output.nextLine().contains("waiting for internet to be reachable")
    }
    try process.signal(SIGINT)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
    let rest = try await process.output.text()
    // It stays, on a line of its own.
    let last = /\r\e\[K\e\[\?7lwaiting for internet to be reachable: no route to the destination, \d+ s\e\[\?7h\r\n$/
    #expect(rest.contains(last), "\(rest.debugDescription)")
  }

  @Test func theShellSeesTheSignal() async throws {
    let lab = try NetworkLab()
    let script = "\"$0\" watch > /dev/null & kill -TERM $!; wait $!; echo status $?"
    let process = try lab.spawn("/bin/sh", ["-c", script, Tool.path])
    #expect(try await process.output.text() == "status 143\n")
  }

  @Test func leavesASignalIgnoredThatTheCallerIgnores() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try lab.spawn("/bin/sh", ["-c", "trap '' HUP; exec \"$0\" watch", Tool.path])
    _ = try await process.output.nextLine()
    try process.signal(SIGHUP)
    try lab.down("v1")
    #expect(try await process.output.nextLine().contains("no carrier"))
    try process.signal(SIGINT)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
  }

  @Test func endsSilentlyWithItsReader() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["watch"], in: lab)
    _ = try await process.output.nextLine()
    // Nothing changes afterwards: the command notices by itself.
    process.output.close()
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGPIPE))
    #expect(try await process.error.text() == "")
  }

  @Test func endsSilentlyIfSIGPIPEIsIgnored() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let script = "trap '' PIPE; { \"$0\" watch; echo status $? >&2; } | { read -r line; echo \"$line\"; }"
    let process = try lab.spawn("/bin/sh", ["-c", script, Tool.path])
    #expect(try await process.output.text().contains("reachable"))
    #expect(try await process.error.text() == "status 141\n")
  }

  @Test func endsSilentlyIfAWriteFindsNoReader() async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn("/bin/sh", ["-c", "trap '' PIPE; exec \"$0\" wait", Tool.path])
    process.output.close()
    try lab.makeB()
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGPIPE))
    #expect(try await process.error.text() == "")
  }

  @Test func reportsAFullDisk() async throws {
    let lab = try NetworkLab()
    for command in ["status", "interfaces", "--version"] {
      let process = try lab.spawn("/bin/sh", ["-c", "exec \"$0\" \"$1\" > /dev/full", Tool.path, command])
      #expect(try await process.exit(within: .seconds(60)) == .exited(74))
      #expect(try await process.error.text() == "dialtone: standard output: No space left on device\n")
    }
  }

  @Test func reportsAClosedOutput() async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn("/bin/sh", ["-c", "exec \"$0\" status >&-", Tool.path])
    #expect(try await process.exit(within: .seconds(60)) == .exited(74))
    #expect(try await process.error.text() == "dialtone: standard output: Bad file descriptor\n")
  }

  /// As grep(1): a stream that is closed is an error of who uses it, and of nobody else.
  @Test(
    arguments: [
      ("status -q 127.0.0.1 >&-", 0), ("wait -q 127.0.0.1 >&-", 0), ("outages --directory /nowhere >&-", 66),
      ("status --from-file - <&-", 66),
    ] as [(String, CInt)])
  func doesWithoutClosedStreams(arguments: String, status: CInt) async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn("/bin/sh", ["-c", "exec \"$0\" \(arguments)", Tool.path])
    #expect(try await process.exit(within: .seconds(60)) == .exited(status))
  }
}
