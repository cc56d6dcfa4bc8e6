// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct HookProcessTests {
  /// A link that can be pulled.
  private func makeLab() throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    return lab
  }

  @Test func tellsItInTheEnvironmentAndAsJSON() async throws {
    let lab = try makeLab()
    let script =
      #"echo "$DIALTONE_TARGET|$DIALTONE_STATUS|$DIALTONE_REASON|$DIALTONE_INTERFACE|$DIALTONE_GATEWAY"; cat"#
    let result = try await Tool.run(
      ["watch", "--count", "1", "--settling", "0", "--exec", "sh", "-c", script], in: lab)
    #expect(result.ending == .exited(0))
    let lines = result.error.split(separator: "\n")
    #expect(lines.first == "internet|reachable||v0|10.0.0.2")
    #expect(lines.count == 2)
    let json = lines.last ?? ""
    #expect(json.hasPrefix(#"{"time":""#) && json.contains(#""target":"internet","status":"reachable","#), "\(json)")
    #expect(json.hasSuffix(#""reason":null}"#))
    // What it prints does not mix with the lines.
    #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
  }

  /// The kernel announces each flap; the runs are few, and the last one has the final state.
  @Test func runsABoundedNumberOfTimesForHundredsOfFlaps() async throws {
    let lab = try makeLab()
    let process = try Tool.start(
      ["watch", "--settling", "50ms", "--exec", "sh", "-c", "echo $DIALTONE_STATUS $DIALTONE_REASON"], in: lab)
    #expect(try await process.error.nextLine(within: .seconds(60)) == "reachable")
    let start = ContinuousClock.now
    for flap in 0..<300 {
      if flap.isMultiple(of: 2) { try lab.down("v1") } else { try lab.up("v1") }
    }
    let spent = start.duration(to: .now)
    try lab.down("v1")
    var lines: [String] = []
    // Another reason comes last, and nothing else has it.
    try lab.down("v0")
    repeat {
      lines.append(try await process.error.nextLine(within: .seconds(60)))
    } while lines.last
      != "unreachable link-down"
    // At most one run each 50 ms of quiet, or each four times that without (the settling's limit).
    let most = Int(spent / .milliseconds(50)) + 5
    #expect(lines.count <= most, "\(lines.count) runs in \(spent)")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
    #expect(try await process.error.text() == "")
  }

  @Test func runsOnlyForWhatIsAsked() async throws {
    let lab = try makeLab()
    let process = try Tool.start(
      ["watch", "--settling", "0", "--exec-on", "unreachable", "--exec", "sh", "-c", "echo $DIALTONE_REASON"], in: lab)
    _ = try await process.output.nextLine()
    try lab.down("v1")
    #expect(try await process.error.nextLine(within: .seconds(60)) == "no-carrier")
    try lab.up("v1")
    _ = try await process.output.nextLine()
    _ = try await process.output.nextLine()
    try lab.down("v1")
    #expect(try await process.error.nextLine(within: .seconds(60)) == "no-carrier")
  }

  @Test func endsAHookThatHangsAndWhatItHasStarted() async throws {
    let lab = try makeLab()
    let result = try await Tool.run(
      [
        "watch", "--count", "1", "--settling", "0", "--exec-timeout", "300ms", "--exec", "sh", "-c",
        "sleep 1000 & echo $! $$; wait",
      ], in: lab)
    #expect(result.ending == .exited(0))
    let lines = result.error.split(separator: "\n")
    #expect(lines.last?.hasPrefix("dialtone: --exec: sh: was ended after ") == true, "\(result.error)")
    for word in lines.first?.split(separator: " ") ?? [] {
      let number = try #require(Int32(word))
      try await eventually("the process \(number) is gone") { !ProcessTable.isAlive(number) }
    }
  }

  /// termios(3): who is not in front is stopped when it reads the terminal (SIGTTIN), and by `tostop` when it writes
  /// there (SIGTTOU). The run would take ten minutes.
  @Test(arguments: [
    ("read x </dev/tty", "dialtone: --exec: sh: was ended: it wants the terminal, which only the command has"),
    ("trap 'echo asked; exit' TERM; read x </dev/tty & wait", "asked"),
    ("stty tostop </dev/tty && echo written && stty -tostop </dev/tty", "written"),
  ])
  func aHookOnATerminalDoesNotStopForEver(script: String, said: String) async throws {
    let lab = try makeLab()
    let process = try Tool.start(
      ["watch", "--count", "1", "--settling", "0", "--exec-timeout", "10m", "--exec", "sh", "-c", script], in: lab,
      terminal: LabTerminal(columns: 200))
    let text = try await process.output.text(within: .seconds(60))
    #expect(text.split(whereSeparator: \.isNewline).contains(said[...]), "\(text)")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
  }

  /// The program itself ends when asked, and what it has started does not.
  @Test func killsWhatIgnoresItsEnd() async throws {
    let lab = try makeLab()
    let script = "trap 'exit 0' TERM; (trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000) & echo $!; wait"
    let result = try await Tool.run(
      ["watch", "--count", "1", "--settling", "0", "--exec-timeout", "500ms", "--exec", "sh", "-c", script], in: lab)
    #expect(result.ending == .exited(0))
    #expect(result.error.contains("was ended after 500 ms"), "\(result.error)")
    for line in result.error.split(separator: "\n").prefix(2) {
      let number = try #require(Int32(line), "\(result.error)")
      #expect(!ProcessTable.isAlive(number), "the process \(number) is left")
    }
  }

  /// The hook fills standard error, which nobody reads (pipe(7)), and its end is to be said there.
  @Test func nobodyWaitsForAReaderOfStandardError() async throws {
    let lab = try makeLab()
    let process = try Tool.start(
      ["watch", "--count", "1", "--settling", "0", "--exec-timeout", "300ms", "--exec", "yes"], in: lab)
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
  }

  /// What the program leaves behind belongs to the run.
  @Test func endsWhatTheProgramLeavesBehind() async throws {
    let lab = try makeLab()
    let result = try await Tool.run(
      [
        "watch", "--count", "1", "--settling", "0", "--exec-timeout", "500ms", "--exec", "sh", "-c",
        "sleep 1000 & echo $!",
      ], in: lab)
    #expect(result.ending == .exited(0))
    let number = try #require(Int32(result.error.prefix { $0 != "\n" }), "\(result.error)")
    #expect(!ProcessTable.isAlive(number), "the process \(number) is left")
  }

  /// However the command ends, nothing that its hook has started stays, whether that ignores SIGTERM, or is stopped.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL])
  func nothingOutlivesTheCommand(signal: CInt) async throws {
    let lab = try makeLab()
    let script =
      "trap '' TERM INT HUP; sleep 1000 & echo $!; (kill -STOP $(exec sh -c 'echo $PPID')) & echo $! $$; wait"
    let process = try Tool.start(["watch", "--settling", "0", "--exec", "sh", "-c", script], in: lab)
    var numbers: [Int32] = []
    while numbers.count < 3 {
      numbers += try await process.error.nextLine(within: .seconds(60)).split(separator: " ").compactMap { Int32($0) }
    }
    for number in numbers { #expect(ProcessTable.isAlive(number)) }
    try process.signal(signal)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(signal))
    for number in numbers {
      try await eventually("the process \(number) is gone") { !ProcessTable.isAlive(number) }
    }
  }

  /// POSIX.1-2017, 8.3: an empty part of PATH is the current folder.
  @Test(arguments: [":/usr/bin:/bin", "/usr/bin::/bin", "/usr/bin:/bin:"])
  func findsAProgramAsShellsDo(path: String) async throws {
    let lab = try makeLab()
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let script = """
      cd \(folder.path) && echo 'echo ran; /bin/rm own' > own && /bin/chmod +x own
      exec \(Tool.path) watch --count 1 --settling 0 --exec own
      """
    let process = try lab.spawn("/bin/sh", ["-c", script], environment: ["PATH": path])
    #expect(try await process.error.text(within: .seconds(60)) == "ran\n")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
  }

  @Test(arguments: [1, 2, 255])
  func saysHowAProgramFailed(status: Int) async throws {
    let lab = try makeLab()
    let result = try await Tool.run(
      ["watch", "--count", "1", "--settling", "0", "--exec", "sh", "-c", "exit \(status)"], in: lab)
    #expect(result.error == "dialtone: --exec: sh: exit status \(status)\n")
    let killed = try await Tool.run(
      ["watch", "--count", "1", "--settling", "0", "--exec", "sh", "-c", "kill -9 $$"], in: lab)
    #expect(killed.error == "dialtone: --exec: sh: ended by signal 9\n")
  }

  /// The program starts as the command itself did: no signal is blocked, the same are ignored (proc_pid_status(5)), and
  /// no descriptor but the three is open.
  @Test func startsAProgramAfresh() async throws {
    let lab = try makeLab()
    // Without a pipe: the shell would hold one of its ends for a moment.
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd; cat"
    let result = try await Tool.run(
      ["watch", "--count", "1", "--settling", "0", "--exec", "sh", "-c", script], in: lab)
    let lines = result.error.split(separator: "\n")
    try #require(lines.count == 6, "\(result.error)")
    let grep = try lab.spawn("/bin/grep", ["-E", "^SigIgn", "/proc/self/status"])
    let own = try await grep.output.text()
    #expect(lines[0] == "SigBlk:\t0000000000000000" && lines[1] + "\n" == own, "\(result.error), \(own)")
    #expect(lines[2...4] == ["0", "1", "2"])
    #expect(lines[5].hasPrefix("{"))
  }

  /// A zombie is a child that has ended and was not waited for (proc_pid_stat(5), state Z).
  @Test func leavesNoZombie() async throws {
    let lab = try makeLab()
    let process = try Tool.start(["watch", "--settling", "0", "--exec", "sh", "-c", "echo run; exit 3"], in: lab)
    for _ in 0..<4 {
      #expect(try await process.error.nextLine(within: .seconds(60)) == "run")
      #expect(try await process.error.nextLine(within: .seconds(60)) == "dialtone: --exec: sh: exit status 3")
      try lab.down("v1")
      #expect(try await process.error.nextLine(within: .seconds(60)) == "run")
      #expect(try await process.error.nextLine(within: .seconds(60)) == "dialtone: --exec: sh: exit status 3")
      try lab.up("v1")
    }
    try await eventually("no child is left") {
      let path = "/proc/\(process.pid)/task/\(process.pid)/children"
      return ProcessTable.children(path).isEmpty
    }
  }

  @Test(arguments: [
    (["watch", "--exec", "no-such-program-anywhere"], "PATH"), (["watch", "--exec", "/etc/passwd"], "program"),
    (["watch", "--exec", "/etc"], "program"),
    (["watch", "--exec-on", "reachable"], "--exec"), (["watch", "--exec-timeout", "5s"], "--exec"),
  ])
  func refusesWhatCannotBeRun(arguments: [String], word: String) async throws {
    let result = try await Tool.run(arguments, in: try NetworkLab())
    #expect(result.ending == .exited(64))
    #expect(result.error.contains(word), "\(result.error)")
  }
}

/// What the kernel says of processes.
private enum ProcessTable {
  /// Whether it runs, or could: not if it is gone, or a zombie whose parent is slow (proc_pid_stat(5)).
  static func isAlive(_ number: Int32) -> Bool {
    guard let file = unsafe fopen("/proc/\(number)/stat", "r") else { return false }
    defer { unsafe fclose(file) }
    var bytes = [CChar](repeating: 0, count: 1024)
    // Reads one less than it is told, and ends with a zero.
    guard unsafe fgets(&bytes, CInt(bytes.count), file) != nil else { return false }
    let text = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let state = text[(text.lastIndex(of: ")") ?? text.startIndex)...].dropFirst(2).first
    return state != "Z" && state != "X"
  }

  /// The children that are listed in a file of proc(5).
  static func children(_ path: String) -> [Substring] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes = [CChar](repeating: 0, count: 4096)
    // Reads one less than it is told, and ends with a zero.
    guard unsafe fgets(&bytes, CInt(bytes.count), file) != nil else { return [] }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      .split(separator: " ").filter { !$0.isEmpty && $0 != "\n" }
  }
}
