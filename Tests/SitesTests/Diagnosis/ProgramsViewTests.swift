// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What programs get counts, and who on the way says so: cases that a stranger's network had (each is a fault of
/// `Tests/FaultLab/programs.faults`, too).
struct ProgramsViewTests {
  private typealias Cases = NearestCauseTests

  private static let server = NearestCauseTests.server
  private static let root = IPAddress(ipv4: 0xC629_0004)
  private static let root6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0500_0000_0000, low: 0x53))

  private static func beyond(_ questions: (IPAddress, BeyondFinding.Outcome)...) -> Finding {
    .beyond(BeyondFinding(questions.map { BeyondFinding.Question($0.0, $0.1) }, connection: .answered))
  }

  /// Somebody beyond the router answers, so the router has its uplink: it is the server that nobody knows a way to.
  @Test(arguments: [NetworkStatement.Meaning.networkUnreachable, .hostUnreachable])
  func aNameServerWithoutAWayIsNoUplink(meaning: NetworkStatement.Meaning) {
    let names = Cases.names(.refused(NetworkStatement(meaning, by: Cases.router)))
    let leads = Cases.kernel(.route(.leads(gateway: Cases.router, interface: "eth0")))
    #expect(Cases.cause([leads, names, Self.beyond((Self.root, .answer))], .internet) == .nameServerSilent)
    #expect(Cases.cause([leads, names], .internet) == .routerNoRoute)
  }

  /// A root server serves port 53 (RFC 7720, 2): who says in its name that the port is closed leads questions astray.
  @Test func aRootServerHasNoClosedPort() {
    func meaning(_ statement: NetworkStatement) -> Reading.Meaning {
      let finding = BeyondFinding([BeyondFinding.Question(Self.root, .refused(statement))])
      return BeyondRules.read(finding, Reading.Context([])).meaning
    }
    #expect(meaning(NetworkStatement(.portUnreachable, by: Self.root)) == .beyond(.intercepted))
    for statement in [
      NetworkStatement(.portUnreachable, by: Cases.router), NetworkStatement(.prohibited, by: Self.root),
    ] {
      #expect(meaning(statement) == .beyond(.routerSays(statement)))
    }
  }

  /// A router that asks other name servers by IPv4 finds nothing out if that ends behind it. One beyond, of the family
  /// that works, has its own reason.
  @Test func aFamilyThatEndsBehindTheRouterExplainsItsNameServer() {
    let helpless = NameFinding.Reply.answer(.serverFailure, [])
    let part = Self.beyond((Self.root, .silent), (Self.root6, .answer))
    func verdict(_ server: IPAddress) -> DiagnosisVerdict {
      let leads = Cases.kernel(.route(.leads(gateway: Cases.router, interface: "eth0")))
      let names = NameFinding(
        name: "site.example", servers: [NameFinding.Server(server, ipv4: helpless, ipv6: helpless)])
      return DiagnosisVerdict(of: "site.example", goal: .host, findings: [leads, part, .name(names)])
    }
    #expect(verdict(Cases.router).cause == .familyBroken && verdict(Cases.router).confidence == .likely)
    #expect(verdict(Cases.target6).cause == .nameServerRefuses)
  }

  /// RFC 9293, 3.10.7.1: a reset comes from whom the segment came to. The family works, the target's port does not.
  @Test func aRefusalIsOfTheTargetAndNoDeadFamily() {
    let answer = Finding.site(
      SiteFinding(SiteVerdict(url: "http://site.example/", kind: .available, status: 200)))
    func cause(_ outcome: ConnectionFinding.Outcome) -> DiagnosisCause? {
      Cases.cause(
        [Cases.connection(Cases.target, .accepted(milliseconds: 1)), Cases.connection(Cases.target6, outcome), answer],
        .site)
    }
    #expect(cause(.reset) == .addressDead && cause(.silent) == .familyBroken)
    #expect(cause(.refused(NetworkStatement(.portUnreachable, by: Cases.target6))) == .addressDead)
    #expect(cause(.refused(NetworkStatement(.prohibited, by: Self.root6))) == .familyBroken)
  }

  /// tcp(7), TCP_INFO: what netfilter drops on its way out stays in the queue as not sent.
  @Test(arguments: [(SiteVerdict.Stage.response, 2), (.tls, 1)])
  func whatHasNeverLeftIsThisMachinesFault(stage: SiteVerdict.Stage, position: Int) {
    let silence = SiteVerdict(
      url: "https://site.example/", kind: .failed, stage: stage, error: SiteError(.timedOut, "words"))
    func reading(_ stalls: [SiteFinding.Stall]) -> Reading {
      SiteRules.read(SiteFinding(silence, stalls: stalls))[position]
    }
    #expect(reading([.unsent]).meaning == .site(.held))
    #expect(reading([.unsent, .unsent]).charge == Charge(.localFirewall, nil))
    #expect(reading([.unsent, .unacknowledged]).charge == Charge(.silent, nil))
    #expect(reading([.unsent, .acknowledged]).charge?.cause == .siteFault)
  }

  // MARK: Names

  /// ipv6(7): a link-local address needs its interface (sin6_scope_id); connect(2) says EINVAL without.
  @Test func aLinkLocalServerNeedsItsInterface() throws {
    let server = try #require(IPAddress("fe80::1"))
    let inquiry = NameInquiry(
      configuration: ResolverConfiguration(resolver: "nameserver fe80::1\n", switching: "hosts: dns\n"),
      patience: Patience(until: TimeSource.system.now() + 60_000_000_000)
    ) { KernelEvidence(target: $0, state: Reachability(status: .unreachable, reason: .noInterface)) }
    let found = inquiry.evidence("site.example", families: [.ipv4, .ipv6])
    #expect(found.servers.map(\.ipv4) == [.failed(EINVAL)])
    let reading = NameRules.read(found)
    #expect(reading.charge == Charge(.nameServerRefuses, nil))
    #expect(reading.meaning == .name(.only(.failed(EINVAL), of: server)))
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [.name(found)])
    #expect(verdict.summary.contains("fe80::1") && verdict.advice?.contains("fe80::1%") == true)
  }

  /// resolver(3): without the file, programs ask the name server of this machine.
  @Test func aFileThatMayNotBeReadIsNamed() {
    var found = NameFinding(
      name: "site.example", servers: [NameFinding.Server(IPAddress(ipv4: 0x7F00_0001), ipv4: .silent)])
    #expect(NameRules.read(found).charge?.cause == .nameServerSilent)
    found.isForbidden = true
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [.name(found)])
    #expect(verdict.cause == .denied && verdict.summary.contains("/etc/resolv.conf"))
    #expect(verdict.advice == "Let everybody read it: chmod 644 /etc/resolv.conf")
  }

  /// resolv.conf(5), search: who sees the name alone would wonder at its address.
  @Test(arguments: [("site.example.corp.example", true), ("site.example", false), (nil, false)])
  func aSearchDomainIsNamed(foundAs: String?, isNamed: Bool) {
    var name = NameFinding(
      name: "site.example", servers: [NameFinding.Server(Self.server, ipv4: .answer(.success, [Cases.target]))],
      addresses: [Cases.target])
    name.foundAs = foundAs
    let verdict = DiagnosisVerdict(of: "site.example", goal: .host, findings: [.name(name), Cases.reset])
    #expect(verdict.details.contains { $0.contains("site.example.corp.example") } == isNamed)
  }

  /// A check needs several round trips: on such a line it needs more time than on others.
  @Test(arguments: [([1.0, 900], false), ([699], false), ([700], true), ([1_400, 1_401], true), ([], false)])
  func aLineIsSlowIfEachConnectionIs(times: [Double], isSlow: Bool) {
    let attempts = times.map { ConnectionFinding.Attempt(Cases.target, port: 443, .accepted(milliseconds: $0)) }
    let finding = ConnectionFinding(.ipv4, attempts + [ConnectionFinding.Attempt(Cases.router, port: 443, .silent)])
    let inquiry = DiagnosisInquiry(
      subject: DiagnosisSubject(.internet), configuration: DiagnosisConfiguration(), findings: [.connection(finding)],
      deadline: 0)
    #expect(inquiry.isSlow == isSlow)
  }
}
