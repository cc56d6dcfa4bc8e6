// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import NIOCore
import NIOPosix
import Netlink
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Root servers of which one answers, or late, and routers that stop connections to sites alone.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)))
struct DiagnosisBeyondTests {
  private typealias Server = NameServerTests.Server
  private typealias Question = NameServerTests.Question

  private static let host = ReachabilityTarget.address(NearestCauseTests.target)

  /// Gives a lab the addresses of all root servers, which answer as is said, or not at all.
  private static func roots(in lab: NetworkLab, _ answer: (@Sendable (Question) -> [UInt8]?)?) async throws -> [Server]
  {
    var servers: [Server] = []
    for root in RootServers.addresses[.ipv4] ?? [] {
      try lab.addAddress("\(root)/32", "lo")
      let address = try #require(IPAddress(root))
      if let answer { servers.append(try await Server(in: lab, at: address, answer)) }
    }
    return servers
  }

  /// RFC 9609: the first name server of the root, with authority (AA), for six days (0x7E900 seconds).
  private static func root(_ question: Question) -> [UInt8] {
    question.id + [0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0] + question.bytes[12...]
      + [0, 0, 2, 0, 1, 0, 7, 0xE9, 0, 0, 3, 1, 97, 0]
  }

  private static func finding(_ target: ReachabilityTarget, in lab: NetworkLab) throws -> BeyondFinding {
    try lab.run {
      var configuration = DiagnosisConfiguration()
      configuration.family = .ipv4
      let deadline = TimeSource.system.now() + 3_600_000_000_000
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(target), configuration: configuration, findings: [], deadline: deadline)
      let found = SystemQuestion(inquiry, Patience(until: deadline)).findings(for: .beyond)
      return try #require(found.lazy.compactMap { if case .beyond(let beyond) = $0 { beyond } else { nil } }.first)
    }
  }

  /// RFC 1122, 4.1.3.1: this machine has those addresses itself, and says that nothing listens there.
  @Test func theOwnWordOfAPortIsNoSilence() async throws {
    let lab = try NetworkLab()
    _ = try await Self.roots(in: lab, nil)
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
    let servers = try await Self.roots(in: cable.server) { question in
      chosen.update { $0 = $0 ?? question.id }
      return chosen.value == question.id ? Self.root(question) : nil
    }
    #expect(try Self.finding(Self.host, in: cable.client).questions.map(\.outcome) == [.answer])
    withExtendedLifetime(servers) {}
  }

  /// RFC 1035, 4.2.1: a question is sent again after a second, and connections are tried beside it then.
  @Test func whoIsAskedAgainIsTracedToo() async throws {
    let cable = try LabCable()
    let seen = Box<Set<[UInt8]>>([])
    let servers = try await Self.roots(in: cable.server) { question in
      let isNew = !seen.value.contains(question.id)
      seen.update { $0.insert(question.id) }
      return isNew ? nil : Self.root(question)
    }
    let finding = try Self.finding(Self.host, in: cable.client)
    #expect(finding.hasAnswer && finding.questions.allSatisfy { $0.outcome == .answer } && finding.trace != nil)
    withExtendedLifetime(servers) {}
  }

  /// RFC 1812, 5.3.1: routers say where a packet's time to live ends. The first lets connections to name servers pass
  /// and stops those to sites; a machine that is busy for longer than routers may take does not see it.
  @Test(
    .enabled(if: NetworkLab.hasFirewall, "nftables is needed"),
    .enabled(
      if: ProxySettings.environment.setting(for: "https://dialtone.invalid/") == nil, "a proxy takes their place"),
    arguments: [("drop", .silent), ("reject with tcp reset", .reset), ("accept", nil)]
      as [(String, ConnectionFinding.Outcome?)])
  func whatStopsSitesIsNear(verdict: String, stop: ConnectionFinding.Outcome?) async throws {
    let labs = try (0...3).map { _ in try NetworkLab() }
    for (number, (lab, next)) in zip(labs, labs.dropFirst()).enumerated() {
      try lab.addVeth("to", "from", peerIn: next)
      try lab.up("to")
      try next.up("from")
      try lab.addAddress("10.\(number).0.1/24", "to")
      try next.addAddress("10.\(number).0.2/24", "from")
      try lab.addRoute("default", via: "10.\(number).0.2", dev: "to")
      if number > 0 { try next.addRoute("10.0.0.0/24", via: "10.\(number).0.1", dev: "from") }
      try next.sysctl("ipv4/ip_forward", 1)
      try next.sysctl("ipv4/icmp_ratelimit", 0)
    }
    try labs[1].nft(
      "table inet way { chain on { type filter hook forward priority 0; tcp dport 443 \(verdict); }; }")
    let servers = try await Self.roots(in: labs[3], Self.root)
    let group = MultiThreadedEventLoopGroup.singleton
    let channel = try await labs[3].run { ServerBootstrap(group: group).bind(host: "0.0.0.0", port: 53) }.get()
    var found: [BeyondFinding] = []
    for _ in 0..<5 where found.last.map({ $0.takesConnections != true || $0.stopsSites != stop }) ?? true {
      found.append(try Self.finding(.internet, in: labs[0]))
    }
    let last = try #require(found.last)
    #expect(last.hasAnswer && last.takesConnections == true && last.stopsSites == stop, "\(last)")
    try await channel.close()
    withExtendedLifetime(servers) {}
  }
}
#endif
