// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@testable import DialtoneCLI

/// What a person sees, as a terminal emulator (tmux) has it on its screen. tmux knows which lines it had to wrap
/// itself.
@Suite(
  .needsNamespaces, .enabled(if: Emulator.path != nil, "needs tmux"), .serialized, .timeLimit(.minutes(10))
)
struct ScreenProcessTests {
  private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-")

  private func name(_ numbers: inout SeededNumbers) -> String {
    let labels = (0..<Int.random(in: 1...4, using: &numbers)).map { _ in
      let middle = (0..<Int.random(in: 0...14, using: &numbers)).map { _ in
        Self.letters.randomElement(using: &numbers) ?? "a"
      }
      return "x" + String(middle) + "y"
    }
    return labels.joined(separator: ".")
      + ["", ".example", ".bücher.example", ".漢字.example"][Int.random(in: 0...3, using: &numbers)]
  }

  /// No line of any command is wider than the screen, so that the terminal wraps none, and no word that has room is
  /// broken.
  @Test(arguments: [20, 27, 33, 40, 52, 64, 80, 100, 120, 160, 200])
  func noLineIsWrappedByTheTerminal(columns: Int) async throws {
    var numbers = SeededNumbers(seed: UInt64(columns))
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addVeth("fifteen-letters", "far0")
    try lab.addAddress("2001:db8:1234:5678:9abc:def0:1234:5678/128", "fifteen-letters")
    try lab.addRule(priority: 10, .unreachable, to: "10.66.0.0/16")
    let emulator = try await Emulator(columns: columns, in: lab)
    let tool = Tool.path
    let names = (0..<4).map { _ in name(&numbers) }
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let journal = folder.path + "/journal"
    let commands = [
      "\(tool) status -t 0.2 internet 10.0.0.9 10.66.0.1 2001:db8:1234:5678:9abc:def0:1234:5678 \(names[0]) lo",
      "\(tool) watch --count 4 -t 2 internet 10.66.0.1 \(names[1]) \(names[2])",
      "\(tool) wait -t 1.5 \(names[3]) 10.66.0.1", "\(tool) wait -t 1.5 10.66.0.1",
      "\(tool) check -t 1 http://10.0.0.1:1/ http://10.66.0.1/\(names[0])/index.html?q=1",
      "\(tool) interfaces --all", "\(tool) status -i \(names[0].prefix(12)) 10.66.0.1", "\(tool) statsu",
      "\(tool) status --nosuch", "\(tool) --help", "\(tool) help interfaces", "\(tool) explain --no-probe 10.66.0.1",
      "\(tool) explain --verbose --no-probe --timeout 1 http://10.0.0.1:1/\(names[0])",
      "\(tool) outages --directory \(journal)",
      // What is no line of a journal, then what was recorded: its last command is looked at.
      "mkdir \(journal); echo x > \(journal)/000001-$(date -u +%F).jsonl; \(tool) outages --directory \(journal)",
      "timeout -s INT 2 \(tool) record --directory \(journal) 10.66.0.1; \(tool) outages --directory \(journal); "
        + "rm -r \(journal)",
    ]
    for command in commands {
      let screen = try await emulator.run(command)
      #expect(screen.lines == screen.joined, "\(columns) columns: \(command)\n\(screen.lines.joined(separator: "\n"))")
      #expect(screen.lines.contains { !$0.isEmpty }, "\(command)")
    }
  }

  /// The line of progress says that it waits, and how long, at any width, and stays one line.
  @Test(arguments: [20, 30, 40, 60, 80, 120])
  func progressShowsThatItWaits(columns: Int) async throws {
    let lab = try NetworkLab()
    let emulator = try await Emulator(columns: columns, in: lab)
    let url = "http://a-rather-long-name.in-a-long-domain.example.com/with/a/path"
    for command in [
      "wait --site \(url)", "wait a-rather-long-name.in-a-long-domain.example.com", "wait internet 10.0.0.1",
      "wait 10.0.0.1",
    ] {
      try await emulator.start("stty echo; \(Tool.path) \(command); stty -echo")
      var seen: Set<String> = []
      try await eventually("the seconds of \(command) go on") {
        let lines = try await emulator.screen().lines.filter { !$0.isEmpty }
        if let line = lines.last, line.contains("waiting"), line.contains(/\d s/) {
          seen.insert(line)
          #expect(lines.count == 1, "\(lines)")
        }
        return seen.count > 1
      }
      try await emulator.type("C-c")
      try await emulator.waitForPrompt()
      // Nothing of it stays, although the terminal echoes ^C.
      let left = try await emulator.screen().lines
      #expect(!left.contains { $0.contains("waiting") || $0.contains(/\d s/) }, "\(left)")
    }
  }
}

/// A terminal emulator with one window, in which commands are typed: tmux(1).
private final class Emulator {
  /// What is on the screen.
  struct Picture {
    /// As the terminal has them.
    let lines: [String]
    /// With lines that the terminal has wrapped put together again.
    let joined: [String]
  }

  static let path: String? = {
    let places: [String] = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/bin/tmux"]
    // The path is only read, during the call.
    return places.first { place in unsafe access(place, X_OK) == 0 }
  }()

  private static let prompt = "READY-FOR-MORE"
  private let lab: NetworkLab
  private let folder: TemporaryFolder
  private let server: LabProcess
  private var socket: String { folder.path + "/socket" }

  init(columns: Int, in lab: NetworkLab) async throws {
    self.lab = lab
    folder = try TemporaryFolder()
    let path = try #require(Self.path)
    let socket = folder.path + "/socket"
    server = try lab.spawn(
      path, ["-D", "-u", "-S", socket, "-f", "/dev/null"], environment: ["LC_ALL": "C.UTF-8", "TERM": "xterm-256color"])
    try await eventually("the emulator is there") { unsafe access(socket, F_OK) == 0 }
    // Each line that is read is a command; the screen is empty before it, and says when it is over.
    let shell = """
      while read -r line; do printf '\\033[2J\\033[H'; eval "$line"; printf '\\n%s\\n' '\(Self.prompt)'; done
      """
    _ = try await tmux([
      "new-session", "-d", "-x", "\(columns)", "-y", "200", "env", "TERM=screen-256color", "NO_COLOR=1", "TZ=UTC", "sh",
      "-c",
      "stty -echo; trap : INT; \(shell)",
    ])
  }

  deinit { unsafe unlink(socket) }

  /// Types a command, and returns what it has left on the screen.
  func run(_ command: String) async throws -> Picture {
    try await start(command)
    try await waitForPrompt()
    return try await screen()
  }

  func start(_ command: String) async throws {
    _ = try await tmux(["send-keys", "-R", "-l", command])
    _ = try await tmux(["send-keys", "Enter"])
  }

  func type(_ key: String) async throws { _ = try await tmux(["send-keys", key]) }

  func waitForPrompt() async throws {
    try await eventually("the command is over") { try await tmux(["capture-pane", "-p"]).contains(Self.prompt) }
  }

  func screen() async throws -> Picture {
    func lines(_ options: [String]) async throws -> [String] {
      try await tmux(["capture-pane", "-p"] + options).split(separator: "\n", omittingEmptySubsequences: false)
        .map { line in String(line.reversed().drop { $0 == " " }.reversed()) }.filter { $0 != Self.prompt }
    }
    return Picture(lines: try await lines([]), joined: try await lines(["-J"]))
  }

  private func tmux(_ arguments: [String]) async throws -> String {
    let client = try lab.spawn(
      try #require(Self.path), ["-u", "-S", socket] + arguments, environment: ["LC_ALL": "C.UTF-8", "TMUX": nil])
    let text = try await client.output.text()
    let error = try await client.error.text()
    try #require(try await client.exit() == .exited(0), "\(arguments): \(error)")
    return text
  }
}
