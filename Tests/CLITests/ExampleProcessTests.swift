// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

/// The sample programs of Examples, run while a cable is pulled.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct ExampleProcessTests {
  @Test func listeningShowsTheLiveStateToEveryListener() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try start("Listening", in: lab)
    let listeners = ["closure", "queue", "actor", "main actor", "notification", "observable", "updates"]
    // A receiver that asked to be told once is told with the first state, and not again when the network is back.
    let once = "once          reachable, and not by phone: go!"
    var timesOnce = 0
    for pull in [false, true, false] {
      if pull { try lab.down("v1") } else { try lab.up("v1") }
      let text = pull ? "unreachable via wired (v0): no carrier" : "reachable via wired (v0)"
      var missing = Set(listeners)
      while !missing.isEmpty || timesOnce == 0 {
        let line = try await process.output.nextLine()
        if line.hasPrefix("once") {
          #expect(line == once)
          timesOnce += 1
        }
        if let listener = missing.first(where: { line.hasPrefix(Self.line($0, text)) }) { missing.remove(listener) }
      }
    }
    #expect(timesOnce == 1)
    try await end(process)
  }

  @Test func syncWhenBackKeepsWhatItCannotSend() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    let process = try start("SyncWhenBack", in: lab)
    var line = ""
    repeat { line = try await process.output.nextLine() } while line != "    kept measurement 2; 2 to send"
    try lab.up("v1")
    repeat { line = try await process.output.nextLine() } while line != "reachable via wired (v0)"
    for number in 1...3 {
      repeat { line = try await process.output.nextLine() } while line.hasPrefix("    kept ")
      #expect(line == "    sent measurement \(number)")
    }
    try await end(process)
  }

  @Test func backupOffCellularWaitsForAPathAndGoesOnWhereItWasInterrupted() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    // The parts are sent at one a second. There are enough that even a slow machine pulls the cable before the last.
    let process = try start("BackupOffCellular", ["", "8"], in: lab)
    // Without a carrier the interface is known, but no packet leaves by it.
    let first = try await process.output.nextLine()
    #expect(first == "path: wired")
    var lines = [first]
    try lab.up("v1")
    repeat { lines.append(try await process.output.nextLine()) } while lines.last != "    sent part 1 of 8"
    try lab.down("v1")
    repeat { lines.append(try await process.output.nextLine()) } while lines.last?.hasPrefix("    interrupted") != true
    try lab.up("v1")
    repeat { lines.append(try await process.output.nextLine()) } while lines.last != "all is sent"
    // Each part is sent once, in order. How many are sent before the cable is out depends on timing.
    #expect(lines.filter { $0.hasPrefix("    sent") } == (1...8).map { "    sent part \($0) of 8" })
    #expect(lines.filter { $0.hasPrefix("path:") } == ["path: wired"], "the kind did not change")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
  }

  @Test func siteStatusStartsStopsAndShowsTheState() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let process = try start("SiteStatus", [site.url], in: lab, terminal: LabTerminal())
    let available = "available (204), over loopback"
    func read(until text: String) async throws {
      var line = ""
      repeat { line = try await process.output.nextLine() } while line != text
    }
    try await read(until: "now: \(available)")
    try process.type("state\n")
    try await read(until: available)
    try process.type("stop\nstate\n")
    try await read(until: "stopped")
    let requests = site.requests.count
    try process.type("start\n")
    try await read(until: "now: \(available)")
    #expect(site.requests.count == requests + 1)
    site.turn(LabSite.portal)
    try process.type("stop\nstart\n")
    try await read(until: "now: captive portal (302), over loopback")
    try process.type("quit\n")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
  }

  /// The name with which the sample begins the line.
  private static func line(_ listener: String, _ text: String) -> String {
    listener + String(repeating: " ", count: 14 - listener.count) + text
  }

  /// Its lines go into a pipe, each at once. With a terminal, text can be typed.
  private func start(
    _ name: String, _ arguments: [String] = [], in lab: NetworkLab, terminal: LabTerminal? = nil
  ) throws -> LabProcess {
    let folder = Tool.path.dropLast("dialtone".count)
    return try lab.spawn(
      folder + name, arguments, environment: ["ASAN_OPTIONS": "detect_leaks=0"], terminal: terminal)
  }

  private func end(_ process: LabProcess) async throws {
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }
}
