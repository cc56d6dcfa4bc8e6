// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import TestSupport
import Testing

/// The recorder on a disk of its own, which is full, or which cannot be written.
@Suite(.needsNamespaces, .timeLimit(.minutes(10)))
struct RecordDiskTests {
  /// A lab with a small file system, which it alone sees.
  private struct Disk {
    let lab: NetworkLab
    let path = "/mnt"

    init() async throws {
      lab = try NetworkLab(ownMounts: true)
      try lab.makeB()
      try await run("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path])
      let wait = try await Tool.run(["wait", "--quiet", "--timeout", "60"], in: lab)
      try #require(wait.ending == .exited(0))
    }

    func run(_ program: String, _ arguments: [String]) async throws {
      let process = try lab.spawn(program, arguments)
      let error = try await process.error.text(within: .seconds(30))
      try #require(try await process.exit() == .exited(0), "\(program) \(arguments): \(error)")
    }

    /// The events of the journal, in their order.
    func events() throws -> [String] {
      let path = path
      let bytes = try lab.run {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".jsonl") }.sorted()
          .map { try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)")) }.reduce(Data(), +)
      }
      let (events, torn) = RecordProcessTests.Folder.events(of: bytes)
      #expect(torn == 0)
      return events.compactMap { $0["event"] as? String }
    }

    /// Takes all that is left, page by page.
    func fill() throws {
      let path = path
      try lab.run {
        try Data().write(to: URL(fileURLWithPath: "\(path)/filler"))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)/filler"))
        do {
          while true { try file.write(contentsOf: [UInt8](repeating: 1, count: 4096)) }
        } catch {
          // Nothing has room any more.
          try file.close()
        }
      }
    }

    func empty() throws {
      let path = path
      try lab.run { try FileManager.default.removeItem(atPath: "\(path)/filler") }
    }
  }

  @Test func aFullDiskLosesNothing() async throws {
    let disk = try await Disk()
    let process = try Tool.start(["record", "--directory", disk.path], in: disk.lab)
    try await eventually("the target is up") { try disk.events().contains("up") }
    try disk.fill()
    // What is left of the last page takes some events. On a busy machine each takes seconds.
    var outages = 0
    let told = Box(false)
    let watch = Task {
      defer { told.value = true }
      return try await process.error.line(within: .seconds(500))
    }
    while !told.value {
      try disk.lab.down("v1")
      try await untilState("unreachable", in: disk.lab)
      try disk.lab.up("v1")
      try await untilState("reachable", in: disk.lab)
      outages += 1
      try #require(outages < 100)
    }
    #expect(try await watch.value?.contains("No space left on device") ?? false)
    try disk.empty()
    let again = try await process.error.line(within: .seconds(60))
    #expect(again?.contains("written again") ?? false, "\(again ?? "")")
    let count = outages
    try await eventually("all is written") { try disk.events().count { $0 == "end" } == count }
    let events = try disk.events().filter { ["begin", "end"].contains($0) }
    #expect(events == (0..<count).flatMap { _ in ["begin", "end"] })
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  private func untilState(_ status: String, in lab: NetworkLab) async throws {
    let arguments = status == "reachable" ? ["wait", "--quiet"] : ["wait", "--quiet", "--unreachable"]
    let result = try await Tool.run(arguments + ["--timeout", "60"], in: lab)
    try #require(result.ending == .exited(0))
  }

  @Test func aDiskThatCannotBeWrittenIsSaid() async throws {
    let disk = try await Disk()
    try await disk.run("/bin/mount", ["-o", "remount,ro", disk.path])
    let process = try Tool.start(["record", "--directory", disk.path], in: disk.lab)
    let line = try await process.error.nextLine(within: .seconds(60))
    #expect(line.contains("Read-only file system"), "\(line)")
    try await disk.run("/bin/mount", ["-o", "remount,rw", disk.path])
    #expect(try await process.error.nextLine(within: .seconds(60)).contains("written again"))
    try await eventually("all is written") { try Array(disk.events().prefix(1)) == ["start"] }
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
    // The folder cannot be made.
    try await disk.run("/bin/mount", ["-o", "remount,ro", disk.path])
    let result = try await Tool.run(["record", "--directory", "\(disk.path)/new"], in: disk.lab)
    #expect(result.ending == .exited(74) && result.error.contains("Read-only file system"), "\(result)")
  }

  /// SIGXFSZ would end it.
  @Test func aLimitOfTheFilesSizeIsLikeAFullDisk() async throws {
    let disk = try await Disk()
    let process = try disk.lab.spawn(
      "/bin/sh", ["-c", "ulimit -f 1; exec \"$0\" record --directory \"$1\" internet 192.0.2.7", Tool.path, disk.path])
    let error = Box("")
    let reading = Task { error.value = try await process.error.line(within: .seconds(60)) ?? "" }
    while error.value.isEmpty {
      try disk.lab.down("v1")
      try await untilState("unreachable", in: disk.lab)
      try disk.lab.up("v1")
      try await untilState("reachable", in: disk.lab)
    }
    try await reading.value
    #expect(error.value.contains("File too large"), "\(error.value)")
    #expect(try disk.events().first == "start")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  @Test func tellsTheJournalOfSystemd() async throws {
    let disk = try await Disk()
    // A file system of its own over /run, with a socket of ours where journald has its.
    try await disk.run("/bin/mount", ["-t", "tmpfs", "tmpfs", "/run"])
    try await disk.run("/bin/mkdir", ["-p", "/run/systemd/journal"])
    let socket = csystem_datagram_socket(AF_UNIX)
    defer { close(socket) }
    let status = try disk.lab.run {
      // A sockaddr_un (unix(7)): the family, and 108 bytes of a path.
      var address = [UInt8](repeating: 0, count: 110)
      unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe address.replaceSubrange(0..<2, with: $0) }
      let path = "/run/systemd/journal/socket"
      address.replaceSubrange(2..<2 + path.utf8.count, with: path.utf8)
      // The address has that length, and is only read.
      return unsafe address.withUnsafeBytes {
        unsafe bind(socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
      }
    }
    try #require(status == 0)
    let process = try Tool.start(["record", "--directory", disk.path], in: disk.lab)
    var fields: [[String: String]] = []
    func read() {
      var buffer = [UInt8](repeating: 0, count: 8192)
      while true {
        // Fills at most as many bytes as it is told.
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count < 0 { return }
        let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
        fields.append(
          Dictionary(lines.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }.map { ($0[0], $0[1]) }) {
            $1
          })
      }
    }
    try await eventually("the recorder has begun") { try disk.events().contains("up") }
    try disk.lab.down("v1")
    try await eventually("the cause is told") {
      read()
      return fields.contains { $0["DIALTONE_CAUSE"] == "no-carrier" }
    }
    let begin = try #require(fields.first { $0["DIALTONE_EVENT"] == "begin" })
    #expect(begin["DIALTONE_TARGET"] == "internet" && begin["PRIORITY"] == "4")
    #expect(begin["SYSLOG_IDENTIFIER"] == "dialtone" && begin["DIALTONE_LAYER"] == "link")
    // One MESSAGE_ID for each kind, 128 bits (sd_id128(3)).
    let kinds = Dictionary(grouping: fields) { $0["DIALTONE_EVENT"] ?? "" }.mapValues {
      Set($0.map { $0["MESSAGE_ID"] })
    }
    #expect(kinds.values.allSatisfy { $0.count == 1 } && Set(kinds.values).count == kinds.count)
    #expect(begin["MESSAGE_ID"]?.utf8.count == 32)
    try process.signal(SIGTERM)
    _ = try await process.exit()
  }
}
