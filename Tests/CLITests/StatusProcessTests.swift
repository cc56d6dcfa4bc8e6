// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct StatusProcessTests {
  @Test func exitsWithZeroIfAllAreReachable() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let result = try await Tool.run(["status", "10.0.0.9", "internet", "127.0.0.1"], in: lab)
    #expect(result.ending == .exited(0))
    #expect(
      result.output == """
        10.0.0.9   reachable    via wired (v0), direct
        internet   reachable    via wired (v0), gateway 10.0.0.2
        127.0.0.1  reachable    via loopback (lo), this machine

        """)
    #expect(result.error == "")
  }

  @Test func exitsWithOneIfSomeAreNotReachable() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["status", "127.0.0.1", "192.0.2.7"], in: lab)
    #expect(result.ending == .exited(1))
    #expect(result.output.hasSuffix("192.0.2.7  unreachable  no route to the destination\n"))
  }

  @Test func exitsWithTwoIfDenied() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    // It must not wait for its timeout, which is longer than this test may take.
    let result = try await Tool.run(["status", "--timeout", "10000"], in: lab, denying: .netlinkSockets())
    #expect(result.ending == .exited(2))
    #expect(result.output == "internet  undetermined  the system denies access to the network's state\n")
  }

  @Test func keepsTheOrderOfTargetsInJSON() async throws {
    let lab = try NetworkLab()
    let targets = ["192.0.2.7", "127.0.0.1", "::1", "internet", "local-network"]
    let result = try await Tool.run(["status", "--json"] + targets, in: lab)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == targets.count)
    for (line, target) in zip(lines, targets) { #expect(line.contains(#""target":"\#(target)","#)) }
  }

  @Test func listsInterfaces() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addVeth("down0", "down1")
    let result = try await Tool.run(["interfaces"], in: lab)
    #expect(result.ending == .exited(0))
    let lines = result.output.split(separator: "\n")
    #expect(
      lines.contains { $0.hasPrefix("lo     loopback  up         -          -         127.0.0.1/8") },
      "\(result.output)")
    #expect(
      lines.contains { $0.hasPrefix("v0 *   wired     up         10 Gbit/s  10.0.0.2  10.0.0.1/24") },
      "\(result.output)")
    #expect(lines.contains { $0.hasPrefix("down0  wired     link-down") }, "\(result.output)")

    let index = try lab.index(of: "down0")
    let json = try await Tool.run(["interfaces", "--json"], in: lab).output.split(separator: "\n").map { String($0) }
    #expect(
      json.contains(
        #"{"name":"down0","index":\#(index),"kind":"wired","up":false,"operating":false,"reason":"link-down","#
          + #""default":false,"gateways":[],"speed":null,"addresses":[]}"#), "\(json)")
    #expect(json.contains { $0.hasPrefix(#"{"name":"v0","#) && $0.contains(#""addresses":["10.0.0.1/24""#) })
  }

  @Test func showsNoControlCharacterOfAnInterface() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v\u{1B}[31m", "v1")
    let text = try await Tool.run(["interfaces"], in: lab, terminal: LabTerminal(), denying: nil).output
    #expect(text.contains(#"v\u{1B}[31m"#))
    let json = try await Tool.run(["interfaces", "--json"], in: lab).output
    #expect(json.contains(#""name":"v\u001b[31m""#))
  }

  @Test func saysThatInterfacesAreDenied() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["interfaces"], in: lab, denying: .netlinkSockets())
    #expect(result.ending == .exited(2))
    #expect(result.output == "")
    #expect(result.error.hasPrefix("dialtone: the system denies access"))
  }
}
