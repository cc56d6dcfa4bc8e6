// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import TestSupport
import Testing

/// The recorder as a process, on real links. What it wrote is read by Foundation, not by our own reader.
@Suite(.needsNamespaces, .timeLimit(.minutes(10)))
struct RecordProcessTests {
  /// A folder for a journal, and what it holds.
  final class Folder: Sendable {
    let path = "/tmp/dialtone-record-\(getpid())-\(UInt32.random(in: 0 ... .max))"

    deinit { _ = try? FileManager.default.removeItem(atPath: path) }

    /// The bytes of all files, in their order; none while there is no folder.
    func bytes() throws -> Data {
      guard FileManager.default.fileExists(atPath: path) else { return Data() }
      return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        .map { try Data(contentsOf: URL(fileURLWithPath: "\(self.path)/\($0)")) }.reduce(Data(), +)
    }

    func events() throws -> [[String: Any]] { try Self.events(of: bytes()).events }

    /// The lines that are JSON, and how many are not.
    static func events(of bytes: Data) -> (events: [[String: Any]], torn: Int) {
      let lines = bytes.split(separator: 0x0A)
      let events = lines.compactMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
      return (events, lines.count - events.count)
    }

    func count(_ event: String) throws -> Int { try events().count { $0["event"] as? String == event } }
  }

  private func makeLab(ownMounts: Bool = false) async throws -> NetworkLab {
    let lab = try NetworkLab(ownMounts: ownMounts)
    try lab.makeB()
    let wait = try await Tool.run(["wait", "--quiet", "--timeout", "60"], in: lab)
    try #require(wait.ending == .exited(0))
    return lab
  }

  private func lines(_ result: Tool.Result, kind: String) throws -> [[String: Any]] {
    try result.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\(result)")
    }.filter { $0["kind"] as? String == kind }
  }

  @Test func recordsAnOutageWithItsCause() async throws {
    let lab = try await makeLab()
    let folder = Folder()
    let process = try Tool.start(["record", "--directory", folder.path], in: lab)
    try await eventually("the target is up") { try folder.count("up") == 1 }
    try lab.down("v1")
    try await eventually("the outage is explained") { try folder.count("cause") == 1 }
    // While it goes on.
    let open = try await Tool.run(["outages", "--json", "--directory", folder.path], in: lab)
    #expect(try lines(open, kind: "outage").first?["ending"] as? String == "open", "\(open)")
    try lab.up("v1")
    try await eventually("the outage is over") { try folder.count("end") == 1 }
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
    #expect(try await process.error.text() == "")
    #expect(try folder.events().last?["event"] as? String == "stop")
    let told = try await Tool.run(["outages", "--json", "--directory", folder.path], in: lab)
    #expect(told.ending == .exited(0) && told.error == "")
    let outage = try #require(try lines(told, kind: "outage").first, "\(told)")
    #expect(outage["layer"] as? String == "link" && outage["cause"] as? String == "no-carrier", "\(outage)")
    #expect(outage["ending"] as? String == "over" && outage["target"] as? String == "internet")
    let steps = try #require(outage["steps"] as? [[String: Any]])
    #expect(steps.contains { $0["step"] as? String == "link" && $0["outcome"] as? String == "fault" }, "\(steps)")
    let table = try await Tool.run(["outages", "--directory", folder.path], in: lab)
    #expect(table.output.contains("the link") && table.output.contains("(no-carrier, certain)"), "\(table)")
    #expect(table.output.contains(/% reachable, [^ ]+ m?s of .+ down, 1 outage/), "\(table)")
    // One outage is one event.
    #expect(table.output.contains(/\nthe link +[^(\n]+ in 1 outage\n/), "\(table)")
  }

  @Test func twoRecordersOfOneJournalIsAnError() async throws {
    let lab = try await makeLab()
    let folder = Folder()
    let process = try Tool.start(["record", "--directory", folder.path], in: lab)
    try await eventually("it has begun") { try folder.count("start") == 1 }
    let second = try await Tool.run(["record", "--directory", folder.path], in: lab)
    #expect(second.ending == .exited(74) && second.output == "")
    #expect(second.error.contains("another recorder writes there"), "\(second)")
    #expect(try folder.count("start") == 1)
    try process.signal(SIGTERM)
    _ = try await process.exit()
  }

  /// Killed at random moments, while the link flaps: what was written before stays byte by byte, and of each run at
  /// most the last line is torn. `DIALTONE_KILLS` asks for more.
  @Test func aKilledRecorderLosesAtMostItsLastEvent() async throws {
    let kills = ProcessInfo.processInfo.environment["DIALTONE_KILLS"].flatMap { Int($0) } ?? 15
    let lab = try await makeLab()
    let folder = Folder()
    var before = Data()
    for _ in 0..<kills {
      let process = try Tool.start(["record", "--directory", folder.path, "internet", "192.0.2.7"], in: lab)
      try await eventually("it has begun") { try folder.bytes().count > before.count }
      let flaps = Int.random(in: 0...6)
      for flap in 0..<flaps { if flap.isMultiple(of: 2) { try lab.down("v1") } else { try lab.up("v1") } }
      // A moment like any other.
      try await Task.sleep(for: .microseconds(Int.random(in: 0...30_000)))
      try process.signal(SIGKILL)
      _ = try await process.exit()
      let now = try folder.bytes()
      #expect(now.starts(with: before))
      before = now
      try lab.up("v1")
    }
    let (events, torn) = Folder.events(of: before)
    #expect(torn <= kills && events.count { $0["event"] as? String == "start" } + torn >= kills)
    let told = try await Tool.run(["outages", "--json", "--directory", folder.path], in: lab)
    #expect(told.ending == .exited(0), "\(told)")
    #expect(try lines(told, kind: "journal").first?["skippedLines"] as? Int == torn)
  }

  @Test func aRestartIsNoOutageAndEndsNone() async throws {
    let lab = try await makeLab()
    let folder = Folder()
    for round in 1...3 {
      let process = try Tool.start(["record", "--directory", folder.path], in: lab)
      if round == 1 {
        try await eventually("the target is up") { try folder.count("up") == 1 }
        try lab.down("v1")
      }
      try await eventually("the outage is known") { try folder.count("begin") == round }
      if round == 3 {
        try lab.up("v1")
        try await eventually("the outage is over") { try folder.count("end") == 1 }
      }
      try process.signal(SIGTERM)
      _ = try await process.exit()
    }
    let told = try await Tool.run(["outages", "--json", "--directory", folder.path], in: lab)
    let outages = try lines(told, kind: "outage")
    #expect(outages.count == 1 && outages[0]["ending"] as? String == "over", "\(told.output)")
    #expect(outages[0]["unwatched"] as? Double ?? 0 > 0)
    #expect(try await Tool.run(["outages", "--directory", folder.path], in: lab).output.contains("  ≤ "))
  }

  @Test func saysWhatToStartIfThereIsNoJournal() async throws {
    let lab = try NetworkLab()
    let folder = Folder()
    let page = "\(folder.path)-page.html"
    for command in [["outages"], ["report", "--output", page]] {
      let named = try await Tool.run(command + ["--directory", folder.path], in: lab)
      #expect(named.ending == .exited(66) && named.output == "")
      #expect(named.error.hasSuffix("  dialtone record --directory \(folder.path)\n"), "\(named)")
      // This machine may have a recorder of its own.
      if FileManager.default.fileExists(atPath: "/var/lib/dialtone") { continue }
      let result = try await Tool.run(command, in: lab, environment: ["XDG_STATE_HOME": folder.path])
      #expect(result.ending == .exited(66) && result.output == "")
      #expect(result.error.contains("sudo systemctl enable --now dialtone-record.service\n"), "\(result)")
      #expect(result.error.contains("systemctl --user enable --now dialtone-record.service\n"))
      #expect(result.error.contains("dialtone record\n"))
    }
    #expect(!FileManager.default.fileExists(atPath: page))
  }

  @Test func tellsTheServiceManager() async throws {
    let lab = try await makeLab()
    let folder = Folder()
    let socket = try ManagerSocket()
    let process = try Tool.start(
      ["record", "--directory", folder.path], in: lab, environment: ["NOTIFY_SOCKET": socket.path])
    #expect(try await socket.message() == "READY=1\nSTATUS=recording internet")
    #expect(try await socket.message() == "STATUS=1 of 1 reachable")
    try lab.down("v1")
    #expect(try await socket.message() == "STATUS=0 of 1 reachable")
    try process.signal(SIGTERM)
    _ = try await process.exit()
  }

  /// The folder of the user, and that of systemd.
  @Test(arguments: ["XDG_STATE_HOME", "STATE_DIRECTORY"])
  func findsItsFolder(variable: String) async throws {
    let lab = try await makeLab()
    let folder = Folder()
    var environment: [String: String?] = ["XDG_STATE_HOME": nil, "STATE_DIRECTORY": nil]
    environment[variable] = folder.path
    let place = variable == "XDG_STATE_HOME" ? "/dialtone" : ""
    let process = try Tool.start(["record"], in: lab, environment: environment)
    try await eventually("it has begun") {
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path + place)
      return names?.contains { $0.hasSuffix(".jsonl") } ?? false
    }
    let told = try await Tool.run(["outages"], in: lab, environment: environment)
    #expect(told.ending == .exited(0), "\(told)")
    try process.signal(SIGTERM)
    _ = try await process.exit()
  }

  @Test(arguments: [
    ["record", "--every", "0"], ["record", "local-network:1"], ["record", "http://"], ["record", "--max-size", "0"],
    ["outages", "--since", "yesterday"], ["outages", "--json", "--openmetrics"], ["report"],
    ["outages", "--since", "1d", "--until", "2d"],
    ["outages", "--since", "2999-01-01"], ["outages", "--since", "20261127"], ["record", "ftp://site.example/"],
    ["record", "SSH://site.example"], ["export", "ftp://site.example/", "--textfile", "/dev/null"],
    ["outages", "--directory", ""], ["report", "--output", ""],
  ])
  func refusesWrongUsage(arguments: [String]) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(arguments, in: lab)
    #expect(result.ending == .exited(64) && result.output == "", "\(result)")
  }
}
