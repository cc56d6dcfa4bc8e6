// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .serialized, .timeLimit(.minutes(5)))
struct UsageProcessTests {
  /// A command line, and what names the argument on standard error.
  static let wrong: [(arguments: [String], name: String)] = [
    ([""], "TARGET"), (["a b"], "a b"), ([String(repeating: "a.", count: 127) + "a"], "TARGET"), (["a..b"], "a..b"),
    (["host:http"], "host:http"), (["host:0"], "host:0"), (["host:65536"], "65536"), (["host/path"], "host/path"),
    (["1.2.3"], "1.2.3"), (["fe80::1"], "fe80::1%eth0"),
    (["fe80::1%"], "fe80::1%"), (["http://"], "http://"), (["watch", "127.0.0.1", "256.1.1.1"], "256.1.1.1"),
    (["--timeout", "-5"], "--timeout"), (["--timeout=nan"], "--timeout"), (["--timeout", "inf"], "--timeout"),
    (["--timeout", "1e400"], "--timeout"), (["--timeout", "0"], "--timeout"), (["--timeout"], "--timeout"),
    (["--count", "0"], "--count"), (["--count", "-1"], "--count"), (["--count", "1.5"], "--count"),
    (["--mark", "0x100000000"], "--mark"), (["--mark", "-1"], "--mark"), (["--mark", "010"], "--mark"),
    (["--settling", "-1"], "--settling"),
    (["--interface", ""], "--interface"), (["--interface", String(repeating: "a", count: 128)], "--interface"),
    (["--from", "10.0.0.1"], "--from"), (["--from", "10.0.0.1", "::1"], "--from"), (["--from", "x", "::1"], "--from"),
    (["-4", "-6"], "-4 and -6"), (["-4", "2001:db8::1"], "-4"), (["-6", "192.0.2.1"], "-6"), (["-7"], "-7"),
    (["--nonsense"], "--nonsense"), (["statsu"], "statsu"), (["--json", "status"], "status"), (["check"], "check"),
    (["local_network"], "local-network"), (["version"], "--version"),
    (["status", "--count", "1"], "--count"), (["interfaces", "eth/0"], "eth/0"),
    (["--port", "80", "host:80"], "--port"), (["--port", "0"], "--port"), (["help", "nosuch"], "nosuch"),
    (["--timeout", "5x"], "--timeout"), (["wait", "-t", "1m30"], "-t"),
    (["wait", "--unreachable", "--not-cellular"], "--not-cellular"), (["wait", "--timeout", "x"], "--timeout"),
    (["wait", "--unreachable", "--accept-on-demand"], "--accept-on-demand"),
  ]

  @Test func refusesBytesThatAreNotUTF8() async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn(
      "/bin/sh", ["-c", #"exec "$0" status internet "$(printf '\377\376')""#, Tool.path])
    #expect(try await process.output.text(within: .seconds(60)) == "")
    #expect(try await process.error.text(within: .seconds(60)).hasPrefix("Error: argument 3, "))
    #expect(try await process.exit(within: .seconds(60)) == .exited(64))
  }

  @Test(arguments: wrong)
  func saysWhatIsWrong(arguments: [String], name: String) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(arguments, in: lab)
    #expect(result.ending == .exited(64))
    #expect(result.output == "", "nothing is half-done")
    #expect(result.error.hasPrefix("Error: ") && result.error.contains(name), "\(result.error)")
    #expect(result.error.contains("--help"), "\(result.error)")
  }

  /// This holds wherever the word was typed, and whatever part of it cannot be read.
  @Test(arguments: [
    ["interfaces", "http://u:secret@h/"], ["check", "--timeout", "http://u:secret@h/", "http://a/"],
    ["check", "--timeout=u:secret@h", "http://a/"], ["wait", "--method", "u:secret@h"], ["--u:secret@h"],
    ["check", "-zu:secret@q"], ["--interface", "u:secret@h"], ["--from=secret@h"], ["-6", "http://192.0.2.1/secret@h"],
    ["statsu", "u:secret@h"], ["wait", "--site", "u:se/secret@h"], ["status", "http://u:se/secret@h"],
  ])
  func repeatsNothingThatStandsBeforeAnAt(arguments: [String]) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(arguments, in: lab)
    #expect(result.ending == .exited(64) && result.output == "")
    #expect(result.error.hasPrefix("Error: ") && !result.error.contains("secret"), "\(result.error)")
  }

  @Test func repeatsNothingThatStandsBeforeAnAtInWhatIsNoText() async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn("/bin/sh", ["-c", #"exec "$0" status "$(printf 'secret@\377')""#, Tool.path])
    let error = try await process.error.text(within: .seconds(60))
    #expect(error.hasPrefix("Error: argument 2 is not valid UTF-8"), "\(error)")
    #expect(try await process.exit(within: .seconds(60)) == .exited(64))
  }
}
