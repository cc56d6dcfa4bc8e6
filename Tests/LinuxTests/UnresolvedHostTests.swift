// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Hosts whose names cannot be looked up, in a network without a default route.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .enabled(if: NetworkLab.hasIPRoute2, "needs ip of iproute2"), .timeLimit(.minutes(5)))
struct UnresolvedHostTests {
  @Test(
    "a host is unreachable only if no name server can be asked, as a real socket finds",
    arguments: ["10.0.0.53", "203.0.113.53"])
  func unreachableOnlyIfNoServerCanBeAsked(text: String) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.deleteRoute("default")
    let server = try address(text)
    let monitors = try LabMonitors(
      lab, lookup: { _, _ in .failed },
      source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: "/nonexistent", readNameServers: { [server] }) })
    var question = LabConnection(to: text, port: 53)
    question.transport = .udp
    let canAsk = try lab.connect(question).isSent
    let host = try await monitors.record(try .host("printer.example"))
    #expect(host.last?.status == (canAsk ? .undetermined : .unreachable))
    #expect(host.last?.reason == (canAsk ? .nameNotResolved : .noRoute))
    let environment = monitors.environment
    let now = Reachability.now(try .host("printer.example"), environment: environment)
    #expect(now.isSameState(as: try #require(host.last)))
    // Without any way, the Internet says why.
    try lab.down("v0")
    #expect(try !lab.connect(question).isSent)
    let internet = Reachability.now(environment: environment)
    try await host.wait("no way") { $0.status == .unreachable && $0.reason == internet.reason }
  }
}
#endif
