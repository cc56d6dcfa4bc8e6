// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NetworkLab
import TestSupport
import Testing

@testable import DialtoneCLI

/// What a person sees, as a terminal emulator (tmux) has it on its screen. tmux knows which lines it had to wrap
/// itself.
@Suite(.needsNamespaces, .enabled(if: Emulator.path != nil, "needs tmux"), .timeLimit(.minutes(5)))
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

  /// What is typed in a terminal of that width, one after the other.
  private func commands(columns: Int, journal: String) -> [String] {
    var numbers = SeededNumbers(seed: UInt64(columns))
    let tool = Tool.path
    let names = (0..<4).map { _ in name(&numbers) }
    return [
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
  }

  /// No line of any command is wider than the screen, so that the terminal wraps none, and no word that has room is
  /// broken.
  @Test func noLineIsWrappedByTheTerminal() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addVeth("fifteen-letters", "far0")
    try lab.addAddress("2001:db8:1234:5678:9abc:def0:1234:5678/128", "fifteen-letters")
    try lab.addRule(priority: 10, .unreachable, to: "10.66.0.0/16")
    let emulator = try await Emulator(widths: [20, 27, 40, 64, 80, 160], in: lab)
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let typed = emulator.widths.map { commands(columns: $0, journal: "\(folder.path)/\($0)") }
    for step in typed[0].indices {
      let screens = try await emulator.run(typed.map { $0[step] })
      for (window, screen) in screens.enumerated() {
        let what = "\(emulator.widths[window]) columns: \(typed[window][step])\n\(screen.lines.joined(separator: "\n"))"
        #expect(screen.lines == screen.joined, "\(what)")
        #expect(screen.lines.contains { !$0.isEmpty }, "\(what)")
      }
    }
  }

  /// The line of progress says that it waits, and how long, at any width, and stays one line.
  @Test(arguments: [
    "wait --site http://a-rather-long-name.in-a-long-domain.example.com/with/a/path",
    "wait a-rather-long-name.in-a-long-domain.example.com", "wait internet 10.0.0.1", "wait 10.0.0.1",
  ])
  func progressShowsThatItWaits(command: String) async throws {
    let lab = try NetworkLab()
    let emulator = try await Emulator(widths: [20, 40, 80], in: lab)
    try await emulator.start(emulator.widths.map { _ in "stty echo; \(Tool.path) \(command); stty -echo" })
    var seen: [Set<String>] = emulator.widths.map { _ in [] }
    try await eventually("the seconds of \(command) go on at all widths") {
      for (window, screen) in try await emulator.screens().enumerated() {
        let lines = screen.lines.filter { !$0.isEmpty }
        if let line = lines.last, line.contains("waiting"), line.contains(/\d s/) {
          seen[window].insert(line)
          #expect(lines.count == 1, "\(lines)")
        }
      }
      return seen.allSatisfy { $0.count > 1 }
    }
    try await emulator.type("C-c")
    try await emulator.waitForPrompts()
    // One line stays, without the ^C that the terminal echoes.
    for left in try await emulator.screens().map(\.lines) {
      #expect(left.count { $0.contains("waiting") && $0.contains(/\d s/) } == 1, "\(left)")
      #expect(!left.contains { $0.contains("^C") }, "\(left)")
    }
  }
}
