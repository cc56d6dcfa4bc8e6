// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneDiagnosis

/// What follows from findings for the questions that are still to be asked.
struct DiagnosisInquiryTests {
  private static let target = IPAddress(ipv4: 0xCB00_710A)
  private static let router = IPAddress(ipv4: 0xC000_0201)

  private func inquiry(_ findings: [Finding]) -> DiagnosisInquiry {
    DiagnosisInquiry(
      subject: DiagnosisSubject(.address(Self.target)), configuration: DiagnosisConfiguration(), findings: findings,
      deadline: 0)
  }

  private static func neighbour(_ neighbour: KernelFinding.Neighbour) -> Finding {
    .kernel(KernelFinding(.neighbour(neighbour), target: target))
  }

  private static func connection(
    _ outcome: ConnectionFinding.Outcome, returned: Bool? = nil, _ family: IPAddress.Family = .ipv4
  ) -> Finding {
    let attempt = ConnectionFinding.Attempt(
      target, port: 443, outcome, sight: ConnectionFinding.Sight(hasLeft: true, hasReturned: returned))
    return .connection(ConnectionFinding(family, [attempt]))
  }

  private static func server(_ reply: NameFinding.Reply) -> Finding {
    .name(NameFinding(name: "a", servers: [NameFinding.Server(router, ipv4: reply)]))
  }

  private static func beyond(_ outcome: BeyondFinding.Outcome) -> Finding {
    .beyond(BeyondFinding([BeyondFinding.Question(target, outcome)]))
  }

  private static let own = NetworkStatement(.hostUnreachable, by: router, isOwn: true)
  private static let others = NetworkStatement(.hostUnreachable, by: router)

  /// A router that was there before may have gone since, until somebody is heard by it.
  @Test func aRouterIsSureOnceSomebodyIsHeard() {
    let known = Self.neighbour(.answered(Self.router, isGateway: true))
    #expect(inquiry([known]).isUnsure(.ipv4) && !inquiry([known]).isUnsure(.ipv6) && !inquiry([]).isUnsure(.ipv4))
    #expect(inquiry([Self.neighbour(.answers(Self.router, isGateway: true))]).isUnsure(.ipv4))
    #expect(!inquiry([Self.neighbour(.answers(Self.router, isGateway: false))]).isUnsure(.ipv4))
    #expect(!inquiry([Self.neighbour(.asked(Self.router, isGateway: true))]).isUnsure(.ipv4))
    let rows: [(Finding, isHeard: Bool)] = [
      (Self.connection(.accepted(milliseconds: 1)), true), (Self.connection(.reset), true),
      (Self.connection(.refused(Self.others)), true), (Self.connection(.refused(Self.own)), false),
      (Self.connection(.silent), false), (Self.connection(.silent, returned: false), false),
      // It came in, whatever became of it here.
      (Self.connection(.silent, returned: true), true), (Self.connection(.failed(99)), false),
      (Self.connection(.reset, .ipv6), false),
      (Self.server(.answer(.refused, [])), true), (Self.server(.truncated), true), (Self.server(.dropped), true),
      (Self.server(.mismatched), true), (Self.server(.refused(Self.others)), true),
      (Self.server(.refused(Self.own)), false), (Self.server(.silent), false), (Self.server(.forbidden), false),
      (Self.beyond(.answer), true), (Self.beyond(.silent), false), (Self.beyond(.failed(99)), false),
      // What this machine says itself came from nobody.
      (Self.beyond(.refused(Self.others)), true), (Self.beyond(.refused(Self.own)), false),
    ]
    for (finding, isHeard) in rows {
      #expect(inquiry([known, finding]).isUnsure(.ipv4) == !isHeard, "\(finding)")
      #expect(inquiry([finding, known]).isUnsure(.ipv4) == !isHeard, "\(finding)")
    }
  }

  @Test func neighboursAreAskedForASecondTime() {
    let link = Finding.kernel(KernelFinding(.link(.works("eth0")), target: Self.target))
    #expect(!inquiry([]).isSecondLook && !inquiry([link, Self.connection(.silent)]).isSecondLook)
    #expect(inquiry([link, Self.neighbour(.asked(Self.router, isGateway: true))]).isSecondLook)
  }

  /// A portal refuses connections, or makes them.
  @Test func aSiteIsAskedIfSomebodyTakesConnectionsOrRefusesThem() {
    #expect(inquiry([Self.connection(.accepted(milliseconds: 1))]).mayExchange)
    #expect(inquiry([Self.connection(.reset)]).mayExchange)
    for outcome in [ConnectionFinding.Outcome.silent, .failed(99), .refused(Self.others)] {
      #expect(!inquiry([Self.connection(outcome)]).mayExchange, "\(outcome)")
    }
    #expect(!inquiry([]).mayExchange)
  }
}
