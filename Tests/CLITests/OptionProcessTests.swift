// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct OptionProcessTests {
  // MARK: Protocol and port

  /// `ip route get` shows the kernel's own answer, which the command's must equal.
  @Test(.enabled(if: NetworkLab.hasIPRoute2, "iproute2 is not installed"))
  func asksWithProtocolAndPort() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    #expect(try lab.ip("rule add priority 10 ipproto udp prohibit").status == 0)
    #expect(try lab.ip("rule add priority 11 ipproto tcp dport 443 unreachable").status == 0)
    let cases: [(arguments: [String], query: String)] = [
      (["10.0.0.9"], "ipproto tcp"), (["--udp", "10.0.0.9"], "ipproto udp"),
      (["10.0.0.9:443"], "ipproto tcp dport 443"), (["--port", "443", "10.0.0.9"], "ipproto tcp dport 443"),
      (["https://10.0.0.9/"], "ipproto tcp dport 443"), (["http://10.0.0.9/"], "ipproto tcp dport 80"),
      (["10.0.0.9:80"], "ipproto tcp dport 80"), (["--udp", "--port", "443", "10.0.0.9"], "ipproto udp dport 443"),
    ]
    for (arguments, query) in cases {
      let isRoute = try lab.ip("route get 10.0.0.9 \(query)").status == 0
      let result = try await Tool.run(["status", "--json"] + arguments, in: lab)
      #expect(result.ending == .exited(isRoute ? 0 : 1), "\(arguments): \(result.output)")
      #expect(result.output.contains(#""target":"\#(arguments.last ?? "")""#), "the target as typed: \(result.output)")
    }
  }

  @Test func tellsTargetsApartByTheirPorts() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(
      ["status", "127.0.0.1", "127.0.0.1:22", "[::1]:22", "127.0.0.1:22", "http://127.0.0.1/", "INTERNET", "internet"],
      in: lab)
    let names = result.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(names == ["127.0.0.1", "127.0.0.1:22", "[::1]:22", "http://127.0.0.1/", "INTERNET"])
  }

  // MARK: Lists

  @Test func readsTargetsFromStandardInput() async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn(
      Tool.path, ["status", "127.0.0.1", "--from-file", "-"], input: "# all\n::1 # six\n\n127.0.0.1\n192.0.2.7\n")
    #expect(
      try await process.output.text(within: .seconds(60)) == """
        127.0.0.1  reachable    via loopback (lo), this machine
        ::1        reachable    via loopback (lo), this machine
        192.0.2.7  unreachable  no route to the destination

        """)
    #expect(try await process.exit(within: .seconds(60)) == .exited(1))
  }

  @Test func readsURLsAndTargetsForEachCommand() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    for arguments in [
      ["check"], ["watch", "--site", "--count", "1"], ["wait", "--site"], ["wait"], ["watch", "--count", "1"],
    ] {
      let process = try lab.spawn(
        Tool.path, arguments + ["--from-file", "/dev/stdin"], input: "\(site.url)\n\(site.url)\n")
      let output = try await process.output.text(within: .seconds(60))
      #expect(output.split(separator: "\n").count == 1 && output.contains(site.url), "\(arguments): \(output)")
      #expect(try await process.exit(within: .seconds(60)) == .exited(0), "\(arguments)")
    }
  }

  @Test func saysWhatIsWrongWithAList() async throws {
    let lab = try NetworkLab()
    let wrong = try lab.spawn(Tool.path, ["status", "--from-file", "-"], input: "127.0.0.1\n\na b\n")
    let error = try await wrong.error.text(within: .seconds(60))
    #expect(error.hasPrefix("Error: --from-file: standard input, line 3: TARGET: \"a b\""), "\(error)")
    #expect(try await wrong.exit(within: .seconds(60)) == .exited(64))
    let secret = try lab.spawn(Tool.path, ["check", "--from-file", "-"], input: "http://u:secret@h/\n")
    let words = try await secret.error.text(within: .seconds(60))
    #expect(words.contains("line 1: URL: ") && !words.contains("secret"), "\(words)")
    let empty = try await Tool.run(["status", "--from-file", "/dev/null"], in: lab)
    #expect(empty.ending == .exited(64) && empty.error.contains("/dev/null"), "nothing is not the Internet")
    for file in ["/nonexistent/hosts", "/"] {
      let missing = try await Tool.run(["status", "--from-file", file], in: lab)
      #expect(missing.ending == .exited(66) && missing.output == "", "EX_NOINPUT, sysexits(3)")
      #expect(missing.error.hasPrefix("Error: --from-file: \(file): "), "\(missing.error)")
    }
  }

  /// As many as a person lists. That ArgumentParser, whose time grows with the square of their number, does not see
  /// them is tested without a process.
  @Test(arguments: [true, false])
  func takesManyTargets(fromFile isFromFile: Bool) async throws {
    let lab = try NetworkLab()
    let targets = (0..<3000).map { "127.\($0 >> 16).\($0 >> 8 & 255).\($0 & 255)" }
    let process = try lab.spawn(
      Tool.path, ["status", "--json", "-t", "100"] + (isFromFile ? ["--from-file", "-"] : targets),
      input: isFromFile ? targets.joined(separator: "\n") : nil)
    let lines = try await process.output.text(within: .seconds(200)).split(separator: "\n")
    #expect(lines.count == targets.count)
    #expect(lines.last?.contains(#""target":"127.0.11.183""#) == true)
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
  }

  // MARK: Quiet

  private static let quiet: [(arguments: [String], status: Int32)] = [
    (["status", "-q", "127.0.0.1"], 0), (["status", "--quiet", "192.0.2.7"], 1), (["wait", "-q", "-t", "200ms"], 1),
    (["check", "-q", "http://127.0.0.1:1/"], 1), (["wait", "-q", "--interface", "nope", "-t200ms"], 1),
  ]

  @Test(arguments: quiet)
  func printsNothingIfOnlyTheExitStatusIsWanted(arguments: [String], status: Int32) async throws {
    let lab = try NetworkLab()
    var result = try await Tool.run(arguments, in: lab)
    // A slow machine may know nothing within so short a time.
    if result.ending == .exited(2) { result = try await Tool.run(arguments + ["-t", "5"], in: lab) }
    #expect(result.ending == .exited(status))
    #expect(result.output == "" && result.error == "")
  }

  // MARK: Help

  @Test func refusesHelpOnWhatIsNoCommand() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["help", "nosuch"], in: lab)
    #expect(result.ending == .exited(64) && result.output == "")
    for command in ["nosuch", "watch", "status", "wait", "check", "interfaces"] {
      #expect(result.error.contains(command))
    }
  }

  // MARK: Sites

  @Test func asksSitesAsOftenAsItIsTold() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let process = try Tool.start(["watch", "--site", "--every", "1s", site.url], in: lab)
    // Without that option the second request would come after five minutes.
    try await eventually(within: .seconds(60), "it is asked again") { site.requests.count >= 3 }
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }

  // MARK: A system that has nothing left

  @Test(arguments: ["4; exec \"$0\" status", "40; exec \"$0\" explain"])
  func saysWhatRanOut(limit: String) async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn("/bin/sh", ["-c", "ulimit -n \(limit)", Tool.path])
    let error = try await process.error.text(within: .seconds(60))
    #expect(error.contains("Too many open files") && error.contains("ulimit -n"), "\(error)")
    #expect(try await process.exit(within: .seconds(60)) == .exited(71), "EX_OSERR, sysexits(3)")
  }

  /// The same happens if the process has reached its limit (setrlimit(2), RLIMIT_NOFILE).
  @Test func saysThatDescriptorsRanOutAndNotThatItIsDenied() async throws {
    let lab = try NetworkLab()
    let words = "the process has no file descriptor left; raise its limit (ulimit -n)"
    for command in ["status", "wait"] {
      let result = try await Tool.run([command], in: lab, denying: .netlinkSockets(EMFILE))
      #expect(result.ending == .exited(2))
      #expect(result.output == "internet  undetermined  \(words)\n")
      #expect(result.error == "dialtone: \(words)\n")
    }
    let list = try await Tool.run(["interfaces"], in: lab, denying: .netlinkSockets(EMFILE))
    #expect(list.ending == .exited(2) && list.error == "dialtone: \(words)\n")
    let denied = try await Tool.run(["status"], in: lab, denying: .netlinkSockets(EPERM))
    #expect(denied.output.contains("the system denies access") && denied.error == "")
  }
}
