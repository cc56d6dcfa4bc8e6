// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct WatchProcessTests {
  @Test func seesALinkPulled() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["internet", "10.0.0.9"], in: lab)
    let first = [try await process.output.nextLine(), try await process.output.nextLine()]
    #expect(first.contains { $0.hasSuffix("  internet  reachable    via wired (v0), gateway 10.0.0.2") }, "\(first)")
    #expect(first.contains { $0.hasSuffix("  10.0.0.9  reachable    via wired (v0), direct") }, "\(first)")

    try lab.down("v1")
    for _ in 0..<2 {
      let line = try await process.output.nextLine()
      #expect(
        line.contains("  unreachable  wired (v0), no carrier  after ") && line.hasSuffix(" reachable"), "\(line)")
    }
    try lab.up("v1")
    for _ in 0..<2 {
      let line = try await process.output.nextLine()
      #expect(line.contains("  reachable    via wired (v0), ") && line.hasSuffix(" unreachable"), "\(line)")
    }
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
    #expect(try await process.output.line() == nil)
    #expect(try await process.error.text() == "")
  }

  @Test func writesJSONWithEveryKey() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let index = try lab.index(of: "v0")
    let result = try await Tool.run(["watch", "--json", "--count", "1", "--no-nat64"], in: lab)
    #expect(result.ending == .exited(0))
    let time = /\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",/
    #expect(result.output.prefixMatch(of: time) != nil, "\(result.output)")
    let rest = result.output.replacing(time, with: "")
    #expect(
      rest == #""target":"internet","status":"reachable","flags":["reachable"],"flagsDescription":"-R -------","#
        + #""interface":{"name":"v0","index":\#(index),"kind":"wired"},"source":"10.0.0.1","gateway":"10.0.0.2","#
        + #""destination":"198.41.0.4","reason":null}"# + "\n")
  }

  /// POSIX' `TZ`, whose offsets have the other sign than RFC 3339's.
  @Test(arguments: [("UTC0", "+00:00"), ("XXX3:30", "-03:30"), ("XXX-5:45", "+05:45")])
  func writesTheTimeOfThePlaceIntoAFile(zone: String, offset: String) async throws {
    let before = Date.now
    let result = try await Tool.run(
      ["watch", "--count", "1", "127.0.0.1"], in: try NetworkLab(), environment: ["TZ": zone])
    let words = result.output.split(separator: " ", maxSplits: 2)
    #expect(words.count == 3 && words[1].hasSuffix(offset) && words[2].hasPrefix(" 127.0.0.1 "), "\(result.output)")
    let time = try Date(words.prefix(2).joined(separator: "T"), strategy: .iso8601)
    #expect((before.addingTimeInterval(-1)...Date.now).contains(time), "\(result.output)")
  }

  @Test func endsAfterItsLines() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["--count", "2"], in: lab)
    _ = try await process.output.nextLine()
    try lab.deleteRoute("default")
    #expect(try await process.output.nextLine().contains("unreachable  no route"))
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
    #expect(try await process.output.line() == nil)
  }

  @Test func endsWithItsTime() async throws {
    let lab = try NetworkLab()
    let start = ContinuousClock.now
    let result = try await Tool.run(["watch"], untilTimeoutIn: lab) { !$0.output.isEmpty }
    #expect(start.duration(to: .now) >= .milliseconds(300))
    #expect(result.ending == .exited(0))
    #expect(result.output.contains("unreachable  no route"))
  }

  @Test func saysOnceThatItIsDenied() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let result = try await Tool.run(["--json"], untilTimeoutIn: lab, denying: .netlinkSockets()) { !$0.output.isEmpty }
    #expect(result.ending == .exited(2))
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 1, "\(result.output)")
    #expect(lines.first?.contains(#""status":"undetermined","#) == true)
    #expect(lines.first?.hasSuffix(#""reason":"denied"}"#) == true)
  }

  @Test func picksUpAnInterfaceThatAppears() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["10.9.0.2", "--interface", "late0"], in: lab)
    #expect(try await process.output.nextLine().contains("unreachable  the interface does not exist"))
    try lab.addVeth("late0", "late1")
    try lab.up("late0", "late1")
    try lab.addAddress("10.9.0.1/24", "late0")
    var line = ""
    repeat { line = try await process.output.nextLine() } while !line.contains("  reachable  ")
    #expect(line.contains("via wired (late0), direct"))
  }

  @Test(arguments: [(["-4"], "10.0.0.2"), (["-6"], "fd00::2")])
  func keepsToOneFamily(option: [String], gateway: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("fd00::1/64", "v0")
    try lab.addRoute("default", via: "fd00::2", dev: "v0")
    let process = try Tool.start(["watch", "--json"] + option, in: lab)
    #expect(try await process.output.nextLine().contains(#""gateway":"\#(gateway)""#))
    // Deleting the other family's route makes no difference.
    try lab.deleteRoute("default", via: option == ["-4"] ? "fd00::2" : "10.0.0.2")
    try lab.deleteRoute("default", via: gateway)
    #expect(try await process.output.nextLine().contains(#""reason":"no-route""#))
  }

  @Test func readsADefaultBehindAMark() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("10.0.0.1/24", "v0")
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0", table: 201)
    try lab.addRule(priority: 100, .lookup(201), mark: 0x10)
    #expect(try await Tool.run(["status", "--mark", "0x10"], in: lab).ending == .exited(0))
    #expect(try await Tool.run(["status", "--mark", "16"], in: lab).ending == .exited(0))
    #expect(try await Tool.run(["status", "--mark", "17"], in: lab).ending == .exited(1))
    #expect(try await Tool.run(["status"], in: lab).ending == .exited(1))
  }

  @Test func asksFromAnAddress() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let own = try await Tool.run(["status", "--json", "10.0.0.9", "--from", "10.0.0.1"], in: lab)
    #expect(own.ending == .exited(0))
    #expect(own.output.contains(#""target":"10.0.0.9""#) && own.output.contains(#""source":"10.0.0.1""#))
    let foreign = try await Tool.run(["status", "--json", "10.0.0.9", "--from", "10.0.0.3"], in: lab)
    #expect(foreign.ending == .exited(1))
    #expect(foreign.output.contains(#""reason":"no-address""#))
  }

  @Test func watchesATargetTypedTwiceOnce() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let result = try await Tool.run(["internet", "internet"], untilTimeoutIn: lab) { !$0.output.isEmpty }
    #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
  }
}
