// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// `dialtone explain` as a process. Scripts/faults plays the faults.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct ExplainProcessTests {
  private func object(_ result: Tool.Result) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result)")
  }

  /// A lab whose link has its carrier.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab()
    try lab.makeB()
    let wait = try await Tool.run(["wait", "--quiet", "--timeout", "60"], in: lab)
    try #require(wait.ending == .exited(0))
    return lab
  }

  @Test func exitsWithOneIfThereIsACause() async throws {
    let lab = try await makeLab()
    try lab.deleteRoute("default")
    let result = try await Tool.run(["explain", "-v", "192.0.2.7"], in: lab)
    #expect(result.ending == .exited(1) && result.error == "")
    // The verdict comes first, the steps behind it.
    #expect(result.output.hasPrefix("✗ There is no route to 192.0.2.7.\n  try    Add a route: "), "\(result.output)")
    #expect(result.output.contains("\ncause: no-route (certain)\n\n"), "\(result.output)")
    #expect(result.output.contains("\nfault     route      IPv4  there is no route to 192.0.2.7\n"), "\(result.output)")
  }

  @Test func exitsWithZeroIfNothingIsWrong() async throws {
    let lab = try NetworkLab()
    try lab.up("lo")
    let site = try await LabSite(LabSite.fine, in: lab)
    let result = try await Tool.run(["explain", "--verbose", site.url], in: lab)
    #expect(result.ending == .exited(0), "\(result)")
    #expect(result.output.hasPrefix("✓ Nothing is wrong: 127.0.0.1:\(site.port) answers 204.\n"), "\(result.output)")
    #expect(result.output.contains("(table local)"), "\(result.output)")
    let quiet = try await Tool.run(["explain", "--quiet", site.url], in: lab)
    #expect(quiet.ending == .exited(0) && quiet.output == "" && quiet.error == "")
  }

  /// A page may have no end, as server-sent events have none, whenever the next one comes. Any other that goes no
  /// further has a fault.
  @Test(
    arguments: [("text/html", true, 0), ("text/html", false, 1), ("text/event-stream", false, 0)]
      as [(String, Bool, Int32)])
  func aPageThatGoesOnIsFine(type: String, goesOn: Bool, status: Int32) async throws {
    let lab = try NetworkLab()
    try lab.up("lo")
    let head = SiteStep.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n:\n")
    let site = try await SiteServer(
      SiteBehaviour { _ in [head, goesOn ? .drip(Array(":\n".utf8), every: .milliseconds(100)) : .stall] }, in: lab)
    let result = try await Tool.run(["explain", "http://127.0.0.1:\(site.port)/"], in: lab)
    #expect(result.ending == .exited(status), "\(result)")
  }

  @Test func exitsWithTwoIfTheTimeIsUp() async throws {
    let lab = try await makeLab()
    let result = try await Tool.run(["explain", "192.0.2.7:80", "--timeout", "0.001"], in: lab)
    #expect(result.ending == .exited(2), "\(result)")
    #expect(result.output.hasPrefix("? It ended before "), "\(result.output)")
  }

  @Test(arguments: [["192.0.2.7"], ["127.0.0.1:1"], ["http://127.0.0.1:1/"], ["internet", "--interface", "nosuch0"]])
  func printsAllKeysAsJSON(arguments: [String]) async throws {
    let lab = try NetworkLab()
    try lab.up("lo")
    let result = try await Tool.run(["explain", "--json"] + arguments, in: lab)
    #expect(result.ending == .exited(1))
    let found = try object(result)
    let keys: Set = [
      "target", "cause", "confidence", "summary", "advice", "proof", "details", "works", "others", "steps", "elapsed",
      "interrupted",
    ]
    #expect(Set(found.keys) == keys)
    #expect(found["target"] as? String == arguments[0] && found["elapsed"] is Double)
    #expect(found["interrupted"] as? Bool == false)
    let steps = try #require(found["steps"] as? [[String: Any]])
    for step in steps {
      #expect(Set(step.keys) == ["step", "outcome", "text", "cause", "confidence", "evidence"], "\(step)")
      #expect(step["evidence"] is [String: Any], "\(step)")
    }
    #expect(result.output.split(separator: "\n").count == 1)
  }

  /// A router that takes packets, and an address behind it that does not exist.
  @Test func endsWithinItsTime() async throws {
    let lab = try await makeLab()
    let result = try await Tool.run(["explain", "--json", "http://192.0.2.7/", "--timeout", "2"], in: lab)
    let elapsed = try #require(try object(result)["elapsed"] as? Double)
    // What the kernel is asked takes its time on a busy machine; what is waited for is seconds.
    #expect(elapsed < 20_000, "\(result.output)")
  }

  /// Each of these, from any neighbour, is shorter than it says, or is not what it looks like.
  private static let strangeFrames: [(etherType: UInt16, payload: [UInt8])] = [
    // IEEE's EtherType for experiments, with a first byte that says: an IPv4 header of no bytes.
    (0x88B5, [0, 0, 0, 0]), (0x88B5, []), (0x0800, [0x40, 0, 0, 4]),
    (0x0800, [0x4F] + [UInt8](repeating: 6, count: 39)),
    (0x0800, [0x45]), (0x86DD, [0x60] + [UInt8](repeating: 0, count: 38)), (0x0806, [0, 1, 8, 0, 6, 4, 0, 2]),
  ]

  @Test("whatever a neighbour sends, explain goes on", .enabled(if: NetworkLab.hasIPRoute2, "ip is needed"))
  func aNeighboursFramesEndNothing() async throws {
    let lab = try await makeLab()
    // Packets leave, so that there is something to watch, and nobody answers.
    let neighbour = try lab.ip("neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent")
    try #require(neighbour.status == 0, "\(neighbour)")
    let own = try lab.hardwareAddress(of: "v0")
    let process = try Tool.start(["explain", "--json", "10.0.0.2:443", "--timeout", "6"], in: lab)
    let hasEnded = Box(false)
    async let ending = {
      defer { hasEnded.value = true }
      return try await process.exit()
    }()
    try await eventually("the diagnosis has ended") {
      for frame in Self.strangeFrames {
        try lab.sendFrame(etherType: frame.etherType, frame.payload, by: "v1")
        try lab.sendFrame(etherType: frame.etherType, frame.payload, by: "v1", to: own)
      }
      return hasEnded.value
    }
    let error = try await process.error.text(within: .seconds(60))
    #expect(try await ending == .exited(1), "\(error)")
    let output = try await process.output.text(within: .seconds(60))
    #expect(output.contains(#""cause":"silent""#), "\(output)")
  }

  @Test(arguments: [
    ["a", "b"], ["local-network"], ["internet", "--timeout", "0"], ["192.0.2.7", "-6"], ["http://"],
    ["ftp://example.com/"], ["WSS://example.com/"],
  ])
  func refusesWrongUsage(arguments: [String]) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["explain"] + arguments, in: lab)
    #expect(result.ending == .exited(64) && result.output == "", "\(result)")
  }

  @Test func showsTheVerdictOnATerminal() async throws {
    let lab = try await makeLab()
    let result = try await Tool.run(["explain", "10.0.0.2:1"], in: lab, terminal: LabTerminal())
    #expect(result.output.contains("\u{1B}[31m✗ "), "\(result.output.debugDescription)")
    // The line for what is under way is taken away again.
    #expect(result.output.contains("waiting for the router…") && result.output.contains("\r\u{1B}[K"))
    #expect(result.output.split(separator: "\r\n").last?.hasPrefix("cause: ") ?? false)
  }

  @Test(arguments: [true, false])
  func saysThatItWasInterrupted(json: Bool) async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(nil, in: lab)
    let process = try Tool.start(["explain", site.url] + (json ? ["--json"] : []), in: lab)
    // The second request comes more than a second later: by then the command has heard of the connection, too.
    try await eventually("the site was asked twice") { site.requests.count > 1 }
    try process.signal(SIGINT)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
    let output = try await process.output.text()
    #expect(output.contains(json ? #""interrupted":true"# : "Interrupted after "), "\(output)")
    #expect(output.contains("It ended before the site had answered."), "\(output)")
  }

  @Test func watchNamesItOnceOnATerminal() async throws {
    let lab = try await makeLab()
    let process = try Tool.start(["watch"], in: lab, terminal: LabTerminal())
    #expect(try await process.output.nextLine().contains("32mreachable"))
    try lab.down("v1")
    #expect(try await process.output.nextLine().contains("31munreachable"))
    #expect(try await process.output.nextLine() == "to find out why: dialtone explain internet")
    try lab.up("v1")
    #expect(try await process.output.nextLine().contains("32mreachable"))
    try lab.down("v1")
    #expect(try await process.output.nextLine().contains("31munreachable"))
    try lab.up("v1")
    #expect(try await process.output.nextLine().contains("32mreachable"), "it is named once")
    try process.type("\u{3}")
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
  }
}
