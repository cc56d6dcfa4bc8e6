// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport
import Testing

/// The lab itself, compared with `ip` and the shell.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"),
  .timeLimit(.minutes(5)), .threadsApart)
struct NetworkLabTests {
  @Test(.enabled(if: NetworkLab.hasIPRoute2, "iproute2 is not installed"), arguments: 0..<20)
  func keepsNamespacesApart(number: UInt32) throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW(metric: 600 + number)
    #expect(try lab.ip("route show default").output.contains("metric \(600 + number)"))
    let answer = try lab.ip(batch: ["route get fibmatch 198.41.0.4", "route get fibmatch 2001:503:ba3e::2:30"])
    #expect(answer == ["default via 10.0.0.2 dev v0 ", nil])
    try lab.down("v0")
    #expect(try lab.ip("route get fibmatch 198.41.0.4").output.hasPrefix("default via 10.1.0.2 dev w0"))
  }

  @Test func saysWhatTheKernelRefused() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let error = #expect(throws: LabError.self) { try lab.addRoute("192.0.2.0/24", via: "203.0.113.1", dev: "v0") }
    #expect(error?.code == 101)  // ENETUNREACH
    #expect(error?.what.hasPrefix("ip route add 192.0.2.0/24 via 203.0.113.1 dev v0") == true)
  }

  @Test func movesInterfacesBetweenLabs() throws {
    let lab = try NetworkLab()
    let other = try NetworkLab()
    try lab.addVeth("a0", "a1", peerIn: other)
    try lab.move("a0", to: other)
    #expect(throws: LabError.self) { try lab.index(of: "a0") }
    #expect(try other.index(of: "a0") != other.index(of: "a1"))
  }

  @Test func writesSettingsOfItsOwnNamespace() throws {
    let (one, other) = (try NetworkLab(), try NetworkLab())
    try one.sysctl("ipv4/conf/all/ignore_routes_with_linkdown", 1)
    #expect(try one.sysctl("ipv4/conf/all/ignore_routes_with_linkdown") == "1")
    #expect(try other.sysctl("ipv4/conf/all/ignore_routes_with_linkdown") == "0")
  }

  @Test func addsAndDeletesMany() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addRoutes(from: "100.64.0.0/32", count: 20_000, dev: "v0", table: 1000)
    try lab.deleteRoutes(from: "100.64.0.0/32", count: 20_000, dev: "v0", table: 1000)
    try lab.addVeths("x", count: 100)
    #expect(try lab.index(of: "x99p") > 0)
    try lab.deleteVeths()
    #expect(throws: LabError.self) { try lab.index(of: "x99p") }
  }

  @Test func readsOutputAndStatusOfProcesses() async throws {
    let process = try NetworkLab().spawn(
      "/bin/sh", ["-c", "read word; echo $word; echo $LAB; echo oops >&2; exit 3"], environment: ["LAB": "on"],
      input: "hello\n")
    #expect(try await process.output.line() == "hello")
    #expect(try await process.output.line() == "on")
    #expect(try await process.output.line() == nil)
    #expect(try await process.error.text() == "oops\n")
    #expect(try await process.exit() == .exited(3))
  }

  @Test func signalsProcesses() async throws {
    let process = try NetworkLab().spawn("/bin/sh", ["-c", "echo ready; exec sleep 60"])
    #expect(try await process.output.line() == "ready")
    try process.signal(15)
    #expect(try await process.exit() == .signalled(15))
  }

  @Test func givesProcessesATerminal() async throws {
    let process = try NetworkLab().spawn(
      "/bin/sh", ["-c", "trap 'stty size; exit 4' WINCH; stty size; while :; do sleep 0.01; done"],
      terminal: LabTerminal(rows: 30, columns: 99))
    #expect(try await process.output.line() == "30 99")
    try process.resize(rows: 11, columns: 22)
    #expect(try await process.output.line() == "11 22")
    #expect(try await process.exit() == .exited(4))
  }

  @Test(.enabled(if: NetworkLab.hasIPRoute2, "iproute2 is not installed"))
  func refusesNetlinkFromThenOn() throws {
    let lab = try NetworkLab()
    #expect(try lab.ip("link").status == 0)
    try lab.deny(.netlinkSockets())
    #expect(try lab.ip("link").status != 0)
    try lab.addBridge("br0")
  }

  @Test func saysWhatDidNotComeTrue() async throws {
    let error = await #expect(throws: DidNotHappen.self) {
      try await eventually(within: .milliseconds(5), "the moon is full") { false }
    }
    #expect(error?.description.contains("the moon is full") == true)
  }

  @Test func leavesNothingBehind() async {
    // In a process of its own, where no other test opens anything.
    await #expect(processExitsWith: .success) {
      // A thread that has been joined stays in /proc for a moment.
      let limits = Leftovers.Limits(threads: 3)
      let left = try await Leftovers(within: limits) {
        for _ in 0..<4 {
          let lab = try NetworkLab()
          try lab.makeB()
          _ = try lab.spawn("/bin/sleep", ["60"], terminal: LabTerminal())
        }
      }
      #expect(left.isWithin(limits), "\(left)")
    }
  }
}
#endif
