// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NetworkLab
import TestSupport
import Testing

@testable import DialtoneCLI

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct InterfacesProcessTests {
  /// A veth's speed is 10 Gbit/s (drivers/net/veth.c); loopback has none.
  @Test func listsWhatThereIs() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addBridge("docker0")
    try lab.up("docker0")
    try lab.addAddress("172.17.0.1/16", "docker0")
    try lab.addAddress("fe80::1234/64", "v0")
    let text = try await Tool.run(["interfaces", "v0", "docker0"], in: lab)
    #expect(text.ending == .exited(0))
    #expect(
      text.output == """
        NAME     KIND   STATE  SPEED      GATEWAY   ADDRESSES
        v0 *     wired  up     10 Gbit/s  10.0.0.2  10.0.0.1/24
        docker0  other  idle   -          -         172.17.0.1/16

        """)
    let all = try await Tool.run(["interfaces", "--all", "v0"], in: lab)
    #expect(all.output.contains("10.0.0.1/24 ") && all.output.contains("fe80::1234/64"), "\(all.output)")
    let json = try await Tool.run(["interfaces", "--json", "v0"], in: lab)
    #expect(json.output.contains(#""default":true,"gateways":["10.0.0.2"],"speed":10000,"addresses":["10.0.0.1/24","#))
    #expect(json.output.contains("fe80::1234/64"))
  }

  /// What is idle is no fault; the way to the Internet without a carrier is one.
  @Test func isRedWhereItMatters() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addBridge("docker0")
    try lab.up("docker0")
    try lab.down("v1")
    let text = try await Tool.run(["interfaces", "v0", "docker0", "v1"], in: lab, terminal: LabTerminal()).output
    #expect(text.contains("v0 *     wired  \u{1B}[31mno-carrier\u{1B}[0m"), "\(text.debugDescription)")
    #expect(text.contains("docker0  other  \u{1B}[2midle\u{1B}[0m"), "\(text.debugDescription)")
    #expect(text.contains("v1       wired  \u{1B}[2mlink-down\u{1B}[0m"), "\(text.debugDescription)")
  }

  @Test func saysThatThereIsNone() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("wlan0", "far0")
    let result = try await Tool.run(["interfaces", "wlan1", "lo"], in: lab)
    #expect(result.ending == .exited(1))
    #expect(result.error == "dialtone: there is no interface \"wlan1\"; did you mean wlan0?\n")
    #expect(result.output.hasPrefix("NAME  KIND"))
  }

  @Test(arguments: [
    (10, "10 Mbit/s"), (100, "100 Mbit/s"), (1000, "1 Gbit/s"), (2500, "2.5 Gbit/s"), (400_000, "400 Gbit/s"),
  ])
  func saysTheSpeed(speed: UInt32, words: String) { #expect(InterfaceFormatter.words(speed) == words) }
}
