// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import TestSupport
import Testing

@testable import DialtoneDiagnosis

/// What a stranger played in networks of his own, and a verdict that blamed somebody else or nobody.
struct OwnFilterRulesTests {
  private static let target = NearestCauseTests.target
  private static let router = NearestCauseTests.router

  private static func verdict(_ goal: DiagnosisGoal, _ findings: Finding...) -> DiagnosisVerdict {
    DiagnosisVerdict(of: "site.example", goal: goal, findings: findings)
  }

  private static func beyond(_ outcome: BeyondFinding.Outcome, _ trace: BeyondFinding.Trace? = nil) -> Finding {
    .beyond(BeyondFinding([BeyondFinding.Question(target, outcome)], trace: trace))
  }

  private static func names(_ server: IPAddress, _ reply: NameFinding.Reply) -> Finding {
    .name(NameFinding(name: "site.example", servers: [NameFinding.Server(server, ipv4: reply, ipv6: reply)]))
  }

  private static let forbidden = BeyondFinding.Outcome.failed(1)

  /// nft(8), `meta skuid 1000 drop`: datagrams fail with EPERM (1), and connections get no answer. A rule about port 53
  /// alone is another matter.
  @Test func whatForbidsEveryQuestionAlsoStopsConnections() {
    let silent = NearestCauseTests.connection(Self.target, .silent) { $0.gateway = Self.router }
    let verdict = Self.verdict(.host, Self.beyond(Self.forbidden), silent)
    #expect(verdict.cause == .localFirewall && verdict.confidence == .likely, "\(verdict)")
    let further = Self.verdict(.host, Self.beyond(Self.forbidden, .leadsOn(Self.router)), silent)
    #expect(further.cause == .silent, "\(further)")
  }

  /// A name server of this machine that may ask nobody fails, and is not to blame. That of the router asks by itself.
  @Test func aNameServerThatMayAskNobodyIsNotToBlame() {
    let beyond = Self.beyond(Self.forbidden, .leadsOn(Self.router))
    let stub = IPAddress(ipv4: 0x7F00_0035)
    let own = Self.verdict(.site, beyond, Self.names(stub, .answer(.serverFailure, [])))
    #expect(own.cause == .localFirewall && own.confidence == .likely, "\(own)")
    // One that says nothing may hang by itself.
    let hung = Self.verdict(.site, beyond, Self.names(stub, .silent))
    #expect(hung.cause == .nameServerSilent, "\(hung)")
    let routers = Self.verdict(.site, beyond, Self.names(Self.router, .answer(.serverFailure, [])))
    #expect(routers.cause == .nameServerRefuses, "\(routers)")
  }

  /// Who rejects questions to other name servers by "network unreachable" has a way for connections all the same.
  @Test func aRouterThatLetsConnectionsOnHasAWay() {
    let refusal = BeyondFinding.Outcome.refused(NetworkStatement(.networkUnreachable, by: Self.router))
    let verdict = Self.verdict(.internet, Self.beyond(refusal, .leadsOn(Self.target)))
    #expect(verdict.cause == nil && verdict.confidence == .unknown, "\(verdict)")
    #expect(Self.verdict(.internet, Self.beyond(refusal, .silent)).cause == .routerNoRoute)
  }

  /// The way was lost after a root server had answered, and before names had.
  @Test func theInternetIsNotFineWhileNamesFail() {
    let lost = Self.verdict(.internet, Self.beyond(.answer), Self.names(Self.router, .failed(101)))
    #expect(!lost.isFine && lost.confidence == .unknown, "\(lost)")
    #expect(Self.verdict(.internet, Self.beyond(.answer)).isFine)
  }

  /// systemd.exec(5), RestrictAddressFamilies without AF_NETLINK: the kernel tells nothing, and connections are made.
  @Test func aConnectionIsMadeWhereTheKernelTellsNothing() async throws {
    let denied = Finding.kernel(KernelFinding(.link(.denied), target: Self.target))
    let name = Finding.name(NameFinding(name: "a.example", source: .literal, addresses: [Self.target]))
    func verdict(_ outcome: ConnectionFinding.Outcome) async throws -> DiagnosisVerdict {
      let connection = NearestCauseTests.connection(Self.target, outcome)
      let target = ReachabilityTarget.address(Self.target, port: 443)
      return try await Diagnosis(of: target, environment: ScriptedEvidence([denied, name, connection])).verdict()
    }
    #expect(try await verdict(.accepted(milliseconds: 1)).isFine)
    #expect(try await verdict(.reset).cause == .denied)
  }
}
