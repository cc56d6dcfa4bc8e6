// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// What connect(2) answers to the probe, by the routes and rules of a lab.
@Suite(
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"),
  .timeLimit(.minutes(5)))
struct ConnectProbeAnswerTests {
  private static let far = "2001:db8:ffff::1"

  /// A question, and what is answered.
  private struct Row: Sendable {
    var to = ConnectProbeAnswerTests.far
    var from: String?
    var over: String?
    var mark: UInt32 = 0
    var transport = ReachabilityConfiguration.Transport.tcp
    var port: UInt16 = 0
    let answer: String
  }

  /// v0 with 2001:db8:a::1 and fe80::1, w0 with 2001:db8:b::1, and a default route by v0.
  private func makeLab() async throws -> NetworkLab {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.makeW()
    try lab.addAddress("2001:db8:a::1/64", "v0")
    try lab.addAddress("fe80::1/64", "v0")
    try lab.addAddress("2001:db8:b::1/64", "w0")
    try ip(lab, "-6 route add default via 2001:db8:a::2 dev v0")
    try await lab.waitForCarriers()
    return lab
  }

  private func ip(_ lab: NetworkLab, _ words: String...) throws {
    for words in words {
      let result = try lab.ip(words)
      try #require(result.status == 0, "ip \(words): \(result.error)")
    }
  }

  private func expect(_ lab: NetworkLab, _ rows: [Row], sourceLocation: SourceLocation = #_sourceLocation) throws {
    var indices: [String: UInt32] = [:]
    for name in ["v0", "w0"] { indices[name] = UInt32(try lab.index(of: name)) }
    let answers = try lab.run { [indices] in
      let probe = ConnectProbe()
      return try rows.map { row in
        let destination = KernelQueries.Destination(
          address: try address(row.to).bits, source: try row.from.map { try address($0).bits },
          output: row.over.flatMap { indices[$0] }, mark: row.mark, transport: row.transport, port: row.port)
        switch probe.connect(destination) {
        case .connected(let source): return "\(IPAddress(source))"
        case .refused(let errno): return "error \(errno)"
        case .unknown: return "unknown"
        case .short(let errno): return "short of \(errno)"
        }
      }
    }
    #expect(answers == rows.map(\.answer), sourceLocation: sourceLocation)
  }

  @Test("a source, an interface and a destination are kept to, each for one question")
  func whatIsAskedForIsKeptTo() async throws {
    let lab = try await makeLab()
    try expect(
      lab,
      [
        Row(answer: "2001:db8:a::1"), Row(over: "v0", answer: "2001:db8:a::1"),
        Row(over: "w0", answer: "error \(ENETUNREACH)"), Row(answer: "2001:db8:a::1"),
        Row(from: "2001:db8:b::1", answer: "2001:db8:b::1"), Row(answer: "2001:db8:a::1"),
        Row(to: "2001:db8:b::9", answer: "2001:db8:b::1"), Row(answer: "2001:db8:a::1"),
        // No address of this machine (bind(2), EADDRNOTAVAIL).
        Row(from: "2001:db8:c::1", answer: "unknown"), Row(from: "2001:db8:a::1", over: "v0", answer: "2001:db8:a::1"),
        Row(from: "2001:db8:a::1", over: "w0", answer: "error \(ENETUNREACH)"),
        // ipv6(7): an address of link-local scope needs a scope ID.
        Row(to: "fe80::9", over: "v0", answer: "fe80::1"), Row(to: "fe80::9", answer: "error \(EINVAL)"),
        Row(to: "fe80::9", from: "fe80::1", over: "v0", answer: "fe80::1"), Row(answer: "2001:db8:a::1"),
      ])
  }

  @Test("errors of route lookups are told, and the probe goes on")
  func errorsAreTold() async throws {
    let lab = try await makeLab()
    try ip(
      lab, "-6 route add prohibit 2001:db8:1::/48", "-6 route add unreachable 2001:db8:2::/48",
      "-6 route add blackhole 2001:db8:3::/48")
    try expect(
      lab,
      [
        Row(to: "2001:db8:1::1", answer: "error \(EACCES)"), Row(to: "2001:db8:2::1", answer: "error \(EHOSTUNREACH)"),
        Row(to: "2001:db8:3::1", answer: "error \(EINVAL)"), Row(answer: "2001:db8:a::1"),
      ])
    try ip(lab, "-6 route del default")
    try expect(lab, [Row(answer: "error \(ENETUNREACH)"), Row(to: "2001:db8:a::9", answer: "2001:db8:a::1")])
  }

  /// ip-rule(8). Without a port no rule by port is met.
  @Test("rules see the mark, the protocol and the port")
  func rulesSeeWhatIsAsked() async throws {
    let lab = try await makeLab()
    try ip(lab, "-6 rule add pref 50 fwmark 1 prohibit")
    try expect(
      lab,
      [
        Row(mark: 1, answer: "error \(EACCES)"), Row(mark: 2, answer: "2001:db8:a::1"), Row(answer: "2001:db8:a::1"),
      ])
    try ip(lab, "-6 rule del pref 50", "-6 rule add pref 50 ipproto udp prohibit")
    try expect(
      lab,
      [
        Row(transport: .udp, answer: "error \(EACCES)"), Row(answer: "2001:db8:a::1"),
        Row(transport: .udp, answer: "error \(EACCES)"),
      ])
    try ip(lab, "-6 rule del pref 50", "-6 rule add pref 50 ipproto tcp dport 9 prohibit")
    try expect(
      lab,
      [
        Row(answer: "2001:db8:a::1"), Row(port: 9, answer: "error \(EACCES)"), Row(port: 10, answer: "2001:db8:a::1"),
        Row(port: 443, answer: "2001:db8:a::1"), Row(transport: .udp, port: 9, answer: "2001:db8:a::1"),
      ])
  }
}
#endif
