// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import NIOCore
import NIOPosix
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Root servers of which one answers, or late, and routers that stop connections to sites alone.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct DiagnosisBeyondTests {
  private static let host = ReachabilityTarget.address(NearestCauseTests.target)

  private static func finding(_ target: ReachabilityTarget, in lab: NetworkLab) throws -> BeyondFinding {
    try BeyondProbeTests.finding(target, in: lab).finding
  }

  /// RFC 1122, 4.1.3.1: this machine has those addresses itself, and says that nothing listens there.
  @Test func theOwnWordOfAPortIsNoSilence() async throws {
    let lab = try NetworkLab()
    _ = try await BeyondProbeTests.servers(in: lab, nil)
    let finding = try Self.finding(Self.host, in: lab)
    #expect(finding.questions.count == 2 && finding.trace == nil)
    for question in finding.questions {
      let word = NetworkStatement(.portUnreachable, by: question.server, isOwn: true)
      #expect(question.outcome == .refused(word))
    }
  }

  /// One that answers is enough to know of its family: nobody waits for the other, which says nothing.
  @Test func oneAnswerIsEnough() async throws {
    let cable = try LabCable()
    let chosen = Box<[UInt8]?>(nil)
    let servers = try await BeyondProbeTests.servers(in: cable.server) { question in
      chosen.update { $0 = $0 ?? question.id }
      return chosen.value == question.id ? BeyondProbeTests.root(question) : nil
    }
    #expect(try Self.finding(Self.host, in: cable.client).questions.map(\.outcome) == [.answer])
    withExtendedLifetime(servers) {}
  }

  /// RFC 1035, 4.2.1: a question is sent again after a second, and connections are tried beside it then.
  @Test func whoIsAskedAgainIsTracedToo() async throws {
    let cable = try LabCable()
    let seen = Box<Set<[UInt8]>>([])
    let servers = try await BeyondProbeTests.servers(in: cable.server) { question in
      let isNew = !seen.value.contains(question.id)
      seen.update { $0.insert(question.id) }
      return isNew ? nil : BeyondProbeTests.root(question)
    }
    let finding = try Self.finding(Self.host, in: cable.client)
    #expect(finding.hasAnswer && finding.questions.allSatisfy { $0.outcome == .answer } && finding.trace != nil)
    withExtendedLifetime(servers) {}
  }

  /// The same, before the first router looks at a packet's time to live: whether sites are stopped is not known.
  @Test(
    .enabled(if: NetworkLab.hasFirewall, "nftables is needed"),
    .enabled(
      if: ProxySettings.environment.setting(for: "https://dialtone.invalid/") == nil, "a proxy takes their place"),
    arguments: ["drop", "reject with tcp reset"])
  func whatStopsSitesBeforeTheirTimeIsLookedAtIsUnknown(verdict: String) async throws {
    let labs = try await WayProbeTests().row(of: 3)
    try labs[1].sysctl("ipv4/icmp_ratelimit", 1_000)
    try labs[1].nft(
      "table inet way { chain on { type filter hook prerouting priority 0; tcp dport 443 \(verdict); }; }")
    let servers = try await BeyondProbeTests.servers(in: labs[3]) { BeyondProbeTests.root($0) }
    let channel = try await RootStream.listen(in: labs[3])
    var found: [BeyondFinding] = []
    for _ in 0..<5 where found.last?.connection != .leadsOn { found.append(try Self.finding(.internet, in: labs[0])) }
    let last = try #require(found.last)
    #expect(last.hasAnswer && last.connection == .leadsOn && last.stopsSites == nil, "\(last)")
    try await channel.close()
    withExtendedLifetime(servers) {}
  }

  /// RFC 1812, 5.3.1: routers say where a packet's time to live ends. The first lets connections to name servers pass
  /// and stops those to sites; a machine that is busy for longer than routers may take does not see it.
  @Test(
    .enabled(if: NetworkLab.hasFirewall, "nftables is needed"),
    .enabled(
      if: ProxySettings.environment.setting(for: "https://dialtone.invalid/") == nil, "a proxy takes their place"),
    arguments: [
      ("drop", .silent), ("reject with tcp reset", .reset), ("accept", nil),
      ("reject", .refused(NetworkStatement(.portUnreachable, by: IPAddress(ipv4: 0x0A00_0002)))),
    ] as [(String, ConnectionFinding.Outcome?)])
  func whatStopsSitesIsNear(verdict: String, stop: ConnectionFinding.Outcome?) async throws {
    let labs = try await WayProbeTests().row(of: 3)
    // icmp(7): six at once, and one a second, is the default.
    try labs[1].sysctl("ipv4/icmp_ratelimit", 1_000)
    try labs[1].nft(
      "table inet way { chain on { type filter hook forward priority 0; tcp dport 443 \(verdict); }; }")
    let servers = try await BeyondProbeTests.servers(in: labs[3]) { BeyondProbeTests.root($0) }
    let channel = try await RootStream.listen(in: labs[3])
    var found: [BeyondFinding] = []
    for _ in 0..<5 where found.last.map({ $0.connection != .answered || $0.stopsSites != stop }) ?? true {
      found.append(try Self.finding(.internet, in: labs[0]))
    }
    let last = try #require(found.last)
    #expect(last.hasAnswer && last.connection == .answered && last.stopsSites == stop, "\(last)")
    try await channel.close()
    withExtendedLifetime(servers) {}
  }
}
#endif
