// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct HintProcessTests {
  @Test func saysAtOnceThatAnInterfaceIsNotThere() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("wlan0", "far0")
    for command in ["watch", "wait"] {
      let process = try Tool.start([command, "--interface", "wlan1", "10.9.0.2"], in: lab)
      let hint = try await process.error.nextLine()
      #expect(hint == "dialtone: --interface: there is no interface \"wlan1\" yet; did you mean wlan0?")
      // The command waits for it nevertheless.
      try lab.addVeth("wlan1", "far1")
      try lab.up("wlan1", "far1")
      try lab.addAddress("10.9.0.1/24", "wlan1")
      var line = ""
      repeat { line = try await process.output.nextLine() } while !line.contains("  reachable  ")
      #expect(line.contains("via wired (wlan1), direct"))
      try process.signal(SIGTERM)
      _ = try await process.exit(within: .seconds(60))
      try lab.deleteLink("wlan1")
    }
  }

  @Test func saysNothingOfAnInterfaceThatIsThere() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["status", "-i", "lo", "127.0.0.1"], in: lab)
    #expect(result.ending == .exited(0) && result.error == "")
    let other = try await Tool.run(["status", "-i", "tun0", "127.0.0.1"], in: lab)
    #expect(other.error == "dialtone: --interface: there is no interface \"tun0\" yet; there is lo\n")
    let site = try await Tool.run(["check", "-i", "lp", "-t", "1", "http://127.0.0.1:1/"], in: lab)
    #expect(site.error == "dialtone: --interface: there is no interface \"lp\" yet; did you mean lo?\n")
  }

  @Test func saysThatATargetIsAnInterface() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["status", "-t", "2", "lo"], in: lab)
    let hint = "dialtone: \"lo\" is taken for a host name; for the interface of that name, write: --interface lo\n"
    #expect(result.error == hint)
    #expect(try await Tool.run(["explain", "-t", "2", "lo"], in: lab).error == hint)
    // The lookup goes on: a host may have that name.
    #expect(result.output.hasPrefix("lo  "))
    let host = try await Tool.run(["status", "-t", "2", "localhost", "lo.", "http://lo/"], in: lab)
    #expect(host.error == "", "\(host.error)")
  }

  @Test func saysOnceWhyItWaits() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    let process = try Tool.start(["wait", "internet", "10.0.0.9"], in: lab)
    let reason = "to be reachable: wired (v0), no carrier"
    let first = try await process.error.nextLine()
    #expect(first.hasPrefix("dialtone: waiting for ") && first.hasSuffix(reason), "\(first)")
    try lab.down("v0")
    let second = try await process.error.nextLine()
    #expect(second.hasPrefix("dialtone: waiting for ") && second != first, "\(second)")
    try lab.up("v0", "v1")
    try lab.addRoute("default", via: "10.0.0.2")
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
    let rest = try await process.error.text()
    #expect(!rest.contains(reason), "each reason once: \(rest)")
  }

  @Test func saysWhyItWaitsForASite() async throws {
    let lab = try NetworkLab()
    let process = try Tool.start(["wait", "--site", "http://127.0.0.1:1/"], in: lab)
    let line = try await process.error.nextLine()
    #expect(line.hasPrefix("dialtone: waiting for http://127.0.0.1:1/ to be available: failed, connect: "), "\(line)")
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }

  @Test func followsTheReasonOnATerminal() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    let process = try Tool.start(["wait"], in: lab, terminal: LabTerminal())
    // The progress line has no end of its own; the terminal's echo ends it.
    func shows(_ reason: String) async throws {
      try await eventually(within: .seconds(60), "it shows \(reason)") {
        try process.type("\n")
        return try await process.output.nextLine().contains("waiting for internet to be reachable: \(reason), ")
      }
    }
    try await shows("wired (v0), no carrier")
    // This order matters: with carrier and route it would be reachable for a moment, and the wait would end.
    try lab.deleteRoute("default")
    try lab.up("v1")
    try await shows("no route to the destination")
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }

  @Test func listsInterfacesWithinTheColumnsOfTheTerminal() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("fifteen-letters", "far0")
    try lab.addAddress("2001:db8:1234:5678:9abc:def0:1234:5678/128", "fifteen-letters")
    let text = try await Tool.run(["interfaces"], in: lab, terminal: LabTerminal()).output
    #expect(text.contains("2001:db8:1234:5678:9abc:def0:1234:5678/128"))
    let plain = text.replacing(/\e\[\d+m/, with: "")
    for line in plain.split(separator: "\r\n") { #expect(line.count <= 80, "\(plain)") }
  }
}
