// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NetworkLab
import TestSupport
import Testing

/// The page in a real browser, and the metrics in a real Prometheus.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct ReportProcessTests {
  private static let browser = "/usr/bin/chromium-headless-shell"
  private static let promtool = "/usr/bin/promtool"
  private static let hostile = "<script>document.title='x'</script><img src=http://192.0.2.7/ onerror=alert(1)>&amp;\"'"

  /// A journal of the last hour: `target` was down for 90 s, and is up again.
  private func journal(target: String = "internet", summary: String = "The cable is out.") throws -> String {
    let folder = "/tmp/dialtone-report-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let start = Date.now.timeIntervalSince1970 - 3_600
    func line(_ seconds: Double, _ event: String, _ fields: [String: Any]) throws -> Data {
      var object = fields
      object["time"] = Date(timeIntervalSince1970: start + seconds).ISO8601Format()
      object["event"] = event
      object["clock"] = Int64(seconds * 1_000_000)
      object["slept"] = 0
      return try JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes) + [0x0A]
    }
    let began = Date(timeIntervalSince1970: start + 600).ISO8601Format()
    let outage: [String: Any] = [
      "target": target, "began": began, "beganClock": 600_000_000, "beganSlept": 0, "words": "unreachable",
      "layer": "link", "reason": "no-carrier", "cause": "no-carrier", "confidence": "certain", "summary": summary,
      "advice": summary, "steps": [["step": "link", "outcome": "fault", "text": summary]],
    ]
    let lines = try [
      line(0, "start", ["boot": "b", "version": "1", "targets": [target]]),
      line(0, "path", ["status": "satisfied", "interface": "wlan0", "kind": "wifi"]), line(0, "up", ["target": target]),
      line(600, "begin", outage), line(601, "cause", outage),
      line(690, "end", outage.merging(["how": "back", "lasted": 90_000_000]) { $1 }), line(3_000, "alive", [:]),
    ]
    let day = Date(timeIntervalSince1970: start).ISO8601Format().prefix(10)
    try lines.reduce(Data(), +).write(to: URL(fileURLWithPath: "\(folder)/000001-\(day).jsonl"))
    return folder
  }

  /// ECMA-48, 5.6: what begins with ESC would be obeyed by a terminal.
  @Test func aNameInAnErrorControlsNoTerminal() async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let name = "/proc/\u{1B}]0;T\u{7}/y"
    for arguments in [["report", "--directory", folder, "--output", name], ["record", "--directory", name]] {
      let result = try await Tool.run(arguments, in: lab)
      #expect(result.ending == .exited(74) && result.error.contains(#"\u{1B}"#), "\(result)")
      #expect(!result.error.unicodeScalars.contains("\u{1B}"), "\(result)")
    }
  }

  private func report(_ folder: String, in lab: NetworkLab) async throws -> String {
    let page = "\(folder)/page.html"
    let result = try await Tool.run(["report", "--directory", folder, "--output", page], in: lab)
    try #require(result.ending == .exited(0) && result.output == "" && result.error == "", "\(result)")
    return page
  }

  @Test(
    "the browser shows what the journal says",
    .enabled(if: FileManager.default.isExecutableFile(atPath: browser), "chromium is needed"))
  func theBrowserShowsWhatTheJournalSays() async throws {
    let lab = try NetworkLab()
    let folder = try journal(summary: Self.hostile)
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let page = try await report(folder, in: lab)
    let process = try lab.spawn(
      Self.browser,
      ["--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder)/browser", "--dump-dom", "file://\(page)"],
      environment: ["TZ": "UTC"])
    let dom = try await process.output.text(within: .seconds(120))
    _ = try await process.exit()
    // 3,000 s were watched, of which 90 were an outage.
    for text in ["97.000 %", "1 outage, 1 min 30 s down", "the link", "no-carrier, certain", "Way to the Internet"] {
      #expect(dom.contains(text), "\(text) is not in \(dom.suffix(6_000))")
    }
    // What the journal says is text, wherever it stands.
    #expect(!dom.contains("<script") && !dom.contains("<img") && !dom.contains("<title>x"))
    #expect(dom.contains("&lt;script&gt;document.title"))
  }

  @Test func thePageAsksForNothing() async throws {
    let lab = try NetworkLab()
    let folder = try journal(target: "https://example.com/<b>\"'&", summary: Self.hostile)
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let page = try String(contentsOfFile: try await report(folder, in: lab), encoding: .utf8)
    #expect(page.contains("default-src 'none'"))
    let tags = page.matches(of: /<[^>]*>/).map { String($0.output) }
    for word in [" src", " href", "url(", "@import", "<script", "<link", "<img", "<iframe"] {
      #expect(!tags.contains { $0.contains(word) }, "\(word)")
    }
    let sheet = try #require(page.firstMatch(of: /<style>([\s\S]*)<\/style>/)).output.1
    #expect(!sheet.contains("url(") && !sheet.contains("@import"))
  }

  /// The shell goes on writing to what it has opened. rename(2), EBUSY: a file that is mounted itself stays, and what
  /// was in it goes, as by `>`.
  @Test(arguments: [
    ("(echo first; $R /dev/stdout; echo last) >page; sed -n '1p;$p' page", "first\nlast\n"),
    ("seq 99999 >page; mount --bind page page; $R page; head -c 15 page; tail -c 8 page", "<!DOCTYPE html></html>\n"),
  ])
  func writesToWhatHasToStay(script: String, output: String) async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let report = "cd \(folder); R='\(Tool.path) report --directory \(folder) --output'; "
    let process = try lab.spawn("/usr/bin/unshare", ["-m", "sh", "-c", report + script])
    #expect(try await process.output.text(within: .seconds(60)) == output)
    #expect(try await process.error.text() == "")
    #expect(try await process.exit() == .exited(0))
  }

  @Test func beginsWithTheJournal() async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let page = try String(contentsOfFile: try await report(folder, in: lab), encoding: .utf8)
    let format = DateFormatter()
    format.dateFormat = "yyyy-MM-dd HH:mm"
    // The hour that it has, and not the day.
    let begun = (3_600...3_660).map { format.string(from: Date.now.addingTimeInterval(-Double($0))) }
    #expect(Set(begun).contains { page.contains(#"<p class="soft">\#($0) to "#) })
  }

  /// A time of the table is one of --since, wherever the machine is.
  @Test(arguments: ["<-05>5", "<+0530>-5:30"])
  func takesTheTimesThatItPrints(zone: String) async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    func run(_ arguments: [String]) async throws -> String {
      try await Tool.run(["outages", "--directory", folder] + arguments, in: lab, environment: ["TZ": zone]).output
    }
    let row = try #require(try await run([]).split(separator: "\n").dropFirst().first)
    let times = [String(row.prefix(19)), String(row.prefix(16)) + ":59.999999"]
    let found = try await run(["--json", "--since", times[0], "--until", times[1]])
    #expect(found.contains(#""kind":"outage""#), "\(row) \(found)")
    let elsewhere = try await run(["--json", "--since", times[0] + "Z", "--until", times[1] + "Z"])
    #expect(!elsewhere.contains(#""kind":"outage""#), "\(row) \(elsewhere)")
  }

  @Test func saysThatNobodyRecordedATarget() async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    func run(_ arguments: [String]) async throws -> Tool.Result {
      let result = try await Tool.run(arguments + ["--directory", folder], in: lab)
      #expect(result.ending == .exited(0), "\(result)")
      return result
    }
    for target in [["--target", "nope"], ["--target", "nope", "--target", "internet"]] {
      let table = try await run(["outages"] + target)
      #expect(table.output.contains(/(^|\n)nobody recorded nope since [-0-9]+ [:0-9]+\n/), "\(table)")
      #expect(table.error == "")
      for other in [["outages", "--json"], ["outages", "--openmetrics"], ["report", "--output", "-"]] {
        let result = try await run(other + target)
        #expect(result.error.contains(/^nobody recorded nope since [-0-9]+ [:0-9]+\n$/), "\(result)")
      }
    }
    let past = try await run(["outages", "--since", "2020-01-01", "--until", "2020-02-01"])
    #expect(past.output == "nobody recorded anything from 2020-01-01 00:00:00 to 2020-02-01 00:00:00\n")
    let known = try await run(["report", "--output", "-", "--target", "internet"])
    #expect(known.error == "")
  }

  @Test func saysWhatIsWrongWithASpanOrAFolder() async throws {
    let lab = try NetworkLab()
    for (command, span) in [(["outages"], "7 d"), (["report", "-o", "-"], "30 d")] {
      let end = try await Tool.run(command + ["--until", "2020-01-01"], in: lab)
      #expect(end.ending == .exited(64) && end.error.contains("which is \(span) ago by default; give --since, too"))
      let file = try await Tool.run(command + ["--directory", Tool.path], in: lab)
      #expect(file.ending == .exited(66) && file.output == "", "\(file)")
      #expect(file.error.contains("\(Tool.path) is not a folder") && !file.error.contains("dialtone record"), "\(file)")
    }
  }

  @Test func whatCannotBeWrittenIsSaid() async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let result = try await Tool.run(["report", "--directory", folder, "--output", "/nosuch/page.html"], in: lab)
    #expect(result.ending == .exited(74) && result.error.contains("/nosuch/page.html: No such file or directory"))
    let device = try await Tool.run(["report", "--directory", folder, "--output", "/dev/full"], in: lab)
    #expect(device.ending == .exited(74) && device.error.contains("/dev/full: No space left on device"))
    let full = try await Tool.run(["report", "--directory", folder, "--output", "-"], in: lab)
    #expect(full.output.hasPrefix("<!DOCTYPE html>") && full.output.hasSuffix("</html>\n"))
  }

  /// Like `>` of a shell, except that the page is never half there.
  @Test func whatIsThereKeepsItsKind() async throws {
    let lab = try NetworkLab()
    let folder = try journal()
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    func write(_ name: String) async throws {
      let arguments = ["report", "--directory", folder, "--output", "\(folder)/\(name)"]
      let result = try await Tool.run(arguments, in: lab)
      #expect(result.ending == .exited(0) && result.error == "")
    }
    func attributes(_ name: String) throws -> [FileAttributeKey: Any] {
      try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
    }
    let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o640]
    #expect(FileManager.default.createFile(atPath: "\(folder)/private", contents: nil, attributes: isPrivate))
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "private")
    try await write("link")
    #expect(try attributes("link")[.type] as? FileAttributeType == .typeSymbolicLink)
    #expect(try attributes("private")[.posixPermissions] as? Int == 0o640)
    #expect(try String(contentsOfFile: "\(folder)/private", encoding: .utf8).hasSuffix("</html>\n"))
    // The path is only read. It is opened for reading and writing, so that nobody waits, and holds a whole page.
    #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
    let pipe = try FileHandle(forUpdating: URL(fileURLWithPath: "\(folder)/pipe"))
    try await write("pipe")
    var page = Data()
    while page.suffix(8) != Data("</html>\n".utf8) { page += pipe.availableData }
    #expect(page.starts(with: Data("<!DOCTYPE html>".utf8)))
    #expect(try attributes("pipe")[.type] as? FileAttributeType != .typeRegular)
  }

  @Test(
    "Prometheus takes the metrics",
    .enabled(if: FileManager.default.isExecutableFile(atPath: promtool), "promtool is needed"))
  func prometheusTakesTheMetrics() async throws {
    let lab = try NetworkLab()
    let folder = try journal(target: "a \"b\" \\c")
    defer { _ = try? FileManager.default.removeItem(atPath: folder) }
    let metrics = try await Tool.run(["outages", "--directory", folder, "--openmetrics"], in: lab)
    #expect(metrics.ending == .exited(0) && metrics.error == "")
    let file = "\(folder)/metrics"
    try metrics.output.write(toFile: file, atomically: false, encoding: .utf8)
    func promtool(_ arguments: [String]) async throws -> String {
      let process = try lab.spawn(Self.promtool, arguments)
      let output = try await process.output.text(within: .seconds(60))
      let error = try await process.error.text(within: .seconds(60))
      #expect(try await process.exit() == .exited(0), "\(output) \(error)")
      return output
    }
    _ = try await promtool(["tsdb", "create-blocks-from", "openmetrics", file, "\(folder)/data"])
    // A database without a log of what is not in blocks yet is none for it.
    try FileManager.default.createDirectory(atPath: "\(folder)/data/wal", withIntermediateDirectories: true)
    let series = try await promtool(["tsdb", "dump", "\(folder)/data"])
    // 90 s of an outage: its beginning, and a minute later.
    let lines = series.split(separator: "\n").filter { $0.contains("dialtone_reachable") }
    #expect(lines.count { $0.contains("} 0 ") } == 2 && lines.contains { $0.contains("} 1 ") }, "\(series)")
    #expect(series.contains("cause=\"no-carrier\""))
  }
}
