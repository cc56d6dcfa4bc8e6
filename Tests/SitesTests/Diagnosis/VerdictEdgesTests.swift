// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneDiagnosis

/// Of findings that differ in one thing alone, what the verdict makes of it.
struct VerdictEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let router6 = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0001_0000, low: 1))
  private static let server = NearestCauseTests.server

  private static func kernel(_ result: KernelFinding.Result, _ target: IPAddress = target) -> Finding {
    NearestCauseTests.kernel(result, target)
  }

  private static let link = kernel(.link(.works("eth0")))
  private static let dead = kernel(.route(.dead))
  private static let dead6 = kernel(.route(.dead), target6)
  private static let accepted = NearestCauseTests.connection(target, .accepted(milliseconds: 1))
  private static let accepted6 = NearestCauseTests.connection(target6, .accepted(milliseconds: 1))
  private static let asked = kernel(.neighbour(.asked(router, isGateway: true)))
  private static let lost = Finding.beyond(
    BeyondFinding([BeyondFinding.Question(server, .silent)], trace: .silent))

  private static func beyond(
    _ outcomes: [BeyondFinding.Outcome], trace: BeyondFinding.Trace? = nil, connection: BeyondFinding.Connection? = nil,
    stop: ConnectionFinding.Outcome? = nil
  ) -> Finding {
    var finding = BeyondFinding(
      outcomes.map { BeyondFinding.Question(server, $0) }, trace: trace, connection: connection)
    finding.stopsSites = stop
    return .beyond(finding)
  }

  private static func site(_ kind: SiteVerdict.Kind, _ status: Int? = nil, _ error: SiteError.Code? = nil) -> Finding {
    .site(
      SiteFinding(
        SiteVerdict(
          url: "https://site.example/", kind: kind, status: status, error: error.map { SiteError($0, "words") })))
  }

  /// A name that programs know, though its only server, of IPv6, says nothing.
  private static let known = Finding.name(
    NameFinding(
      name: "site.example", source: .system, servers: [NameFinding.Server(router6, ipv4: .silent, ipv6: .silent)],
      addresses: [target]))

  typealias Row = DiagnosisRulesTests.Row

  private static let rows: [Row] = [
    // Families.
    Row(
      "both families are set up, and IPv6 comes further", .host, .routeDead, .certain,
      [kernel(.address(.duplicate(server))), dead6]),
    Row(
      "both families are set up, and IPv4 comes further", .host, .routeDead, .certain,
      [dead, kernel(.address(.duplicate(target6)), target6)]),
    Row("a family whose router may be silent is not said to work", .host, .routeDead, .certain, [link, asked, dead6]),
    Row(
      "an address that is deprecated works", .host, .familyBroken, .certain,
      [link, kernel(.address(.deprecated(server))), dead6]),
    Row(
      "a link of the other family fails, and nothing more is known of it", .host, .familyBroken, .certain,
      [kernel(.link(.fails("eth1", .noCarrier, isNamed: true)), target6), accepted]),
    Row("a way of the other family contradicts nothing", .site, .familyBroken, .certain, [dead, accepted6]),
    Row(
      "the name is known, so that its silent server of the broken family is no reason", .site, .tlsCertificate,
      .certain,
      [
        link, kernel(.neighbour(.silent(router6, isGateway: true, wasProbed: true)), target6), known, accepted,
        site(.intercepted, nil, .certificateNameMismatch),
      ]),
    // Contradictions.
    Row("a route is dead", .site, .routeDead, .certain, [dead]),
    Row("a route is dead, and a connection was made by it", .site, .routeDead, .likely, [dead, accepted]),
    Row("a refused connection contradicts nothing", .site, .routeDead, .certain, [dead, NearestCauseTests.reset]),
    // Nearness.
    Row(
      "the way to the target is nearer than the way to its server", .host, .routeDead, .certain,
      [dead, NearestCauseTests.noWay]),
    Row(
      "of two alike the first is told", .host, .refused, .likely,
      [NearestCauseTests.reset, NearestCauseTests.connection(server, .silent)]),
    // What lies beyond, beside a success of something nearer.
    Row("silence beyond does not harm who is near", .host, nil, .certain, [accepted, lost]),
    Row(
      "what stops sites does not harm a connection", .host, nil, .certain, [accepted, beyond([.answer], stop: .reset)]),
    Row(
      "a router finds nobody to hand packets on to", .internet, .routerNoRoute, .likely,
      [beyond([.refused(NetworkStatement(.hostUnreachable, by: router))], trace: .silent)]),
    Row(
      "a refused connection counts as a refused question does", .internet, .routerNoRoute, .likely,
      [beyond([.silent], trace: .refused(NetworkStatement(.networkUnreachable, by: router)))]),
    Row(
      "one router beyond answers, and nobody behind it", .internet, nil, .unknown,
      [beyond([.silent], trace: .endsBehind(server))]),
    Row("nobody was asked", .internet, nil, .unknown, [beyond([])]),
    Row(
      "a question was forged, and another is silent", .internet, nil, .unknown,
      [beyond([.silent, .forged], trace: .silent)]),
    // What was asked for, by its goal.
    Row("a site's answer is none of a host", .host, nil, .unknown, [link, site(.available, 200)]),
    Row("an answer from beyond is none of a host", .host, nil, .unknown, [link, beyond([.answer])]),
    Row("a connection is none of the Internet", .internet, nil, .unknown, [link, accepted]),
    Row("a site is available although it answers 404", .site, nil, .certain, [site(.available, 404)]),
    Row("a site fails at 500", .site, .siteFault, .certain, [site(.available, 500)]),
  ]

  @Test("one thing decides", arguments: rows)
  func oneThingDecides(row: Row) {
    let verdict = DiagnosisVerdict(of: "site.example", goal: row.goal, findings: row.findings)
    #expect(verdict.cause == row.cause && verdict.confidence == row.confidence, "\(verdict.summary)")
    #expect(verdict.isFine == (row.cause == nil && row.confidence == .certain))
  }

  /// What had not answered when the time was up is named, also if it had begun to.
  @Test func whatWasHurriedIsWhatHasNotAnswered() {
    var name = NameFinding(name: "a", servers: [NameFinding.Server(Self.server, ipv4: .silent)])
    name.isHurried = true
    let connection = NearestCauseTests.connection(Self.target, .silent) { $0.isHurried = true }
    func summary(_ goal: DiagnosisGoal, _ findings: Finding...) -> String {
      DiagnosisVerdict(of: "site.example", goal: goal, findings: findings).summary
    }
    #expect(summary(.host, .name(name)) == "It ended before a name server had answered.")
    #expect(summary(.host, connection) == "It ended before the target had taken a connection.")
    #expect(summary(.host, connection, .name(name)) == "It ended before a name server had answered.")
    let gap = Finding.unasked(.beyond, nil, .timeIsUp)
    #expect(summary(.internet, gap, .name(name)) == "It ended before anybody beyond the router had answered.")
    #expect(summary(.host, gap, connection) == "It ended before the target had taken a connection.")
    // What nobody wanted was not waited for.
    #expect(!summary(.internet, .unasked(.beyond, nil, .notWanted)).hasPrefix("It ended"))
  }

  /// The time that it took is told as it was, and findings stand in the order of a packet's way.
  @Test func findingsStandInTheOrderOfTheWay() {
    let findings = [Self.accepted, Self.dead, Self.link, .history([])]
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: findings, elapsed: .seconds(3))
    #expect(verdict.findings == findings.reversed() && verdict.elapsed == .seconds(3) && verdict.target == "a")
    #expect(verdict.steps.map(\.kind) == [.history, .link, .route, .connect])
    #expect(DiagnosisVerdict(of: "a", goal: .host, findings: []).elapsed == .zero)
    #expect("\(verdict)" == verdict.summary)
  }

  /// Only a neighbour is looked at twice: of the same target, the later look counts.
  @Test func onlyANeighbourIsLookedAtTwice() {
    let answers = Self.kernel(.neighbour(.answers(Self.router, isGateway: true)))
    func isRepeated(_ finding: Finding, _ later: Finding...) -> Bool { finding.isRepeated(in: later[...]) }
    #expect(isRepeated(Self.asked, answers) && isRepeated(Self.asked, Self.link, answers))
    #expect(!isRepeated(Self.asked) && !isRepeated(Self.asked, Self.link))
    #expect(!isRepeated(Self.link, Self.link) && !isRepeated(Self.link, answers))
    #expect(!isRepeated(Self.asked, Self.kernel(.neighbour(.answers(Self.router, isGateway: true)), Self.target6)))
    #expect(!isRepeated(Self.accepted, Self.accepted))
  }
}
