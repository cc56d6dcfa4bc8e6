// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore
import NIOPosix
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis
@testable import DialtoneSites

/// What root servers at the other end of a cable are asked, and what is made of answers that come at once.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct BeyondProbeTests {
  private static let roots = RootServers.addresses[.ipv4] ?? []

  /// A cable to all root servers, which have their addresses, and answer as is said, or refuse if it is not.
  private struct Roots {
    let cable: LabCable
    let servers: [NameServerTests.Server]

    init(_ answer: (@Sendable (NameServerTests.Question) -> [UInt8]?)?) async throws {
      cable = try LabCable()
      servers = try await BeyondProbeTests.servers(in: cable.server, answer)
    }

    /// Asks until it is as it should be: a machine that is busy for a second asks in other ways, too.
    func finding(
      _ target: ReachabilityTarget = .internet, until isRight: (BeyondFinding) -> Bool
    ) throws -> (finding: BeyondFinding, isByProxy: Bool) {
      var last: (BeyondFinding, Bool)?
      for _ in 0..<5 {
        let found = try BeyondProbeTests.finding(target, in: cable.client)
        last = found
        if isRight(found.0) { break }
      }
      return try #require(last)
    }
  }

  /// Gives a lab the addresses of all root servers, which answer as is said, or not at all.
  static func servers(
    in lab: NetworkLab, _ answer: (@Sendable (NameServerTests.Question) -> [UInt8]?)?
  ) async throws -> [NameServerTests.Server] {
    var servers: [NameServerTests.Server] = []
    for root in roots {
      let address = try #require(IPAddress(root))
      try lab.addAddress("\(root)/32", "lo")
      if let answer { servers.append(try await NameServerTests.Server(in: lab, at: address, answer)) }
    }
    return servers
  }

  /// What a lab finds beyond the router, and whether a proxy is set.
  static func finding(
    _ target: ReachabilityTarget, in lab: NetworkLab
  ) throws -> (finding: BeyondFinding, isByProxy: Bool) {
    try lab.run {
      var configuration = DiagnosisConfiguration()
      configuration.family = .ipv4
      let deadline = TimeSource.system.now() + 3_600_000_000_000
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(target), configuration: configuration, findings: [], deadline: deadline)
      let found = SystemQuestion(inquiry: inquiry, patience: Patience(until: deadline)).findings(for: .beyond)
      let findings = found.compactMap { if case .beyond(let beyond) = $0 { beyond } else { nil } }
      return (try #require(findings.first), inquiry.hasProxySetting)
    }
  }

  /// RFC 9609: the first name server of the root, with authority (AA), for six days (0x7E900 seconds).
  static func root(_ question: NameServerTests.Question, flags: [UInt8] = [0x84, 0]) -> [UInt8] {
    question.id + flags + [0, 1, 0, 1, 0, 0, 0, 0] + question.bytes[12...]
      + [0, 0, 2, 0, 1, 0, 7, 0xE9, 0, 0, 3, 1, 97, 0]
  }

  /// RFC 1035, 4.1: what is asked is the root's name servers, and no recursion.
  @Test func aRootServerThatAnswersIsEnough() async throws {
    let asked = Box<Set<[UInt8]>>([])
    let roots = try await Roots { question in
      asked.update { $0.insert(Array(question.bytes.dropFirst(2))) }
      return Self.root(question)
    }
    // RFC 7766, 5: each takes connections, too.
    let channel = try await RootStream.listen(in: roots.cable.server)
    let (finding, isByProxy) = try roots.finding { $0.trace == nil && [nil, .answered].contains($0.connection) }
    #expect((1...2).contains(finding.questions.count) && finding.questions.allSatisfy { $0.outcome == .answer })
    #expect(finding.questions.allSatisfy { Self.roots.contains("\($0.server)") } && finding.trace == nil)
    #expect(finding.connection == (isByProxy ? nil : .answered) && finding.stopsSites == nil)
    #expect(asked.value == [[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1]])
    // Whether connections pass matters if the Internet was asked about, and nothing else.
    let target = ReachabilityTarget.address(IPAddress(ipv4: 0xCB00_710A))
    let host = try roots.finding(target) { $0.trace == nil }.finding
    #expect(host.connection == nil && host.hasAnswer && host.trace == nil)
    try await channel.close()
    withExtendedLifetime(roots) {}
  }

  /// What passes over connections is what programs get: that a root server answers a datagram says nothing of it.
  /// Each fault is made by a filter (nft(8); of a handshake's packets, conntrack calls the first one new alone), or by
  /// servers that are others.
  @Test(
    .enabled(if: NetworkLab.hasFirewall, "nftables is needed"),
    .enabled(
      if: ProxySettings.environment.setting(for: "https://dialtone.invalid/") == nil, "a proxy takes their place"),
    arguments: [
      ("there input meta length > 1400 drop", .answers, .largeVanishes),
      ("there input ct state established meta length > 60 drop", .answers, .silent),
      ("there output meta length > 60 tcp sport 53 drop", .answers, .silent),
      ("there input meta length > 60 tcp dport 53 reject with tcp reset", .answers, .reset),
      ("there input meta length > 1400 reject with tcp reset", .answers, .reset), ("", .closes, .reset),
      ("", .says(Self.cache), .leadsOn), ("", .closesLarge, .answered),
      ("", .ignoresLarge, .answered), ("here output ct state established drop", .answers, .held),
    ] as [(String, RootStream.Manner, BeyondFinding.Connection)])
  func whatPassesOverConnectionsCounts(
    filter: String, manner: RootStream.Manner, expected: BeyondFinding.Connection
  ) async throws {
    let roots = try await Roots { Self.root($0) }
    let channel = try await RootStream.listen(in: roots.cable.server, manner)
    let words = filter.split(separator: " ", maxSplits: 2)
    if words.count == 3 {
      let lab = words[0] == "here" ? roots.cable.client : roots.cable.server
      try lab.nft(
        "table inet way { chain on { type filter hook \(words[1]) priority 0; meta l4proto tcp \(words[2]); }; }")
    }
    let finding = try roots.finding { $0.connection == expected }.finding
    #expect(finding.hasAnswer && finding.connection == expected, "\(finding)")
    try await channel.close()
    withExtendedLifetime(roots) {}
  }

  /// A server that takes no connections resets those to the port of sites itself, from as far away as it answers
  /// questions, as the time to live of both packets tells (ip(7), IP_MINTTL); what resets them nearer is in the way.
  @Test(
    .enabled(if: NetworkLab.hasFirewall, "nftables is needed"),
    .enabled(
      if: ProxySettings.environment.setting(for: "https://dialtone.invalid/") == nil, "a proxy takes their place"),
    arguments: [
      ("", false, .otherPort, nil), ("output tcp flags rst ip ttl set 65", false, .nothing, .reset),
      ("input tcp dport 53 drop", false, .otherPort, nil), ("input tcp dport { 53, 443 } drop", false, .leadsOn, nil),
      // What resets is nearer than the server, and lets none die on the way: a filter, or a proxy for its server.
      ("output meta l4proto udp ip ttl set 62", true, .leadsOn, nil), ("", true, .answered, nil),
      // Next to this machine, the server may drop them itself.
      ("input tcp dport 443 drop", true, .leadsOn, nil),
    ] as [(String, Bool, BeyondFinding.Connection, ConnectionFinding.Outcome?)])
  func whatResetsConnectionsIsToldFromTheServer(
    filter: String, takesConnections: Bool, expected: BeyondFinding.Connection, stop: ConnectionFinding.Outcome?
  ) async throws {
    let roots = try await Roots { Self.root($0) }
    let channel = takesConnections ? try await RootStream.listen(in: roots.cable.server) : nil
    let words = filter.split(separator: " ", maxSplits: 1)
    if words.count == 2 {
      try roots.cable.server.nft(
        "table inet way { chain on { type filter hook \(words[0]) priority 0; \(words[1]); }; }")
    }
    let finding = try roots.finding { $0.connection == expected && $0.stopsSites == stop }.finding
    #expect(finding.connection == expected && finding.stopsSites == stop, "\(finding)")
    let verdict = DiagnosisVerdict(of: "internet", goal: .internet, findings: [.beyond(finding)])
    #expect(verdict.isFine == (expected != .leadsOn && stop == nil), "\(verdict)")
    try await channel?.close()
    withExtendedLifetime(roots) {}
  }

  /// What a cache says: without authority, and with recursion.
  private static let cache: [UInt8] = [0x81, 0x80]

  /// A cache offers recursion (RA), and has no authority: whoever answers so is on the way.
  @Test func anAnswerOfACacheIsForged() async throws {
    let roots = try await Roots { Self.root($0, flags: [0x81, 0x80]) }
    let finding = try roots.finding { $0.trace == nil }.finding
    #expect(finding.questions.map(\.outcome) == [.forged, .forged] && finding.trace == nil)
    #expect(Set(finding.questions.map(\.server)).count == 2 && finding.connection == nil)
    withExtendedLifetime(roots) {}
  }

  /// RFC 1122, 4.1.3.1, RFC 9293, 3.5.2: nothing listens there, and connections are reset as near as that.
  @Test func whatIsRefusedNearIsToldSo() async throws {
    let roots = try await Roots(nil)
    func isRight(_ finding: BeyondFinding) -> Bool {
      finding.questions.count == 2
        && finding.questions.allSatisfy {
          $0.outcome == .refused(NetworkStatement(.portUnreachable, by: $0.server))
        }
    }
    let finding = try roots.finding(until: isRight).finding
    #expect(isRight(finding) && finding.trace == .silent, "\(finding)")
    #expect(finding.connection == nil && finding.stopsSites == nil)
    withExtendedLifetime(roots) {}
  }
}
#endif
