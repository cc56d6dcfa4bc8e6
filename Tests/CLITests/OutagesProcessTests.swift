// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NetworkLab
import TestSupport
import Testing

/// A journal of more outages than are kept to be sorted, told in each form.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct OutagesProcessTests {
  /// Of 3,000 s: `a` was down 1,200 times for a second, `b` from the 5th second to the end, and `c` never. One line is
  /// none.
  private func makeJournal(at path: String) throws {
    let start = Date.now.timeIntervalSince1970.rounded(.down) - 5000
    func time(_ seconds: Int) -> String { Date(timeIntervalSince1970: start + Double(seconds)).ISO8601Format() }
    func line(_ seconds: Int, _ event: String, _ fields: String = "") -> String {
      #"{"time":"\#(time(seconds))","event":"\#(event)","clock":\#(seconds)000000,"slept":0\#(fields)}"# + "\n"
    }
    func outage(_ target: String, _ began: Int) -> String {
      #","target":"\#(target)","began":"\#(time(began))","beganClock":\#(began)000000,"beganSlept":0,"#
        + #""words":"no carrier","layer":"link","reason":"no-carrier","how":"back""#
    }
    var text = line(0, "start", #","boot":"b","version":"1","targets":["a","b","c"]"#)
    for target in ["a", "b", "c"] { text += line(0, "up", #","target":"\#(target)""#) }
    text += line(5, "begin", outage("b", 5)) + "no line\n"
    for began in stride(from: 10, to: 2410, by: 2) {
      text += line(began, "begin", outage("a", began)) + line(began + 1, "end", outage("a", began))
    }
    text += line(3000, "end", outage("b", 5)) + line(3000, "alive")
    let file = URL(fileURLWithPath: "\(path)/000001-\(time(0).prefix(10)).jsonl")
    try Data(text.utf8).write(to: file)
  }

  /// The folder is empty at its end.
  private func empty(_ folder: TemporaryFolder) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
      _ = unsafe unlink("\(folder.path)/\(name)")
    }
  }

  @Test func tellsMoreOutagesThanItKeeps() async throws {
    let lab = try NetworkLab()
    let folder = try TemporaryFolder()
    defer { empty(folder) }
    try makeJournal(at: folder.path)
    func run(_ arguments: String...) async throws -> String {
      let result = try await Tool.run(["outages", "--directory", folder.path] + arguments, in: lab)
      #expect(result.ending == .exited(0) && result.error == "", "\(result.error)")
      return result.output
    }
    // Up to a thousand rows are in the order of their beginnings, which of `b` is the first. It ends last.
    let lines = try await run().split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.count > 1207, "\(lines.count)")
    #expect(lines[0].hasPrefix("when ") && lines.count { $0.hasPrefix("when ") } == 1)
    let rows = lines[1...1201]
    let targets = rows.map { String($0.dropFirst("2026-11-24 12:00:00  59 min, and on  ".count).prefix(1)) }
    #expect(targets == Array(repeating: "a", count: 1000) + ["b"] + Array(repeating: "a", count: 200))
    #expect(rows.prefix(1000).map { $0.prefix(19) } == rows.prefix(1000).map { $0.prefix(19) }.sorted())
    #expect(rows.allSatisfy { $0.hasSuffix("  no carrier") })
    #expect(
      lines[1202...].filter { !$0.hasPrefix("the link ") } == [
        "", "", "a: 60.000 % reachable, 20 min of 50 min down, 1200 outages, the longest 1.0 s",
        "b: 0.166 % reachable, 49 min 55 s of 50 min down, 1 outage", "c: 100.000 % reachable, 0 s of 50 min down",
        "left out, since unreadable: 1 line of the journal", "",
      ])
    #expect(lines[1203].contains("(1201 outages of targets, "))

    let json = try await run("--json").split(separator: "\n")
    #expect(json.count { $0.hasPrefix(#"{"kind":"outage","#) } == 1201)
    #expect(json.filter { $0.hasPrefix(#"{"kind":"target","#) }.count == 3)
    #expect(json.contains { $0.hasPrefix(#"{"kind":"target","target":"a","outages":1200,"up":1800.000000,"#) })

    let metrics = try await run("--openmetrics")
    #expect(metrics.hasPrefix("# HELP dialtone_reachable ") && metrics.hasSuffix("\n# EOF\n"))
    #expect(metrics.utf8.count > 1 << 16, "more than is written at once")

    let none = try await run("--target", "c")
    let expected = /no outages since [-\d]{10} [:\d]{8}\nc: 100\.000 % reachable, 0 s of 50 min down\nleft .*\n/
    #expect(none.wholeMatch(of: expected) != nil, "\(none)")
  }

  /// What cannot be read is left out, and said to be, once.
  @Test(arguments: [[], ["--json"], ["--openmetrics"]] as [[String]])
  func leavesOutWhatIsNoFile(arguments: [String]) async throws {
    let lab = try NetworkLab()
    let folder = try TemporaryFolder()
    let other = "\(folder.path)/000009-2026-11-24.jsonl"
    defer { empty(folder) }
    try makeJournal(at: folder.path)
    try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: "/dev/zero")
    let result = try await Tool.run(["outages", "--directory", folder.path] + arguments, in: lab)
    let note = "dialtone: left out, since unreadable or no regular file: \(other)\n"
    #expect(result.ending == .exited(0) && result.error == note, "\(result.error)")
    #expect(result.output.split(separator: "\n").count > 100)
  }

  /// The page is named after the machine, and has the mode that any new file has (umask(2)).
  @Test func drawsThemInANewFile() async throws {
    let lab = try NetworkLab()
    let folder = try TemporaryFolder()
    defer { empty(folder) }
    try makeJournal(at: folder.path)
    let page = "\(folder.path)/page.html"
    let script = "umask 027; exec \(Tool.path) report --directory \(folder.path) --output \(page)"
    let process = try lab.spawn("/bin/sh", ["-c", script])
    #expect(try await process.error.text(within: .seconds(60)) == "")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
    #expect(try FileManager.default.attributesOfItem(atPath: page)[.posixPermissions] as? Int == 0o640)
    let source = try String(contentsOfFile: page, encoding: .utf8)
    let machine = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8).prefix { $0 != "\n" }
    #expect(source.contains("<title>Outages of \(machine)</title>"))
    #expect(!source.contains("Nobody watched in this time."))
  }
}
