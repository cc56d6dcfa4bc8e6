// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct TerminalProcessTests {
  @Test func coloursOnATerminal() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["watch"], in: lab, terminal: LabTerminal())
    let line = try await process.output.nextLine()
    let time = /\e\[2m\d\d:\d\d:\d\d\e\[0m/
    let rest = "  internet  \u{1B}[32mreachable\u{1B}[0m    via wired (v0), gateway 10.0.0.2"
    #expect(line.prefixMatch(of: time) != nil, "\(line.debugDescription)")
    #expect(line.replacing(time, with: "") == rest)
    try lab.down("v1")
    let change = try await process.output.nextLine()
    #expect(change.contains("\u{1B}[31munreachable\u{1B}[0m  wired (v0), no carrier  \u{1B}[2mafter "))
    // Control-C, as a user types it.
    try process.type("\u{3}")
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
  }

  @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
  func doesNotColourIfNotWanted(environment: [String: String]) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(
      ["status"], in: lab, environment: environment.mapValues { $0 }, terminal: LabTerminal())
    #expect(result.output == "internet  unreachable  no route to the destination\r\n")
  }

  @Test func doesNotColourInAPipe() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["watch", "--count", "1"], in: lab)
    #expect(!result.output.contains("\u{1B}"))
    let expected = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00  internet  unreachable  no route to the destination\n/
    #expect(result.output.wholeMatch(of: expected) != nil, "\(result.output)")
  }

  @Test func showsThatItWaits() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["wait"], untilTimeoutIn: lab, terminal: LabTerminal()) {
      $0.output.contains("waiting")
    }
    #expect(result.ending == .exited(1))
    let progress =
      /(\r\e\[K\e\[\?7lwaiting for internet to be reachable: no route to the destination, \d+ s of [\d.]+ s\e\[\?7h\r)+/
    let final =
      "\r\u{1B}[Kinternet  \u{1B}[31munreachable\u{1B}[0m  no route to the destination\r\n"
      + "to find out why: dialtone explain internet\r\n"
    #expect(result.output.prefixMatch(of: progress) != nil, "\(result.output.debugDescription)")
    #expect(result.output.hasSuffix("\u{1B}[?7h\r" + final), "\(result.output.debugDescription)")
  }

  @Test func showsNothingInPlaceOnADumbTerminal() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(
      ["wait", "--timeout", "2.5"], in: lab, environment: ["TERM": "dumb"], terminal: LabTerminal())
    #expect(result.ending == .exited(1))
    #expect(
      result.output == """
        dialtone: waiting for internet to be reachable: no route to the destination\r
        internet  unreachable  no route to the destination\r

        """)
  }

  @Test func showsNoControlCharacterThatWasTyped() async throws {
    let lab = try NetworkLab()
    for arguments in [["a\u{1B}[31m"], ["--\u{1B}[31m"], ["--mark", "\u{1B}[31m"], ["--interface", "\u{9B}31m "]] {
      let result = try await Tool.run(arguments, in: lab, terminal: LabTerminal())
      #expect(result.ending == .exited(64))
      #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{9B}"), "\(result.output)")
    }
  }

  @Test func helpShowsExamples() async throws {
    let lab = try NetworkLab()
    for arguments in [
      ["--help"], ["watch", "--help"], ["status", "-h"], ["wait", "--help"], ["help", "interfaces"],
    ] {
      let result = try await Tool.run(arguments, in: lab)
      #expect(result.ending == .exited(0))
      #expect(result.output.contains("EXAMPLES\n  dialtone"), "\(arguments)")
      #expect(result.output.lowercased().contains("exit status"), "\(arguments)")
    }
    let help = try await Tool.run(["--help"], in: lab).output
    #expect(help.contains("USAGE: dialtone [watch] [<options>] [<target> ...]\n       dialtone status "), "\(help)")
    #expect(help.contains("\n  64       wrong usage\n"), "\(help)")
    #expect(try await Tool.run(["--version"], in: lab).output == "\(DialtoneLibraryVersion.current)\n")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func printsACompletionScript(shell: String) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["--generate-completion-script", shell], in: lab)
    #expect(result.ending == .exited(0))
    #expect(result.output.contains("local-network") && result.output.contains("not-cellular"))
    // Only bash has compgen, and it expands what that prints.
    #expect(!result.output.contains("(compgen -c)") && !result.output.contains("eval"))
  }

  /// Asked as the shells ask, where they are installed. zsh answers only at a terminal; its script is read.
  @Test(arguments: [
    (
      "bash",
      #"COMP_WORDS=(dialtone help "") COMP_CWORD=2 COMP_LINE="dialtone help " COMP_POINT=14; _dialtone dialtone """#
        + #" help; printf "%s\n" "${COMPREPLY[@]}""#
    ),
    ("fish", #"complete --do-complete="dialtone help ""#),
    ("zsh", "whence -f _dialtone_help | grep -o 'watch .*export' | tr ' ' '\n'"),
  ])
  func completesTheCommandsBehindHelp(shell: String, question: String) async throws {
    guard let path = ["/usr/bin/", "/bin/"].map({ $0 + shell }).first(where: { unsafe access($0, X_OK) == 0 }) else {
      return
    }
    let lab = try NetworkLab()
    let script = try await Tool.run(["--generate-completion-script", shell], in: lab).output
    let process = try lab.spawn(path, ["-c", "\(script)\n\(question)"])
    let words = try await process.output.text(within: .seconds(60)).split(separator: "\n").map(String.init)
    let commands = [
      "check", "explain", "export", "interfaces", "outages", "record", "report", "status", "wait", "watch",
    ]
    #expect(words.sorted() == commands)
  }

  @Test func completesInterfaces() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("complete0", "complete1")
    let result = try await Tool.run(["---completion", "watch", "--", "--interface", "0", "0"], in: lab)
    #expect(result.output.split(separator: "\n").sorted() == ["complete0", "complete1", "lo"])
  }

  /// bash(1): compgen expands the words it gets, so that a command in a name would run. Not only this machine's user
  /// names interfaces.
  @Test func runsNoCommandThatStandsInAName() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("$(>x0)", "`>x1`")
    try lab.addVeth("eth0.7", "a-b_@+")
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let script = try await Tool.run(["--generate-completion-script", "bash"], in: lab).output
    let questions = [
      "cd '\(folder.path)' && mkdir -m 700 bin && >'bin/$(>x2)' && chmod +x bin/* && PATH=$PWD/bin:$PATH", script,
      "ask() { COMP_WORDS=('\(Tool.path)' \"$@\") COMP_CWORD=$# COMP_LINE=\"$*\" COMP_POINT=${#COMP_LINE}",
      "_dialtone dialtone \"${!#}\" \"${@:$#-1:1}\"; printf '%s\\n' \"${COMPREPLY[@]}\"; COMPREPLY=(); }",
      "ask status -i ''; ask interfaces ''; ask interfaces l; ask watch --exec '$'; ask watch --exec coproc; ls",
      "rm -r bin; rm -f x?",
    ]
    let process = try lab.spawn("/bin/bash", ["-c", questions.joined(separator: "\n")])
    let words = try await process.output.text(within: .seconds(60)).split(separator: "\n").map(String.init)
    let names = ["a-b_@+", "eth0.7", "lo"]
    #expect(words.prefix(3).sorted() == names && words.dropFirst(3).prefix(3).sorted() == names, "\(words)")
    #expect(words.dropFirst(6) == ["lo", "$(>x2)", "coproc", "bin"], "\(words)")
  }
}
