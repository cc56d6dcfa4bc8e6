// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct WaitProcessTests {
  private func isKnown(_ result: Tool.Result) -> Bool { !result.output.contains("undetermined") }

  @Test func returnsWhenAllAreReachable() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let process = try Tool.start(["wait", "10.0.0.9", "internet"], in: lab)
    try lab.addAddress("10.0.0.1/24", "v0")
    try lab.addRoute("default", via: "10.0.0.2")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
    #expect(
      try await process.output.text() == """
        10.0.0.9  reachable    via wired (v0), direct
        internet  reachable    via wired (v0), gateway 10.0.0.2

        """)
    let notes = try await process.error.text().split(separator: "\n")
    #expect(notes.allSatisfy { $0.hasPrefix("dialtone: waiting for ") && !$0.contains("\u{1B}") }, "\(notes)")
  }

  @Test func exitsWithOneAtTheTimeout() async throws {
    let lab = try NetworkLab()
    let start = ContinuousClock.now
    let result = try await Tool.run(["wait", "127.0.0.1", "192.0.2.7"], untilTimeoutIn: lab, where: isKnown)
    #expect(start.duration(to: .now) >= .milliseconds(300))
    #expect(result.ending == .exited(1))
    #expect(result.output.split(separator: "\n").count == 2)
    #expect(result.output.contains("192.0.2.7  unreachable  no route"))
  }

  @Test func waitForAnyEndsWithTheFirst() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let result = try await Tool.run(["wait", "--any", "fd00::7", "10.0.0.9"], in: lab)
    #expect(result.ending == .exited(0))
    #expect(result.output == "10.0.0.9  reachable    via wired (v0), direct\n")
    let none = try await Tool.run(["wait", "--any", "fd00::7", "fd00::8"], untilTimeoutIn: lab, where: isKnown)
    #expect(none.ending == .exited(1))
  }

  @Test func waitsForALossToo() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let kept = try await Tool.run(["wait", "--unreachable"], untilTimeoutIn: lab, where: isKnown)
    #expect(kept.ending == .exited(1))
    let process = try Tool.start(["wait", "--unreachable", "--json"], in: lab)
    try lab.down("v1")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
    #expect(try await process.output.text().contains(#""reason":"no-carrier""#))
  }

  @Test func takesAWiredWayForOneThatIsNotCellular() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    #expect(try await Tool.run(["wait", "--not-cellular"], in: lab).ending == .exited(0))
  }

  @Test func acceptsAConnectionThatTrafficMakesIfToldSo() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("10.0.0.1/24", "v0")
    try lab.setDormant("v0")
    let strict = try await Tool.run(["wait", "10.0.0.9"], untilTimeoutIn: lab, where: isKnown)
    #expect(strict.ending == .exited(1))
    let lenient = try await Tool.run(["wait", "--accept-on-demand", "10.0.0.9"], in: lab)
    #expect(lenient.ending == .exited(0))
    #expect(
      lenient.output.hasPrefix("10.0.0.9  requires-connection  wired (v0), the link is dormant"), "\(lenient.output)")
  }

  @Test func doesNotWaitForWhatIsDenied() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["wait", "--json"], in: lab, denying: .netlinkSockets())
    #expect(result.ending == .exited(2))
    #expect(result.output.hasSuffix("\"reason\":\"denied\"}\n"))
  }
}
