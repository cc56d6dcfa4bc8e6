// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneDiagnosis

/// What explains silence.
extension NearestCauseTests {
  /// A router says once in a while alone that it has no way: silence elsewhere follows from that.
  @Test func whatARouterSaysExplainsSilence() {
    let lost = Finding.beyond(BeyondFinding([BeyondFinding.Question(Self.server, .silent)], trace: .silent))
    func cause(_ meaning: NetworkStatement.Meaning, by sender: IPAddress) -> DiagnosisCause? {
      Self.cause([lost, Self.connection(Self.target, .refused(NetworkStatement(meaning, by: sender)))])
    }
    #expect(cause(.networkUnreachable, by: Self.router) == .routerNoRoute)
    #expect(cause(.prohibited, by: Self.router) == .prohibited)
    #expect(cause(.hostUnreachable, by: Self.router) == .uplinkDown)
    #expect(Self.cause([lost, Self.connection(Self.target, .silent)]) == .uplinkDown)
  }

  /// Who says of itself that it is not reachable is there, and may lead connections on to another host.
  @Test func aHostThatSpeaksOfItselfIsThere() {
    func verdict(_ meaning: NetworkStatement.Meaning) -> DiagnosisVerdict {
      let refused = Self.connection(Self.target, .refused(NetworkStatement(meaning, by: Self.target)))
      return DiagnosisVerdict(of: "site.example", goal: .host, findings: [refused])
    }
    #expect(verdict(.networkUnreachable).cause == .prohibited)
    #expect(verdict(.hostUnreachable).cause == .hostAbsent)
    #expect(verdict(.hostUnreachable).advice?.contains("what it leads to") ?? false)
  }

  /// A target that has addresses of one family alone, of which nobody beyond the router answers.
  @Test func aFamilyThatIsDeadBeyondTheRouterIsTheCause() {
    let beyond = Finding.beyond(
      BeyondFinding([BeyondFinding.Question(Self.server, .silent), BeyondFinding.Question(Self.target6, .answer)]))
    let silent = Self.connection(Self.target, .silent) { $0.gateway = Self.router }
    let verdict = DiagnosisVerdict(of: "four.example", goal: .host, findings: [beyond, silent])
    #expect(verdict.cause == .familyBroken && verdict.confidence == .likely)
    #expect(verdict.summary.hasPrefix("IPv4 does not work, and IPv6 does"))
    let refused = Self.connection(Self.target, .reset) { $0.gateway = Self.router }
    #expect(Self.cause([beyond, refused], .host) == .refused)
  }

  /// The kernel sends from the address of a bridge's port, and gives what comes in to the bridge.
  @Test func theAddressOfABridgesPortHearsNothing() {
    let port = Self.kernel(.address(.onPort(Self.target, bridge: "br0")))
    let verdict = DiagnosisVerdict(
      of: "site.example", goal: .host, findings: [port, Self.kernel(.neighbour(.asked(Self.router, isGateway: true)))])
    #expect(verdict.cause == .noAddress && verdict.confidence == .likely)
    #expect(verdict.summary.contains("port of the bridge br0"))
    let heard = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    #expect(Self.cause([port, heard, Self.connection(Self.target, .reset)], .host) == .refused)
  }
}
