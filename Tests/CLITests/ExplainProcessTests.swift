// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import TestSupport
import Testing

/// `dialtone explain` as a process. Scripts/explain-faults plays the faults.
@Suite(.needsNamespaces, .serialized, .timeLimit(.minutes(5)), .fewAtATime)
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
    let result = try await Tool.run(["explain", "192.0.2.7"], in: lab)
    #expect(result.ending == .exited(1) && result.error == "")
    #expect(result.output.contains("\nfault     route      IPv4  there is no route to 192.0.2.7\n"), "\(result.output)")
    #expect(result.output.contains("\ncause: no-route (certain)\ntry:   Add a route: "), "\(result.output)")
  }

  @Test func exitsWithZeroIfNothingIsWrong() async throws {
    let lab = try NetworkLab()
    try lab.up("lo")
    let site = try await LabSite(LabSite.fine, in: lab)
    let result = try await Tool.run(["explain", site.url], in: lab)
    #expect(result.ending == .exited(0), "\(result)")
    #expect(result.output.hasSuffix("\nNothing is wrong: 127.0.0.1:\(site.port) answers 204.\n"), "\(result.output)")
    #expect(result.output.contains("(table local)"))
    let quiet = try await Tool.run(["explain", "--quiet", site.url], in: lab)
    #expect(quiet.ending == .exited(0) && quiet.output == "" && quiet.error == "")
  }

  @Test func exitsWithTwoIfTheTimeIsUp() async throws {
    let lab = try await makeLab()
    let result = try await Tool.run(["explain", "192.0.2.7:80", "--timeout", "0.001"], in: lab)
    #expect(result.ending == .exited(2), "\(result)")
    #expect(result.output.contains("\nThe time was up before "), "\(result.output)")
  }

  @Test(arguments: [["192.0.2.7"], ["127.0.0.1:1"], ["http://127.0.0.1:1/"], ["internet", "--interface", "nosuch0"]])
  func printsAllKeysAsJSON(arguments: [String]) async throws {
    let lab = try NetworkLab()
    try lab.up("lo")
    let result = try await Tool.run(["explain", "--json"] + arguments, in: lab)
    #expect(result.ending == .exited(1))
    let found = try object(result)
    #expect(Set(found.keys) == ["target", "cause", "confidence", "summary", "advice", "steps", "elapsed"])
    #expect(found["target"] as? String == arguments[0] && found["elapsed"] is Double)
    let steps = try #require(found["steps"] as? [[String: Any]])
    for step in steps {
      #expect(Set(step.keys) == ["step", "outcome", "text", "evidence"], "\(step)")
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

  @Test(arguments: [
    ["a", "b"], ["local-network"], ["internet", "--timeout", "0"], ["192.0.2.7", "-6"], ["http://"],
  ])
  func refusesWrongUsage(arguments: [String]) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["explain"] + arguments, in: lab)
    #expect(result.ending == .exited(64) && result.output == "", "\(result)")
  }

  @Test func showsEachStepOnATerminal() async throws {
    let lab = try await makeLab()
    let result = try await Tool.run(["explain", "10.0.0.2:1"], in: lab, terminal: LabTerminal())
    #expect(result.output.contains("\u{1B}[32mok      \u{1B}[0m  link"), "\(result.output.debugDescription)")
    // The line for what is under way is taken away again.
    #expect(result.output.contains("asking for the gateway…") && result.output.contains("\r\u{1B}[K"))
    #expect(result.output.split(separator: "\r\n").last.map { $0.hasPrefix("try:") || $0.contains("cause:") } ?? false)
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
