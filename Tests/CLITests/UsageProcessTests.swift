// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct UsageProcessTests {
  @Test func refusesBytesThatAreNotUTF8() async throws {
    let lab = try NetworkLab()
    let process = try lab.spawn(
      "/bin/sh", ["-c", #"exec "$0" status internet "$(printf '\377\376')""#, Tool.path])
    #expect(try await process.output.text(within: .seconds(60)) == "")
    #expect(try await process.error.text(within: .seconds(60)).hasPrefix("Error: argument 3, "))
    #expect(try await process.exit(within: .seconds(60)) == .exited(64))
  }

  /// One of each kind; `ParsingTests` covers the rest.
  @Test(arguments: [
    (["fe80::1%"], "fe80::1%"), (["--timeout=nan"], "--timeout"), (["-4", "-6"], "-4 and -6"), (["statsu"], "statsu"),
    (["--nonsense"], "--nonsense"), (["help", "nosuch"], "nosuch"),
  ])
  func saysWhatIsWrong(arguments: [String], name: String) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(arguments, in: lab)
    #expect(result.ending == .exited(64))
    #expect(result.output == "", "nothing is half-done")
    #expect(result.error.hasPrefix("Error: ") && result.error.contains(name), "\(result.error)")
    #expect(result.error.contains("--help"), "\(result.error)")
  }

  /// POSIX, XBD 8.3: what COLUMNS says counts more than what is known of the output.
  @Test(arguments: [40, 59, 60, 100])
  func helpInAPipeIsAsWideAsIsWanted(columns: Int) async throws {
    let lab = try NetworkLab()
    for arguments in [["--help"], ["status", "--help"]] {
      let result = try await Tool.run(arguments, in: lab, environment: ["COLUMNS": "\(columns)"])
      let widths = result.output.split(separator: "\n").map(\.count)
      #expect(result.ending == .exited(0) && widths.allSatisfy { $0 <= columns }, "\(widths.max() ?? 0)")
      #expect(widths.contains { $0 > columns * 3 / 4 })
    }
  }

  /// This holds for a word in any place, and for any part of it that cannot be read.
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
