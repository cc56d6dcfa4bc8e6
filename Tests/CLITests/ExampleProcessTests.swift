// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CNetlink
import NetworkLab
import Testing

/// The sample programs of Examples, run where a cable is pulled.
@Suite(.needsNamespaces, .serialized, .timeLimit(.minutes(3)))
struct ExampleProcessTests {
  @Test func listeningShowsTheLiveStateToEveryListener() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try start("Listening", in: lab)
    let listeners = ["closure", "queue", "actor", "main actor", "notification", "observable", "updates"]
    // Whoever asked to be told once is told with the first state, and not again when the network is back.
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

  /// How the sample begins the line.
  private static func line(_ listener: String, _ text: String) -> String {
    listener + String(repeating: " ", count: 14 - listener.count) + text
  }

  /// A terminal, as for whoever tries it: only then is each line written at once.
  private func start(_ name: String, in lab: NetworkLab) throws -> LabProcess {
    let folder = Tool.path.dropLast("dialtone".count)
    return try lab.spawn(
      folder + name, environment: ["ASAN_OPTIONS": "detect_leaks=0"], terminal: LabTerminal())
  }

  private func end(_ process: LabProcess) async throws {
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }
}
